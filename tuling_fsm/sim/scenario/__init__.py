"""Scenarios: OpenSCENARIO text (the DSL, or in `xml` XML) in, a frozen scenario and the commands of its storyboard out.

`compiler.load_scenario` reads the text, `storyboard.Storyboard` executes it. `model` holds the compiled scenario and
the view that the simulation gives; `commands`, `conditions` and `placements` its parts. `placements.place` makes
a pose of a placement.
"""
