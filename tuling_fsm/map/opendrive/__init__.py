"""The OpenDRIVE reader (ASAM OpenDRIVE 1.4 to 1.8, [opendrive][])."""

from tuling_fsm.map.opendrive.reader import read_map

__all__ = ["read_map"]
