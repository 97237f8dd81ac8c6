"""The `harness` command and `python -m harness`. Light, so that interrupting it while it loads is quiet."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Load the commands and run one."""
    try:
        from harness.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("\nharness: interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
