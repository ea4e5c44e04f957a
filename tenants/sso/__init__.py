"""Single sign-on by OpenID Connect, and by SAML as an option (decision 0203).

`connections` says whose people sign in at which provider, `transport` talks to the provider,
`provider` is django-allauth's provider with our rules, `exchanges` remembers what a browser was
sent away with, `id_tokens` judges what came back and `identity` is what that says, `reach` says
which pages such a session opens. `saml` does the same for SAML. Who is let in then,
`tenants.services.identities` decides.
"""

from __future__ import annotations
