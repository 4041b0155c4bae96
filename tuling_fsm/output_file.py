"""Files that the package writes: whole or not at all, and an error that names the file. In some pages only what stands
between `<!-- name -->` and `<!-- /name -->` is made by a command.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from tuling_fsm.core.errors import InputError


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file in one step, with the folders above it: a reader sees the old one or the new one; text as UTF-8.

    Raises:
        InputError: it cannot be written, as on a full disk; what was there is left.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(str(path), "is a folder", "the name of a file")
    beside = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A link of that name, in a folder from elsewhere, would be written through.
        beside.unlink(missing_ok=True)
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise InputError(str(path), f"cannot be written: {error.strerror}", "a writable place with room") from error


def make_folder(folder: Path) -> None:
    """Make a folder that is to be written to later, with those above it.

    Raises:
        InputError: it cannot be made, or nothing can be written to it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(str(folder), f"cannot be written: {error.strerror}", "a writable place") from error


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Keep other programs that lock it out of a folder, which is made where it is not there.

    Raises:
        InputError: another program has locked it, or it cannot be made.
    """
    make_folder(folder)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            lock(descriptor)
        except BlockingIOError:
            raise InputError(str(folder), "is being written by another program", "another folder") from None
        yield
    finally:
        os.close(descriptor)


def lock(file: BinaryIO | int) -> None:
    """Lock a file, or what a descriptor is of, until it is closed.

    Raises:
        BlockingIOError: another program has, as far as the file system can tell.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        pass


def keep_inputs(written: Iterable[Path | None], read: Iterable[Path | None]) -> None:
    """Nothing, as long as no file is to be written that is read; None stands for one that is not asked for.

    Raises:
        InputError: one is.
    """
    outputs = {path.resolve(): path for path in written if path is not None}
    for path in read if outputs else ():
        if path is not None and path.resolve() in outputs:
            raise InputError(str(outputs[path.resolve()]), "is a file that is read", "another name")


def remove_file(path: Path) -> None:
    """Remove what an earlier run has written, if it is there.

    Raises:
        InputError: it cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(str(path), f"cannot be removed: {error.strerror}", "a writable place") from error


def put_between_marks(text: str, name: str, content: str, page: str | Path) -> str:
    """The text of a page with other content between the marks of a name.

    Raises:
        InputError: the page has not both marks, once.
    """
    around = re.compile(rf"(?<=<!-- {re.escape(name)} -->\n).*?(?=<!-- /{re.escape(name)} -->)", re.DOTALL)
    put, count = around.subn(lambda _: content, text)
    if count != 1:
        raise InputError(str(page), f"has not the marks of {name}", f"<!-- {name} --> and <!-- /{name} -->, once")
    return put
