"""What is wrong with a store's file is said with its place and what to do about it: each error, word by word."""

from __future__ import annotations

import apsw

from keyplan.engine.storage import faults
from keyplan.errors import StoreError
from tests.agreed import assert_agreed

PLACE = "shop.db"
KINDS = (
    *(apsw.NotADBError, apsw.CorruptError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError),
    *(apsw.AuthError, apsw.FullError, apsw.BusyError, apsw.LockedError, apsw.IOError, apsw.NoMemError),
    *(apsw.TooBigError, apsw.SchemaChangeError),
)


def test_what_is_said_of_a_file() -> None:
    made = {
        "foreign": faults.foreign(PLACE),
        "newer": faults.newer(PLACE, 9, 3),
        "missing": faults.missing(PLACE),
        "missing_folder": faults.missing_folder(PLACE),
        "locked": faults.locked(PLACE, 2.5),
        "replaced": faults.replaced(PLACE),
        "unlocked": faults.unlocked(PLACE),
        "forked": faults.forked(PLACE),
        "unreadable": faults.unreadable(PLACE, '{"g": 5}'),
        "closed": faults.closed(PLACE),
    }
    made |= {kind.__name__: faults.store_error(kind("SQLite's own words"), PLACE) for kind in KINDS}
    assert_agreed("\n".join(f"{name}\n{_shown(error)}" for name, error in made.items()))


def _shown(error: StoreError) -> str:
    assert error.place == PLACE
    return f"  {error.message}\n  → {error.hint}"
