"""Where in the code under test a task stands: the innermost frame that is neither ours nor Python's."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
import traceback
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

__all__ = [
    "frames_of",
    "innermost",
    "is_foreign",
    "is_ours",
    "named",
    "origin",
    "place",
    "shown",
    "source_of_error",
    "where",
    "where_of_error",
]

_OURS = str(Path(__file__).resolve().parents[1]) + os.sep
_STDLIB = str(Path(sysconfig.get_path("stdlib")).resolve()) + os.sep
_foreign: dict[str, bool] = {}


def is_foreign(filename: str) -> bool:
    """Whether a file is ours or the interpreter's, so that a person would not look for the bug there."""
    known = _foreign.get(filename)
    if known is None:
        path = str(Path(filename).resolve())
        known = (
            path.startswith(_OURS)
            or filename.startswith("<frozen ")
            or (path.startswith(_STDLIB) and "site-packages" not in path)
        )
        _foreign[filename] = known
    return known


def is_ours(filename: str) -> bool:
    """Whether a file belongs to the harness."""
    return filename.startswith(_OURS)


def innermost(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the code under test at or below `frame`."""
    while frame is not None and is_foreign(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def frames_of(task: Any) -> FrameType | None:
    """The topmost frame of a task, suspended or running."""
    if task.greenlet is None:
        return None
    frame: FrameType | None = task.greenlet.gr_frame
    return frame if frame is not None else sys._getframe(1)  # noqa: SLF001  a running greenlet has no frame of its own


def shown(code: CodeType, line: int) -> str:
    """A place as a person reads it: file:line in function."""
    return f"{Path(code.co_filename).name}:{line} in {code.co_qualname}"


def where(task: Any) -> str:
    """Where a suspended task stands."""
    frame = innermost(frames_of(task))
    return shown(frame.f_code, frame.f_lineno) if frame is not None else "its end"


def place(task: Any) -> tuple[str, int]:
    """The file and line where a suspended task stands; empty if that is in nobody's code."""
    frame = innermost(frames_of(task))
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


def where_of_error(error: BaseException) -> str:
    """The innermost line of the code under test in a traceback."""
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if not is_foreign(frame.f_code.co_filename):
            place = shown(frame.f_code, line)
    return place


def source_of_error(error: BaseException) -> str:
    """The source line of the code under test that raised, for an assertion without words of its own."""
    line = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        if not is_foreign(frame.f_code.co_filename):
            line = linecache.getline(frame.f_code.co_filename, number).strip()
    return line


def origin(resource: Any, task: Any) -> str:
    """What a task waits for, in the words of `threading` if it waits inside one of its primitives."""
    return named(resource, frames_of(task))


def named(resource: Any, frame: FrameType | None) -> str:
    """A resource, by the public function of the standard library that the code under test called for it."""
    through = ""
    while frame is not None and is_foreign(frame.f_code.co_filename):
        code = frame.f_code
        if code.co_qualname == "Thread.run":
            break  # who started the thread did not call for this
        public = code.co_name[0].isalpha() or code.co_name.startswith("__")
        if public and not is_ours(code.co_filename):
            through = code.co_qualname
        frame = frame.f_back
    noun: str = getattr(resource, "noun", type(resource).__name__)
    return f"{through} ({noun})" if through else noun
