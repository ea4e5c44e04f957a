"""Pages for people: signed-in ones, the documentation, the magic link, the development inbox."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, register_converter

from dashboard.account import views as account
from dashboard.approvals import link_views as confirmations
from dashboard.approvals import views as approvals
from dashboard.audit_log import views as audit_log
from dashboard.authorizations import views as authorizations
from dashboard.auto_funding import views as auto_funding
from dashboard.bank_accounts import authorization_views as bank_authorizations
from dashboard.bank_accounts import link_views as bank_links
from dashboard.bank_accounts import views as bank_accounts
from dashboard.dev_inbox import views as dev_inbox
from dashboard.developers.docs import views as docs
from dashboard.developers.docs.reference import views as reference
from dashboard.developers.urls import developer_pages
from dashboard.find import views as find
from dashboard.funding import retry_views as funding_retry
from dashboard.funding import topup_views as topup
from dashboard.funding import views as funding
from dashboard.overview import views as overview
from dashboard.payments import approval_limit_views as payment_approval
from dashboard.payments import limit_views as payment_limits
from dashboard.payments import pay_views as pay
from dashboard.payments import views as payments
from dashboard.recipients import views as recipients
from dashboard.settings import views as settings
from dashboard.shell import site
from dashboard.shell.months import DayConverter, MonthConverter
from dashboard.statement import proof_views as proofs
from dashboard.statement import views as transactions
from dashboard.statement.pdf import views as statement_file
from dashboard.team import join_views as invitations
from dashboard.team import views as team

register_converter(MonthConverter, "month")
register_converter(DayConverter, "day")

_tenant_pages: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="overview"),
    path("balance-chart", overview.balance_chart, name="balance_chart"),
    path("transactions", transactions.transactions, name="transactions"),
    path("transactions.csv", transactions.download, name="transactions_csv"),
    path("statements", transactions.months, name="statements"),
    path("statements/<month:first>", transactions.statement, name="statement"),
    path("statements/<int:year>-<int:month>", transactions.former_address),
    path("statements/<month:first>.pdf", statement_file.download, name="statement_pdf"),
    path("statements/proofs/<day:day>.json", proofs.download, name="proof_json"),
    path("funding", funding.funding, name="funding"),
    path("funding/<str:funding_id>", funding.detail, name="funding_detail"),
    path("funding/<str:funding_id>/cancel", funding.cancel, name="funding_cancel"),
    path("funding/<str:funding_id>/retry", funding_retry.retry, name="funding_retry"),
    path("topup/", topup.topup, name="topup"),
    path("topup/check", topup.check, name="topup_check"),
    path("pay/", pay.pay, name="pay"),
    path("payments", payments.payments, name="payments"),
    path("payments.csv", payments.download, name="payments_csv"),
    path("payments/limits", payment_limits.overview, name="payment_limits"),
    path("payments/limits/edit", payment_limits.edit, name="payment_limits_edit"),
    path("payments/limits/cool-down", payment_limits.set_cool_down, name="payment_cool_down"),
    path("payments/limits/change", payment_limits.change, name="payment_limits_change"),
    path("payments/approval", payment_approval.limit, name="payment_approval"),
    path(
        "payments/approval/change",
        payment_approval.change,
        name="payment_approval_change",
    ),
    path("payments/<str:payment_id>", payments.detail, name="payment_detail"),
    path("payments/<str:payment_id>/cancel", payments.cancel, name="payment_cancel"),
    path("recipients", recipients.recipients, name="recipients"),
    path("recipients/new", recipients.add, name="recipient_add"),
    path("recipients/search", recipients.search, name="recipient_search"),
    path("recipients/<str:recipient_id>", recipients.detail, name="recipient"),
    path("recipients/<str:recipient_id>/rename", recipients.rename, name="recipient_rename"),
    path("recipients/<str:recipient_id>/remove", recipients.remove, name="recipient_remove"),
    path("approvals", approvals.approvals, name="approvals"),
    path("approvals/<str:approval_id>", approvals.approval, name="approval"),
    path("approvals/<str:approval_id>/resend", approvals.resend, name="approval_resend"),
    path("auto-funding", auto_funding.rule, name="auto_funding"),
    path("auto-funding/settings", auto_funding.settings, name="auto_funding_settings"),
    path("auto-funding/preview", auto_funding.preview, name="auto_funding_preview"),
    path("auto-funding/pause", auto_funding.pause, name="auto_funding_pause"),
    path("auto-funding/resume", auto_funding.resume, name="auto_funding_resume"),
    path("bank-accounts", bank_accounts.bank_accounts, name="bank_accounts"),
    path("bank-accounts/enter", bank_accounts.enter, name="bank_account_enter"),
    path("bank-accounts/authorizations", authorizations.authorizations, name="authorizations"),
    path("bank-accounts/authorizations.csv", authorizations.download, name="authorizations_csv"),
    path(
        "bank-accounts/authorizations/<str:authorization_id>",
        authorizations.detail,
        name="authorization",
    ),
    path(
        "bank-accounts/authorizations/<str:authorization_id>/revoke",
        authorizations.revoke,
        name="authorization_revoke",
    ),
    path("bank-accounts/routing", bank_accounts.routing, name="bank_account_routing"),
    path("bank-accounts/pick", bank_accounts.pick, name="bank_account_pick"),
    path("bank-accounts/link", bank_links.link, name="bank_account_link"),
    path(
        "bank-accounts/<str:source_id>/default",
        bank_accounts.make_default,
        name="bank_account_default",
    ),
    path(
        "bank-accounts/<str:source_id>/authorize",
        bank_authorizations.authorize,
        name="bank_account_authorize",
    ),
    path("bank-accounts/<str:source_id>/holder", bank_accounts.holder, name="bank_account_holder"),
    path("bank-accounts/<str:source_id>/remove", bank_accounts.remove, name="bank_account_remove"),
    path("bank-accounts/<str:source_id>/verify", bank_accounts.verify, name="bank_account_verify"),
    path("team", team.team, name="team"),
    path("team/invite", team.invite, name="team_invite"),
    path("team/sign-in-rule", team.sign_in_rule, name="team_sign_in_rule"),
    path("team/invitations/<str:invitation_id>/resend", team.resend, name="invitation_resend"),
    path("team/invitations/<str:invitation_id>/revoke", team.revoke, name="invitation_revoke"),
    path("team/<str:membership_id>/role", team.role, name="member_role"),
    path("team/<str:membership_id>/remove", team.remove, name="member_remove"),
    path("settings", settings.settings, name="settings"),
    path("settings/returned-top-ups", settings.returned_topups, name="settings_retries"),
    path("notifications", settings.notifications, name="notifications"),
    path("audit-log", audit_log.audit_log, name="audit_log"),
    path("audit-log.csv", audit_log.download, name="audit_log_csv"),
    path("find", find.find, name="find"),
    *developer_pages,
    path("tenant", site.switch_tenant, name="switch_tenant"),
]

_docs: list[URLPattern | URLResolver] = [
    path("", docs.index, name="index"),
    path("guide", docs.guide, name="guide"),
    path("webhooks", docs.webhooks, name="webhooks"),
    path("errors", docs.errors, name="errors"),
    path("verify_proof.py", docs.verify_proof, name="verify_proof"),
    path("api", reference.index, name="reference"),
    path("api/<slug:slug>", reference.resource, name="resource"),
]

urlpatterns = [
    path("", site.front_door, name="front-door"),
    path("favicon.ico", site.favicon),
    path(".well-known/ballast-proof-keys.json", proofs.keys, name="proof-keys"),
    path("accounts/profile/", account.profile, name="profile"),
    path("accounts/sessions/<int:session_id>/end", account.end_session, name="end_session"),
    path("accounts/2fa/enroll/", account.ask_to_enroll, name="ask_to_enroll"),
    path("accounts/2fa/enroll/<str:token>/", account.enroll, name="enroll"),
    path("dashboard/", include((_tenant_pages, "dashboard"))),
    path("docs/", include((_docs, "docs"))),
    path("confirm/<str:token>/", confirmations.confirmation, name="confirmation"),
    # A mail program may cut the last character off an address; a redirect would lose the form.
    path("confirm/<str:token>", confirmations.confirmation),
    path("join/<str:token>/", invitations.invitation, name="invitation"),
    path("join/<str:token>", invitations.invitation),
    path("dev/inbox/", dev_inbox.inbox, name="dev-inbox"),
    path("dev/inbox/<str:message_id>/", dev_inbox.message, name="dev-message"),
    path("dev/inbox/<str:message_id>/html", dev_inbox.message_html, name="dev-message-html"),
]
