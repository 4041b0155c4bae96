"""Unscripted traffic: vehicles over the whole map in stages with a barrier between them, as in CARLA's (TM-1).

`population` spawns and removes vehicles and treats those far from the ego, `localization` and `lane_change` keep their
paths, `collision` finds what is in their way (`spatial_grid` leaves out what is far from it), `right_of_way` obeys
lights and signs and manages junctions, `motion` moves all vehicles together. `stages` puts them in order, `manager`
runs them frame by frame, and an `autopilot` controls the vehicles of one owner, which a `server` shares with any
`client`. `fleet` and `lane_graph` are the vehicles and lanes as arrays; `ego_agent` stands for the ego, and `foresight`
says how far it is expected to come.
"""
