"""All known bugs in one tuple, in the order of the study's tables: CS, CHESS, and what is left."""

from __future__ import annotations

from scenarios.known_bugs.account import ACCOUNT
from scenarios.known_bugs.arithmetic_prog import ARITHMETIC_PROG
from scenarios.known_bugs.bluetooth_driver import BLUETOOTH_DRIVER
from scenarios.known_bugs.bounded_buffer import BOUNDED_BUFFER, BOUNDED_BUFFER_IF
from scenarios.known_bugs.carter01 import CARTER01
from scenarios.known_bugs.deadlocks import DEADLOCK01, DINING, PHASE01
from scenarios.known_bugs.fsbench import FSBENCH
from scenarios.known_bugs.handed_over import CIRCULAR_BUFFER, QUEUE, STACK
from scenarios.known_bugs.lazy01 import LAZY01
from scenarios.known_bugs.records import KnownBug
from scenarios.known_bugs.reorder import REORDER
from scenarios.known_bugs.safestack import SAFESTACK
from scenarios.known_bugs.stringbuffer import STRINGBUFFER
from scenarios.known_bugs.sync import SYNC01, SYNC02
from scenarios.known_bugs.token_ring import TOKEN_RING
from scenarios.known_bugs.twostage import TWOSTAGE, TWOSTAGE_100
from scenarios.known_bugs.work_stealing import IWSQ, IWSQ_WITH_STATE, SWSQ, WSQ
from scenarios.known_bugs.wronglock import WRONGLOCK, WRONGLOCK_1, WRONGLOCK_3

__all__ = ["KNOWN_BUGS"]

KNOWN_BUGS: tuple[KnownBug, ...] = (
    ACCOUNT,
    ARITHMETIC_PROG,
    BLUETOOTH_DRIVER,
    CARTER01,
    CIRCULAR_BUFFER,
    DEADLOCK01,
    *DINING,
    FSBENCH,
    LAZY01,
    PHASE01,
    QUEUE,
    STACK,
    *REORDER,
    SYNC01,
    SYNC02,
    TOKEN_RING,
    TWOSTAGE,
    TWOSTAGE_100,
    WRONGLOCK,
    WRONGLOCK_1,
    WRONGLOCK_3,
    WSQ,
    IWSQ,
    SWSQ,
    IWSQ_WITH_STATE,
    STRINGBUFFER,
    BOUNDED_BUFFER,
    BOUNDED_BUFFER_IF,
    SAFESTACK,
)
