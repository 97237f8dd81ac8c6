"""CS/account: a checker that knows the balance only if it runs before one of the two bookings."""

from __future__ import annotations

from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["ACCOUNT"]

OPENING, DEPOSIT, WITHDRAWAL = 1, 2, 4


class Account:
    """A balance and which bookings it contains, guarded by one lock."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.balance = OPENING
        self.deposited = False
        self.withdrawn = False


def check_wrong_sum(account: Account) -> None:
    """The checker expects the deposit to be subtracted."""
    _look(account, OPENING - DEPOSIT - WITHDRAWAL)


def check_sum(account: Account) -> None:
    """The checker expects what the bookings add up to."""
    _look(account, OPENING + DEPOSIT - WITHDRAWAL)


def _look(account: Account, expected: int) -> None:
    with account.lock:
        if account.deposited and account.withdrawn:
            assert account.balance == expected, f"the balance is {account.balance}, not {expected}"


def deposit(account: Account) -> None:
    """One booking, under the lock."""
    with account.lock:
        account.balance += DEPOSIT
        account.deposited = True


def withdraw(account: Account) -> None:
    """One booking, under the lock."""
    with account.lock:
        account.balance -= WITHDRAWAL
        account.withdrawn = True


ACCOUNT = KnownBug(
    name="account",
    source="CS",
    about="The checker's sum is wrong, which shows only when both bookings come before it.",
    finding="exception",
    message="the balance is -1, not -5",
    buggy=Program("account", Account, (check_wrong_sum, deposit, withdraw)),
    repaired=Program("account_ok", Account, (check_sum, deposit, withdraw)),
)
