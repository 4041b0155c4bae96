"""The composite `intersection`: a module a state, its rows in `table`."""
