"""Speeds along a path: car following, safe distances, yielding, stopping."""
