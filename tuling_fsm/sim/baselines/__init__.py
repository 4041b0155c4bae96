"""Planners to compare with, `idm` and `pdm`: they share nothing with the planner but vehicle and map."""
