"""Reference implementations of the contracts, and mutants of them with one planted bug each."""
