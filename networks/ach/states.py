"""The lives of an entry, of its batch and its files, and of what banks say of them."""

from __future__ import annotations

from django.db import models

from common.state import StateTable


class EntryStatus(models.TextChoices):
    WAITING = "waiting", "Waits for a cut-off"
    FROZEN = "frozen", "In a file"
    SENT = "sent"
    ACCEPTED = "accepted"
    FINAL = "final"
    RETURNED = "returned"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    REQUEUED = "requeued", "Replaced by a new entry"


class BatchStatus(models.TextChoices):
    FROZEN = "frozen", "In a file"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class FileKind(models.TextChoices):
    FORWARD = "forward", "Entries"
    REPLY = "reply", "Dishonored returns and refused corrections"


class FileStatus(models.TextChoices):
    BUILDING = "building"
    BUILT = "built", "To be released"
    HELD = "held"
    RELEASED = "released", "To be sent"
    SENT = "sent"
    ACKNOWLEDGED = "acknowledged"
    PART_REJECTED = "part_rejected", "Rejected in part"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn", "Taken apart"


class InFileStatus(models.TextChoices):
    WAITING = "waiting", "Another person decides"
    STORED = "stored"
    PARSED = "parsed"
    APPLIED = "applied"
    REVIEW = "review", "A person decides"
    RESOLVED = "resolved"


class RecordStatus(models.TextChoices):
    NEW = "new"
    APPLIED = "applied"
    REVIEW = "review", "A person decides"
    RESOLVED = "resolved"


class CorrectionStatus(models.TextChoices):
    OPEN = "open"
    APPLIED = "applied"
    INFORMATIONAL = "informational"
    REFUSED = "refused"


class ReplyStatus(models.TextChoices):
    WAITING = "waiting", "Waits for a file"
    FROZEN = "frozen", "In a file"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


class ReversalStatus(models.TextChoices):
    PROPOSED = "proposed", "Another person decides"
    APPROVED = "approved", "On its way"
    DONE = "done"
    REJECTED = "rejected"
    FAILED = "failed", "Never sent, or sent back"


class SpokenStatus(models.TextChoices):
    PROPOSED = "proposed", "Another person confirms"
    CONFIRMED = "confirmed"
    REJECTED = "rejected", "Not confirmed"
    VOID = "void", "The bank's own answer came first"


class ProposalStatus(models.TextChoices):
    PROPOSED = "proposed", "Another person decides"
    APPROVED = "approved"
    REJECTED = "rejected"


class VersionStatus(models.TextChoices):
    PROPOSED = "proposed"
    CURRENT = "current"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"


E, F, N, R, C, V = (
    EntryStatus,
    FileStatus,
    InFileStatus,
    RecordStatus,
    CorrectionStatus,
    VersionStatus,
)

# Of one instruction at most one entry is live: the rest were replaced.
LIVE = tuple(status for status in E if status != E.REQUEUED)
# The bank has the entry, or will have it, and its money is not final.
EXPOSED = (E.FROZEN, E.SENT, E.ACCEPTED)

ENTRY_STATES = StateTable(
    initial=frozenset({E.WAITING}),
    moves={
        E.WAITING: frozenset({E.FROZEN, E.WITHDRAWN}),
        E.FROZEN: frozenset({E.WAITING, E.SENT}),  # back when its file is taken apart
        # A return that comes before the acknowledgement proves that the entry was accepted.
        E.SENT: frozenset({E.ACCEPTED, E.REJECTED, E.RETURNED, E.REQUEUED}),
        E.ACCEPTED: frozenset({E.FINAL, E.REJECTED, E.RETURNED}),
        E.FINAL: frozenset({E.RETURNED}),
        E.RETURNED: frozenset(),
        E.REJECTED: frozenset(),
        E.WITHDRAWN: frozenset(),
        E.REQUEUED: frozenset(),
    },
    states=set(E.values),
)

BATCH_STATES = StateTable(
    initial=frozenset({BatchStatus.FROZEN}),
    moves={
        BatchStatus.FROZEN: frozenset({BatchStatus.ACCEPTED, BatchStatus.REJECTED}),
        BatchStatus.ACCEPTED: frozenset(),
        BatchStatus.REJECTED: frozenset(),
    },
    states=set(BatchStatus.values),
)

FILE_STATES = StateTable(
    initial=frozenset({F.BUILDING}),
    moves={
        F.BUILDING: frozenset({F.BUILT, F.HELD, F.WITHDRAWN}),  # held if it has faults
        F.BUILT: frozenset({F.RELEASED, F.HELD, F.WITHDRAWN}),
        F.HELD: frozenset({F.BUILT, F.BUILDING, F.WITHDRAWN}),
        F.RELEASED: frozenset({F.SENT, F.HELD, F.WITHDRAWN}),
        F.SENT: frozenset({F.ACKNOWLEDGED, F.PART_REJECTED, F.REJECTED}),
        F.ACKNOWLEDGED: frozenset(),
        F.PART_REJECTED: frozenset(),
        F.REJECTED: frozenset(),
        F.WITHDRAWN: frozenset(),
    },
    states=set(F.values),
)

IN_FILE_STATES = StateTable(
    initial=frozenset({N.STORED, N.WAITING}),
    moves={
        N.WAITING: frozenset({N.STORED, N.RESOLVED}),  # what a person uploaded
        N.STORED: frozenset({N.PARSED, N.APPLIED, N.REVIEW}),
        N.PARSED: frozenset({N.APPLIED, N.REVIEW}),
        N.REVIEW: frozenset({N.STORED, N.RESOLVED}),  # read once more, or dealt with by a person
        N.APPLIED: frozenset(),
        N.RESOLVED: frozenset(),
    },
    states=set(N.values),
)

RECORD_STATES = StateTable(
    initial=frozenset({R.NEW}),
    moves={
        R.NEW: frozenset({R.APPLIED, R.REVIEW}),
        R.REVIEW: frozenset({R.APPLIED, R.RESOLVED}),
        R.APPLIED: frozenset(),
        R.RESOLVED: frozenset({R.REVIEW}),  # the answer to it was withdrawn or rejected
    },
    states=set(R.values),
)

CORRECTION_STATES = StateTable(
    initial=frozenset({C.OPEN, C.INFORMATIONAL}),
    moves={
        C.OPEN: frozenset({C.APPLIED, C.INFORMATIONAL, C.REFUSED}),
        C.APPLIED: frozenset(),
        C.INFORMATIONAL: frozenset(),
        C.REFUSED: frozenset({C.OPEN}),  # the refusal was withdrawn or rejected
    },
    states=set(C.values),
)

REPLY_STATES = StateTable(
    initial=frozenset({ReplyStatus.WAITING}),
    moves={
        ReplyStatus.WAITING: frozenset({ReplyStatus.FROZEN, ReplyStatus.WITHDRAWN}),
        # It waits again when its file is taken apart.
        ReplyStatus.FROZEN: frozenset(
            {ReplyStatus.WAITING, ReplyStatus.ACCEPTED, ReplyStatus.REJECTED}
        ),
        ReplyStatus.ACCEPTED: frozenset(),
        ReplyStatus.REJECTED: frozenset(),
        ReplyStatus.WITHDRAWN: frozenset(),
    },
    states=set(ReplyStatus.values),
)

REVERSAL_STATES = StateTable(
    initial=frozenset({ReversalStatus.PROPOSED}),
    moves={
        ReversalStatus.PROPOSED: frozenset({ReversalStatus.APPROVED, ReversalStatus.REJECTED}),
        ReversalStatus.APPROVED: frozenset({ReversalStatus.DONE, ReversalStatus.FAILED}),
        ReversalStatus.DONE: frozenset(),
        ReversalStatus.REJECTED: frozenset(),
        ReversalStatus.FAILED: frozenset(),
    },
    states=set(ReversalStatus.values),
)

SPOKEN_STATES = StateTable(
    initial=frozenset({SpokenStatus.PROPOSED}),
    moves={
        SpokenStatus.PROPOSED: frozenset(
            {SpokenStatus.CONFIRMED, SpokenStatus.REJECTED, SpokenStatus.VOID}
        ),
        SpokenStatus.CONFIRMED: frozenset(),
        SpokenStatus.REJECTED: frozenset(),
        SpokenStatus.VOID: frozenset(),
    },
    states=set(SpokenStatus.values),
)

PROPOSAL_STATES = StateTable(
    initial=frozenset({ProposalStatus.PROPOSED}),
    moves={
        ProposalStatus.PROPOSED: frozenset({ProposalStatus.APPROVED, ProposalStatus.REJECTED}),
        ProposalStatus.APPROVED: frozenset(),
        ProposalStatus.REJECTED: frozenset(),
    },
    states=set(ProposalStatus.values),
)

VERSION_STATES = StateTable(
    initial=frozenset({V.PROPOSED}),
    moves={
        V.PROPOSED: frozenset({V.CURRENT, V.REJECTED}),
        V.CURRENT: frozenset({V.SUPERSEDED}),
        V.SUPERSEDED: frozenset(),
        V.REJECTED: frozenset(),
    },
    states=set(V.values),
)
