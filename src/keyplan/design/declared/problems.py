"""What is wrong with a declaration, before its place is known: whoever knows the place makes a fault of it."""

__all__ = ["Problem"]


class Problem(Exception):
    """Why a declaration can't be so; ``hint`` says what to write instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
