"""The mission's bookkeeping: which tasks are open, which passengers are aboard, where to go next, and how much time is
left.
"""
