"""Rude drivers: part of the population that knows only what it sees, misjudges, and does not yield."""
