"""Traffic that nobody scripts: vehicles over the whole map in stages with a barrier between them (TM-1).

`lifecycle` puts vehicles on the road and `sleeping` treats those far from the ego, `localization` and `lane_change`
keep their paths, `collision` finds what is in their way (`boxes` and `corridor` leave out who is far from it), `lines`
and `right_of_way` read lights and share the junctions that `gates` finds on a path, `motion` moves them all together,
with `dynamics` or without, `vehicle_lights` shows what they do. `stages` puts them in order, `manager` runs them frame
by frame, and an `autopilot` is the hold on the vehicles of one owner, which a `server` shares with any `client`.
"""
