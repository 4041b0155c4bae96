"""Optimal reciprocal collision avoidance of many discs (ORCA-1).

Every agent takes the velocity next to its preferred one ([vandenberg2011][]) that lies in all its half-planes: those of
obstacles first, which do not give way, then those of its nearest neighbours, each of which does half of the avoiding.
`crowd` is the state, `walls` are the obstacles, `neighbours` finds the nearest agents, `half_planes` draws the lines,
`linear_program` solves for the velocity, `step` moves all.
"""
