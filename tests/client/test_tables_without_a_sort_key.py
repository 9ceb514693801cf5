# mypy: disable-error-code="empty-body"
"""Pages of index queries, on tables without a sort key."""

from __future__ import annotations

from collections.abc import Callable

from keyplan import Cursor, Design, Entity, Index, Key, Page, Table, read

BY_WARD = Index("by-ward", "wpk", "wsk")
BY_ALL = Index("by-all", "apk")


class Bed(Entity):
    bed_id: str
    ward: str
    floor: int = 1

    primary = Key("BED#{bed_id}")
    by_ward = Key("WARD#{ward}", "{floor:04d}", index=BY_WARD)
    by_all = Key("FLOOR#{floor}", index=BY_ALL)


class Beds(Design):
    table = Table("beds", sort=None, indexes=[BY_WARD, BY_ALL])

    @read("B1")
    def of_ward(self, ward: str, limit: int = 2, cursor: Cursor | None = None) -> Page[Bed]: ...

    @read("B2")
    def of_floor(self, floor: int, limit: int = 2, cursor: Cursor | None = None) -> Page[Bed]: ...

    @read("B3")
    def bed(self, bed_id: str) -> Bed: ...

    @read("B4", scan=True)
    def beds(self, limit: int = 2, cursor: Cursor | None = None) -> Page[Bed]: ...


def test_pages_of_an_index_of_a_table_without_a_sort_key_contain_each_item_once() -> None:
    made = [Bed(bed_id=str(number), ward="a", floor=1 + number // 4) for number in range(7)]
    with Beds.open(":memory:") as beds:
        for bed in made:
            beds.create(bed)
        asked: list[tuple[Callable[[Cursor | None], Page[Bed]], list[Bed]]] = [
            (lambda cursor: beds.of_ward("a", cursor=cursor), made),
            (lambda cursor: beds.of_floor(1, cursor=cursor), made[:4]),
            (lambda cursor: beds.beds(cursor=cursor), made),
        ]
        for ask, wanted in asked:
            pages = [ask(None)]
            while pages[-1].cursor is not None:
                pages.append(ask(pages[-1].cursor))
            given = [bed for page in pages for bed in page.items]
            assert sorted(given, key=lambda bed: bed.bed_id) == wanted
            assert {len(page.items) for page in pages[:-1]} == {2}
        assert beds.bed("3") == made[3]
