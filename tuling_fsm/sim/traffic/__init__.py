"""Traffic that nobody scripts: vehicles over the whole map in stages with a barrier between them (TM-1).

`lifecycle` puts vehicles on the road, `localization` keeps their paths, `collision` finds what is in their way,
`right_of_way` reads lights and shares the junctions, `motion` moves them all together. `manager` runs the stages.
"""
