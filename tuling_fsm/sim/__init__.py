"""The simulator: closed loop in fixed steps with traffic, pedestrians, lights and a referee.

`simulation.Simulation` is one run, `stepping.SyncWorld` its client, `result.make_result` what is left of it.
"""
