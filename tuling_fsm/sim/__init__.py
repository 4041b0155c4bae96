"""The simulator: closed loop in fixed steps with traffic, pedestrians, lights and a referee.

`simulation.Simulation` is one run, `stepping.SyncWorld` its client, `result.result_of` what is left of it.
"""
