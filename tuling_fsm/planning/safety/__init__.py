"""The last word before a plan is sent: an independent check, and what is sent instead."""
