"""What approvals refuse. The codes are public and say `confirmation`."""

from __future__ import annotations

from common.errors import Conflict, Forbidden, NotFound, RuleViolation


class AmountMismatch(RuleViolation):
    code = "amount_mismatch"
    is_public = False
    title = "Typed amount differs"
    advice = "Type the amount exactly as it is shown."


class ApprovalClosed(Conflict):
    code = "confirmation_closed"
    is_public = False
    title = "Already decided"
    advice = "Somebody already decided, or the request expired. The page shows who and when."


class UnknownApproval(NotFound):
    code = "unknown_confirmation"
    title = "Link not valid"
    advice = "Use the newest link from the e-mail, or ask for a new one."


class LinkEnded(Forbidden):
    """A link that was good once: it shows nothing and decides nothing."""

    code = "confirmation_link_ended"
    is_public = False
    title = "This link no longer opens anything"
    advice = ""


class AnsweredSignedIn(LinkEnded):
    title = "Payments are approved in the dashboard"
    advice = "Sign in, open Approvals, and decide there. This link changed nothing."


class FormerApprover(LinkEnded):
    advice = "Only current approvers can decide this request. This link changed nothing."


class ApprovalResentRecently(RuleViolation):
    code = "confirmation_resent_recently"
    is_public = False
    title = "Sent a moment ago"
    advice = "Wait ten minutes between two e-mails to the same approver."


class NotAnApprover(Forbidden):
    code = "not_an_approver"
    is_public = False
    title = "Not an approver"
    advice = "Only current approvers can decide. The page shows who they are."


class NewApprover(Forbidden):
    code = "new_approver"
    is_public = False
    title = "Not yet an approver"
    advice = "Ask somebody who has approved for longer, or wait. You can decline at any time."


class OwnPayment(Forbidden):
    code = "own_payment"
    is_public = False
    title = "A second person approves"
    advice = "Whoever made the payment, also by an API key, cannot approve it. Ask somebody else."
