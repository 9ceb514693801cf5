"""Converts errors of SQLite and of the database file to ``StoreError``."""

from __future__ import annotations

import apsw

from keyplan.errors import StoreError


def store_error(error: apsw.Error, place: str) -> StoreError:
    if isinstance(error, apsw.SQLError) and "no such table: keyplan_" in str(error):
        return StoreError(
            "A newer version of Keyplan has migrated the file since this process opened it",
            place=place,
            hint="Update keyplan and restart this process.",
        )
    for kind, message, hint in _KINDS:
        if isinstance(error, kind):
            return StoreError(f"{message}: {error}", place=place, hint=hint)
    return StoreError(f"SQLite returned an error: {error}", place=place)


def foreign(place: str) -> StoreError:
    return StoreError(
        "The SQLite file belongs to another program",
        place=place,
        hint="Use another path for the Keyplan store; this file wasn't changed.",
    )


def other_format(place: str, version: int, known: int) -> StoreError:
    return StoreError(
        f"The file has format {version}, but this version of Keyplan supports only formats {known - 1} and {known}",
        place=place,
        hint="Update keyplan." if version > known else "Open the file once with an older version of Keyplan.",
    )


def missing(place: str) -> StoreError:
    return StoreError("The file doesn't exist", place=place, hint="Check the path, or open the store with create=True.")


def missing_folder(place: str) -> StoreError:
    return StoreError("The folder of the file doesn't exist", place=place, hint="Create the folder first.")


def locked(place: str, waited_s: float) -> StoreError:
    return StoreError(
        f"Another process or thread has held the store's write lock for {waited_s:g} s",
        place=place,
        hint="Look for a process or thread with an unfinished write, or open the store with a longer busy_timeout_s.",
    )


class LocksRemovedError(StoreError):
    """The ``-shm`` file was removed before a transaction started."""


_REMOVED = (
    "The store's -wal or -shm file was removed while the store was open, manually or by another copy of SQLite in this "
    "process (such as Python's sqlite3, when it closes the file)"
)


def replaced(place: str) -> StoreError:
    return StoreError(
        "The file was removed or replaced while the store was open: the last write isn't in the file now at this path",
        place=place,
        hint="Close the store, and open it again to use the file at this path.",
    )


def files_removed(place: str, kind: type[StoreError] = StoreError) -> StoreError:
    """A ``-wal`` or ``-shm`` file was removed, and the store can't be reopened now."""
    return kind(
        f"{_REMOVED}; the request was rolled back",
        place=place,
        hint="Retry the request. If it fails again, close the store in all processes, and open it again.",
    )


def reopened(place: str) -> str:
    return f"{place}: {_REMOVED}. All committed data was saved, and the store was reopened."


def unsaved(place: str) -> StoreError:
    """A WAL that was removed can't be copied into the file."""
    return StoreError(
        f"{_REMOVED}; whether the last writes are stored is unknown",
        place=place,
        hint="Close the store in all processes, open it again, and check the last writes.",
    )


def wal_removed(place: str, process: int) -> StoreError:
    """Another process has the store open with a WAL that was removed."""
    name = f"process {process}" if process > 0 else "another process"
    return StoreError(
        f"The store's -wal file was removed, and {name} still has the store open",
        place=place,
        hint="Send a request in that process, or stop it, so that its writes are saved. Then open the store again.",
    )


def forked(place: str) -> StoreError:
    """The process was forked while another thread used a store in memory."""
    return StoreError(
        "This process was forked while a thread of its parent used the in-memory store, so it can't use the store",
        place=place,
        hint="Fork before other threads use the store, or open the store in a file.",
    )


def unreadable(place: str, fault: Exception | str) -> StoreError:
    return StoreError(
        f"A stored item is damaged: {fault}",
        place=place,
        hint="Put or delete the item without a condition; `keyplan dynamodb check` lists damaged items.",
    )


def closed(place: str) -> StoreError:
    return StoreError("The store is closed", place=place)


_KINDS: tuple[tuple[type[apsw.Error], str, str], ...] = (
    (apsw.NotADBError, "The file isn't a SQLite file", "Use another path for the Keyplan store."),
    (
        apsw.CorruptError,
        "The file is damaged",
        "Restore the file from a copy; `keyplan dynamodb check` lists the damage.",
    ),
    (
        apsw.ReadOnlyError,
        "The file or its folder can't be written",
        "Give this user write access to the file and its folder, in which SQLite creates two more files.",
    ),
    (
        apsw.CantOpenError,
        "The file can't be opened",
        "Check that the path is a file, and that this user can read and write the file and its folder.",
    ),
    (apsw.PermissionsError, "The file can't be accessed", "Allow this user to read and write the file."),
    (apsw.AuthError, "The file can't be accessed", "Allow this user to read and write the file."),
    (apsw.FullError, "The disk is full; nothing was written", "Free disk space and retry the request."),
    (apsw.BusyError, "The file is locked", "Look for a process that has locked the file."),
    (apsw.LockedError, "The file is locked", "Look for a process that has locked the file."),
    (apsw.IOError, "A disk operation failed; nothing was written", "Check the operating system's log."),
    (apsw.NoMemError, "Out of memory", "Free memory and retry the request."),
    (apsw.TooBigError, "A value is too large for the store", "The maximum size of an item is 400 KB."),
)
