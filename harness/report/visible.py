"""Foreign text on a terminal: what could steer it is shown instead of sent."""

from __future__ import annotations

import unicodedata

__all__ = ["visible"]

_KEPT = frozenset("\n\t")
_STEERING = frozenset({"Cc", "Cs", "Zl", "Zp"})  # controls, halves of characters, line and paragraph ends
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    """The same text, each character that moves, colours or reorders others as an escape sequence.

    An implementation's messages could otherwise overwrite the verdict. Line ends and tabs are kept.
    """
    if text.isprintable():
        return text
    return "".join(_escaped(char) if _steers(char) else char for char in text)


def _steers(char: str) -> bool:
    return char not in _KEPT and (unicodedata.category(char) in _STEERING or char in _BIDIRECTIONAL)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
