"""Every action of staff on rails, files to banks, entries, and what banks sent back.

Each try has a bank of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from common import days
from common.clock import utc_now
from desk import doers
from desk.doers import Doer
from desk.entries import reversals
from desk.files import acts as file_acts
from desk.files import answers
from desk.positions import acts as move_acts
from desk.rails import acts
from desk.rails.forms import TermsForm, WordedForm
from networks.ach import (
    proposing,
    rails,
    reversing,
    spoken,
)
from networks.ach.acknowledgments import Verdict
from networks.ach.inbound import storing
from networks.ach.models import (
    AchEntry,
    AchReply,
    InRecord,
    Originator,
    OutFile,
    RailLine,
    RailVersion,
)
from networks.ach.models.inbound import InFolder
from networks.ach.models.proposals import ProposalKind
from networks.ach.models.rails import RailPart
from networks.ach.models.reversals import ReversalReason
from networks.ach.originating import Company
from networks.ach.spoken import Said
from reconciliation import accounts, by_hand, clearing, taking
from reconciliation.models import ClearingKind, StatementFormat
from tenants import actors
from tests.builders import make_staff
from tests.crashes import instants
from tests.crashes.banks import (
    Returning,
    a_file,
    a_sent_file,
    bank_said,
    change,
    in_suspense,
    late_return,
    make_bank,
    odd_statement,
    open_day,
    set_aside,
    short_return,
    statement,
    two_closable,
    waiting,
)
from tests.crashes.desk_stories import send
from tests.crashes.every_call import Story
from tests.crashes.stored import Stored
from tests.crashes.world import Act, World
from tests.networks.ach import life
from tests.reconciliation.statements import MONDAY
from transfers import positions

Begin = Callable[[World], Act]
WHY = {"reason": "The bank said so"}
FIELD_ERROR = {"code": "R69", "information": "03"}


def ann() -> Doer:
    """A colleague of long standing, who was there first."""
    return doers.person(actors.staff(make_staff("ann@ballast.example").pk))


def at(name: str, *names: Any) -> str:
    return reverse(f"desk:{name}", args=names)


# --- A bank that sends back


def of_record(what: str, make: Callable[[], InRecord], **fields: Any) -> Begin:
    return lambda world: send(world, at("exception_decide", make().pk, what), **WHY, **fields)


def match(world: World) -> Act:
    record = short_return()
    trace = record.original_trace
    return send(world, at("exception_decide", record.pk, "match"), entry=trace, **WHY)


def of_in_file(what: str, **fields: Any) -> Begin:
    return lambda world: send(
        world, at("exception_decide_file", set_aside().pk, what), **WHY, **fields
    )


def withdraw_reply(world: World) -> Act:
    record = short_return()
    send(world, at("exception_decide", record.pk, "dishonor"), **FIELD_ERROR, **WHY)({})
    return send(world, at("reply_withdraw", AchReply.objects.get(record=record).pk), **WHY)


def release_debits(world: World) -> Act:
    bank = Returning()
    Originator.objects.filter(rail=bank.rail).update(
        debits_stopped_at=utc_now(), debits_stopped_why="Too many came back"
    )
    row = Originator.objects.get(rail=bank.rail)
    return send(world, at("originator_debits", bank.rail.pk, row.pk), **WHY)


def reverse_entry(world: World) -> Act:
    entry = Returning(active=True).entry()
    fields = {"why": ReversalReason.DUPLICATE, "hours": "1", **WHY}
    return send(world, at("entry_reverse", entry.instruction_id), **fields)


def decide_reversal(decision: str) -> Begin:
    def begin(world: World) -> Act:
        now = utc_now()
        reversal = reversals.propose(
            entry=Returning(active=True).entry(),
            why=ReversalReason.DUPLICATE,
            hours=0,
            doer=ann(),
            note="Sent twice",
            now=now,
        )
        return send(world, at("reversal", reversal.pk), decision=decision)

    return begin


# --- A bank that takes files


def release_second(world: World) -> Act:
    file = a_file()
    file_acts.release_first(file=file, doer=ann(), now=utc_now())
    total = f"{(file.debit_total + file.credit_total) / 100:,.2f}"
    return send(world, at("file_release", file.pk), total=total)


def unhold(world: World) -> Act:
    file = a_file()
    send(world, at("file_step", file.pk, "hold"), **WHY)({})
    return send(world, at("file_step", file.pk, "unhold"), **WHY)


def of_file(what: str, **made: Any) -> Begin:
    return lambda world: send(world, at("file_step", a_file(**made).pk, what), **WHY)


def a_stuck_file() -> OutFile:
    """A released one of which nobody knows whether the bank has it."""
    file, now = a_file(), utc_now()
    life.release(file, now)
    OutFile.objects.filter(pk=file.pk).update(
        temporary_name="x.part", next_attempt_at=None, stuck_code="name_taken", stuck_at=now
    )
    return file


def of_stuck_file(what: str) -> Begin:
    return lambda world: send(world, at("file_step", a_stuck_file().pk, what), **WHY)


def write_answer_down(world: World) -> Act:
    fields = {"verdict": Verdict.REJECTED, "code": "file_hash", "said_by": "Rosa", **WHY}
    return send(world, at("file_answer", a_sent_file().pk), **fields)


def decide_answer(decision: str) -> Begin:
    def begin(world: World) -> Act:
        said = Said(verdict=Verdict.REJECTED, said_by="Rosa", code="file_hash")
        answer = answers.propose(
            file=a_sent_file(), said=said, reason="No file came", doer=ann(), now=utc_now()
        )
        return send(world, at("answer", answer.pk), decision=decision)

    return begin


def decide_proposal(decision: str) -> Begin:
    def begin(world: World) -> Act:
        row = Originator.objects.get(rail=make_bank())
        company = Company(company_name=row.company_name, company_id=row.company_id, exposure_max=1)
        proposal = proposing.propose(
            ProposalKind.ORIGINATOR,
            rail=row.rail_id,
            subject=row.pk,
            company=company,
            reason="As agreed",
            by=ann().name,
            now=utc_now(),
        )
        return send(world, at("proposal", proposal.pk), decision=decision)

    return begin


def take_out(world: World) -> Act:
    entry = AchEntry.objects.filter(batch__file=a_file()).first()
    assert entry is not None
    return send(world, at("entry_take_out", entry.instruction_id), **WHY)


# --- The rail itself


def typed(rail: str, **changes: Any) -> dict[str, Any]:
    """The terms in force as a browser sends them, but for `changes`."""
    form = TermsForm(None, base=RailVersion.objects.get(rail=rail, status="current").terms)
    return values_of(form, **changes)


def values_of(form: WordedForm, **changes: Any) -> dict[str, Any]:
    """What a form shows, as a browser sends it, but for `changes`."""
    values: dict[str, Any] = {}
    for name, field in form.fields.items():
        value = field.prepare_value(form.get_initial_for_field(field, name))
        if value is True:
            values[name] = "on"
        elif value not in (None, False):
            values[name] = value
    return {**values, **WHY, **changes}


def change_terms(world: World) -> Act:
    bank = make_bank()
    return send(world, at("rail_change", bank), **typed(bank, company_name="OTHER"))


def decide_terms(decision: str) -> Begin:
    def begin(world: World) -> Act:
        bank = make_bank()
        terms = replace(rails.current(bank).parsed, company_name="OTHER")
        proposed = acts.propose(
            rail=bank, terms=terms, offset_account=None, doer=ann(), reason="x", now=utc_now()
        )
        return send(world, at("rail_decide", bank, proposed.number), decision=decision)

    return begin


def of_rail(page: str, **fields: Any) -> Begin:
    return lambda world: send(world, at(page, make_bank()), **fields)


def look_again(world: World) -> Act:
    bank = make_bank()
    trouble = {"trouble": "unreachable", "trouble_since": utc_now()}
    RailLine.objects.update_or_create(pk=bank, defaults=trouble)
    return send(world, at("rail_look_again", bank))


def go_on(world: World) -> Act:
    bank = make_bank()
    stop = acts.engage(rail=bank, part=RailPart.SENDING, reason="x", doer=ann(), now=utc_now())
    return send(world, at("rail_go_on", bank, stop.pk), **WHY)


def of_originator(page: str, **fields: Any) -> Begin:
    def begin(world: World) -> Act:
        row = Originator.objects.get(rail=make_bank())
        return send(world, at(page, row.rail_id, row.pk), **fields, **WHY)

    return begin


# --- Bank statements


def of_statement(what: str) -> Begin:
    return lambda world: send(world, at("exception_decide_file", odd_statement().pk, what), **WHY)


def dismiss(world: World) -> Act:
    file = odd_statement()
    about: dict[str, Any] = {"rail": file.rail_id, "subject": file.pk, "reason": "Not ours"}
    row = proposing.propose(ProposalKind.DISMISS_STATEMENT, by=ann().name, now=utc_now(), **about)
    return send(world, at("proposal", row.pk), decision="approve")


def reveal_line(world: World) -> Act:
    taking.take(file := statement(), now=utc_now())
    (row,) = file.statements.all()
    line = row.lines.order_by("position")[0]
    return send(world, at("statement_line", row.pk, line.position))


def upload_statement(world: World) -> Act:
    """Each try brings the file anew: what was sent once is read to its end."""
    rail, path, said = make_bank(), at("statement_upload"), bank_said()
    browser = world.desk
    return lambda _headers: browser.post(
        path, {"rail": rail, "file": SimpleUploadedFile("day.txt", said), **WHY}
    )


def decide_upload(decision: str) -> Begin:
    def begin(world: World) -> Act:
        file = storing.store(
            rail_id=make_bank(),
            folder=InFolder.STATEMENTS,
            name="day.txt",
            content=[bank_said()],
            uploaded_by=ann().name,
            now=utc_now(),
        ).file
        about: dict[str, Any] = {"rail": file.rail_id, "subject": file.pk, "reason": "By mail"}
        row = proposing.propose(ProposalKind.TAKE_STATEMENT, by=ann().name, now=utc_now(), **about)
        return send(world, at("proposal", row.pk), decision=decision, **WHY)

    return begin


ACCOUNT = {
    "number": "4000123456",
    "format": "bai2",
    "opened_on": "2026-11-16",
    "cents": "10,000.00",
}


def propose_account(world: World) -> Act:
    return send(world, at("settlement_account_new"), rail=make_bank(), **ACCOUNT, **WHY)


def decide_account(decision: str) -> Begin:
    def begin(world: World) -> Act:
        opening = accounts.Opening(
            rail=make_bank(),
            number="4000123456",
            format=StatementFormat.BAI2,
            opened_on=MONDAY,
            cents=0,
        )
        row = accounts.propose(opening, reason="x", by=ann().name, now=utc_now())
        return send(world, at("settlement_account", row.pk), decision=decision)

    return begin


# --- Positions


def propose_move(world: World) -> Act:
    about = {"rail": instants.new_rail(), "way": "to", "amount": "50.00", "bank": ""}
    return send(world, at("position_move_new"), **about, **WHY)


def decide_move(decision: str) -> Begin:
    def begin(world: World) -> Act:
        move = positions.Move(rail=instants.new_rail(), cents=5_000)
        row = move_acts.propose(move=move, reason="x", doer=ann(), now=utc_now())
        return send(world, at("position_move", row.pk), decision=decision, **WHY)

    return begin


# --- Reconciliation


def match_line(world: World) -> Act:
    line, expected = open_day(world.funding(), world.finish_all)
    return send(world, at("reconciliation_match_line", line.pk), books=expected, **WHY)


def unmatch(world: World) -> Act:
    line, expected = open_day(world.funding(), world.finish_all)
    statement = line.statement
    where: dict[str, Any] = {"rail": statement.account.rail_id, "day": statement.last_day}
    by: dict[str, Any] = {"reason": "x", "by": ann().name, "now": utc_now()}
    row = by_hand.match([line.pk], [expected], **where, **by)
    return send(world, at("reconciliation_unmatch", row.pk), **WHY)


def book_line(world: World) -> Act:
    return send(world, at("reconciliation_book_line", waiting().pk), **WHY)


def explain(world: World) -> Act:
    line, expected = open_day(world.funding(), world.finish_all)
    until = days.day_of(utc_now()) + timedelta(days=7)
    where = at("reconciliation_explain", line.statement.account.rail_id, expected)
    return send(world, where, until=until.isoformat(), **WHY)


def decide_clearing(decision: str) -> Begin:
    def begin(world: World) -> Act:
        row = clearing.propose(
            in_suspense(), ClearingKind.INCOME, reason="x", by=ann().name, now=utc_now()
        )
        return send(world, at("suspense_decide", row.pk), decision=decision, **WHY)

    return begin


COMPANY = {"company_name": "OTHER", "company_id": "1234567891", "exposure_max": "5.00"}

# By the address, and what of all that it does.
BEGINNINGS: dict[str, Begin] = {
    "exception_decide match": match,
    "exception_decide dishonor": of_record("dishonor", short_return, **FIELD_ERROR),
    "exception_decide let-stand": of_record("let-stand", late_return),
    "exception_decide apply": of_record("apply", change),
    "exception_decide refuse": of_record("refuse", change, code="C61"),
    "exception_decide resolve": of_record("resolve", short_return),
    "exception_decide_file read-again": of_in_file("read-again", excuse="on"),
    "exception_decide_file resolve": of_in_file("resolve"),
    "exception_decide_file take-again": of_statement("take-again"),
    "exception_decide_file propose-dismissal": of_statement("propose-dismissal"),
    "proposal approve dismissal": dismiss,
    "proposal approve upload": decide_upload("approve"),
    "proposal reject upload": decide_upload("reject"),
    "statement_line": reveal_line,
    "statement_upload": upload_statement,
    "position_move_new": propose_move,
    "position_move approve": decide_move("approve"),
    "position_move reject": decide_move("reject"),
    "settlement_account_new": propose_account,
    "settlement_account approve": decide_account("approve"),
    "settlement_account reject": decide_account("reject"),
    "reconciliation_close": lambda world: send(world, at("reconciliation_close", *two_closable())),
    "reconciliation_match_line": match_line,
    "reconciliation_unmatch": unmatch,
    "reconciliation_book_line": book_line,
    "reconciliation_explain": explain,
    "suspense_clear": lambda world: send(
        world, at("suspense_clear", in_suspense().pk), what="income", **WHY
    ),
    "suspense_decide approve": decide_clearing("approve"),
    "suspense_decide reject": decide_clearing("reject"),
    "reply_withdraw": withdraw_reply,
    "originator_debits": release_debits,
    "entry_reverse": reverse_entry,
    "entry_take_out": take_out,
    "reversal approve": decide_reversal("approve"),
    "reversal reject": decide_reversal("reject"),
    "file_release first": lambda world: send(world, at("file_release", a_file().pk)),
    "file_release second": release_second,
    "file_step hold": of_file("hold"),
    "file_step unhold": unhold,
    "file_step build-again": of_file("build-again", has_faults=True),
    "file_step take-apart": of_file("take-apart"),
    "file_step try-again": of_stuck_file("try-again"),
    "file_step at-bank": of_stuck_file("at-bank"),
    "file_step not-at-bank": of_stuck_file("not-at-bank"),
    "file_answer": write_answer_down,
    "answer confirm": decide_answer("confirm"),
    "answer reject": decide_answer("reject"),
    "proposal approve": decide_proposal("approve"),
    "proposal reject": decide_proposal("reject"),
    "file_download": lambda world: send(world, at("file_download", a_file().pk)),
    "rail_change": change_terms,
    "rail_decide approve": decide_terms("approve"),
    "rail_decide reject": decide_terms("reject"),
    "rail_test": of_rail("rail_test"),
    "rail_look_again": look_again,
    "rail_stop": of_rail("rail_stop", part="sending", **WHY),
    "rail_go_on": go_on,
    "originator_new": lambda world: send(
        world, at("originator_new", make_bank()), tenant=world.tenant.pk, **COMPANY, **WHY
    ),
    "originator": of_originator("originator", **COMPANY),
    "originator_end": of_originator("originator_end"),
}

# They show a page, or a file.
SHOWS = {"rail_test", "file_download", "statement_line"}
# An entry is handed over in a transaction of its own, and so is each batch that a bank answered;
# whoever dies before it leaves it to a sweep.
IN_STEPS = {"reversal approve", "answer confirm"}


def finish(stored: Stored) -> None:
    """Let the sweeps do what is left, those of banks too."""
    reversing.run(now=utc_now())
    for rail in rails.names():
        spoken.finish_all(rail, now=utc_now())
    World.finish(stored)


STORIES = [
    Story(
        f"bank {name}",
        begin,
        leads_on=name not in SHOWS,
        in_steps=name in IN_STEPS,
        finish=finish,
    )
    for name, begin in BEGINNINGS.items()
]


def actions() -> set[str]:
    """What has a story, as `desk_stories.actions` calls it."""
    return {f"desk {name.split()[0]}" for name in BEGINNINGS}
