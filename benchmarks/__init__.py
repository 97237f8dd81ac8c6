"""Measurements: `python -m benchmarks NAME [--quick] [--json]`. Timings live here and nowhere else."""
