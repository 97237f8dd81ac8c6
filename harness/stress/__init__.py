"""Real threads: roles, start barriers, forced switches, and invariants over what clients saw."""
