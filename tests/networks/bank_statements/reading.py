"""What reading says of a file, and right files to start from.

The files are written by hand, by the rules of the formats, and every sum in them is worked out on
paper: `BAI2` has the two accounts of an example of the specification, made complete.
"""

from __future__ import annotations

from io import BytesIO

from networks.bank_statements.faults import Fault, Scope
from networks.bank_statements.items import Heading, Line
from networks.bank_statements.reading import collect, read

BAI2 = """\
01,122099999,123456789,261128,0200,1,,,2/
02,031001234,122099999,1,261127,2359,,2/
03,0123456789,USD,010,+4350000,,,015,5300000,,/
88,100,1450000,2,,400,500000,1,/
16,115,450000,S,100000,200000,150000,,,/
16,165,1000000,1,DD1620,CUST-7,DEALER PAYMENTS, INC.
16,557,500000,V,261130,1200,R1,021000020000001,R01 JANE DOE
88,AMOUNT 5,000.00
49,13550000,7/
98,13550000,1,9/
99,13550000,1,11/
"""

CAMT = """\
<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">
<BkToCstmrStmt>
<GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-11-28T06:00:00-05:00</CreDtTm></GrpHdr>
<Stmt>
<Id>S1</Id><ElctrncSeqNb>17</ElctrncSeqNb><LglSeqNb>12</LglSeqNb>
<CreDtTm>2026-11-28T06:00:00-05:00</CreDtTm>
<FrToDt><FrDtTm>2026-11-27T00:00:00-05:00</FrDtTm><ToDtTm>2026-11-27T23:59:59-05:00</ToDtTm></FrToDt>
<Acct><Id><Othr><Id>0123456789</Id></Othr></Id><Ccy>USD</Ccy>
<Svcr><FinInstnId><ClrSysMmbId><MmbId>122099999</MmbId></ClrSysMmbId></FinInstnId></Svcr></Acct>
<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="USD">1000.00</Amt>
<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-27</Dt></Dt></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="USD">1069.5</Amt>
<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-27</Dt></Dt></Bal>
<TxsSummry><TtlNtries><NbOfNtries>3</NbOfNtries><Sum>130.50</Sum></TtlNtries>
<TtlCdtNtries><NbOfNtries>1</NbOfNtries><Sum>100</Sum></TtlCdtNtries>
<TtlDbtNtries><NbOfNtries>2</NbOfNtries><Sum>30.50</Sum></TtlDbtNtries></TxsSummry>
<Ntry><NtryRef>N1</NtryRef><Amt Ccy="USD">100.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>
<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-27</Dt></BookgDt><ValDt><Dt>2026-11-30</Dt></ValDt>
<AcctSvcrRef>A1</AcctSvcrRef>
<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>PMDD</SubFmlyCd></Fmly></Domn></BkTxCd>
<NtryDtls><Btch><MsgId>FILE7</MsgId><PmtInfId>F7B1</PmtInfId><NbOfTxs>2</NbOfTxs></Btch>
<TxDtls><Refs><EndToEndId>E1</EndToEndId></Refs><Amt Ccy="USD">60.00</Amt></TxDtls>
<TxDtls><Refs><EndToEndId>E2</EndToEndId></Refs><Amt Ccy="USD">40.00</Amt>
<RltdPties><Dbtr><Pty><Nm>ACME</Nm></Pty></Dbtr></RltdPties>
<RmtInf><Ustrd>INVOICE 7</Ustrd><Ustrd>THANK YOU</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
<Ntry><Amt Ccy="USD">30.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><RvslInd>true</RvslInd>
<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-27</Dt></BookgDt>
<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>UPDD</SubFmlyCd></Fmly></Domn></BkTxCd>
<NtryDtls><TxDtls><Refs><EndToEndId>E3</EndToEndId><TxId>T3</TxId><ClrSysRef>021000020000001</ClrSysRef>
</Refs><RtrInf><Rsn><Cd>R01</Cd></Rsn></RtrInf></TxDtls></NtryDtls>
<AddtlNtryInf>RETURN</AddtlNtryInf></Ntry>
<Ntry><Amt Ccy="USD">0.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
<BkTxCd><Prtry><Cd>698</Cd><Issr>BAI</Issr></Prtry></BkTxCd></Ntry>
</Stmt>
</BkToCstmrStmt>
</Document>
"""


def events(content):
    data = content.encode() if isinstance(content, str) else content
    return list(read(BytesIO(data)))


def whole(content):
    return collect(events(content))


def only(content):
    """The one statement of a file without a fault."""
    file = whole(content)
    (statement,) = file.statements
    assert not file.faults
    return statement


def headings(content):
    return [event for event in events(content) if isinstance(event, Heading)]


def lines(content):
    return [event for event in events(content) if isinstance(event, Line)]


def faults(content):
    """Position and code of each fault, notes left out."""
    return [
        (event.position, event.code)
        for event in events(content)
        if isinstance(event, Fault) and event.scope is not Scope.NOTE
    ]


def notes(content):
    return [
        (event.position, event.code)
        for event in events(content)
        if isinstance(event, Fault) and event.scope is Scope.NOTE
    ]


def changed(content, *pairs):
    """The same with texts replaced, each of which stands there."""
    for old, new in pairs:
        assert old in content, old
        content = content.replace(old, new, 1)
    return content
