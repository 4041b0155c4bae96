"""Judges a run: infractions, metrics, scores, services, its end."""
