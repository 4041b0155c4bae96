"""The notebook is a notebook, has no outputs in it, and its cells run one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "first_drive.ipynb"


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return content


def test_it_is_a_notebook_without_outputs(notebook: dict[str, Any]) -> None:
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


@pytest.mark.slow
def test_its_cells_drive_plot_and_explain(
    notebook: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}: {cell['id']}", "exec"), names)
    said = capsys.readouterr().out
    assert names["result"].held
    assert names["differences"] == []
    assert "a red light" in said
    assert "intersection/safe_driving" in said
    assert "INT-6" in said
    above, below = names["figure"].axes[:2]
    assert len(above.collections[-1].get_offsets()) == len(below.lines[0].get_xdata()) == len(names["run"].motion)
