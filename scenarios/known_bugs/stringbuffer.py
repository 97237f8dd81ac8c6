"""CB/stringbuffer-jdk1.4: an append asks the other buffer for its length, and then for its characters."""

from __future__ import annotations

from threading import RLock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["STRINGBUFFER"]

TEXT = "abc"


class Buffer:
    """Characters with synchronized methods."""

    def __init__(self, text: str = "") -> None:
        self.lock = RLock()
        self.text = list(text)

    def length(self) -> int:
        """How many characters there are."""
        with self.lock:
            return len(self.text)

    def first(self, count: int) -> list[str]:
        """The first characters; there must be as many."""
        with self.lock:
            assert count <= len(self.text), f"{count} characters asked for, {len(self.text)} are there"
            return self.text[:count]

    def erase(self, count: int) -> None:
        """Remove the first characters."""
        with self.lock:
            del self.text[:count]

    def append(self, text: str) -> None:
        """Add characters at the end."""
        with self.lock:
            self.text.extend(text)

    def append_buffer(self, other: Buffer) -> None:
        """Add another buffer's characters; its lock is free between its two answers."""
        with self.lock:
            self.text.extend(other.first(other.length()))

    def append_buffer_whole(self, other: Buffer) -> None:
        """Add another buffer's characters, holding its lock meanwhile."""
        with self.lock, other.lock:
            self.text.extend(other.first(other.length()))


class Buffers:
    """A buffer that is changed, and one that it is appended to."""

    def __init__(self) -> None:
        self.source = Buffer(TEXT)
        self.target = Buffer()


def copy(buffers: Buffers) -> None:
    """Append the source as the original does."""
    buffers.target.append_buffer(buffers.source)


def copy_whole(buffers: Buffers) -> None:
    """Append the source in one step."""
    buffers.target.append_buffer_whole(buffers.source)


def rewrite(buffers: Buffers) -> None:
    """Erase the source and write it anew."""
    buffers.source.erase(len(TEXT))
    buffers.source.append(TEXT)


def check_copy(buffers: Buffers) -> None:
    """Raises AssertionError when half a text was copied."""
    copied = "".join(buffers.target.text)
    assert copied in {"", TEXT}, f"{copied!r} was copied"


STRINGBUFFER = KnownBug(
    name="stringbuffer",
    source="CB",
    about="The appended buffer shrinks between the answer to its length and the copying.",
    finding="exception",
    message="3 characters asked for, 0 are there",
    buggy=Program("stringbuffer", Buffers, (copy, rewrite), check_copy),
    repaired=Program("stringbuffer_ok", Buffers, (copy_whole, rewrite), check_copy),
)
