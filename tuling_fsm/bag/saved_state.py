"""The planner's state record as a file: what a node that is started again in mid-drive goes on from (EST-2).

It is a pickle, read with nothing allowed in it but the plain values of this package and NumPy's arrays: a file from
elsewhere cannot run anything.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from functools import cache
from pathlib import Path
from typing import Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.output_file import write_file

FORMAT = "tuling_fsm state 2"
_DIGITS = 16
"""Of a hash that tells maps apart."""
_PACKAGE = Path(__file__).resolve().parents[1]
_ROOMS = ("tuling_fsm.behaviour.", "tuling_fsm.core.", "tuling_fsm.machine.", "tuling_fsm.map.", "tuling_fsm.world.")
_ARRAYS = frozenset(
    {("_codecs", "encode"), ("numpy", "dtype"), ("numpy", "ndarray")}
    | {(f"numpy.{core}.multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar")}
    | {(f"numpy.{core}.numeric", "_frombuffer") for core in ("core", "_core")}
)


def save_state(path: str | Path, record: Any, road_map: str) -> None:
    """Write a record, in one step: a reader sees the old file or the new one.

    Args:
        path: of the file.
        record: of the planner, `tuling_fsm.agent.Agent.record`.
        road_map: the map that it belongs to, as `map_identity` tells it.

    Raises:
        InputError: it cannot be written.
    """
    write_file(path, dump_state(record, road_map))


def dump_state(record: Any, road_map: str) -> bytes:
    """A record as the content of such a file."""
    return pickle.dumps((FORMAT, road_map, code_version(), record), protocol=4)


def map_identity(map_file: str | Path, sha256: str) -> str:
    """A map as a saved state names it: name and content of the file (SHA-256 in hexadecimal digits), wherever it is."""
    return f"{Path(map_file).name} of SHA-256 {sha256[:_DIGITS]}"


@cache
def code_version() -> str:
    """A hash of all code that a record's values come from: what another version has saved may mean something else."""
    digest = hashlib.sha256()
    for room in _ROOMS:
        for file in sorted((_PACKAGE / room.split(".")[1]).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def load_state(path: str | Path, road_map: str) -> Any:
    """The record of a file, to go on from on the car with a map (`map_identity`).

    Raises:
        InputError: no such file, another format, another map, another version of the code, or anything in it that is no
            plain value.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}", "a saved state") from None
    its_map, code, record = _parse(content, str(path))
    if its_map != road_map:
        raise InputError(str(path), f"belongs to the map {its_map}", road_map)
    if code != code_version():
        raise InputError(str(path), "belongs to another version of the planner", "a state that this one has saved")
    return record


def parse_state(content: bytes, where: str) -> Any:
    """The inverse of `dump_state`, whatever the map and the version.

    Raises:
        InputError: another format, or anything in it that is no plain value.
    """
    return _parse(content, where)[2]


def go_on(agent: Any, record: Any, where: str) -> None:
    """Let an agent go on from a record.

    Raises:
        InputError: it cannot, because the record is that of another planner.
    """
    try:
        agent.restore(record)
    except InputError:
        raise
    except Exception as error:
        said = f"cannot be gone on from: {type(error).__name__}: {error}"
        raise InputError(where, said, "a state of this version") from None


def _parse(content: bytes, where: str) -> tuple[str, str, Any]:
    try:
        parts = _PlainValues(io.BytesIO(content)).load()
    except Exception as error:
        raise InputError(where, f"no saved state: {' '.join(str(error).split())}", "one of this version") from None
    if not isinstance(parts, tuple) or len(parts) != 4 or parts[0] != FORMAT:
        raise InputError(where, "no saved state", FORMAT)
    return parts[1], parts[2], parts[3]


class _PlainValues(pickle.Unpickler):
    """Knows the classes of the record, and what makes an array of bytes."""

    def find_class(self, module: str, name: str) -> Any:
        """A class that may be made."""
        if (module, name) in _ARRAYS:
            return super().find_class(module, name)
        # A name with dots would lead on, through what a module imports, to any class that is loaded.
        if module.startswith(_ROOMS) and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} in it")
