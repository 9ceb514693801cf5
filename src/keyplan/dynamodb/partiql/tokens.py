"""The tokens of PartiQL, and the errors of statements."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from keyplan.dynamodb.expressions import ExpressionFault


class StatementFault(ExpressionFault):
    """A statement that DynamoDB rejects. ``message`` is the service's full message."""


def not_well_formed(detail: str = "") -> StatementFault:
    """The error for a statement that can't be parsed, with a detail if the statement could be tokenized."""
    return StatementFault(f"Statement wasn't well formed, can't be processed: {detail}")


OPERATORS = frozenset({"IS", "LIKE", "IN", "BETWEEN", "AND", "OR"})
_RESERVED = """
ABSOLUTE ACTION ADD ALL ALLOCATE ALTER ANY ARE AS ASC ASSERTION AT AUTHORIZATION AVG BEGIN BIT BIT_LENGTH BY CASCADE
CASCADED CASE CAST CATALOG CHAR CHARACTER CHARACTER_LENGTH CHAR_LENGTH CHECK CLOSE COALESCE COLLATE COLLATION COLUMN
COMMIT CONFLICT CONNECT CONNECTION CONSTRAINT CONSTRAINTS CONTINUE CONVERT CORRESPONDING COUNT CREATE CROSS CURRENT
CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATE DEALLOCATE DEC DECIMAL DECLARE DEFAULT
DEFERRABLE DEFERRED DELETE DESC DESCRIBE DESCRIPTOR DIAGNOSTICS DISCONNECT DISTINCT DO DOMAIN DOUBLE DROP ELSE END
ESCAPE EXCEPT EXCEPTION EXEC EXECUTE EXISTS EXTERNAL EXTRACT FALSE FETCH FIRST FLOAT FOR FOREIGN FOUND FROM FULL GET
GLOBAL GO GOTO GRANT GROUP HAVING IDENTITY IMMEDIATE INDEX INDICATOR INITIALLY INNER INPUT INSENSITIVE INSERT INT
INTEGER INTERSECT INTERVAL INTO ISOLATION JOIN KEY LANGUAGE LAST LEFT LEVEL LIMIT LOCAL LOWER MATCH MAX MIN MISSING
MODULE NAMES NATIONAL NATURAL NCHAR NEXT NO NOT NULL NULLIF NUMERIC OCTET_LENGTH OF OFFSET ON ONLY OPEN OPTION ORDER
OUTER OUTPUT OVERLAPS PAD PARTIAL PIVOT POSITION PRECISION PREPARE PRESERVE PRIMARY PRIOR PRIVILEGES PROCEDURE
PUBLIC READ REAL REFERENCES RELATIVE REMOVE RESTRICT RETURNING REVOKE RIGHT ROLLBACK ROWS SCHEMA SCROLL SECTION
SELECT SESSION SESSION_USER SET SIZE SMALLINT SOME SPACE SQL SQLCODE SQLERROR SQLSTATE SUBSTRING SUM SYSTEM_USER
TABLE TEMPORARY THEN TIME TIMESTAMP TO TRANSACTION TRANSLATE TRANSLATION TRIM TRUE TUPLE UNION UNIQUE UNKNOWN
UNPIVOT UPDATE UPPER USAGE USER USING VALUE VALUES VARCHAR VARYING VIEW WHEN WHENEVER WHERE WITH WORK WRITE ZONE
"""
KEYWORDS = OPERATORS | frozenset(_RESERVED.split())
"""Words that can't be names unless quoted: the reserved words of SQL-92 and PartiQL. MODIFIED, OLD and NEW are keywords
only after RETURNING. ``a.size``, ``a.inner`` and ``key`` were recorded as rejected by the service; which SQL words are
names (``year``, ``second``) follows DynamoDB Local.
"""

_TOKEN = re.compile(
    r"""(?:[ \t\r\n\f] | --[^\n]*+ | /\*(?>.*?\*/))*+(?:
    (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
    | (?P<quoted>"(?:[^"]|"")*+")
    | (?P<string>'(?:[^']|'')*+')
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<symbol><<|>>|<>|!=|<=|>=|\|\||/(?!\*)|[=<>()\[\]{},.:;?*+\-%])
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_INT32_END = 2**31
_EXPONENT_DIGITS_MAX = 10


class Place(NamedTuple):
    """A position: line and column, both from 1, and the length in characters."""

    line: int
    column: int
    length: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}:{self.length}"


class Token(NamedTuple):
    """A token; ``kind`` is word, quoted, string, number, end, or the keyword or symbol; ``text`` is its content."""

    kind: str
    text: str
    place: Place


def tokenize(text: str) -> list[Token]:
    tokens: list[Token] = []
    lines = [0, *(index + 1 for index, sign in enumerate(text) if sign == "\n")]
    position = 0
    while True:
        match = _TOKEN.match(text, position)
        if match is None:
            raise not_well_formed()
        kind = match.lastgroup or "end"
        written = match[kind]
        start, position = match.start(kind), match.end()
        line = bisect_right(lines, start)
        place = Place(line, start - lines[line - 1] + 1, len(written))
        tokens.append(Token(*_kind_and_content(kind, written), place))
        if kind == "end":
            return tokens


def _kind_and_content(kind: str, written: str) -> tuple[str, str]:
    match kind:
        case "symbol":
            return "<>" if written == "!=" else written, written
        case "word" if written.upper() in KEYWORDS:
            return written.upper(), written
        case "quoted" | "string":
            quote = written[0]
            return kind, written[1:-1].replace(quote * 2, quote)
        case "number":
            _check_number(written)
        case _:
            pass
    return kind, written


def _check_number(written: str) -> None:
    mantissa, _, exponent = written.lower().partition("e")
    if not exponent:
        return
    digits = exponent.lstrip("+-").lstrip("0")
    if len(digits) > _EXPONENT_DIGITS_MAX:
        raise not_well_formed()
    power = int(digits or "0") * (-1 if exponent[0] == "-" else 1)
    scale = len(mantissa.partition(".")[2]) - power
    if not (-_INT32_END <= power < _INT32_END and -_INT32_END <= scale < _INT32_END):
        raise not_well_formed()
