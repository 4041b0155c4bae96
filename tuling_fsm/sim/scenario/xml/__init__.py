"""OpenSCENARIO XML (ASAM, 1.0 to 1.3): a file in, the same frozen scenario out that the DSL yields.

`reader.load_xosc` reads a file. `elements` says where a fault is, `expressions` what `$name` and `${...}` mean;
`entities`, `positions`, `conditions`, `private_actions`, `global_actions` and `story` each read the part of the model
that they are named after, in the order of chapter 7 of the standard.
"""
