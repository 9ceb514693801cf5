"""Every regular expression applied to user text is listed, with the reason why it takes linear time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *("systems/src/keyplan_systems", "src/keyplan/web", "src/keyplan/dynamodb", "src/keyplan/formatting"),
    *("src/keyplan/store/server", "src/keyplan/studio"),
)
"""The code that reads texts of stores, requests and imported files."""
CALLS = {"compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn"}


def expressions(path: Path) -> Iterator[str]:
    """Yield the regular expressions in a module: arguments of ``re``'s functions and of pydantic's ``pattern=``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        is_re = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "re"
        if is_re and isinstance(called, ast.Attribute) and called.attr in CALLS:
            yield _text(node.args[0])
        yield from (_text(word.value) for word in node.keywords if word.arg == "pattern")


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def found() -> dict[str, set[str]]:
    result: dict[str, set[str]] = {}
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        if patterns := set(expressions(path)):
            result[path.relative_to(ROOT).as_posix()] = patterns
    return result


REVIEWED: dict[str, set[str]] = {
    "one character at a time, or words": {
        *(
            r"[^\w\- ]|_",
            "[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]",
            r"[{}\\$]",
            "0",
            "[\udc80-\udcff]",
            r"\d{4}",
            r"\b\d{4}",
            "{}|{}",
        ),
        *(r'(?<!\\)[{}"#]', r"\\([_%&#~])|[{}]|\\url", r",|\band\b", "center|right", "task|footnote-item", "wide"),
        *("footnote-backref", "footnote-ref", "footnotes", "footnotes-list", "footnotes-sep", "^<svg"),
        *("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "[^a-zA-Z0-9+/=]|=[^=]", "([#_,])(?=\\S)"),
        *(r", (?=\S+ [=B]|begins_with)", r'\b(href|src)="(/(?!/)|#)'),
        r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]",
    },
    "one repeat, which ends at the first character that its class excludes": {
        *(r"^(https://[^\s?#]+|http://127\.0\.0\.1:\d+[^\s?#]*)$", "^[a-z][a-z0-9]{0,30}$"),
        *(
            "[^a-z0-9]+",
            r"[\s,{}\"#%\\~()=@']+",
            r"^[ \t]*@[ \t]*\w+[ \t]*[{(]",
            r'crossref\s*=\s*[{"]([^{}"]*)',
            r"\b(?:{})[^\W\d_]*",
            r"(https://|/)\S+",
            r"^(https://|/)[^\s]+$",
            "#[A-Za-z0-9_]+",
            ":[A-Za-z0-9_]+",
            r"[^\$]+",
        ),
        *(r"\{([^{}]*)\}", r"\{[^{}]*\}", r"\{[^}]*\}", r"\]\(picture:([a-z-]+)\)", r", (?=\w+: )"),
        *(r"</?noscript\b[^<>]*>", r'^<pre><code( class="[^"]*")?>', r'(?:W/)?("[^"]*")', r"\[([ xX])\][ \t]+"),
        *(r'from "\./(\w+\.js)"', r"\\(?:noopsort|sortnoop|noop)[ ]*\{[^{}]*\}"),
    },
    "each match ends at a >, and the text is cut behind its last one": {
        *(r"<(b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/][^>]*>", r"<(?:a|img)\s[^>]*>")
    },
    "a whole value, whose repeats are bounded": {
        r"^\d{4}-(?:0[1-9]|1[0-2])$",
        *(
            r"[a-z0-9](?:-?[a-z0-9]){2,39}",
            "20[0-9]{2}-(?:0[1-9]|1[0-2])",
            "[a-z0-9-]{3,40}",
            "[0-9]{12}",
            "^[A-Z]{2}$",
            "^[A-Z]{3}$",
        ),
        *(
            r"^[0-9]{1,6}(\.[0-9]{1,6}){0,3}$",
            "^[a-z][a-z0-9_:+.-]{0,59}$",
            "[a-z][a-z0-9_:+.-]{0,59}",
            r"\d{4}(?:-\d{1,2}){0,2}",
            r"\b(?:0?[1-9]|1[0-2])\b",
        ),
        *(r"[0-9]{1,8}(\.[0-9]{1,2})?", r"fn\d{1,4}"),
        *(r"[a-z0-9](?:[._-]?[a-z0-9]){1,29}", r"(?:(?!_)[\w-]){1,90}", r"fnref\d{1,4}(?::\d{1,4})?"),
        *(r"language-[\w+#.-]{1,40}", "task(?: done)?|[a-z]{1,2}[a-z0-9]?", r"[^\s@<>]{1,64}@[^\s@<>]{1,253}"),
        *(r"[^\s@<>(),;:\"\\\[\]]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_][\w-]{0,61}[^\W_]",),
        *(r"#?([^\W\d_][^#:|/]{0,24})(?=[#:|/]|$)", r"b'0(?:\\.\\d{0,3})?|1(?:\\.0{0,3})?'"),
        r"[0-9a-f]{32}\.(?:{})",
        *("shape.like or shape.pattern", "shape.pattern or ''"),
    },
    "a whole value, in which the character behind each repeat is not of its class": {
        *("[a-z0-9]+(?:-[a-z0-9]+)*", r"[^\s@<>\"]+@[^\s@<>\"]+\.[^\s@<>\".]+", "(?:https:)?//.*|/.*|[^:]*"),
        *(r"([+-]?)([0-9]+)?(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?", r"-?\d+(\.\d+)?([eE][+-]?\d+)?"),
        *("(?:[a-zA-Z0-9+/]{4})*(?:[a-zA-Z0-9+/]{2}(?:==|[a-zA-Z0-9+/]=))?", r"([^\[]+)((?:\[\d+\])*)"),
        *(r"([^.\[\]]+)(?:\[\d+\])*(?:\.[^.\[\]]+(?:\[\d+\])*)*", r"(\w[\w-]*/)*\w[\w-]*\.\w+"),
        r"""read\(["']([^\d"']*)(\d+)["']""",
    },
    "the last 200 characters of a heading": {r"[ \t]*\{#([\w.:-]{1,80})\}[ \t]*$"},
}
"""Patterns by the reason why they take linear time."""
TOKENIZERS = {
    "src/keyplan/dynamodb/expressions/parser.py": 1,
    "src/keyplan/dynamodb/partiql/tokens.py": 1,
    "systems/src/keyplan_systems/html_tags.py": 2,
    "systems/src/keyplan_systems/plain_markdown.py": 3,
}
"""Patterns that match one token at a place, with possessive repeats or classes that exclude each other."""


def test_every_regular_expression_applied_to_user_text_is_listed_as_reviewed() -> None:
    in_code = {(path, pattern) for path, patterns in found().items() if path not in TOKENIZERS for pattern in patterns}
    reviewed = set[str]().union(*REVIEWED.values())
    assert {(path, pattern) for path, pattern in in_code if pattern not in reviewed} == set()


def test_regular_expressions_of_the_tokenizers_are_listed_as_reviewed() -> None:
    assert {path: len(found().get(path, ())) for path in TOKENIZERS} == TOKENIZERS
