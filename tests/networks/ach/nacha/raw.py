"""NACHA files put together character by character, without any code of the product.

Positions and sums are written here a third time, so that a file of a test is right because the
rule book says so, and wrong in one place only.
"""

from __future__ import annotations

NINES = "9" * 94
ODFI = "09100001"
RDFI = "09000051"
DEBITS = ("26", "27", "28", "29", "36", "37", "38", "39", "55")


def file_header(
    *,
    priority="01",
    destination=" 091000019",
    origin="1234567890",
    day="261120",
    at="1015",
    modifier="A",
    size="094",
    blocking="10",
    form="1",
):
    names = "FIRST BANK".ljust(23) + "BALLAST".ljust(23) + " " * 8
    return f"1{priority}{destination}{origin}{day}{at}{modifier}{size}{blocking}{form}{names}"


def batch_header(
    *,
    service_class="225",
    company="BALLAST",
    company_id="1234567890",
    sec="CCD",
    description="TOPUP",
    effective="261123",
    settlement="   ",
    status="1",
    odfi=ODFI,
    number="0000001",
):
    return (
        f"5{service_class}{company:<16}{'':20}{company_id:<10}{sec}{description:<10}{'':6}"
        f"{effective:<6}{settlement}{status}{odfi}{number}"
    )


def entry(
    sequence=1,
    *,
    code="27",
    rdfi=RDFI,
    check="5",
    account="744-5678-99",
    amount=150_00,
    identification="ID1",
    name="ACME CORP",
    discretionary="",
    indicator="0",
    trace=None,
):
    trace = trace or f"{ODFI}{sequence:07d}"
    return (
        f"6{code}{rdfi}{check}{account:<17}{amount:010d}{identification:<15}{name:<22}"
        f"{discretionary:<2}{indicator}{trace}"
    )


def addenda_05(sequence=1, *, text="INVOICE 7", number="0001", kind="05"):
    return f"7{kind}{text:<80}{number}{sequence:07d}"


def addenda_99(
    trace, *, code="R01", original=f"{ODFI}0000001", died="", rdfi=RDFI, information="", kind="99"
):
    return f"7{kind}{code}{original}{died:<6}{rdfi}{information:<44}{trace}"


def addenda_98(trace, *, code="C01", original=f"{ODFI}0000001", rdfi=RDFI, data="1918171614"):
    return f"798{code}{original}{'':6}{rdfi}{data:<29}{'':15}{trace}"


def dishonored(trace, *, code="R68", day="325", reason="01"):
    return (
        f"799{code}{ODFI}0000001{'':6}{RDFI}{'':3}{RDFI}0000009{day}{reason}"
        f"{'UNTIMELY RETURN':<21}{trace}"
    )


def contested(trace, *, code="R73"):
    return f"799{code}{ODFI}0000001261124{RDFI}327{RDFI}000000932801{ODFI}000000533168 {trace}"


def refused(trace, *, code="C65"):
    return f"798{code}{ODFI}0000001{'':6}{RDFI}{'1918171614':<29}C010000009{'':5}{trace}"


def batch(*records, **header):
    """A batch header, `records`, and the control that fits them."""
    first = batch_header(**header)
    sums = _sums(records)
    return [
        first,
        *records,
        f"8{first[1:4]}{sums[0]:06d}{sums[1]:010d}{sums[2]:012d}{sums[3]:012d}"
        f"{first[40:50]}{'':25}{first[79:94]}",
    ]


def file(*batches, header=None):
    """The lines of a whole file, its control and its fill."""
    lines = [header or file_header(), *(line for batch in batches for line in batch)]
    count, banks, debit, credit = _sums(lines)
    blocks = -(-(len(lines) + 1) // 10)
    lines.append(
        f"9{len(batches):06d}{blocks:06d}{count:08d}{banks:010d}{debit:012d}{credit:012d}{'':39}"
    )
    return lines + [NINES] * (-len(lines) % 10)


def forward_file():
    """Three batches as we send them: business debits, personal credits, personal debits."""
    return file(
        batch(entry(1), entry(2, indicator="1"), addenda_05(2)),
        batch(
            entry(3, code="22", name="ANNA LEE"),
            entry(4, code="32", name="BO DIAZ", amount=1),
            service_class="220",
            sec="PPD",
            description="PAYOUT",
            number="0000002",
        ),
        batch(
            entry(5, code="37", name="CY YOUNG", discretionary="S"),
            sec="WEB",
            number="0000003",
        ),
    )


def return_file(**addenda):
    """One returned debit, as our bank hands it to us."""
    trace = f"{RDFI}0000007"
    returned = entry(code="26", rdfi=ODFI, check="9", indicator="1", trace=trace)
    return file(
        batch(returned, addenda_99(trace, **addenda), odfi=RDFI, settlement="329"),
        header=file_header(destination="1234567890", origin=" 091000019"),
    )


def noc_file(**addenda):
    """One notification of change."""
    trace = f"{RDFI}0000008"
    changed = entry(code="26", rdfi=ODFI, check="9", indicator="1", amount=0, trace=trace)
    return file(
        batch(changed, addenda_98(trace, **addenda), odfi=RDFI, sec="COR", settlement="329"),
        header=file_header(destination="1234567890", origin=" 091000019"),
    )


def changed(lines, line, position, text):
    """The same lines with `text` at a position of a line, both counted from 1."""
    lines = list(lines)
    old = lines[line - 1]
    lines[line - 1] = old[: position - 1] + text + old[position - 1 + len(text) :]
    return lines


def content(lines, end="\n"):
    return "".join(line + end for line in lines).encode("latin-1")


def _sums(records):
    entries = [record for record in records if record[0] == "6"]
    amounts = [(record[1:3] in DEBITS, int(record[29:39])) for record in entries]
    return (
        sum(record[0] in "67" for record in records),
        sum(int(record[3:11]) for record in entries) % 10**10,
        sum(cents for is_debit, cents in amounts if is_debit),
        sum(cents for is_debit, cents in amounts if not is_debit),
    )
