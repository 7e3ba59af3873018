"""Spreadsheets for tests, written as far as readers need it."""

import datetime
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

Cells = Sequence[Sequence[object]]

_FIRST_DAY = datetime.datetime(1899, 12, 30)
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PARTS = "http://schemas.openxmlformats.org/package/2006/relationships"
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STYLES = (
    f'{_XML}<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def write(path: Path, **sheets: Cells) -> Path:
    """Write the cells of each sheet, row by row; None is an empty cell."""
    named = dict(enumerate(sheets, 1))
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", _content_types(named))
        file.writestr("_rels/.rels", _relations({"officeDocument": "xl/workbook.xml"}))
        listed = "".join(f'<sheet name={quoteattr(n)} sheetId="{i}" r:id="r{i}"/>' for i, n in named.items())
        file.writestr(
            "xl/workbook.xml",
            f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_KINDS}"><sheets>{listed}</sheets></workbook>',
        )
        targets = {f"worksheet {i}": f"worksheets/sheet{i}.xml" for i in named} | {"styles": "styles.xml"}
        file.writestr("xl/_rels/workbook.xml.rels", _relations(targets))
        file.writestr("xl/styles.xml", _STYLES)
        for i, name in named.items():
            file.writestr(f"xl/worksheets/sheet{i}.xml", _sheet(sheets[name]))
    return path


def _content_types(named: Mapping[int, str]) -> str:
    office = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {"workbook": "sheet.main", "styles": "styles"} | {f"worksheets/sheet{i}": "worksheet" for i in named}
    told = "".join(
        f'<Override PartName="/xl/{part}.xml" ContentType="{office}.{kind}+xml"/>' for part, kind in parts.items()
    )
    default = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    return f'{_XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{default}{told}</Types>'


def _relations(targets: Mapping[str, str]) -> str:
    told = "".join(
        f'<Relationship Id="r{i}" Type="{_KINDS}/{kind.split()[0]}" Target="{target}"/>'
        for i, (kind, target) in enumerate(targets.items(), 1)
    )
    return f'{_XML}<Relationships xmlns="{_PARTS}">{told}</Relationships>'


def _sheet(rows: Cells) -> str:
    told = "".join(
        f'<row r="{r}">' + "".join(_cell(f"{chr(65 + c)}{r}", value) for c, value in enumerate(row)) + "</row>"
        for r, row in enumerate(rows, 1)
    )
    return f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>{told}</sheetData></worksheet>'


def _cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime.datetime):
        return f'<c r="{place}" s="1"><v>{(value - _FIRST_DAY) / datetime.timedelta(1)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'
