"""`python -m harness`, the same as the `harness` command."""

from __future__ import annotations

from harness.cli import main

__all__: list[str] = []

main()
