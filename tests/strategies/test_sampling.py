"""What sampling strategies are good for: chances worked out by hand, over fixed seeds and wide margins."""

from __future__ import annotations

import pytest

from harness.strategies.pct import PCT
from harness.strategies.random_walk import RandomWalk
from harness.strategies.urw import URW

STAY = 30


@pytest.fixture
def stays_found(strands):
    """Executions of so many in which the first task stood still, in its middle, while the second ran."""

    def count(strategy, executions):
        found, last = 0, None
        for _ in range(executions):
            moved, told = [0], []

            def mover(moved=moved):
                for _ in range(STAY):
                    strands.access(True, strands, "x")
                    moved[0] += 1

            def watcher(moved=moved, told=told):
                strands.access(False, strands, "x")
                before = moved[0]
                for _ in range(STAY):
                    strands.access(False, strands, "x")
                told.append(before == moved[0] and 0 < before < STAY)

            strategy.begin(last)
            last = strands.run([mover, watcher], strategy)
            found += told[0]
        return found

    return count


@pytest.mark.parametrize("seed", range(5))
def test_pct_finds_a_bug_of_depth_two_that_a_random_walk_misses(stays_found, seed):
    """In a long program with one bad place to be left in, priorities beat coins."""
    # The walk: at 30 points in a row the mover must lose the toss although it could go on. It stays with
    # the watcher with at most 3/4 each time: 30 places to begin * (3/4)^30 = 0.5 % per execution were it
    # not for the start, 30 * 2^-30 were the tosses fair.
    assert stays_found(RandomWalk(seed), 40) <= 3
    # PCT: the mover has the higher priority (1/2), one of the four depths from 0 to 3 has one change point
    # (1/4; with more of them some still do), and about half of the points are the mover's: 1/16 at least.
    # 120 executions expect 7.5; none at all has a chance of (15/16)^120 = 0.04 %, and the seeds are fixed.
    assert stays_found(PCT(seed), 120) >= 1


@pytest.fixture
def lost_updates(strands):
    """The part of so many executions of two increments that lost one of them."""

    def part(strategy, executions):
        lost, last = 0, None
        for _ in range(executions):
            value = [0]

            def increment(value=value):
                strands.access(False, value, 0)
                seen = value[0]
                strands.access(True, value, 0)
                value[0] = seen + 1

            strategy.begin(last)
            last = strands.run([increment, increment], strategy)
            lost += value[0] == 1
        return lost / executions

    return part


# Each task has four steps: up to its read, the read, the write, the end. Of the comb(8, 4) = 70 orders,
# those are sound in which one's write comes before the other's read. Before the other's second step the one
# has made three (4 orders so far, 3 to go on: 12) or four (5 so far, 1 to go on: 5): 17, and 34 for either.
UNIFORM = 36 / 70
# With a fair coin at each point, the one has three of the first four tosses or more with 5/16.
FAIR_COIN = 1 - 2 * 5 / 16


@pytest.mark.parametrize("seed", range(3))
def test_urw_is_uniform_over_interleavings(lost_updates, seed):
    """Once it knows the lengths, as many executions lose an update as interleavings do."""
    urw = URW(seed)
    lost_updates(urw, 50)  # it learns
    assert abs(lost_updates(urw, 600) - UNIFORM) < 0.09


def test_a_random_walk_tosses_a_fair_coin_at_every_point(lost_updates):
    """Whoever is runnable is as likely as any other, at every point."""
    assert abs(lost_updates(RandomWalk(1), 1_000) - FAIR_COIN) < 0.06
