"""The planner's state record as a file: what a node that is started again in mid-drive goes on from (EST-2).

It is a pickle, read with nothing allowed in it but the plain values of this package and NumPy's arrays: a file from
elsewhere cannot run anything.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

from tuling_fsm.core.errors import InputError

FORMAT = "tuling_fsm state 1"
_ROOMS = ("tuling_fsm.behaviour.", "tuling_fsm.core.", "tuling_fsm.machine.", "tuling_fsm.map.", "tuling_fsm.world.")
_ARRAYS = frozenset(
    {("_codecs", "encode"), ("numpy", "dtype"), ("numpy", "ndarray")}
    | {(f"numpy.{core}.multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar")}
    | {(f"numpy.{core}.numeric", "_frombuffer") for core in ("core", "_core")}
)


def save_state(path: str | Path, record: Any, road_map: str) -> None:
    """Write a record, in one step: whoever reads sees the old file or the new one.

    Args:
        path: of the file.
        record: of the planner, `tuling_fsm.agent.Agent.record`.
        road_map: the map that it belongs to.

    Raises:
        OSError: it cannot be written.
    """
    path = Path(path)
    beside = path.with_name(path.name + ".new")
    path.parent.mkdir(parents=True, exist_ok=True)
    beside.write_bytes(dump_state(record, road_map))
    beside.replace(path)


def dump_state(record: Any, road_map: str) -> bytes:
    """A record as the content of such a file."""
    return pickle.dumps((FORMAT, road_map, record), protocol=4)


def load_state(path: str | Path, road_map: str) -> Any:
    """The record of a file.

    Raises:
        InputError: no such file, another format, another map, or anything in it that is no plain value.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}", "a saved state") from None
    return parse_state(content, road_map, str(path))


def parse_state(content: bytes, road_map: str | None, where: str) -> Any:
    """The inverse of `dump_state`; without a map's name that of any map.

    Raises:
        InputError: as `load_state`.
    """
    try:
        parts = _PlainValues(io.BytesIO(content)).load()
    except Exception as error:
        raise InputError(where, f"no saved state: {' '.join(str(error).split())}", "one of this version") from None
    if not isinstance(parts, tuple) or len(parts) != 3 or parts[0] != FORMAT:
        raise InputError(where, "no saved state", FORMAT)
    if road_map is not None and parts[1] != road_map:
        raise InputError(where, f"belongs to the map {parts[1]}", road_map)
    return parts[2]


class _PlainValues(pickle.Unpickler):
    """Knows the classes of the record, and what makes an array of bytes."""

    def find_class(self, module: str, name: str) -> Any:
        """A class that may be made."""
        if (module, name) in _ARRAYS:
            return super().find_class(module, name)
        if module.startswith(_ROOMS):
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} in it")
