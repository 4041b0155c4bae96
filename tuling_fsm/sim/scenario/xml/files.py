"""Other files that a scenario names: from its folder, or from any folder above that."""

from __future__ import annotations

from pathlib import Path

from tuling_fsm.input_file import is_there


def look_up(scenario: Path, named: str, suffix: str) -> Path | None:
    """The file or folder that a scenario names; None where there is none.

    Paths are from the folder of the scenario. Many are written for the folder in which some simulator starts, so a
    path that leads nowhere is tried, without its leading `..`, from every folder above too; and with `suffix`, which
    files that name a map of CARLA leave out.
    """
    path = Path(named.replace("\\", "/"))
    inner = Path(*(part for part in path.parts if part != "..")) if not path.is_absolute() else path
    folder = scenario.absolute().parent
    candidates = [folder / path, *(above / inner for above in (folder, *folder.parents))]
    candidates += [folder / path.name]
    for candidate in candidates:
        for each in (candidate, candidate.with_name(candidate.name + suffix)) if candidate.name else (candidate,):
            if is_there(each):
                return each
    return None
