"""Unreadable: what stands in an answer for an item that can't be read, where the return type takes it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Unreadable"]


class Unreadable(BaseModel):
    """An item whose key is the entity's, but whose attributes aren't: ``Page[Ticket | Unreadable]`` gives it in its
    place, where ``Page[Ticket]`` raises ItemNotReadable.

    ``entity`` is the entity's name, ``key`` its primary key as it is stored, ``message`` what is wrong, ``faults`` each
    attribute's.
    """

    model_config = ConfigDict(frozen=True)

    entity: str
    key: dict[str, str]
    message: str
    faults: tuple[str, ...] = ()
