"""Driving along lanes: candidates are sampled, timed, costed and chosen."""
