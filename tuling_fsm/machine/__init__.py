"""A hierarchical state machine as data: regions, leaves and rows, an engine with dwell filtering, and a diagram.

Nothing here knows of cars. `transitions` is imported by the engine and by nothing else.
"""
