"""The contract of the asynchronous job ledger (AJT), sections 5.A to 5.D of the catalogue."""
