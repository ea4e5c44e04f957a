"""The desk's own addresses, below `/admin/desk/`."""

from __future__ import annotations

from django.urls import path

from desk.account_numbers import views as account_numbers
from desk.entries import views as entries
from desk.exceptions import views as exceptions
from desk.files import views as files
from desk.find import views as find
from desk.instant import ask_views as asks
from desk.instant import views as instant
from desk.items import views as items
from desk.ledger import views as ledger
from desk.positions import views as positions
from desk.proofs import views as proofs
from desk.proposals import views as proposals
from desk.queues import views as queues
from desk.rails import views as rails
from desk.rails.instant import views as instant_rails
from desk.reconciliation import days, matching, suspense
from desk.statements import views as statements
from desk.tenants import viewing
from desk.tenants import views as tenants
from desk.transfers import views as transfers
from desk.webhooks import views as webhooks

app_name = "desk"

urlpatterns = [
    path("exceptions/", exceptions.exceptions, name="exceptions"),
    path("exceptions/records/<int:record_id>/", exceptions.record, name="exception_record"),
    path(
        "exceptions/records/<int:record_id>/<slug:what>/",
        exceptions.decide_record,
        name="exception_decide",
    ),
    path("exceptions/replies/<str:reply_id>/", exceptions.withdraw_reply, name="reply_withdraw"),
    path("exceptions/files/<str:file_id>/", exceptions.file, name="exception_file"),
    path(
        "exceptions/files/<str:file_id>/<slug:what>/",
        exceptions.decide_file,
        name="exception_decide_file",
    ),
    path("files/", files.files, name="files"),
    path("files/<str:file_id>/", files.file, name="file"),
    path("files/<str:file_id>/answer/", files.answer, name="file_answer"),
    path("files/<str:file_id>/release/", files.release, name="file_release"),
    path("files/<str:file_id>/download/", files.download, name="file_download"),
    path("files/<str:file_id>/batches/<int:number>/", files.batch, name="file_batch"),
    path("files/<str:file_id>/<slug:what>/", files.step, name="file_step"),
    path("proposals/<str:proposal_id>/", proposals.decide, name="proposal"),
    path("answers/<str:answer_id>/", files.decide_answer, name="answer"),
    path("entries/", entries.find, name="entry_find"),
    path("entries/<str:instruction_id>/", entries.entry, name="entry"),
    path("entries/<str:instruction_id>/take-out/", entries.take_out, name="entry_take_out"),
    path("entries/<str:instruction_id>/reverse/", entries.reverse_entry, name="entry_reverse"),
    path("reversals/<str:reversal_id>/", entries.decide_reversal, name="reversal"),
    path("find/", find.find, name="find"),
    path("positions/", positions.positions, name="positions"),
    path("positions/new/", positions.propose, name="position_move_new"),
    path("positions/<str:move_id>/", positions.decide, name="position_move"),
    path("instant/", instant.payments, name="instant"),
    path("instant/messages/", instant.messages, name="instant_messages"),
    path("instant/messages/<str:message_id>/", instant.message, name="instant_message"),
    path("instant/messages/<str:message_id>/read/", instant.read, name="instant_message_read"),
    path(
        "instant/messages/<str:message_id>/reveal/", instant.reveal, name="instant_message_reveal"
    ),
    path(
        "instant/messages/<str:message_id>/resolve/",
        instant.resolve_message,
        name="instant_message_resolve",
    ),
    path("instant/returns/<str:ask_id>/", asks.ask, name="return_ask"),
    path("instant/returns/<str:ask_id>/propose/", asks.propose, name="return_ask_propose"),
    path("instant/returns/<str:ask_id>/take-back/", asks.take_back, name="return_ask_take_back"),
    path("instant/returns/<str:ask_id>/decide/", asks.decide, name="return_ask_decide"),
    path("instant/<str:conversation_id>/", instant.conversation, name="conversation"),
    path("instant/<str:conversation_id>/resolve/", instant.resolve, name="conversation_resolve"),
    path("items/<slug:kind>/<str:subject_id>/", items.item, name="item"),
    path("items/<slug:kind>/<str:subject_id>/note/", items.write_note, name="item_note"),
    path("items/<slug:kind>/<str:subject_id>/assign/", items.assign, name="item_assign"),
    path("funding/<str:funding_id>/", transfers.funding, name="funding"),
    path("payments/<str:payment_id>/", transfers.payment, name="payment"),
    path("events/<str:event_id>/", webhooks.event, name="event"),
    path("deliveries/<str:delivery_id>/", webhooks.delivery, name="delivery"),
    path("deliveries/<str:delivery_id>/resend/", webhooks.resend, name="delivery_resend"),
    path("ledger/", ledger.ledger, name="ledger"),
    path("ledger/check/", ledger.check, name="check"),
    path("ledger/export/", ledger.export, name="export"),
    path("proofs/", proofs.proofs, name="proofs"),
    path("proofs/<str:day>/", proofs.proof, name="proof"),
    path("proofs/<str:day>.json", proofs.download, name="proof_download"),
    path("queues/", queues.queues, name="queues"),
    path("rails/", rails.rails, name="rails"),
    path("instant-rails/<str:name>/", instant_rails.rail, name="instant_rail"),
    path("instant-rails/<str:name>/change/", instant_rails.change, name="instant_change"),
    path("instant-rails/<str:name>/look-again/", instant_rails.look_again, name="instant_again"),
    path(
        "instant-rails/<str:name>/versions/<int:number>/",
        instant_rails.version,
        name="instant_version",
    ),
    path(
        "instant-rails/<str:name>/versions/<int:number>/decide/",
        instant_rails.decide,
        name="instant_decide",
    ),
    path(
        "instant-rails/<str:name>/versions/<int:number>/withdraw/",
        instant_rails.withdraw,
        name="instant_withdraw",
    ),
    path("rails/<str:name>/", rails.rail, name="rail"),
    path("rails/<str:name>/change/", rails.change, name="rail_change"),
    path("rails/<str:name>/versions/<int:number>/", rails.version, name="rail_version"),
    path("rails/<str:name>/versions/<int:number>/decide/", rails.decide, name="rail_decide"),
    path("rails/<str:name>/test/", rails.test, name="rail_test"),
    path("rails/<str:name>/look-again/", rails.look_again, name="rail_look_again"),
    path("rails/<str:name>/stop/", rails.stop, name="rail_stop"),
    path("rails/<str:name>/stops/<str:switch_id>/", rails.go_on, name="rail_go_on"),
    path("rails/<str:name>/originators/new/", rails.originator, name="originator_new"),
    path(
        "rails/<str:name>/originators/<str:originator_id>/debits/",
        exceptions.release_debits,
        name="originator_debits",
    ),
    path("rails/<str:name>/originators/<str:originator_id>/", rails.originator, name="originator"),
    path(
        "rails/<str:name>/originators/<str:originator_id>/end/",
        rails.end_originator,
        name="originator_end",
    ),
    path("reconciliation/", days.overview, name="reconciliation"),
    path("reconciliation/suspense/", suspense.suspense, name="suspense"),
    path(
        "reconciliation/suspense/<str:booked_id>/",
        suspense.suspense_line,
        name="suspense_line",
    ),
    path(
        "reconciliation/suspense/<str:booked_id>/clear/",
        suspense.clear,
        name="suspense_clear",
    ),
    path(
        "reconciliation/clearings/<str:clearing_id>/",
        suspense.decide,
        name="suspense_decide",
    ),
    path(
        "reconciliation/matches/<str:match_id>/",
        matching.match,
        name="reconciliation_match",
    ),
    path(
        "reconciliation/matches/<str:match_id>/unmatch/",
        matching.unmatch,
        name="reconciliation_unmatch",
    ),
    path(
        "reconciliation/lines/<int:line_id>/match/",
        matching.match_line,
        name="reconciliation_match_line",
    ),
    path(
        "reconciliation/lines/<int:line_id>/book/",
        matching.book_line,
        name="reconciliation_book_line",
    ),
    path(
        "reconciliation/rails/<str:rail>/",
        days.history,
        name="reconciliation_history",
    ),
    path(
        "reconciliation/rails/<str:rail>/<str:day>/close/",
        days.close,
        name="reconciliation_close",
    ),
    path(
        "reconciliation/rails/<str:rail>/open/",
        matching.open_lines,
        name="reconciliation_open",
    ),
    path(
        "reconciliation/rails/<str:rail>/books/<int:line>/",
        days.explain,
        name="reconciliation_explain",
    ),
    path(
        "reconciliation/rails/<str:rail>/<str:day>/",
        days.day,
        name="reconciliation_day",
    ),
    path(
        "reconciliation/rails/<str:rail>/<str:day>/transit/",
        days.transit,
        name="reconciliation_transit",
    ),
    path(
        "reconciliation/rails/<str:rail>/<str:day>/ahead/",
        days.ahead,
        name="reconciliation_ahead",
    ),
    path(
        "reconciliation/rails/<str:rail>/<str:day>/books/",
        days.books,
        name="reconciliation_books",
    ),
    path("statements/", statements.statements, name="statements"),
    path("statements/upload/", statements.upload, name="statement_upload"),
    path("statements/accounts/new/", statements.propose_account, name="settlement_account_new"),
    path(
        "statements/accounts/<str:account_id>/",
        statements.decide_account,
        name="settlement_account",
    ),
    path("statements/<str:statement_id>/", statements.statement, name="statement"),
    path(
        "statements/<str:statement_id>/lines/<int:position>/",
        statements.line,
        name="statement_line",
    ),
    path("tenants/<str:tenant_id>/", tenants.tenant, name="tenant"),
    path("tenants/<str:tenant_id>/suspend/", tenants.suspend, name="suspend"),
    path("tenants/<str:tenant_id>/release/", tenants.release, name="release"),
    path("tenants/<str:tenant_id>/limits/", tenants.limits, name="limits"),
    path("tenants/<str:tenant_id>/view-as/", viewing.view_as, name="view_as"),
    path("stop-viewing/", viewing.stop, name="stop_viewing"),
    path("account-numbers/<str:account_id>/", account_numbers.reveal, name="account_number"),
]
