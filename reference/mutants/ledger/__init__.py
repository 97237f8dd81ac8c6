"""Mutants of the reference ledger: one planted bug each, after the catalogue's sections 5.A to 5.D.

A bug that the contract allows is no mutant and is not here: an eager time to live, eviction by order
of submission, a rejected submit that sweeps, a notification before the store under the same lock.
Classes whose names begin with an underscore are not mutants; those that are ledgers keep the contract
and only give their mutants a place to put the bug.

`rare` mutants answer every sequential program as the reference does; they differ under threads, and
only when those are switched at the right place.
"""

from reference.mutants.ledger import admission, data, historical, lifecycle, retention, waiting
from reference.mutants.planting import mutants_in

__all__ = ["MUTANTS"]

MUTANTS = mutants_in((historical, admission, lifecycle, data, waiting, retention))
