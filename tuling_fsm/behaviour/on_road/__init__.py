"""The composite `on_road`: a module a state, its rows in `table`."""
