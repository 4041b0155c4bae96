"""Benchmarks against peers: one module each."""
