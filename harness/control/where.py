"""Where in the code under test a task stands: the innermost frame that is neither ours nor Python's."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from types import CodeType, FrameType
from typing import Any

__all__ = ["frames_of", "innermost", "origin", "shown", "where", "where_of_error"]

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STDLIB = (os.path.realpath(sysconfig.get_path("stdlib")) + os.sep, "<frozen ")
_foreign: dict[str, bool] = {}


def is_foreign(filename: str) -> bool:
    """Whether a file is ours or the interpreter's, so that a person would not look for the bug there."""
    known = _foreign.get(filename)
    if known is None:
        path = os.path.realpath(filename)
        known = path.startswith(_OURS) or filename.startswith("<frozen ") or (
            path.startswith(_STDLIB[0]) and "site-packages" not in path
        )
        _foreign[filename] = known
    return known


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
    return frame if frame is not None else sys._getframe(1)


def shown(code: CodeType, line: int) -> str:
    """A place as a person reads it: file:line in function."""
    return f"{os.path.basename(code.co_filename)}:{line} in {code.co_qualname}"


def where(task: Any) -> str:
    """Where a suspended task stands."""
    frame = innermost(frames_of(task))
    return shown(frame.f_code, frame.f_lineno) if frame is not None else "its end"


def where_of_error(error: BaseException) -> str:
    """The innermost line of the code under test in a traceback."""
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if not is_foreign(frame.f_code.co_filename):
            place = shown(frame.f_code, line)
    return place


def origin(resource: Any, task: Any) -> str:
    """What a task waits for, in the words of `threading` if it waits inside one of its primitives."""
    frame = frames_of(task)
    outermost = ""
    while frame is not None and is_foreign(frame.f_code.co_filename):
        code = frame.f_code
        if not code.co_filename.startswith(_OURS):
            outermost = code.co_qualname
        frame = frame.f_back
    noun: str = resource.noun
    return f"{outermost} ({noun})" if outermost else noun
