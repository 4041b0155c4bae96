"""Search-based testing: the values of a scenario's variables that bring the car nearest to a collision at fault.

`parameter_space` has the ranges, `criticality` drives one run and says how near it came, `search` chooses what is
driven next, `runs` has it driven and keeps what came of it.
"""
