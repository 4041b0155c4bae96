"""Scenarios: OpenSCENARIO 2 text in, a frozen scenario and the commands of its storyboard out.

`load.load_scenario` reads the text, `storyboard.Storyboard` plays it. `model` holds the compiled scenario and
the view that the simulation gives; `commands`, `conditions` and `placements` its parts. `resolve.place` makes
a pose of a placement.
"""
