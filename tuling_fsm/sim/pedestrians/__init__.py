"""Unscripted pedestrians: they walk, wait and cross."""
