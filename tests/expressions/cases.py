"""The cases that are sent to DynamoDB Local. The responses are in recorded/*.json, in the same order.

To add a case, add it to this file, and run ``python -m tests.expressions.record`` with KEYPLAN_DYNAMODB_LOCAL set.
"""

from __future__ import annotations

import re
from typing import Any

Case = dict[str, Any]

X = {":x": {"S": "x"}, ":n": {"N": "1"}}
ONLY_X = {":x": {"S": "x"}}
ITEM: dict[str, Any] = {
    "pk": {"S": "a"},
    "sk": {"N": "1"},
    "a": {"S": "x"},
    "n": {"N": "5"},
    "b5": {"B": "YWJj"},
    "t": {"BOOL": True},
    "u": {"NULL": True},
    "l": {"L": [{"N": "1"}, {"N": "2"}, {"N": "3"}]},
    "m": {
        "M": {
            "x": {"S": "y"},
            "l": {"L": [{"S": "p"}, {"S": "q"}]},
            "mm": {"M": {"k": {"N": "1"}}},
            "dot.ted": {"S": "d"},
        }
    },
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2"]},
    "bs": {"BS": ["YQ==", "Yg=="]},
    "le": {"L": []},
    "me": {"M": {}},
    "e": {"S": ""},
    "lm": {"L": [{"M": {"x": {"S": "1"}}}, {"L": [{"N": "1"}, {"N": "2"}]}, {"SS": ["a", "b"]}]},
    "unicode": {"S": "€😀"},
}
"""The item that every request reads or writes."""


def _used(text: str, values: dict[str, Any]) -> dict[str, Any] | None:
    used = set(re.findall(r":[A-Za-z0-9_]+", text))
    return {key: value for key, value in values.items() if key in used} or None


def _texts(lines: str) -> list[str]:
    """Split each line into strings at " | "."""
    return [text for line in lines.split("\n") if line for text in line.split(" | ")]


def _simple(lines: str, values: dict[str, Any] | None = None) -> list[Case]:
    return [_case(text, _used(text, values or X)) for text in _texts(lines)]


def _case(text: str, values: dict[str, Any] | None = None, names: dict[str, str] | None = None) -> Case:
    return {"text": text, "values": values, "names": names}


def _values(text: str, *values: dict[str, Any]) -> list[Case]:
    return [_case(text, {":a": value}) for value in values]


SYNTAX = _simple(
    """
    | a |  a | a b | a = | a =  | a = b | = :x |   = :x | a = = :x |   a  b   | a   b   :x | (a = :x | a = :x)
a = :x ) ) | a = :x)    | a = :x( | ((a = :x)) | (a) = :x | a = (:x) | a = ((:x)) | ((a = :x)) AND a = :x
(a = :x) AND ((a = :x) OR (a = :x)) | ((a = :x) OR (a = :x)) | (((a = :x) OR (a = :x))) | (a = :x) | NOT (a = :x)
NOT NOT a = :x | NOT (NOT (a = :x)) | a = :x AND | a = :x OR OR a = :x | a = :x OR | a = AND | a == :x | a != :x
a <> :x | a => :x | a = "x" | a = 'x' | a = $x | a = 5 | a ? b | a @ :x | @ | ~ | a,b | a\\b | a[0] = :x | a[-1] = :x
a[x] = :x | a[:x] = :x | a[0][1] = :x | a[ 0 ] = :x | a[01] = :x | a[1.5] | a[ 1 | a[0 = :x | a[] = :x
a[2147483647] = :x | a[2147483648] = :x | a[99999999999] = :x | a. b = :x | a.b.c = :x | a.#x = :x | a.0b = :x
a..b = :x | a. = :x | .a = :x | 0a = :x | 1 = 1 | _a = :x | a-b = :x | a = :x-y | a_b = :x | # = :x | #- = :x
#1 = :x | #a-b = :x | : = a | a = ::x | a = :1 | :x = :x | :x = a | a = :X | a IN (:x) | a IN () | a IN (,) | a IN :x
a in (:x) | a IN (:x, :x) | a IN (:x,) | a IN ((:x)) | a BETWEEN :x AND :x | a BETWEEN (:x) AND (:x) | a BETWEEN :x
a BETWEEN :x OR :x | a BETWEEN AND b | a between :x and :x AND a = :x | BETWEEN :x | a = :x + :x | a = (:x AND :x)
a = :x;  | (a) | (a | (name | name | (a) AND b = :x | (a = :x) (b = :x) | a = NOT b | a AND b | (NOT a = :x)
NOT a = :x OR a = :x | NOT(((a = :x))) | NOT | not | NOT a | AND | OR a | (((( | )) | ((a)) = :x | (size(a)) = :x
((size(a))) = :x | size((a)) = :x | (attribute_exists(a)) | ((attribute_exists(a)))
(attribute_exists(a)) AND (a = :x) | a.b | a[1] | a.b[1].c[2] = :x | a.b.c.d[0 | a.and = :x | a.between = :x
and = :x | set = :x | SET a = :x | a.set = :x | true | a = true | a = null | NULL = :x | name = :x | a.name = :x
a = :x AND name | size = :x | a.size = :x | aé = :x | é = :x | a = :x AND (b | size() | size( | foo( | foo(a
a = foo(a, | a = foo(a,) | begins_with()
"""
)

FUNCTIONS = _simple(
    """
begins_with(a, :x) | begins_with (a, :x) | Begins_with(a, :x) | begins_with(a) | begins_with(a,:x,:x)
begins_with(:x,:x) | begins_with(:x,a) | begins_with(a, size(a)) | begins_with(size(a),:x) | begins_with(a, a)
foo(a) | foo(name) | foo(:y) | name(a) | size(a) | size(a) AND a = :x | NOT size(a) | size(a) = :x | size(:x) > :x
size(a,b) = :x | size(a) > size(l) | size(a) = size(a) | a = size(size(a)) | attribute_exists(a) = :x
a = attribute_exists(a) | attribute_exists(:x) | attribute_not_exists(:x) | attribute_exists(size(a))
attribute_exists(a.b) | attribute_exists((a)) | attribute_exists(a,b) | attribute_not_exists(a) | contains(a, a)
contains(a.b, a.b) | contains(:x, a) | contains(:x,:x) | contains(size(a),:x) | contains(a,size(a))
attribute_type(a, :x) | attribute_type(a, a) | attribute_type(:x, :x) | attribute_type(a,b)
attribute_type(a,size(b)) | if_not_exists(a,:x) = :x | list_append(a,:x) = :x | a IN (size(a), :x)
a IN (attribute_exists(a)) | a = begins_with(a,:x) | begins_with(a,:x) AND (begins_with(a,:x)) | a = a | a <> a
a < a | a.b = a.b | a BETWEEN a AND b | a BETWEEN b AND a | a IN (a) | a IN (b, a) | a < size(a) | begins_with(name)
begins_with(a) AND b = :y | b = :y AND begins_with(a) | a =:y AND name = :x | name = :x AND a = | ((a = :y))
((a = name)) | ((foo(a))) | #a = :x AND :y = :x | :y = :x AND #a = :x | a = a AND b = :y | b = :y AND a = a
"""
)

_SAMPLES: list[dict[str, Any]] = [
    *({"N": "5"}, {"S": "5"}, {"S": "SS"}, {"B": "5w=="}, {"BOOL": True}, {"NULL": True}),
    *({"L": []}, {"M": {}}, {"SS": ["a"]}),
]
_COMPARISONS = """
n < :a | n = :a | n <> :a | :a >= n | n BETWEEN :a AND b | n BETWEEN b AND :a | :a BETWEEN n AND b | n IN (:a)
begins_with(a,:a) | begins_with(:a,b) | contains(a,:a) | contains(:a,b) | size(:a) = n | attribute_type(ss,:a)
attribute_type(:a,b) | zz = :a | zz <> :a | :a <> zz | NOT zz = :a
"""
VALUES = [_case(text, {":a": value}) for value in _SAMPLES for text in _texts(_COMPARISONS)]

PLACEHOLDERS = [
    _case("a BETWEEN :a AND :b", {":a": {"N": "5"}, ":b": {"N": "4"}}),
    _case("a BETWEEN :a AND :b", {":a": {"N": "5"}, ":b": {"S": "s"}}),
    _case("a BETWEEN :a AND :b", {":a": {"S": "s"}, ":b": {"N": "5"}}),
    _case("size(a) BETWEEN :a AND :b", {":a": {"N": "5"}, ":b": {"N": "4"}}),
    _case("a BETWEEN :a AND :b", {":a": {"S": "b"}, ":b": {"S": "a"}}),
    _case("a BETWEEN :a AND :b", {":a": {"B": "Yg=="}, ":b": {"B": "YQ=="}}),
    _case("a BETWEEN :a AND :b", {":a": {"N": "5.0"}, ":b": {"N": "05"}}),
    _case("a < :a AND a < :b", {":a": {"N": "5"}, ":b": {"BOOL": True}}),
    _case("a = :a", {":a": {"S": "b"}}, {"#a": "a"}),
    _case("a = :a", {":a": {"S": "b"}, ":b": {"S": "b"}}, {"#a": "a"}),
    _case("a = :a", {":a": {"S": "b"}, ":b": {"S": "b"}}),
    _case("a = :a", {":a": {"S": "b"}}, {}),
    _case("attribute_exists(a)", {}),
    *(
        _case("a = :a", {":a": {"S": "b"}}, {name: "a"})
        for name in ("a", "#", "#a b", "#" + "a" * 255, "#" + "a" * 254)
    ),
    _case("#a = :a", {":a": {"S": "b"}}, {"#a": ""}),
    _case("#a = :a", {":a": {"S": "x"}}, {"#a": "a"}),
    _case("#a.#a = :a", {":a": {"S": "x"}}, {"#a": "m"}),
    _case("m.#a = :a", {":a": {"S": "d"}}, {"#a": "dot.ted"}),
    _case("#a = :a", {":a": {"S": "d"}}, {"#a": "m.dot.ted"}),
    _case("#a = #b", None, {"#a": "a", "#b": "a"}),
    _case("#name = :a", {":a": {"S": "d"}}, {"#name": "name"}),
    *(_case("a = :a", {name: {"S": "b"}}) for name in ("a", ":", ":a-")),
    _case("a = :a", {":a": {"S": "b"}, ":" + "a" * 254: {"S": "b"}}),
    *_values("a = :a", {}, {"SS": []}, {"NS": []}, {"BS": []}, {"S": "b", "N": "1"}, {"S": ""}),
    _case("e = :a", {":a": {"S": ""}}),
    *_values("a = :a", {"L": [{}]}, {"NULL": False}, {"N": "1E126"}, {"N": "1E-131"}),
    *(_case("a = :a" + " " * blanks, {":a": {"S": "b"}}) for blanks in (4091, 4090)),
    *(_case(" AND ".join(["attribute_exists(a)"] * count)) for count in (150, 151)),
    *(_case(" OR ".join(["a=:x"] * count), ONLY_X) for count in (150, 151)),
    *(_case(f"a IN ({','.join([':x'] * count)})", ONLY_X) for count in (100, 101)),
    *(_case("NOT " * count + "a=:x", ONLY_X) for count in (299, 300, 1000)),
    *(_case(".".join(["a"] * count) + "=:x", ONLY_X) for count in (32, 33)),
]

EVALUATION = _simple(
    """
n = :n5 | n = :n50 | n <> :n5 | n <> :s | n < :n10 | n > :n10 | n >= :n5 | n <= :n5 | n < :s | n > :s | a < :s
a > :s | b5 > :b | b5 < :b | b5 = :b | t = :true | t = :false | t <> :true | u = :null | u <> :null | ss = :ss
ss = :ssr | ss <> :ssr | ns = :nsr | bs = :bsr | l = :l | l <> :l | lm = :lm | m.x = :y | m.l[1] = :q | m.l[2] = :q
m.mm.k = :n1 | l[0] = :n1 | l[3] = :n1 | l.x = :n1 | m[0] = :n1 | a.x = :n1 | zz.x = :n1 | lm[0].x = :s1
lm[1][1] = :n2 | l[0] < l[1] | l[0] > l[1] | l[0] = l[1] | l[0] <> l[1] | l[0] <= m.mm.k | l[0] >= m.mm.k | zz = yy
zz <> yy | zz < yy | NOT zz < yy | a = zz | a <> zz | n BETWEEN :n1 AND :n10 | n BETWEEN :n5 AND :n5
n BETWEEN l[0] AND :n10 | n BETWEEN l[0] AND l[1] | n BETWEEN zz AND :n10 | n BETWEEN a AND :n10
NOT n BETWEEN :n1 AND :n10 | n IN (:s, :n5) | n IN (:s, :n10) | n IN (l[0], l[1]) | m.mm.k IN (l[0], l[1])
n IN (zz) | zz IN (yy) | ss IN (:ssr) | begins_with(a, :x) | begins_with(a, :empty) | begins_with(e, :empty)
begins_with(m.x, a) | begins_with(b5, :bab) | begins_with(a, :bab) | begins_with(n, :x) | begins_with(zz, :x)
begins_with(ss, :x) | contains(a, :x) | contains(a, :empty) | contains(a, :n5) | contains(n, :n5) | contains(b5, :bb)
contains(ss, :sa) | contains(ss, :s) | contains(ns, :n1) | contains(ns, :sa) | contains(bs, :ba) | contains(l, :n1)
contains(l, :sa) | contains(l, :l) | contains(lm, :ssr) | contains(lm, :mx) | contains(m, :x) | contains(t, :true)
contains(ss, :ssr) | contains(zz, :x) | contains(l, m.mm.k) | size(a) = :n1 | size(e) = :n0 | size(b5) = :n3
size(ss) = :n2 | size(ns) = :n2 | size(l) = :n3 | size(le) = :n0 | size(m) = :n4 | size(me) = :n0
size(unicode) = :n7 | size(unicode) = :n3 | size(unicode) = :n2 | size(n) = :n1 | size(n) > :n0 | NOT size(n) > :n0
size(t) = :n1 | size(u) = :n1 | size(zz) = :n0 | size(zz) <> :n0 | size(m.l) = :n2 | size(a) < size(l)
size(a) IN (:n1) | size(a) BETWEEN :n0 AND :n1 | attribute_exists(a) | attribute_exists(zz) | attribute_exists(u)
attribute_exists(m.x) | attribute_exists(m.z) | attribute_exists(l[2]) | attribute_exists(l[3])
attribute_exists(a.b) | attribute_not_exists(zz) | attribute_not_exists(a.b) | attribute_not_exists(m.x)
attribute_type(a, :tS) | attribute_type(n, :tN) | attribute_type(b5, :tB) | attribute_type(t, :tBOOL)
attribute_type(u, :tNULL) | attribute_type(l, :tL) | attribute_type(m, :tM) | attribute_type(ss, :tSS)
attribute_type(ns, :tNS) | attribute_type(bs, :tBS) | attribute_type(a, :tN) | attribute_type(zz, :tN)
a = :x OR a = :s AND n = :n10 | (a = :x OR a = :s) AND n = :n10 | NOT a = :x AND n = :n10 | NOT (a = :x AND n = :n10)
NOT a = :s OR n = :n10 | a = :x AND n = :n5 AND t = :true | a = :x AND n = :n5 AND t = :false
a = :s OR n = :n10 OR t = :true | a = :s OR n = :n10 OR t = :false
""",
    {
        ":x": {"S": "x"},
        **{f":n{value}": {"N": str(value)} for value in (0, 1, 2, 3, 4, 7, 10, 50)},
        ":n5": {"N": "5.00"},
        **{f":{value}": {"S": value} for value in ("s", "y", "q")},
        ":s1": {"S": "1"},
        ":sa": {"S": "a"},
        ":empty": {"S": ""},
        ":b": {"B": "YWI="},
        ":bab": {"B": "YWI="},
        ":bb": {"B": "Yg=="},
        ":ba": {"B": "YQ=="},
        ":true": {"BOOL": True},
        ":false": {"BOOL": False},
        ":null": {"NULL": True},
        ":ss": {"SS": ["a", "b"]},
        ":ssr": {"SS": ["b", "a"]},
        ":nsr": {"NS": ["2.0", "1"]},
        ":bsr": {"BS": ["Yg==", "YQ=="]},
        ":l": {"L": [{"N": "1"}, {"N": "2"}, {"N": "3.0"}]},
        ":lm": {"L": [{"M": {"x": {"S": "1"}}}, {"L": [{"N": "1"}, {"N": "2"}]}, {"SS": ["b", "a"]}]},
        ":mx": {"M": {"x": {"S": "1"}}},
        **{f":t{kind}": {"S": kind} for kind in ("S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS")},
    },
)
# Two faults in one expression: which one is reported.
FAULT_ORDER = [
    *_simple(
        """
name = :x AND foo(a) | foo(a) AND name = :x | b = :y AND foo(a) | b = :y AND size(a)
b = :y AND attribute_exists(:x) | b = :y AND if_not_exists(a,:x) = :x | begins_with(a,:n) AND b = :y
b = :y AND begins_with(a,:n) | a < :x AND begins_with(a,:n) AND a = a | size(:n) = :y | size(a) AND name = :x
size(a) AND b = :y | begins_with(a) AND name = :x | attribute_exists(:x) AND name = :x | a = size(a,b) AND name = :x
begins_with(:y) | begins_with(#q) | attribute_exists(:y) | size(:y,:y)=:y | a = a AND name = :x
a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = :x AND name = :x
a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = :y
b = :y AND a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = :x | a[99999999999] = :x AND name = :x
name = :x AND a[99999999999] = :x | b = :y AND a[99999999999] = :x | a[99999999999] = :x AND foo
((a[99999999999] = :x)) | begins_with(a,a) AND begins_with(b,:n) | begins_with(:n,a) AND a = a | a = :y AND #q = :x
#q = :y | begins_with(#q,:y) | a BETWEEN :y AND #q | if_not_exists(name,:x) = :x | if_not_exists(a) = :x
foo(a) = bar(b) | size(size(:y)) = :n | begins_with(size(:n), :n) | begins_with(:n, size(:n)) | contains(a, size(:n))
a = :n AND (size(:n) = :n OR b = :y)
"""
    ),
    _case(f"b = :y AND a IN ({','.join([':x'] * 101)})", ONLY_X),
    _case(f"a IN ({','.join([':x'] * 101)}) AND b = :y", ONLY_X),
    _case(f"a IN ({','.join([':x'] * 101)}) AND name = :x", ONLY_X),
    _case("b = :y AND " + " AND ".join(["a=:x"] * 151), ONLY_X),
    _case(" AND ".join(["a=:x"] * 151) + " AND name = :x", ONLY_X),
    _case(" AND ".join(["a=:x"] * 151) + " AND foo(a)", ONLY_X),
    _case(".".join(["a"] * 33) + " = :y"),
    _case("b = :y AND " + ".".join(["a"] * 33) + " = :x", ONLY_X),
]

CONDITIONS = SYNTAX + FUNCTIONS + VALUES + PLACEHOLDERS + EVALUATION + FAULT_ORDER

PROJECTIONS = [
    *_simple(
        """
   | a | a,n | a,zz | a,a | a, a.b | a.b, a | a[0],a | a[0],a[1] | a[0],a.b | a.b,a[0] | a, | a b | ,a | a.b.c,a.b.d
name | #a | a,#n | l[1] | l[2],l[0] | l[5] | l[5],l[1] | m.x | m.zz | m.l[1] | m.l[1],m.l[0],m.x | m.mm | m.mm.k,m.x
m.mm.zz | lm[0].x | lm[0].y | lm[1][1] | lm[1][1],lm[0].x | lm[2] | a.x | a[0] | l.x | m[0] | zz.x | le | le[0] | a+b
size(a) | (a) | a; | a.b,a.b | a[0],a[0] | a.c,a.b.c,a.b | a.b.c.d, a.b[0] | a[0].b, a[0][1] | and | a.set | a.name.b
a :x | :x | a[99999999999]
"""
    ),
    _case(""),
    _case("a", None, {"#a": "a"}),
    _case("#a,#b,a.b", None, {"#a": "a", "#b": "b"}),
    _case("#a.#a", None, {"#a": "m"}),
    _case("#a", None, {"#a": "m.x"}),
    _case("m.#a, m.x", None, {"#a": "dot.ted"}),
    _case("#a, #b", None, {"#a": "a", "#b": "a"}),
    _case("#a.x, m.y", None, {"#a": "m"}),
    _case(".".join(["a"] * 32)),
    _case(".".join(["a"] * 33)),
]

_UPDATE_VALUES = {
    ":x": {"S": "x"},
    ":n": {"N": "7"},
    ":one": {"N": "1"},
    ":big": {"N": "9.9E125"},
    ":fine": {"N": "0.00000000000000000000000000000000000001"},
    ":sz": {"SS": ["z", "a"]},
    ":sab": {"SS": ["b", "a"]},
    ":n12": {"NS": ["1.0", "9"]},
    ":bz": {"BS": ["/w==", "YQ=="]},
    ":l": {"L": [{"S": "z"}]},
    ":m": {"M": {"new": {"S": "z"}}},
    ":t": {"BOOL": True},
}

UPDATES = [
    *_simple(
        """
   | SET | SET a | SET a = | SET a = :x | SET a = :x, | SET a = :x, a = :x | SET a = :x REMOVE a
REMOVE a SET a.b = :x | SET a = :x SET n = :x | set a = :x remove b | Set a = :x Remove b aDD zz :n | REMOVE
REMOVE a | REMOVE a b | REMOVE a, a | REMOVE a REMOVE n | REMOVE a REMOVE name | REMOVE a, n, zz | REMOVE a.b
REMOVE a.b.c | REMOVE zz.b | REMOVE zz[0] | REMOVE l[0] | REMOVE l[7] | REMOVE l[0], l[1] | REMOVE l[0], l[2]
REMOVE l[2], l[0] | REMOVE m.zz | REMOVE m.zz.r | REMOVE m[0] | REMOVE l.x | REMOVE m.mm.k | REMOVE m.x, m.l[0]
REMOVE l[0].a | REMOVE l[9].a | REMOVE lm[0].x, lm[1][0] | REMOVE lm[0].x, lm[1] | REMOVE lm[0], lm[1][0] | ADD a
ADD a :x | ADD a b | ADD a :n | ADD n :n | ADD n :x | ADD n :sz | ADD zz :n | ADD zz :sz | ADD ss :sz | ADD ns :n12
ADD bs :bz | ADD ns :sz | ADD ss :n | ADD m.cnt :n | ADD m.mm.k :n | ADD q.cnt :n | ADD l[0] :n | ADD l[9] :n
ADD l :l | ADD m :m | ADD t :t | ADD n :n, n :n | ADD n :big | ADD n :fine | ADD :x :x | ADD a.b :x | ADD a :x, b
DELETE a | DELETE a :x | DELETE a :sz | DELETE ss :sz | DELETE ss :sab | DELETE ns :n12 | DELETE bs :bz
DELETE ns :sz | DELETE zz :sz | DELETE q.zz :sz | DELETE m.zz :sz | DELETE m.x :sz | DELETE lm[2] :sab
DELETE lm[2] :sz | DELETE n :n | DELETE l :l | foo a = :x | a = :x | SET a = b | SET a = n | SET a = zz.y
SET a = m.zz | SET a = m.x | SET a = l[9] | SET a = l[1] | SET a = n, n = a | SET a = n, n = n + :one
SET a = :x + :x | SET a = :x - a | SET a = a + :n | SET a = n + a | SET a = a - n | SET a = n - zz | SET a = n - n
SET a = n + :n | SET a = :n - n | SET a = :n + :one | SET n = n + :big | SET n = n + :fine | SET a = :big + :big
SET a = n + n + n | SET a = (:x) | SET a = ((:x)) | SET a = (n + :n) | SET a = ((n + :n)) | SET a = (n) + (:n)
SET a = ((n) + :n) | SET a = n + ((:n)) | SET a = (n + :n) + :n | SET a = n + (n - :n) | SET a = - :n | SET a = :n +
SET a = b = c | SET a = b c | SET a = m + n | SET a = ss + n | SET a = l[0] + l[1] | SET a = foo(a) | SET a = size(a)
SET a = attribute_exists(a) | SET a = begins_with(a,:x) | SET a = if_not_exists(a, :x)
SET a = if_not_exists(zz, :x) | SET a = if_not_exists(:x, :x) | SET a = if_not_exists(a)
SET a = if_not_exists(a, b, c) | SET a = if_not_exists(zz, if_not_exists(yy, :x)) | SET a = if_not_exists(zz, yy)
SET a = if_not_exists(zz.y, n) | SET a = if_not_exists(a, zz) | SET a = if_not_exists(m.x, :n), b = :n
SET a = if_not_exists(zz, :x) + :x | SET a = if_not_exists(zz, :x) + n | SET a = if_not_exists(n, :x) + n
SET a = if_not_exists(zz, :one) + :n | SET a = if_not_exists(a, size(a)) | SET a = if_not_exists(b, n + :n)
SET a = if_not_exists(zz, list_append(l, :l)) | SET a = list_append(a, :x) | SET a = list_append(a)
SET a = list_append(l, :n) | SET a = list_append(l, :l) | SET l = list_append(:l, l) | SET l = list_append(l, l)
SET a = list_append(a, l) | SET a = list_append(zz, l) | SET a = list_append(l, zz)
SET a = list_append(l, list_append(l,l)) | SET a = list_append(if_not_exists(zz,:l), l)
SET a = list_append(if_not_exists(zz,:x), l) | SET a = list_append(l, (l)) | SET a = list_append(l, n + n)
SET a = list_append(l, l) + n | SET a = n + list_append(l, l) | SET a = n + size(a) | SET a.b = :x | SET a.b.c = :x
SET a[0] = :x | SET m.z = :x | SET m.z.y = :x | SET m.z = m | SET m.x = :x, m.l[0] = :n
SET m.l[9] = :x, m.l[5] = :n | SET m.l[0] = m.l[1], m.l[1] = m.l[0] | SET m[0] = :x | SET l[0] = :x | SET l[1] = :x
SET l[99] = :x, l[50] = n | SET l[9] = :x, l[7] = n, l[0] = :x | SET l[3] = :x | SET l[4] = :x | SET l.a = :x
SET l[9].a = :x | SET l[0].a = :x | SET lm[0].y = :x | SET lm[1][5] = :x | SET zz.b = :x | SET zz[0] = :x
SET le[0] = :x | SET me.q = :x | REMOVE l[0] SET l[1] = :x | REMOVE l[0] SET l[7] = :x | SET l[9] = :x REMOVE l[3]
SET l[9] = :x, l[8] = n REMOVE l[3], l[0] | SET lm[1][7] = :x REMOVE lm[0] | REMOVE l[1] SET l[0] = :x ADD l[2] :n
REMOVE lm[0] SET lm[1][0] = :x | SET m.l[0] = :x REMOVE m.l[1] | SET name = :x | SET and = :x | SET a.set = :x
SET a = name | SET pk = :x | SET sk = :x | REMOVE pk | ADD sk :n | SET pk.a = :x | SET a = pk | SET a = sk + :n
SET a = :x, a.b = :x | SET a.b = :x, a[0] = :x | SET a.b = :x REMOVE a | SET a.b.c = :x REMOVE a.b
SET a = :x ADD a :n | SET a = :x DELETE a :sz | SET :x = a | SET a : x | SET a = :x AND b = :x
SET attribute_exists(a) = :x | SET if_not_exists(a,:x) = :x | SET (a) = :x | REMOVE size(a) | REMOVE :x | SET a == :x
SET a = :x; | SET a = :x REMOVE | SET a = :x DELETE b | SET a = :y | SET #a = :x | REMOVE #a | ADD a :y | SET a = #b
SET a = :sab | SET a = :t, b = :m, c = :l | SET a = :n12 | SET l[0]=:x,l[00]=:x
SET a = n ADD b :n REMOVE l DELETE ns :n12 | DELETE ss :sz ADD n :n SET zz = :x REMOVE a
SET a = :x, b = foo(a), c = name | SET b = :y, c = name | SET a = :x, b = n + :x | SET a = :x + :y
ADD a :x SET b = :y | SET zz.y = a + n | SET zz.y = yy | SET a = yy, zz.y = :x | SET a = :x + n, b = :y
SET a = :x + n REMOVE #q | ADD a :x REMOVE #q | DELETE a :x ADD b :y | DELETE a :y ADD b :x | DELETE a :x ADD b :x
ADD b :x DELETE a :x | ADD b :x SET a = :x + n | SET a = :x, a.b = :y | SET a = :y, a.b = :x
SET a = :x + n, a.b = :x | SET a = foo(b), b = :y | SET b = :y, a = foo(b) | SET b = name, a = foo(b)
SET a = foo(b), b = name | SET a = size(b), b = name | SET b = :y, a = size(b) | SET a = if_not_exists(b), c = :y
SET c = :y, a = if_not_exists(b) | REMOVE #q SET a = :y | SET a = :y REMOVE #q | ADD a :x SET pk = :x | SET pk = :y
SET a = :x SET name = :x | SET a = foo(b) SET b = :x | SET a = :y SET b = :x | SET a = :x SET a = :x
SET a = ((n)) SET b = :x | SET a = list_append(:y, :n) | SET a = list_append(:n, :y) | SET a = if_not_exists(:x, :y)
SET a = if_not_exists(:y, :x) | SET a = if_not_exists(a, #q) | SET #q = :y | SET #q = #r
SET a = list_append(l, list_append(l,l)), name = :x | SET a = n + list_append(l,l), name = :x | SET pk = zz
SET zz.y = :x, pk = :x | SET b = yy, pk = :x | SET a = :x, a = foo(b) | REMOVE a, a, name | REMOVE a, a, #q
SET a = n + zz, b = m + n | SET a = m + zz | SET a = zz + m | SET a = list_append(a, zz) | SET a = list_append(zz, a)
ADD a :n SET zz.y = :x | SET b = zz ADD a :n | ADD a :n SET b = zz | REMOVE zz.y SET b = zz | SET b = zz REMOVE zz.y
DELETE a :sab ADD zz.y :n | ADD zz.y :n DELETE a :sab | REMOVE zz.y ADD a :n | ADD a :n REMOVE zz.y
REMOVE zz.y DELETE a :sab | DELETE a :sab REMOVE zz.y | SET m.q.z = yy | SET b = if_not_exists(a, yy)
""",
        _UPDATE_VALUES,
    ),
    _case(""),
    _case("SET #a = :x", ONLY_X, {"#a": "name"}),
    _case("SET m.#a = :x", ONLY_X, {"#a": "dot.ted"}),
    _case("SET #a = :x, #b = :x", ONLY_X, {"#a": "q", "#b": "q"}),
    _case("SET a = :x", {":x": {"S": "x"}, ":y": {"S": "x"}}),
    _case("SET a = :x", ONLY_X, {"#b": "q"}),
    _case("SET #a = :x", ONLY_X, {"#a": "pk"}),
]

_KEY_VALUES = {":p": {"S": "a"}, ":n": {"N": "5"}, ":m": {"N": "1"}, ":s": {"S": "s"}, ":b": {"BOOL": True}}

KEY_CONDITIONS = _simple(
    """
pk = :p | sk = :n | pk = :p AND sk = :n | pk = :p AND sk = :m | sk = :m AND pk = :p | pk = :p AND sk < :n
pk = :p AND sk <= :m | pk = :p AND sk > :m | pk = :p AND sk >= :m | pk=:p and sk>=:n | pk = :p AND sk <> :n
pk <> :p | pk < :p | pk = :p AND sk BETWEEN :m AND :n | pk = :p AND sk BETWEEN :n AND :m
pk = :p AND begins_with(sk, :n) | pk = :p AND begins_with(sk, :s) | pk = :p AND sk = :s | pk = :p AND sk < :b
pk = :p AND sk = :b | pk = :n | pk = :n AND sk = :s | pk = :p OR sk = :n | NOT pk = :p | pk = :p AND NOT sk = :n
pk IN (:p) | pk = :p AND sk IN (:n) | pk = :p AND a = :s | a = :s | a = :s AND pk = :p | a = :s AND sk = :n
pk = :p AND sk = :n AND a = :s | a = :p AND sk = :n AND n = :s | pk = :p AND sk > :m AND sk < :n
pk = :p AND pk = :s | pk = :p AND pk > :s | pk = :p AND sk = :n AND sk = :m | pk = :p AND sk = :n AND sk > :m
pk = :p AND sk = :n AND begins_with(pk,:s) | pk = :p AND size(sk) = :n | pk = :p AND sk = size(a)
pk = :p AND contains(sk, :s) | pk = :p AND attribute_exists(sk) | pk = :p AND attribute_type(sk,:s) | pk = sk
pk = pk | :p = pk | :p = pk AND :n > sk | :p = pk AND :n < sk | pk = :p AND :m = sk | pk.a = :p | pk[0] = :p
pk = :p AND sk.a = :n | (pk = :p) | (pk = :p) AND (sk = :n) | (pk = :p AND sk = :n) | ((pk = :p))
pk = :p AND (sk = :m) | pk = (:p) | pk BETWEEN :p AND :s | begins_with(pk,:p) | pk = :p AND | pk | pk = :x | #p = :p
name = :p | pk = :p AND sk = sk | pk = :p AND sk > pk | pk = :p AND begins_with(:s,sk)
pk = :p AND begins_with(sk,pk) | pk = :p AND :m BETWEEN sk AND :n | pk = :p AND sk BETWEEN sk AND :n
pk = :p AND sk BETWEEN pk AND :n | pk = :p AND sk BETWEEN :p AND :n | pk = :p AND begins_with(a,:s)
pk = :p AND begins_with(pk,:s) | sk > :n | pk > :p AND sk = :n | pk = :p AND foo(sk)
pk = :p AND sk <> :n AND a = :s | pk = :p AND (sk = :n OR sk = :m) | :p = :s | pk = :p AND :n = :m
""",
    _KEY_VALUES,
)
