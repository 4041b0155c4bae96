"""Geometry of a lane candidate: reference lines, lateral offsets over them, the footprint of the car."""
