"""What clients saw: operations with their invocations and responses, in real time.

An operation's interval is closed, `[called, returned]`. One without a response is pending: it may
have taken effect at any time after its invocation, or never.
"""

from __future__ import annotations

from harness.history.recorder import Recorded, Recorder

__all__ = ["Recorded", "Recorder"]
