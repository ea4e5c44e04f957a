"""What the networks' codes mean, for people and for the rules that act on them.

ACH: every return reason of the Nacha Operating Rules (R48, R49, R54-R60, R63-R66, R78, R79 and
R86-R89 are unassigned). RTP: the ISO 20022 reasons of rejections, and of requests
for a return of funds, that this service meets. A code that is not here is a final answer as well:
`lookup` gives a row that asks a person to look.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

CUSTOMER_REFUSED = "CUST"
REQUEST_EXPIRED = "EXPIRED"
WITHDRAWN = "withdrawn"  # our own word: before anything left
TAKEN_BACK = "takeback"  # our own word: by a reversal
NOT_CARRIED = "unsupported"  # our own word: not this method, or not so much
TOO_MUCH = "amount_above_limit"  # our own word: more than the rail moves at once
NOT_REACHED = "unreachable"  # our own word: by the directory of participants


class Group(StrEnum):
    """The return rates Nacha watches: at most 0.5 % unauthorized, 3 % administrative."""

    UNAUTHORIZED = "unauthorized"
    ADMINISTRATIVE = "administrative"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True)
class ReturnCode:
    """One code. Each of the two flags means: no further automatic debit until a person
    has acted."""

    code: str
    title: str
    meaning: str
    advice: str
    group: Group = Group.OTHER
    ends_authorization: bool = False  # the account holder must agree again, or allow us again
    ends_account: bool = False  # these account details must not be used any more


_ADD_AGAIN = "Check the account details and add the account again."
_OTHER_ACCOUNT = "Use another bank account."
_ASK_FIRST = "Get the account holder's agreement before debiting this account again."
_BY_ACH = "Use ACH instead."
_SUPPORT = "Nothing is wrong with the account. Contact support before trying again."
_NOT_OURS = "This service does not send such entries. Contact support."
_BANKS_ONLY = "This is settled between the banks. Contact support."


def _code(code: str, title: str, meaning: str, advice: str) -> ReturnCode:
    return ReturnCode(code=code, title=title, meaning=meaning, advice=advice)


# Why the bank of whoever paid asked for the money back (camt.056). The same codes may refuse a
# payment, so no sentence says what became of the money.
_ASKED_BACK = (
    _code(
        "AM09",
        "Wrong amount",
        "The other bank says that the amount was wrong.",
        "Agree on the amount with the account holder, then try again.",
    ),
    _code(
        "CURR",
        "Wrong currency",
        "The other bank says that the currency was wrong.",
        _SUPPORT,
    ),
    _code(
        "CUTA",
        "Could not be handled",
        "The other bank says that it could not handle the payment.",
        "Ask the account holder why, then try again.",
    ),
    _code(
        "DUPL",
        "Sent twice",
        "The other bank says that the payment was sent twice.",
        "Try again only if the money did not arrive by another payment.",
    ),
    _code(
        "FRAD",
        "Reported as fraud",
        "The other bank says that the payment was fraud.",
        "Find out what happened, and get the account holder's agreement before using this account"
        " again.",
    ),
    _code(
        "TECH",
        "Sent by mistake",
        "The other bank says that a technical fault sent the payment.",
        "Try again if the payment was meant.",
    ),
    _code(
        "UPAY",
        "Not due",
        "The other bank says that the payment was not due.",
        "Settle with the account holder what is due before you try again.",
    ),
    _code(
        "WNTB",
        "Request for payment not agreed to",
        "The other bank says that the account holder had not agreed to this request for payment.",
        _ASK_FIRST,
    ),
)

_TABLE = (
    *_ASKED_BACK,
    _code(
        "R01",
        "Insufficient funds",
        "The account did not hold enough money.",
        "Try again when the account has enough money.",
    ),
    _code("R02", "Account closed", "The account has been closed.", _OTHER_ACCOUNT),
    _code(
        "R03",
        "No account found",
        "The bank has no such account, or its holder has another name.",
        _ADD_AGAIN,
    ),
    _code("R04", "Invalid account number", "The account number has the wrong form.", _ADD_AGAIN),
    _code(
        "R05",
        "Unauthorized business debit to a personal account",
        "The account belongs to a person, but was debited as a business account.",
        "Add the account again as an individual's account, with a new authorization.",
    ),
    _code(
        "R06",
        "Returned at our bank's request",
        "Our bank asked for this entry to be sent back.",
        _SUPPORT,
    ),
    _code(
        "R07",
        "Authorization revoked",
        "The account holder has withdrawn the permission to debit.",
        _ASK_FIRST,
    ),
    _code("R08", "Payment stopped", "The holder told the bank to stop this debit.", _ASK_FIRST),
    _code(
        "R09",
        "Uncollected funds",
        "The account holds the money, but part of it has not cleared yet.",
        "Try again in a few days, when deposits have cleared.",
    ),
    _code(
        "R10",
        "Not authorized",
        "The account holder does not know the debit or did not authorize it.",
        "Do not debit this account again. Find out who gave you its details.",
    ),
    _code(
        "R11",
        "Not as authorized",
        "The debit differs from what was authorized, for example in amount or date.",
        "Correct what was wrong with the account holder before debiting again.",
    ),
    _code(
        "R12",
        "Account moved to another bank",
        "The branch or the account was sold to another bank.",
        "Add the account again with its new routing number.",
    ),
    _code("R13", "Invalid routing number", "No bank has this routing number.", _ADD_AGAIN),
    _code(
        "R14",
        "Representative payee gone",
        "The person acting for the account holder has died or can no longer act.",
        _OTHER_ACCOUNT,
    ),
    _code("R15", "Account holder deceased", "The account holder has died.", _OTHER_ACCOUNT),
    _code(
        "R16",
        "Account frozen",
        "The account is frozen by the bank or by law.",
        "Use another bank account, and ask the bank why this one is frozen.",
    ),
    _code(
        "R17",
        "Could not be processed",
        "The bank could not process the entry, or found it questionable.",
        "Ask the bank what it objected to before trying again.",
    ),
    _code("R18", "Improper effective date", "The date in the entry is not allowed.", _SUPPORT),
    _code("R19", "Amount error", "The amount in the entry is not valid.", _SUPPORT),
    _code(
        "R20",
        "Not a transaction account",
        "The account does not allow electronic debits or credits.",
        "Use a checking account.",
    ),
    _code(
        "R21",
        "Company not recognized",
        "The bank does not accept our company identification on this account.",
        "Ask the bank to allow debits from us, then try again.",
    ),
    _code(
        "R22",
        "Invalid individual identification",
        "The account holder does not recognize the identification in the entry.",
        "Check the account holder's details with them, then try again.",
    ),
    _code(
        "R23",
        "Credit refused",
        "The account holder refused the money.",
        "Ask the account holder why before sending it again.",
    ),
    _code("R24", "Duplicate entry", "The bank saw the same entry before.", _SUPPORT),
    _code("R25", "Addenda error", "The additional record of the entry is wrong.", _SUPPORT),
    _code("R26", "Mandatory field missing", "A required field is empty or wrong.", _SUPPORT),
    _code("R27", "Trace number error", "A return did not name its original entry.", _SUPPORT),
    _code(
        "R28", "Routing number check digit wrong", "The routing number was mistyped.", _ADD_AGAIN
    ),
    _code(
        "R29",
        "Not authorized by the business",
        "The business told its bank that this debit was not authorized; often a debit block.",
        "Ask the bank to allow debits from us, then authorize the account again.",
    ),
    _code("R30", "No check truncation", "The bank does not take truncated checks.", _NOT_OURS),
    _code(
        "R31",
        "Late return agreed",
        "Our bank agreed to take back a business debit after the usual time.",
        _ASK_FIRST,
    ),
    _code("R32", "Bank cannot settle", "The bank is not able to settle entries.", _OTHER_ACCOUNT),
    _code("R33", "XCK entry returned", "A destroyed-check entry was returned.", _NOT_OURS),
    _code(
        "R34",
        "Bank takes part only in part",
        "The bank's participation is limited and excludes this entry.",
        _OTHER_ACCOUNT,
    ),
    _code("R35", "Debit not allowed", "This account cannot be debited.", _OTHER_ACCOUNT),
    _code("R36", "Credit not allowed", "This kind of entry cannot carry a credit.", _SUPPORT),
    _code("R37", "Check presented too", "The check itself was also presented.", _NOT_OURS),
    _code("R38", "Check stopped", "Payment of the check was stopped.", _NOT_OURS),
    _code("R39", "Improper check", "The check may not be converted to an entry.", _NOT_OURS),
    _code("R40", "Enrolment returned", "The agency returned an enrolment.", _NOT_OURS),
    _code("R41", "Enrolment: transaction code", "The transaction code is wrong.", _NOT_OURS),
    _code("R42", "Enrolment: routing number", "The routing number is wrong.", _NOT_OURS),
    _code("R43", "Enrolment: account number", "The account number is wrong.", _NOT_OURS),
    _code("R44", "Enrolment: identification", "The individual's number is wrong.", _NOT_OURS),
    _code("R45", "Enrolment: name", "The name is wrong.", _NOT_OURS),
    _code("R46", "Enrolment: representative", "The payee indicator is wrong.", _NOT_OURS),
    _code("R47", "Enrolment: duplicate", "The enrolment was sent before.", _NOT_OURS),
    _code("R50", "State law on check entries", "State law forbids the entry.", _NOT_OURS),
    _code("R51", "Check entry improper", "The check may not be re-presented.", _NOT_OURS),
    _code("R52", "Check entry stopped", "Payment of the check was stopped.", _NOT_OURS),
    _code("R53", "Check and entry presented", "Both were presented.", _NOT_OURS),
    _code("R61", "Dishonored: misrouted", "A return went to the wrong bank.", _BANKS_ONLY),
    _code("R62", "Dishonored: reversal", "A reversal left an unintended credit.", _BANKS_ONLY),
    _code("R67", "Dishonored: duplicate", "A return was sent twice.", _BANKS_ONLY),
    _code("R68", "Dishonored: too late", "A return missed its deadline.", _BANKS_ONLY),
    _code("R69", "Dishonored: field error", "A return has wrong fields.", _BANKS_ONLY),
    _code("R70", "Dishonored: not agreed", "A return lacked its agreement.", _BANKS_ONLY),
    _code("R71", "Contested: misrouted", "The dishonor was misrouted.", _BANKS_ONLY),
    _code("R72", "Contested: too late", "The dishonor missed its deadline.", _BANKS_ONLY),
    _code("R73", "Contested: timely return", "The return was in time.", _BANKS_ONLY),
    _code("R74", "Corrected return", "A return was sent again, corrected.", _BANKS_ONLY),
    _code("R75", "Contested: no duplicate", "The return was sent once only.", _BANKS_ONLY),
    _code("R76", "Contested: no errors", "The return has no errors.", _BANKS_ONLY),
    _code("R77", "Contested: reversal", "The dishonor was not accepted.", _BANKS_ONLY),
    _code("R80", "International coding error", "A field is wrong.", _NOT_OURS),
    _code("R81", "No international entries", "The bank takes none.", _NOT_OURS),
    _code("R82", "Foreign bank unknown", "The foreign bank's number is wrong.", _NOT_OURS),
    _code("R83", "Foreign bank cannot settle", "It could not settle the entry.", _NOT_OURS),
    _code("R84", "Gateway did not process", "The gateway refused the entry.", _NOT_OURS),
    _code(
        "R85",
        "International payment sent as domestic",
        "The money goes abroad, but the entry was sent as a domestic one.",
        _OTHER_ACCOUNT,
    ),
    _code(
        "R90",
        "Returned for sanctions",
        "The bank returned the entry to meet its sanctions obligations.",
        "Do not try again. Contact support.",
    ),
    _code("AC01", "Incorrect account number", "The account number is wrong.", _ADD_AGAIN),
    _code("AC02", "Invalid payer account", "The account to pay from is not valid.", _ADD_AGAIN),
    _code("AC03", "Invalid account number", "The account number is not valid.", _ADD_AGAIN),
    _code("AC04", "Account closed", "The account has been closed.", _OTHER_ACCOUNT),
    _code("AC06", "Account blocked", "The account is blocked.", _OTHER_ACCOUNT),
    _code("MD07", "Account holder deceased", "The account holder has died.", _OTHER_ACCOUNT),
    _code(
        "SL12",
        "Requests for payment switched off",
        "The account holder takes no requests for payment from us.",
        _ASK_FIRST,
    ),
    _code(
        "AM04",
        "Insufficient funds",
        "The account did not hold enough money.",
        "Try again when the account has enough money.",
    ),
    _code(
        CUSTOMER_REFUSED,
        "Refused by the account holder",
        "The account holder refused the request for payment, or asked for the money back.",
        "Ask the account holder to approve the request at their bank, then try again.",
    ),
    _code(
        REQUEST_EXPIRED,
        "No answer in time",
        "Nobody answered the request for payment before it expired.",
        "Try again and approve the request at your bank.",
    ),
    *(
        _code(code, "The bank takes no instant payment", f"{meaning}. No money moved.", _BY_ACH)
        for code, meaning in (
            (NOT_CARRIED, "The network does not carry this kind of payment, or so much"),
            (NOT_REACHED, "The other bank takes no instant payments"),
            ("AG03", "The other bank does not support this kind of payment"),
            ("AGNT", "The other bank is not part of the network"),
            ("RC04", "The network does not know the other bank"),
            ("NOAT", "The other bank does not take this kind of message"),
            ("9910", "The other bank is signed off from the network"),
            ("9912", "The other bank is not available"),
            ("9947", "The other bank is suspended from the network"),
            ("9964", "The other bank is not a participant of the network"),
        )
    ),
    *(
        _code(code, "Too much for an instant payment", f"{meaning}. No money moved.", _BY_ACH)
        for code, meaning in (
            (TOO_MUCH, "The amount is above what we send instantly at once"),
            ("AM02", "The amount is above what the other bank takes instantly"),
            ("AM13", "The amount is above what the network moves instantly"),
            ("AM14", "The amount is above what was agreed with the bank"),
        )
    ),
    *(
        _code(
            code,
            "No answer in time",
            "The other bank did not answer in time, so the network rejected it. No money moved.",
            "Try again later, or use ACH instead.",
        )
        for code in ("DS24", "E996", "E997")
    ),
    _code(
        WITHDRAWN,
        "Withdrawn before it was sent",
        "We took it back before it was sent. No money moved.",
        "Contact support before trying again.",
    ),
    _code(
        TAKEN_BACK,
        "Taken back by us",
        "The entry was wrong, so we sent the opposite one.",
        _SUPPORT,
    ),
)

_UNAUTHORIZED = frozenset(["R05", "R07", "R10", "R11", "R29", "R51"])
_ADMINISTRATIVE = frozenset(["R02", "R03", "R04"])
_ENDS_AUTHORIZATION = _UNAUTHORIZED | {
    *("R08", "R14", "R15", "R17", "R21", "R22", "R31", "R90", "SL12", "FRAD", "UPAY", "WNTB"),
}
_ENDS_ACCOUNT = _ADMINISTRATIVE | {
    *("R12", "R13", "R14", "R15", "R16", "R20", "R28", "R32", "R34", "R35", "R85", "R90"),
    *("AC01", "AC02", "AC03", "AC04", "AC06", "MD07"),
}


def _group(code: str) -> Group:
    if code in _UNAUTHORIZED:
        return Group.UNAUTHORIZED
    return Group.ADMINISTRATIVE if code in _ADMINISTRATIVE else Group.OTHER


ALL = MappingProxyType(
    {
        row.code: replace(
            row,
            group=_group(row.code),
            ends_authorization=row.code in _ENDS_AUTHORIZATION,
            ends_account=row.code in _ENDS_ACCOUNT,
        )
        for row in _TABLE
    }
)


# What a notification of change says: which detail of an account was wrong.
CHANGES = MappingProxyType(
    {
        "C01": "Account number",
        "C02": "Routing number",
        "C03": "Routing and account number",
        "C04": "Name",
        "C05": "Kind of account",
        "C06": "Account number and kind of account",
        "C07": "Routing number, account number and kind of account",
        "C08": "Receiving bank of an international entry",
        "C09": "Individual id",
        "C13": "Format of addenda",
        "C14": "Class of an international entry",
    }
)


_OF_ACH = re.compile(r"R[0-9]{2}")  # RC04 is a word of instant networks


def title(code: str) -> str:
    """The words for a return or a change, or "Unknown code"."""
    return CHANGES.get(code) or lookup(code).title


def is_ach_return(code: str) -> bool:
    """Whether `code` is an assigned ACH return reason."""
    return code in ALL and _OF_ACH.fullmatch(code) is not None


def lookup(code: str) -> ReturnCode:
    """The row of `code`; for an unknown code, a row that stops automatic debits."""
    return ALL.get(code) or ReturnCode(
        code=code,
        title="Unknown code",
        meaning="The bank answered with a code that is not in the rules we know.",
        advice="Contact support before trying again.",
        ends_authorization=True,
    )
