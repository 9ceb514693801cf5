"""What is wrong with a declaration, before its place is known: whoever knows the place makes a fault of it. And how a
message of pydantic's stands in one.
"""

__all__ = ["Problem", "lowered"]


class Problem(Exception):
    """Why a declaration can't be so; ``hint`` says what to write instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def lowered(message: str) -> str:
    """A message of pydantic's as a part of a sentence."""
    return message[:1].lower() + message[1:]
