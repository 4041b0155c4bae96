"""The composite `parking`: a module a state, its rows in `table`."""
