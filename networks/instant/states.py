"""The lives of a conversation, of its messages, and of what is decided about a rail."""

from __future__ import annotations

from django.db import models

from common.state import StateTable


class ConversationKind(models.TextChoices):
    """What a conversation with the network is about."""

    REQUEST = "request", "Request for payment"
    PAYMENT = "payment", "Credit transfer to others"
    CREDIT = "credit", "Credit transfer to us"
    GIVE_BACK = "give_back", "Return of funds by us"


class ConversationStatus(models.TextChoices):
    """Of which kind each is, `KINDS_OF` says."""

    WAITING = "waiting", "Waits to be sent"
    SENT = "sent", "Sent"
    ACCEPTED = "accepted", "Presented to the payer"  # the payer's bank has the request
    PAYING = "paying", "Being paid"  # a credit transfer for the request is here, and not certain
    ANSWERING = "answering", "Being answered"  # a credit transfer whose settlement is not certain
    SETTLED = "settled", "Settled, not yet posted"  # the receiving bank posts it later (ACWP)
    COMING_BACK = "coming_back", "Refused after settlement: the money has to come back"
    FINAL = "final", "Final"
    REJECTED = "rejected", "Rejected"
    EXPIRED = "expired", "Expired"
    WITHDRAWN = "withdrawn", "Withdrawn"
    RETURNED = "returned", "Given back"


class Direction(models.TextChoices):
    OUT = "out", "From us"
    IN = "in", "To us"


class MessageStatus(models.TextChoices):
    """Of messages from us the first five, of messages to us the rest."""

    TO_SEND = "to_send", "To be sent"
    SENT = "sent", "Handed over"
    SILENT = "silent", "Handed over or lost"
    NOT_TAKEN = "not_taken", "Not taken by the operator"
    ANSWERED = "answered", "Answered"
    RECEIVED = "received", "To be read"
    APPLIED = "applied", "Applied"
    FAULTY = "faulty", "Has a fault"


class VersionStatus(models.TextChoices):
    PROPOSED = "proposed"
    CURRENT = "current"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"  # by whoever proposed it


class AskStatus(models.TextChoices):
    """Of what another bank asked us to give back."""

    OPEN = "open", "A person decides"
    PROPOSED = "proposed", "Another person decides"
    REFUSED = "refused"
    GIVEN_BACK = "given_back", "Given back"


class MoveStatus(models.TextChoices):
    """Of money that people move to a network or from it."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"


K, C, M, V = ConversationKind, ConversationStatus, MessageStatus, VersionStatus

KINDS_OF = {
    C.WAITING: (K.REQUEST, K.PAYMENT, K.GIVE_BACK),
    C.SENT: (K.REQUEST, K.PAYMENT, K.GIVE_BACK),
    C.ACCEPTED: (K.REQUEST,),
    C.PAYING: (K.REQUEST,),
    C.ANSWERING: (K.CREDIT,),
    C.SETTLED: (K.PAYMENT, K.GIVE_BACK),
    C.COMING_BACK: (K.PAYMENT, K.GIVE_BACK),
    C.FINAL: tuple(K),
    C.REJECTED: tuple(K),
    C.EXPIRED: (K.REQUEST,),
    C.WITHDRAWN: (K.REQUEST, K.PAYMENT),
    C.RETURNED: tuple(K),
}
# Our message has left, or may have, and nobody has said how it ends.
OPEN_REQUEST = (C.SENT, C.ACCEPTED)

CONVERSATION_STATES = StateTable(
    initial=frozenset({C.WAITING, C.SENT, C.ANSWERING, C.REJECTED}),
    moves={
        C.WAITING: frozenset({C.SENT, C.WITHDRAWN, C.EXPIRED}),
        C.SENT: frozenset(
            {C.ACCEPTED, C.PAYING, C.SETTLED, C.FINAL, C.REJECTED, C.EXPIRED, C.RETURNED}
        ),
        C.ACCEPTED: frozenset({C.PAYING, C.REJECTED, C.EXPIRED}),
        # Back to where it was if the payer's transfer does not settle.
        C.PAYING: frozenset({C.SENT, C.ACCEPTED, C.FINAL}),
        C.ANSWERING: frozenset({C.FINAL, C.REJECTED}),
        C.SETTLED: frozenset({C.FINAL, C.COMING_BACK, C.RETURNED}),
        C.COMING_BACK: frozenset({C.RETURNED}),
        C.FINAL: frozenset({C.RETURNED}),
        C.REJECTED: frozenset(),
        C.EXPIRED: frozenset(),
        C.WITHDRAWN: frozenset(),
        C.RETURNED: frozenset(),
    },
    states=set(C.values),
)

MESSAGE_STATES = StateTable(
    initial=frozenset({M.TO_SEND, M.RECEIVED}),
    moves={
        M.TO_SEND: frozenset({M.SENT, M.SILENT, M.NOT_TAKEN, M.ANSWERED}),
        # It is sent again where the network says that it does not have it, or asks again.
        M.SENT: frozenset({M.TO_SEND, M.SILENT, M.ANSWERED}),
        M.SILENT: frozenset({M.TO_SEND, M.SENT, M.ANSWERED}),
        M.NOT_TAKEN: frozenset(),
        M.ANSWERED: frozenset({M.TO_SEND}),
        M.RECEIVED: frozenset({M.APPLIED, M.FAULTY}),
        M.APPLIED: frozenset(),
        M.FAULTY: frozenset(),
    },
    states=set(M.values),
)

VERSION_STATES = StateTable(
    initial=frozenset({V.PROPOSED}),
    moves={
        V.PROPOSED: frozenset({V.CURRENT, V.REJECTED, V.WITHDRAWN}),
        V.CURRENT: frozenset({V.SUPERSEDED}),
        V.SUPERSEDED: frozenset(),
        V.REJECTED: frozenset(),
        V.WITHDRAWN: frozenset(),
    },
    states=set(V.values),
)

ASK_STATES = StateTable(
    initial=frozenset({AskStatus.OPEN}),
    moves={
        AskStatus.OPEN: frozenset({AskStatus.PROPOSED}),
        # Back when the second person says no.
        AskStatus.PROPOSED: frozenset({AskStatus.OPEN, AskStatus.REFUSED, AskStatus.GIVEN_BACK}),
        AskStatus.REFUSED: frozenset(),
        AskStatus.GIVEN_BACK: frozenset(),
    },
    states=set(AskStatus.values),
)

MOVE_STATES = StateTable(
    initial=frozenset({MoveStatus.PROPOSED, MoveStatus.APPROVED}),
    moves={
        MoveStatus.PROPOSED: frozenset({MoveStatus.APPROVED, MoveStatus.REJECTED}),
        MoveStatus.APPROVED: frozenset(),
        MoveStatus.REJECTED: frozenset(),
    },
    states=set(MoveStatus.values),
)
