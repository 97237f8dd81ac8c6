"""Regression seeds: schedules as readable text, replayed by meaning, shrunk, kept."""
