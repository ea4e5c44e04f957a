"""Who people are: sign-in, passwords, second factors."""

from __future__ import annotations

from config.settings.deployment import DEBUG, TRUSTED_PROXY_COUNT
from config.settings.sessions import STEP_UP_MINUTES

AUTH_USER_MODEL = "tenants.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
# The first hashes new passwords. Others are checked, and hashed anew at the next sign-in.
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "tenants.passwords.GuessableValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
]
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_ADAPTER = "tenants.accounts.AccountAdapter"
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "tenants.link_tokens.ResetTokens"  # noqa: S105  # a path
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_SESSION_REMEMBER = True
ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXY_COUNT
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    # Also of codes. The key is the account with the address, or with a browser it knows.
    "login_failed": "10/m/ip,5/300s/key",
    # The key is the account, for all browsers that it does not know.
    "login_failed_anywhere": "100/d/key",
    # Our own, of codes: guesses of somebody who knows the password. The key is a browser that the
    # account knows, or the account, for all others.
    "second_factor": "50/d/key",
    "reset_password": "20/m/ip,5/m/key",
    "reset_password_from_key": "20/m/ip",
    "enrolment_link": "5/h/key",  # our own: mails before the first second factor, per account
    "reauthenticate": "10/m/user",
    "change_password": "5/m/user",
}
ACCOUNT_FORMS = {
    "change_password": "tenants.account_forms.ChangePasswordForm",
    "reset_password_from_key": "tenants.account_forms.ResetPasswordKeyForm",
}
MFA_RATE_LIMITS = {"webauthn_login": "10/m/ip"}
MFA_ADAPTER = "tenants.second_factor.Adapter"
MFA_FORMS = {
    "authenticate": "tenants.second_factor_forms.AuthenticateForm",
    "reauthenticate": "tenants.second_factor_forms.ReauthenticateForm",
    "activate_totp": "tenants.second_factor_forms.ActivateForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_TOLERANCE = 1  # steps of half a minute, early or late (RFC 6238 § 5.2)
# Whoever invites a person sets their address, so there is nothing to verify.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = DEBUG  # http://localhost
PASSWORD_RESET_TIMEOUT = 10 * 60  # what authenticates by a message lives ten minutes (ASVS 6.5.5)
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "dashboard:overview"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"

ACCOUNT_REAUTHENTICATION_TIMEOUT = STEP_UP_MINUTES * 60
SOCIALACCOUNT_ADAPTER = "tenants.sso.provider.SocialAccountAdapter"
SOCIALACCOUNT_STORE_TOKENS = False
