"""The mission's bookkeeping: what is open, who is aboard, where to go next, and how much time is left."""
