"""Paths and speeds for what the state machine asks: along lanes, without lanes, or to a stop; and their check."""
