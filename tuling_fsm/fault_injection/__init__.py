"""Fault injection ([natella2016][]): each fault of a table into each state, in each phase of it, and what became of the
car, judged from truth.
"""
