"""Tests that reported effects on deployed data occur when the changed design is opened on a store with old items."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keyplan import Design, Update
from keyplan.errors import CursorError, InvalidItemError, StoreError
from tests.cli.support import run
from tests.diff.shop import SHOP, changed, codes, compared, loaded

Change = tuple[str, str]


@pytest.fixture
def deployed(tmp_path: Path) -> Callable[..., tuple[Any, list[str]]]:
    """Return a function that opens the changed design on data of the old design, with missing indexes added, and
    returns the reported changes.
    """

    def opened(*changes: Change) -> tuple[Design, list[str]]:
        where = str(tmp_path / "shop.db")
        old = loaded(SHOP)
        cases: Any = vars(__import__(old.__module__))
        with old.open(where) as shop:
            shop.put(cases["Order"](order_id="1", merchant="m", placed="2026"))
            shop.create(cases["User"](user_id="1", email="a@b", name="Ada"))
        file = tmp_path / "shop_new.py"
        file.write_text(changed(*changes), encoding="utf-8")
        made = run("create", f"{file}:Shop", "--db", where)
        assert made.exit_code == 0, made.output
        new = loaded(changed(*changes))
        return new.open(where, create=False), codes(compared(*changes).changes)

    return opened


def entity(design: Any, name: str) -> Any:
    return design.compiled.by_name[name].cls


def test_a_new_required_field_makes_old_items_unreadable(deployed: Any) -> None:
    shop, result = deployed(("    merchant: str\n", "    merchant: str\n    paid_by: str\n"))
    with shop, pytest.raises(InvalidItemError):
        shop.order("1")
    assert result == ["breaking field-required Order.paid_by"]


@pytest.mark.parametrize("field", ['paid_by: str = "?"', "paid_by: str | None", "paid_by: set[str]"])
def test_new_fields_with_defaults_do_not_make_old_items_unreadable(deployed: Any, field: str) -> None:
    shop, result = deployed(("    merchant: str\n", f"    merchant: str\n    {field}\n"))
    with shop:
        assert shop.order("1").merchant == "m"
    assert result == ["safe field-added Order.paid_by"]


def test_a_field_with_a_new_attribute_is_lost_unless_a_key_contains_it(deployed: Any) -> None:
    shop, result = deployed(("    order_id: str\n", '    order_id: str = Field(alias="id")\n'))
    with shop:
        assert shop.order("1").order_id == "1"
    assert result == ["migration attribute-renamed Order.order_id"]


def test_a_renamed_field_is_still_read_from_the_index_key_of_old_items(deployed: Any) -> None:
    shop, result = deployed(("    placed: str\n", '    placed: str = Field(alias="placed_on")\n'))
    assert result == ["breaking attribute-renamed Order.placed"]
    with shop:
        assert shop.order("1").placed == "2026"
        shop.store.transport.call(
            "UpdateItem",
            {
                "TableName": "shop",
                "Key": {"pk": {"S": "ORDER#1"}, "sk": {"S": "HEAD"}},
                "UpdateExpression": "REMOVE gsi1pk, gsi1sk",
            },
        )
        with pytest.raises(InvalidItemError):
            shop.order("1")


def test_a_narrower_field_type_makes_some_old_items_unreadable(deployed: Any) -> None:
    shop, result = deployed(('SMALL = "small"', 'SMALL = "tiny"'))
    with shop, pytest.raises(InvalidItemError):
        shop.order("1")
    assert "breaking type-narrowed Order.kind" in result


def test_a_changed_primary_key_hides_items_until_they_are_copied(deployed: Any) -> None:
    shop, result = deployed(('"ORDER#{order_id}", "HEAD"', '"SALE#{order_id}", "HEAD"'))
    assert "breaking primary-key-changed Order.primary" in result
    with shop:
        assert shop.order("1") is None


def test_a_put_recomputes_the_changed_index_key_of_an_item(deployed: Any) -> None:
    shop, result = deployed(('Key("MERCHANT#{merchant}"', 'Key("SHOP#{merchant}"'))
    assert result == ["migration key-changed Order.pending"]
    with shop:
        assert shop.pending_orders("m") == []
        shop.put(shop.order("1"))
        assert [order.order_id for order in shop.pending_orders("m")] == ["1"]


def test_a_new_index_is_backfilled_with_the_items_that_have_its_attributes(deployed: Any) -> None:
    read = '    @read("E3")\n    def placed_on(self, placed: str) -> list[Order]: ...\n\n    @write'
    shop, result = deployed(
        ("    pending = Key(", '    by_placed = Key("{placed}", index=PLACED)\n    pending = Key('),
        ("GSI1 = Index", 'PLACED = Index("PLACED", "placed")\nGSI1 = Index'),
        ("[GSI1, GSI2, LSI1]", "[GSI1, GSI2, LSI1, PLACED]"),
        ("    @write", read),
    )
    assert result == ["migration index-added PLACED", "safe key-added Order.by_placed", "safe pattern-added placed_on"]
    with shop:
        assert [value.order_id for value in shop.placed_on("2026")] == ["1"]


def test_a_new_index_lacks_items_until_they_are_rewritten(deployed: Any) -> None:
    read = '    @read("E3")\n    def placed_on(self, placed: str) -> list[Order]: ...\n\n    @write'
    shop, result = deployed(
        ("    pending = Key(", '    by_placed = Key("PLACED#{placed}", "{order_id}", index=GSI3)\n    pending = Key('),
        ("GSI1 = Index", 'GSI3 = Index("GSI3", "gsi3pk", "gsi3sk")\nGSI1 = Index'),
        ("[GSI1, GSI2, LSI1]", "[GSI1, GSI2, LSI1, GSI3]"),
        ("    @write", read),
    )
    assert result[:2] == ["migration index-added GSI3", "migration key-added Order.by_placed"]
    with shop:
        assert shop.placed_on("2026") == []
        shop.put(shop.order("1"))
        assert len(shop.placed_on("2026")) == 1


def test_an_update_recomputes_an_index_key_of_items_with_claims(deployed: Any) -> None:
    """The advice for items with claims is an update, because a put doesn't read the claims of the stored item."""
    read = '    @read("E3")\n    def users_with(self, initial: str) -> list[User]: ...\n\n    @write'
    shop, result = deployed(('Key("INITIAL#{initial}"', 'Key("FIRST#{initial}"'), ("    @write", read))
    assert "migration key-changed User.by_initial" in result
    (change,) = compared(('Key("INITIAL#{initial}"', 'Key("FIRST#{initial}"')).changes
    assert "Update(item, name=item.name).only_if(name=item.name)" in change.action
    with shop:
        assert shop.users_with("A") == []
        user = shop.get(entity(shop, "User"), user_id="1")
        shop.update(user, name=user.name)
        assert len(shop.users_with("A")) == 1


def test_two_updates_create_a_new_claim_of_an_old_item(deployed: Any) -> None:
    read = '    @read("E3")\n    def user_named(self, name: str) -> User | None: ...\n\n    @write'
    shop, result = deployed(
        ('Unique("EMAIL#{email}")\n', 'Unique("EMAIL#{email}")\n    name_claim = Unique("NAME#{name}")\n'),
        ("    @write", read),
    )
    assert "migration claim-added User.name_claim" in result
    with shop:
        assert shop.user_named("Ada") is None
        user = shop.get(entity(shop, "User"), user_id="1")
        shop.update(shop.update(user, name="Ada, for a moment"), name="Ada")
        assert shop.user_named("Ada") == user


def test_a_changed_default_is_read_for_missing_attributes(deployed: Any) -> None:
    shop, result = deployed(("    note: str | None = None\n", '    note: str | None = "none"\n'))
    assert result == ["migration default-changed Order.note"]
    with shop:
        assert shop.order("1").note == "none"


def test_opening_a_design_with_a_changed_index_is_rejected(deployed: Any) -> None:
    changes = ('Number("gsi2sk")', '"gsi2sk"')
    assert codes(compared(changes).changes) == ["breaking index-changed GSI2"]
    with pytest.raises((StoreError, AssertionError), match=r"GSI2|gsi2sk"):
        deployed(changes)


def test_a_field_that_is_no_longer_a_ttl_requires_two_migrations(deployed: Any) -> None:
    """Conditions on the new timestamps match only strings, and the table's TTL setting is unchanged."""
    shop, result = deployed(("expires: Ttl", "expires: datetime"))
    assert result == ["migration expiry-removed table", "migration stored-type-changed User.expires"]
    with shop:
        assert shop.get(entity(shop, "User"), user_id="1").expires is None


def test_the_advised_migration_loses_no_concurrent_write(deployed: Any) -> None:
    """Other writes run during the migration; a conditional update creates the key and overwrites none of them."""
    changes = [('Key("MERCHANT#{merchant}"', 'Key("SHOP#{merchant}"')]
    (change,) = compared(*changes).changes
    assert "Update(item, merchant=item.merchant).only_if(merchant=item.merchant)" in change.action
    shop, _ = deployed(*changes)
    with shop:
        item = shop.order("1")
        shop.update(item, note="written meanwhile")
        shop.transact([Update(item, merchant=item.merchant).only_if(merchant=item.merchant)])
        (result,) = shop.pending_orders("m")
        assert result.note == "written meanwhile"


def test_a_cursor_created_before_a_sort_order_change_is_rejected(deployed: Any, tmp_path: Path) -> None:
    """With the position of the old sort order, the next page would skip half of the items."""
    with_page = ("-> list[Order]: ...", "-> Page[Order]: ...")
    limit = ("limit: int = 10)", "limit: int = 10, cursor: Cursor | None = None)")
    shop, _ = deployed(with_page, limit)
    with shop:
        for number in range(2, 6):
            shop.put(shop.order("1").model_copy(update={"order_id": str(number)}))
        cursor = shop.pending_orders("m", limit=2).cursor
        assert len(shop.pending_orders("m", limit=9, cursor=cursor)) == 3
    turned = loaded(changed(with_page, limit, ('@read("E2", where', '@read("E2", newest_first=True, where')))
    with turned.open(str(tmp_path / "shop.db"), create=False) as other:
        ask: Any = other
        with pytest.raises(CursorError):
            ask.pending_orders("m", limit=9, cursor=cursor)
