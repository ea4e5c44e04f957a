"""Where each field of a record stands. Positions count from 1, as in the rule book."""

from __future__ import annotations

from dataclasses import dataclass

RECORD = 94
BLOCK = 10
PADDING = "9" * RECORD
ENTRY_LIMIT = 10**10
HASH_LIMIT = 10**10
TRACE_LIMIT = 10**7


class Layout:
    """One kind of record: reads its fields, and writes them."""

    def __init__(self, start: str, **fields: tuple[int, int]) -> None:
        self.start = start
        self.slices = {name: slice(first - 1, last) for name, (first, last) in fields.items()}

    def read(self, record: str) -> dict[str, str]:
        return {name: record[where] for name, where in self.slices.items()}

    def write(self, **values: str | int) -> str:
        """Numbers are filled with zeros on the left, text with blanks on the right and cut."""
        record = list(self.start.ljust(RECORD))
        for name, value in values.items():
            where = self.slices[name]
            width = where.stop - where.start
            text = str(value).zfill(width) if isinstance(value, int) else value.ljust(width)
            if isinstance(value, int) and len(text) > width:
                raise ValueError(f"{name} has room for {width} digits, not for {value}")
            record[where] = text[:width]
        return "".join(record)


FILE_HEADER = Layout(
    "101",
    priority=(2, 3),
    destination=(4, 13),
    origin=(14, 23),
    date=(24, 29),
    time=(30, 33),
    modifier=(34, 34),
    record_size=(35, 37),
    blocking=(38, 39),
    format=(40, 40),
    destination_name=(41, 63),
    origin_name=(64, 86),
    reference=(87, 94),
)
BATCH_HEADER = Layout(
    "5",
    service_class=(2, 4),
    company_name=(5, 20),
    discretionary=(21, 40),
    company_id=(41, 50),
    sec=(51, 53),
    description=(54, 63),
    descriptive_date=(64, 69),
    effective=(70, 75),
    settlement=(76, 78),
    status=(79, 79),
    odfi=(80, 87),
    number=(88, 94),
)
ENTRY = Layout(
    "6",
    code=(2, 3),
    rdfi=(4, 11),
    check=(12, 12),
    account=(13, 29),
    amount=(30, 39),
    individual_id=(40, 54),
    name=(55, 76),
    discretionary=(77, 78),
    addenda=(79, 79),
    trace=(80, 94),
)
ADDENDA = Layout("7", type=(2, 3), text=(4, 83), sequence=(84, 87), entry=(88, 94))
RETURN = Layout(
    "799",
    type=(2, 3),
    code=(4, 6),
    original_trace=(7, 21),
    death=(22, 27),
    original_rdfi=(28, 35),
    text=(36, 79),
    trace=(80, 94),
)
DISHONORED = Layout(
    "799",
    type=(2, 3),
    code=(4, 6),
    original_trace=(7, 21),
    original_rdfi=(28, 35),
    return_trace=(39, 53),
    return_settlement=(54, 56),
    return_code=(57, 58),
    text=(59, 79),
    trace=(80, 94),
)
CONTESTED = Layout(
    "799",
    type=(2, 3),
    code=(4, 6),
    original_trace=(7, 21),
    original_returned=(22, 27),
    original_rdfi=(28, 35),
    original_settlement=(36, 38),
    return_trace=(39, 53),
    return_settlement=(54, 56),
    return_code=(57, 58),
    dishonored_trace=(59, 73),
    dishonored_settlement=(74, 76),
    dishonored_code=(77, 78),
    trace=(80, 94),
)
CHANGE = Layout(
    "798",
    type=(2, 3),
    code=(4, 6),
    original_trace=(7, 21),
    original_rdfi=(28, 35),
    corrected=(36, 64),
    refused_code=(65, 67),
    refused_trace=(68, 74),
    trace=(80, 94),
)
BATCH_CONTROL = Layout(
    "8",
    service_class=(2, 4),
    count=(5, 10),
    hash=(11, 20),
    debit=(21, 32),
    credit=(33, 44),
    company_id=(45, 54),
    mac=(55, 73),
    odfi=(80, 87),
    number=(88, 94),
)
FILE_CONTROL = Layout(
    "9",
    batches=(2, 7),
    blocks=(8, 13),
    count=(14, 21),
    hash=(22, 31),
    debit=(32, 43),
    credit=(44, 55),
    reserved=(56, 94),
)

DEBITS = frozenset({"26", "27", "28", "29", "36", "37", "38", "39", "46", "47", "48", "49"}) | {
    "55",
    "56",
}
CREDITS = frozenset({"21", "22", "23", "24", "31", "32", "33", "34", "41", "42", "43", "44"}) | {
    "51",
    "52",
    "53",
    "54",
}
RETURNS = frozenset({"21", "26", "31", "36", "41", "46", "51", "56"})
PRENOTES = frozenset({"23", "28", "33", "38", "43", "48", "53"})
ZERO_DOLLAR = frozenset({"24", "29", "34", "39", "44", "49", "54"})


def answer_code(code: str) -> str:
    """The transaction code with which a return or a change names an entry of this code."""
    return code[0] + ("1" if code in CREDITS else "6")


def check_digit(routing: str) -> str:
    """The ninth digit that belongs to eight."""
    weights = (3, 7, 1, 3, 7, 1, 3, 7)
    total = sum(int(digit) * weight for digit, weight in zip(routing, weights, strict=True))
    return str(-total % 10)


@dataclass
class Totals:
    """What the control records say of a batch or a file. Amounts in cents."""

    count: int = 0
    hash: int = 0
    debit: int = 0
    credit: int = 0

    def add(self, other: Totals) -> None:
        self.count += other.count
        self.hash += other.hash
        self.debit += other.debit
        self.credit += other.credit
