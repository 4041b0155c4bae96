"""Small state machines that run beside the hierarchy."""
