"""CS/fsbench: 27 tasks allocate blocks for inodes, and there are locks for 26 of them."""

from __future__ import annotations

from functools import partial
from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["FSBENCH"]

BLOCKS, INODES, TASKS = 26, 32, 27


class FileSystem:
    """Inodes with the number of their block plus one, and which blocks are busy; a lock for each."""

    def __init__(self, inode_locks: int) -> None:
        self.inode_locks = [Lock() for _ in range(inode_locks)]
        self.block_locks = [Lock() for _ in range(BLOCKS)]
        self.inodes = dict.fromkeys(range(INODES), 0)
        self.busy = dict.fromkeys(range(BLOCKS), False)


def allocate(system: FileSystem, number: int) -> None:
    """Give the inode of this number the first free block of the half table from its own place on."""
    inode = number % INODES
    with system.inode_locks[inode]:
        if system.inodes[inode]:
            return
        for step in range(BLOCKS // 2):
            block = (inode * 2 + step) % BLOCKS
            with system.block_locks[block]:
                if not system.busy[block]:
                    system.busy[block] = True
                    system.inodes[inode] = block + 1
                    return


def check_blocks(system: FileSystem) -> None:
    """Raises AssertionError when two inodes share a block."""
    given = [block for block in system.inodes.values() if block]
    assert len(set(given)) == len(given), f"a block was given twice: {given}"


def _program(name: str, inode_locks: int) -> Program:
    return Program(
        name,
        partial(FileSystem, inode_locks),
        tuple(partial(allocate, number=number) for number in range(TASKS)),
        check_blocks,
        task_names=tuple(f"allocate-{number}" for number in range(TASKS)),
    )


FSBENCH = KnownBug(
    name="fsbench",
    source="CS",
    about="The table of the inodes' locks is as long as that of the blocks, so the last task overruns it.",
    finding="exception",
    message="IndexError",
    buggy=_program("fsbench", BLOCKS),
    repaired=_program("fsbench_ok", INODES),
    every_run=True,
)
