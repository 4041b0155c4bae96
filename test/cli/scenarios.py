"""What campaigns are made of."""

from __future__ import annotations

from tuling_fsm.share import share_file

COURSE = share_file("config", "course", "course.xodr")
ROAM = share_file("config", "scenarios", "roam.osc")
SHORT = """
import osc.standard

scenario short:
    map.set_map_file("MAP")
    ego: vehicle
    traffic: traffic_source

    do parallel(duration: 2s):
        traffic.populate(vehicles: 3)
        ego.random_route(length: 60m)
"""
"""Two seconds on the map that takes the place of its MAP."""
