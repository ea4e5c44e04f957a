"""One pass over a bank statement of many lines, in a process of its own without Django.

`python -m benchmarks.statement_readers write|read|collect|bare bai2|camt FILE LINES` prints CPU
seconds and the most memory that the process had. `bare` splits the lines of BAI2, or goes through
the elements of camt, and does nothing with them: no reader can be faster. `collect` keeps every
line, which a stream does not.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from benchmarks.ach_codec import peak_mib
from networks.bank_statements.faults import Fault
from networks.bank_statements.items import Line
from networks.bank_statements.reading import collect, read

_OPENING = 1_000_000
_NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"


def _bai2(count: int) -> Iterator[str]:
    total = count * (count + 1) // 2
    closing = _OPENING + total
    control = _OPENING + closing + 2 * total
    yield "01,122099999,123456789,261128,0200,1,,,2/\n02,031001234,122099999,1,261127,2359,USD,2/\n"
    yield f"03,0123456789,USD,010,{_OPENING},,,015,{closing},,/\n88,100,{total},{count},/\n"
    for number in range(1, count + 1):
        yield f"16,142,{number},0,B{number},{number:015d},ACME CORPORATION {number}\n"
    yield f"49,{control},{count + 3}/\n98,{control},1,{count + 5}/\n99,{control},1,{count + 7}/\n"


def _camt(count: int) -> Iterator[str]:
    closing = _OPENING + count * (count + 1) // 2
    yield f'<Document xmlns="{_NAMESPACE}"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr><Stmt>'
    yield "<Id>S</Id><Acct><Id><Othr><Id>0123456789</Id></Othr></Id></Acct>"
    for code, amount in (("OPBD", _OPENING), ("CLBD", closing)):
        yield f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>{_amount(amount)}"
        yield "<Dt><Dt>2026-11-27</Dt></Dt></Bal>\n"
    for number in range(1, count + 1):
        yield (
            f"<Ntry>{_amount(number)}<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-27</Dt></BookgDt>"
            f"<ValDt><Dt>2026-11-27</Dt></ValDt><AcctSvcrRef>B{number}</AcctSvcrRef><BkTxCd><Domn>"
            "<Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd>"
            f"<NtryDtls><TxDtls><Refs><EndToEndId>{number:015d}</EndToEndId></Refs><AddtlTxInf>"
            f"ACME CORPORATION {number}</AddtlTxInf></TxDtls></NtryDtls></Ntry>\n"
        )
    yield "</Stmt></BkToCstmrStmt></Document>\n"


def _amount(cents: int) -> str:
    return f'<Amt Ccy="USD">{cents // 100}.{cents % 100:02}</Amt><CdtDbtInd>CRDT</CdtDbtInd>'


_WRITERS = {"bai2": _bai2, "camt": _camt}


def _write(form: str, path: Path, count: int) -> int:
    with path.open("w") as file:
        file.writelines(_WRITERS[form](count))
    return count


def _read(_form: str, path: Path, _count: int) -> int:
    """Lines read, or 0 if anything was wrong with them."""
    lines = faults = 0
    with path.open("rb") as source:
        for event in read(source):
            lines += isinstance(event, Line)
            faults += isinstance(event, Fault)
    return 0 if faults else lines


def _collect(_form: str, path: Path, _count: int) -> int:
    with path.open("rb") as source:
        return sum(len(each.lines) for each in collect(read(source)).statements)


def _bare(form: str, path: Path, count: int) -> int:
    if form == "bai2":
        with path.open("rb") as source:
            return sum(1 for line in source if line.split(b",")[0] == b"16")
    entries = 0
    for _, element in etree.iterparse(str(path), resolve_entities=False):
        entries += element.tag.endswith("}Ntry")
        element.clear()
    return entries


_PASSES = {"write": _write, "read": _read, "collect": _collect, "bare": _bare}


def main() -> None:
    what, form, path, count = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    began = time.process_time()
    done = _PASSES[what](form, path, count)
    seconds = time.process_time() - began
    found = {"lines": done, "cpu_seconds": seconds, "peak_mib": peak_mib()}
    sys.stdout.write(json.dumps({**found, "django": "django" in sys.modules}) + "\n")


if __name__ == "__main__":
    main()
