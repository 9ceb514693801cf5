"""Which changes of a design are reported, and with which severity."""

from __future__ import annotations

import pytest

from keyplan.analysis.diff.diff_report import difference
from tests.diff.shop import SHOP, codes, compared, loaded
from tests.export.designs import NAMES, design

CASES: list[tuple[str, str, list[str]]] = [
    # The table
    ('Table("shop"', 'Table("shop2"', ["breaking table-renamed table"]),
    ("entities=[User])", 'entities=[User], sort="range")', ["breaking table-key-changed table"]),
    (
        "expires: Ttl",
        "expires: datetime",
        ["migration expiry-removed table", "migration stored-type-changed User.expires"],
    ),
    (
        "expires: Ttl | None = None",
        "ends: Ttl | None = Field(default=None)",
        ["migration expiry-changed table", "safe field-added User.ends", "safe field-removed User.expires"],
    ),
    (
        "total: int = Field(default=0, ge=0)",
        "total: int = Field(default=0, ge=0)\n    expires: Ttl | None = None",
        ["safe field-added Order.expires"],
    ),
    # Indexes
    ("[GSI1, GSI2, LSI1]", "[GSI1, GSI2]", ["breaking index-removed LSI1"]),
    ("[GSI1, GSI2, LSI1]", "[GSI1, LSI1]", ["safe index-removed GSI2"]),
    ("[GSI1, GSI2, LSI1]", '[GSI1, GSI2, LSI1, Index("GSI3", "a")]', ["migration index-added GSI3"]),
    ("[GSI1, GSI2, LSI1]", '[GSI1, GSI2, LSI1, Index("LSI2", "pk", "a", local=True)]', ["breaking index-added LSI2"]),
    ('Number("gsi2sk")', '"gsi2sk"', ["breaking index-changed GSI2"]),
    ('["total", "status", "note"]', '["note", "total", "status"]', []),
    ('["total", "status", "note"]', '["note", "total"]', ["breaking index-changed GSI2"]),
    # Keys
    ('"ORDER#{order_id}", "HEAD"', '"ORDER#{order_id}", "HEAD2"', ["breaking primary-key-changed Order.primary"]),
    ("    placed: str\n", "    placed: date\n", ["breaking type-narrowed Order.placed"]),
    (
        '"{placed}#{order_id}"',
        '"{placed}"',
        ["migration key-changed Order.pending", "api order-changed pending_orders"],
    ),
    (', when={"status": "pending"})', ")", ["migration key-changed Order.pending"]),
    (
        ', when={"status": "pending"})',
        ', when={"status": "pending"}, shards=4)',
        ["migration key-changed Order.pending"],
    ),
    ('    by_initial = Key("INITIAL#{initial}", "{user_id}", index=GSI1)\n', "", ["safe key-removed User.by_initial"]),
    (
        "    pending = Key(",
        '    every = Key("ALL", "{total}", index=GSI2)\n    pending = Key(',
        ["migration key-added Order.every"],
    ),
    (
        "    pending = Key(",
        '    placing = Key("ORDER#{order_id}", "{placed}", index=LSI1)\n    pending = Key(',
        ["safe key-added Order.placing"],
    ),
    ("return self.name[:1]", "return self.name[:2]", ["migration computed-field-changed User.initial"]),
    ("return self.name[:1]", "\n        return self.name[:1]", []),
    # The values that a put stores, and the strings that a type accepts
    ("class Order(Entity):", 'class Order(Entity, extra="allow"):', ["safe undeclared-kept Order"]),
    (
        "    merchant: str\n",
        "    merchant: Annotated[str, StringConstraints(to_lower=True)]\n",
        ["migration spelling-changed Order.merchant"],
    ),
    (
        "    order_id: str\n",
        "    order_id: Annotated[str, StringConstraints(strip_whitespace=True)]\n",
        ["breaking spelling-changed Order.order_id"],
    ),
    (
        "    placed: str\n",
        "    placed: Annotated[str, StringConstraints(to_upper=True)]\n",
        ["migration spelling-changed Order.placed"],
    ),
    (
        "    note: str | None = None\n",
        "    note: Annotated[str, StringConstraints(to_lower=True)] | None = None\n",
        ["safe spelling-changed Order.note"],
    ),
    # Stored formats of other programs
    (
        "    parts: list[str] = []",
        '    parts: Annotated[list[str], StoredAs("json")] = []',
        ["breaking stored-form-changed Order.parts"],
    ),
    (
        "    expires: Ttl | None = None",
        '    expires: Ttl | None = None\n    at: Annotated[datetime, StoredAs("ms")] | None = None',
        ["safe field-added User.at"],
    ),
    (
        "entities=[User])",
        "entities=[User], key_style=KeyStyle(raw=True))",
        [
            "breaking primary-key-changed User.primary",
            "breaking primary-key-changed Order.primary",
            "migration key-changed User.by_initial",
            "migration claim-changed User.email_claim",
            "migration key-changed Order.pending",
        ],
    ),
    (
        '"{placed}#{order_id}", index=GSI1',
        '"{placed}#{order_id}", style=KeyStyle(case="lower"), index=GSI1',
        ["migration key-changed Order.pending"],
    ),
    (
        '    primary = Key("USER',
        '    kind = Discriminator("type", "user")\n    primary = Key("USER',
        ["breaking label-added User"],
    ),
    # Claims
    ('Unique("EMAIL#{email}")', 'Unique("MAIL#{email}")', ["migration claim-changed User.email_claim"]),
    ('    email_claim = Unique("EMAIL#{email}")\n', "", ["migration claim-removed User.email_claim"]),
    (
        'Unique("EMAIL#{email}")\n',
        'Unique("EMAIL#{email}")\n    name_claim = Unique("NAME#{name}")\n',
        ["migration claim-added User.name_claim"],
    ),
    ("    email_claim = Unique", "    unique_email = Unique", []),
    # Entities
    ("entities=[User])", "entities=[])", ["migration expiry-removed table", "migration entity-removed User"]),
    # Fields
    ("    merchant: str\n", "    merchant: str\n    paid_by: str\n", ["breaking field-required Order.paid_by"]),
    ("    merchant: str\n", '    merchant: str\n    paid_by: str = ""\n', ["safe field-added Order.paid_by"]),
    ("    merchant: str\n", "    merchant: str\n    paid_by: str | None\n", ["safe field-added Order.paid_by"]),
    ("    merchant: str\n", "    merchant: str\n    tags: set[str]\n", ["safe field-added Order.tags"]),
    ("    note: str | None = None\n", "", ["safe field-removed Order.note"]),
    (
        "    note: str | None = None\n",
        '    memo: str | None = Field(default=None, alias="note")\n',
        ["api field-renamed Order.memo"],
    ),
    (
        "    note: str | None = None\n",
        '    note: str | None = Field(default=None, alias="memo")\n',
        ["breaking attribute-renamed Order.note"],
    ),
    ('    name: str = "?"\n', '    name: str = "!"\n', ["safe default-changed User.name"]),
    ("    note: str | None = None\n", '    note: str | None = "none"\n', ["migration default-changed Order.note"]),
    ("    note: str | None = None\n", "    note: str | None\n", []),
    ('    name: str = "?"\n', "    name: str\n", ["safe default-removed User.name"]),
    # Types
    (
        "    note: str | None = None\n",
        '    note: str = ""\n',
        ["migration default-changed Order.note", "safe type-narrowed Order.note"],
    ),
    ("    note: str | None = None\n", "    note: str\n", ["breaking type-narrowed Order.note"]),
    ("    placed: str\n", "    placed: str | None\n", ["safe type-widened Order.placed"]),
    (
        "total: int = Field(default=0, ge=0)",
        "total: int = Field(default=0, ge=1)",
        ["breaking type-narrowed Order.total"],
    ),
    ("total: int = Field(default=0, ge=0)", "total: int = 0", ["safe type-widened Order.total"]),
    ("total: int = Field(default=0, ge=0)", "total: float = Field(default=0, ge=0)", ["safe type-widened Order.total"]),
    (
        '    name: str = "?"\n',
        '    name: str = Field(default="?", max_length=5)\n',
        ["breaking type-narrowed User.name"],
    ),
    ("    note: str | None = None\n", "    note: bytes | None = None\n", ["breaking type-narrowed Order.note"]),
    ("    note: str | None = None\n", "    note: datetime | None = None\n", ["breaking type-narrowed Order.note"]),
    ("    note: str | None = None\n", "    note: int | str | None = None\n", ["safe type-widened Order.note"]),
    ("    note: str | None = None\n", '    note: Literal["a"] | None = None\n', ["breaking type-narrowed Order.note"]),
    ('SMALL = "small"', 'SMALL = "small"\n    TINY = "tiny"', ["safe type-widened Order.kind"]),
    ('    LARGE = "large"\n', "", ["breaking type-narrowed Order.kind"]),
    ("    height: int | None = None\n", "    height: int\n", ["breaking type-narrowed Order.size"]),
    ("    height: int | None = None\n", "    height: float | None = None\n", ["safe type-widened Order.size"]),
    (
        "    height: int | None = None\n",
        "    height: int | None = None\n    depth: int = 0\n",
        ["safe type-widened Order.size"],
    ),
    (
        "    height: int | None = None\n",
        "    height: int | None = None\n    depth: int\n",
        ["breaking type-narrowed Order.size"],
    ),
    ("    title: str\n", "    title: int\n", ["breaking type-narrowed Order.size"]),
    ("    height: int | None = None\n", "", ["safe type-widened Order.size"]),
    ("    parts: list[str] = []\n", "    parts: list[Any] = []\n", ["safe type-widened Order.parts"]),
    ("    parts: list[str] = []\n", "    parts: tuple[str, ...] = ()\n", []),
    ("    parts: list[str] = []\n", "    parts: list[int] = []\n", ["breaking type-narrowed Order.parts"]),
    ("    sizes: dict[str, int] = {}\n", "    sizes: dict[str, float] = {}\n", ["safe type-widened Order.sizes"]),
    ("    sizes: dict[str, int] = {}\n", "    sizes: dict[str, str] = {}\n", ["breaking type-narrowed Order.sizes"]),
    ("    sizes: dict[str, int] = {}\n", "    sizes: dict[str, Any] = {}\n", ["safe type-widened Order.sizes"]),
    # Patterns
    ('@read("E1"', '@read("E9"', ["safe pattern-id-changed order"]),
    ("def order(self", "def one_order(self", ["api pattern-renamed one_order"]),
    (", limit: int = 10) -> list", ") -> list", ["api signature-changed pending_orders"]),
    ("def order(self, order_id: str)", "def order(self, order_id: str) ", []),
    (") -> Order | None: ...", ") -> Order: ...", ["api signature-changed order"]),
    ("    def order(self", "    async def order(self", ["api signature-changed order"]),
    ('@read("E1", consistent=True)', '@read("E1")', ["api consistency-changed order"]),
    ('@read("E2", where', '@read("E2", newest_first=True, where', ["api order-changed pending_orders"]),
    (
        'where={"status": "pending"})\n    def',
        'where={"status": "pending", "total": 5})\n    def',
        ["api filter-changed pending_orders"],
    ),
    ("limit: int = 10", "limit: int = 20", ["api default-argument-changed pending_orders"]),
    ("limit: int = 10", "limit: int", ["api signature-changed pending_orders"]),
    (
        "    note: str | None = None\n",
        "    note: str | None = None\n    revision: Version = 0\n",
        ["safe version-added Order.revision", "safe field-added Order.revision"],
    ),
    ("def place(self, order: Order)", "def place(self, order: Order, at: datetime)", ["api signature-changed place"]),
    ("def place(self, order: Order)", "def place(self, order: Order, at: str = '')", ["safe parameter-added place"]),
    (
        "    note: str | None = None\n",
        "    note: Annotated[str, StringConstraints(to_lower=True)] | int | None = None\n",
        ["safe type-widened Order.note", "safe spelling-changed Order.note"],
    ),
]


@pytest.mark.parametrize(("old", "new", "wanted"), CASES)
def test_each_change_of_a_design_is_reported_with_its_severity(old: str, new: str, wanted: list[str]) -> None:
    result = compared((old, new))
    order = ["breaking", "migration", "api", "safe"]
    assert codes(result.changes) == sorted(wanted, key=lambda text: order.index(text.split()[0]))
    assert all(change.what for change in result.changes)


@pytest.mark.parametrize("name", NAMES)
def test_a_design_compared_with_itself_has_no_changes(name: str) -> None:
    result = difference(design(name).compiled, design(name).compiled)
    assert result.changes == ()
    assert result.summary == "no changes"


def test_equivalent_types_of_two_modules_are_not_reported_as_changes() -> None:
    """When a module is loaded again, its enums and nested models are new classes."""
    assert difference(loaded(SHOP).compiled, loaded(SHOP).compiled).changes == ()
    renamed = SHOP.replace("Kind", "Sort").replace("Size", "Extent")
    assert difference(loaded(SHOP).compiled, loaded(renamed).compiled).changes == ()


def test_an_entity_with_a_new_name_and_the_same_key_is_reported_as_renamed() -> None:
    result = difference(loaded(SHOP).compiled, loaded(SHOP.replace("Order", "Sale")).compiled)
    assert "safe entity-renamed Sale" in codes(result.changes)
    assert not [code for code in codes(result.changes) if "removed" in code or "added" in code]


def test_a_renamed_field_with_the_same_attribute_changes_no_key() -> None:
    result = compared(
        ("    email: str\n", '    mail: str = Field(alias="email")\n'),
        ("EMAIL#{email}", "EMAIL#{mail}"),
        ("    placed: str\n", '    placed_on: str = Field(alias="placed")\n'),
        ("{placed}#{order_id}", "{placed_on}#{order_id}"),
    )
    found = {code for code in codes(result.changes) if "order-changed" not in code}
    assert found == {"api field-renamed Order.placed_on", "api field-renamed User.mail"}


def test_an_access_pattern_that_uses_a_different_index_is_reported() -> None:
    result = compared(
        ("index=GSI1, when", "index=GSI9, when"),
        ("GSI1 = Index", 'GSI9 = Index("GSI9", "gsi9pk", "gsi9sk")\nGSI1 = Index'),
        ("[GSI1, GSI2, LSI1]", "[GSI1, GSI2, LSI1, GSI9]"),
    )
    assert codes(result.changes) == [
        "migration index-added GSI9",
        "migration key-added Order.pending",
        "safe key-removed Order.pending",
        "safe pattern-moved pending_orders",
    ]


RANKED = SHOP.replace('"{placed}#{order_id}"', '"{kind:rank}#{placed}#{order_id}"').replace(
    "class Order(Entity):", 'class Order(Entity, extra="allow"):'
)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('    LARGE = "large"', '    LARGE = "large"\n    HUGE = "huge"', ["safe type-widened Order.kind"]),
        (
            '    LARGE = "large"',
            '    MIDDLE = "middle"\n    LARGE = "large"',
            ["breaking key-changed Order.pending", "safe type-widened Order.kind"],
        ),
        (
            '    SMALL = "small"\n    LARGE = "large"',
            '    LARGE = "large"\n    SMALL = "small"',
            ["breaking key-changed Order.pending"],
        ),
        (', extra="allow"', "", ["breaking undeclared-dropped Order"]),
    ],
)
def test_changed_enum_ranks_and_fields_that_a_put_keeps_are_reported(old: str, new: str, wanted: list[str]) -> None:
    """If the rank of an enum value changes, stored keys differ, even if the type only accepts more values."""
    result = difference(loaded(RANKED).compiled, loaded(RANKED.replace(old, new)).compiled)
    assert codes(result.changes) == wanted


FLAGGED = SHOP.replace("    parts: list[str] = []", "    parts: set[str] = set()\n    gift: bool = False")


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (
            "    parts: set[str] = set()",
            "    parts: list[str] = []",
            ["migration stored-type-changed Order.parts", "safe type-widened Order.parts"],
        ),
        (
            "    gift: bool = False",
            "    gift: int = 0",
            ["breaking type-narrowed Order.gift", "migration stored-type-changed Order.gift"],
        ),
        (
            "    pending = Key(",
            '    gifts = Key("{gift}", "{order_id}", index=GIFTS)\n    pending = Key(',
            [
                "migration index-added GIFTS",
                "migration key-added Order.gifts",
                "migration stored-type-changed Order.gift",
            ],
        ),
    ],
)
def test_a_changed_stored_type_is_reported(old: str, new: str, wanted: list[str]) -> None:
    """Items store a different DynamoDB type, which reads can accept."""
    changed = FLAGGED.replace(old, new)
    if "GIFTS" in new:
        changed = changed.replace("LSI1 = Index", 'GIFTS = Index("GIFTS", "gift", "order_id")\nLSI1 = Index')
        changed = changed.replace("[GSI1, GSI2, LSI1]", "[GSI1, GSI2, LSI1, GIFTS]")
    assert codes(difference(loaded(FLAGGED).compiled, loaded(changed).compiled).changes) == wanted


COUNTED = """
from keyplan import *


class Page(Entity):
    page_id: str
    views: int = 0
    bytes_: int = 0

    primary = Key("PAGE#{page_id}", "#HEAD")


class Link(Entity):
    page_id: str
    to: str
    back: str = ""

    primary = Key("PAGE#{page_id}", "LINK#{to}")


class Shop(Design):
    table = Table("shop")

    @read("S1", through=Through(Link, page_id="to"))
    def linked(self, page_id: str, limit: int = 10) -> Page[Page_]: ...

    @read("S2", entity=Link)
    def links(self, page_id: str) -> int: ...

    @read("S3", entity=Page_, total="views")
    def views(self, page_id: str) -> int: ...
""".replace("class Page(", "class Page_(")


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('page_id="to"', 'page_id="back"', ["api junction-changed linked"]),
        ('total="views"', 'total="bytes_"', ["api number-changed views"]),
        ("entity=Link", "entity=[Link, Page_]", ["api number-changed links"]),
    ],
)
def test_changed_junctions_and_return_types_are_reported_as_api_changes(old: str, new: str, wanted: list[str]) -> None:
    result = difference(loaded(COUNTED).compiled, loaded(COUNTED.replace(old, new)).compiled)
    assert [code for code in codes(result.changes) if "moved" not in code] == wanted


OF_OTHERS = SHOP.replace("    placed: str", '    placed: Annotated[datetime, StoredAs("iso s")]').replace(
    '    primary = Key("ORDER', '    mark = Discriminator("type", "order")\n    primary = Key("ORDER'
)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (
            'StoredAs("iso s")',
            'StoredAs("iso ms")',
            ["breaking stored-form-changed Order.placed", "migration key-changed Order.pending"],
        ),
        ('Discriminator("type", "order")', 'Discriminator("type", "Order")', ["breaking label-changed Order"]),
        ('    mark = Discriminator("type", "order")\n', "", ["safe label-removed Order"]),
    ],
)
def test_changed_stored_formats_and_discriminators_are_reported(old: str, new: str, wanted: list[str]) -> None:
    result = difference(loaded(OF_OTHERS).compiled, loaded(OF_OTHERS.replace(old, new)).compiled)
    assert codes(result.changes) == wanted
    assert all(change.what for change in result.changes)


def test_custom_format_functions_are_compared_by_their_code() -> None:
    def shop(code: str) -> str:
        field = f"    note: Annotated[str, StoredAs(write={code}, read=lambda text: text)] | None = None"
        return SHOP.replace("    note: str | None = None", field)

    same = difference(loaded(shop("lambda text: text")).compiled, loaded(shop("lambda text: text")).compiled)
    other = difference(loaded(shop("lambda text: text")).compiled, loaded(shop("lambda text: text + ''")).compiled)
    assert same.changes == ()
    assert codes(other.changes) == ["migration stored-form-changed Order.note"]


def test_a_change_to_strongly_consistent_reads_is_reported_as_safe() -> None:
    result = difference(loaded(SHOP.replace(", consistent=True", "")).compiled, loaded(SHOP).compiled)
    assert codes(result.changes) == ["safe consistency-changed order"]


def test_removed_and_added_access_patterns_are_reported() -> None:
    result = compared(
        ('@read("E1", consistent=True)\n    def order(', '@read("E7", consistent=True)\n    def get_order(')
    )
    assert codes(result.changes) == ["api pattern-removed order", "safe pattern-added get_order"]


def test_the_most_severe_changes_are_listed_first() -> None:
    result = compared(
        ("    merchant: str\n", "    merchant: str\n    paid_by: str\n"),
        ('Unique("EMAIL#{email}")', 'Unique("MAIL#{email}")'),
        ("def order(self", "def one_order(self"),
        ('    name: str = "?"\n', '    name: str = "!"\n'),
    )
    assert [change.severity.value for change in result.changes] == ["breaking", "migration", "api", "safe"]
    assert result.summary == "1 breaking, 1 needing migration, 1 changing the API, 1 safe"
    assert result.as_json()["counts"] == {"breaking": 1, "migration": 1, "api": 1, "safe": 1}


def test_special_characters_in_markdown_cells_are_escaped() -> None:
    text = compared(("    merchant: str\n", '    merchant: str\n    kind_of: Literal["a|b", "c`"]\n')).markdown()
    (row,) = [line for line in text.splitlines() if line.startswith("| breaking")]
    assert row.replace("\\|", "").count("|") == 6
    assert text.startswith("### Shop: 1 breaking\n")


def test_a_removed_version_field_is_reported() -> None:
    with_version = SHOP.replace(
        "    note: str | None = None\n", "    note: str | None = None\n    revision: Version = 0\n"
    )
    result = difference(loaded(with_version).compiled, loaded(with_version.replace("Version = 0", "int = 0")).compiled)
    assert codes(result.changes) == ["migration version-removed Order.revision"]
