"""The composite `temporary_stop`: a module a state, its rows in `table`."""
