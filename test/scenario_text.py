"""Texts of scenarios in which the ego is taken along lanes from the place `start` to the place `goal`."""

from __future__ import annotations


def along_lanes(declared: str, *stories: str, seconds: int = 60) -> str:
    """The text on a map `MAP`, with the places and other actors that are declared; what else is done meanwhile, story
    by story.
    """
    return f"""import osc.standard

scenario along_lanes:
    map.set_map_file("MAP")
    ego: vehicle
{declared}
    do parallel(duration: {seconds}s):
        serial:
            ego.assign_position(start)
            ego.drive() with:
                along(map.create_route([goal]))
{"".join(stories)}"""
