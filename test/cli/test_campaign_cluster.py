"""A campaign on a Dask cluster: the same runs as here, and one line for whatever a cluster can be missing."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster
from patience import PATIENCE_S

from tuling_fsm import run
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.verbs import campaign_cluster
from tuling_fsm.verbs.campaign_cluster import on_cluster
from tuling_fsm.verbs.campaign_runs import CampaignRun, Run, broken_off, run_all

from .scenarios import COURSE, ROAM, SHORT


def job(seed: int, scenario: Path = ROAM) -> CampaignRun:
    return CampaignRun(RunSettings(scenario, seed))


def in_threads(workers: int = 2, threads: int = 1) -> LocalCluster:
    """A cluster in this process, where the runs can be replaced."""
    return LocalCluster(
        n_workers=workers, threads_per_worker=threads, processes=False, protocol="tcp", dashboard_address=":0"
    )


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with in_threads() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def processes() -> Iterator[LocalCluster]:
    """A real one, which does not try a job again that was the end of a worker."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as cluster,
    ):
        yield cluster


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler on a slow machine may take its time."""
    monkeypatch.setattr(campaign_cluster, "PATIENCE_S", PATIENCE_S)


@pytest.fixture
def driven(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Run]], None]:
    """Replaces what drives a job on a cluster in this process."""
    return lambda drive: monkeypatch.setattr(campaign_cluster, "drive", drive)


@pytest.mark.slow
def test_runs_on_a_cluster_are_those_here(
    processes: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The paths are those of here, too, though the workers were started elsewhere."""
    monkeypatch.chdir(tmp_path)
    Path("short.osc").write_text(SHORT.replace("MAP", str(COURSE)), encoding="utf-8")
    command = ["campaign", "short.osc", "--seeds", "2", "--out", "out", "--json"]
    assert main([*command, "--cluster", processes.scheduler_address]) == 1
    printed = capsys.readouterr()
    runs = json.loads(printed.out)["runs"]
    assert all(re.match(r" *\d+:\d\d  \d of 2 runs", line) for line in printed.err.splitlines()), "how far it is"
    assert [run["file"] for run in runs] == ["short.osc"] * 2
    assert [run["seed"] for run in runs] == [1, 2]
    alone = run_scenario(RunSettings(Path("short.osc"), seed=2))
    assert runs[1]["trace_sha256"] == alone["trace_sha256"] != runs[0]["trace_sha256"]
    kept = json.loads((tmp_path / "out" / "short" / "seed_2" / "result.json").read_text())
    assert {"file": "short.osc", **kept} == runs[1]


@pytest.mark.slow
def test_a_run_whose_worker_is_killed_has_broken_off(processes: LocalCluster, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.osc"
    os.mkfifo(pipe)

    def kill() -> None:
        with pipe.open("w"), Client(processes) as client:  # Opens when the worker has begun to read.
            (worker,) = client.run(os.getpid).values()
            os.kill(worker, signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    (run,) = run_all([job(1, pipe)], partial(on_cluster, address=processes.scheduler_address))
    killing.join()
    assert (run["file"], run["finished"], run["end"]) == (str(pipe), False, "error")
    assert "its worker was killed" in run["error"]


def test_the_runs_come_in_the_order_of_the_jobs(
    cluster: LocalCluster, driven: Callable[[Callable[..., Run]], None]
) -> None:
    second_is_over = threading.Event()

    def drive(job: CampaignRun, progress: object) -> Run:
        if job.settings.seed == 1:
            assert second_is_over.wait(PATIENCE_S)
        return broken_off(job, "over")

    def say(text: str) -> None:
        said.append(text)
        second_is_over.set() if "seed 2" in text else None

    driven(drive)
    said: list[str] = []
    runs = run_all([job(1), job(2)], partial(on_cluster, address=cluster.scheduler_address), say)
    assert [run["seed"] for run in runs] == [1, 2]
    assert [line.partition("  about")[0] for line in said] == [
        "0 of 2 runs    0 %", "1 of 2 runs   50 %  roam seed 2: error", "2 of 2 runs  100 %  roam seed 1: error",
    ]  # fmt: skip


def test_a_campaign_that_is_given_up_leaves_no_run_behind(
    cluster: LocalCluster, driven: Callable[[Callable[..., Run]], None]
) -> None:
    begun, given_up = threading.Event(), threading.Event()

    def drive(job: CampaignRun, progress: Callable[[str], None]) -> Run:
        if job.settings.seed == 1:
            assert begun.wait(PATIENCE_S)
            return broken_off(job, "over")
        begun.set()
        try:
            while True:
                progress("a second later")
        finally:
            given_up.set()

    def say(text: str) -> None:
        if text.startswith("1 of"):
            raise KeyboardInterrupt

    driven(drive)
    with pytest.raises(KeyboardInterrupt):
        run_all([job(1), job(2)], partial(on_cluster, address=cluster.scheduler_address), say)
    assert given_up.wait(PATIENCE_S)


@pytest.mark.medium
def test_bad_input_on_a_worker_ends_no_other_run(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(settings: RunSettings, **_: object) -> Run:
        if settings.seed == 2:
            raise InputError("a.osc:3:5", "no such thing", "another")
        raise ZeroDivisionError

    monkeypatch.setattr(run, "run_scenario", refuses)
    assert main(["campaign", str(ROAM), "--seeds", "2", "--cluster", cluster.scheduler_address]) == 1
    said = capsys.readouterr().out.splitlines()[-2:]
    assert said == ["roam seed 1: ZeroDivisionError:", "roam seed 2: a.osc:3:5: no such thing (expected another)"]


def refused(address: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line with which a campaign on a cluster is refused."""
    assert main(["campaign", str(ROAM), "--seeds", "2", "--cluster", address]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def test_where_no_scheduler_is_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(campaign_cluster, "PATIENCE_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        assert f"{address}: no scheduler of a cluster: no answer in 0.5 s" in refused(address, capsys)
    assert "no scheduler of a cluster" in refused(address, capsys)
    assert "somewhere: no scheduler of a cluster: missing port" in refused("somewhere", capsys)


def test_a_worker_is_no_scheduler(cluster: LocalCluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no scheduler of a cluster: Worker" in refused(cluster.workers[0].address, capsys)


@pytest.mark.parametrize(
    ("workers", "threads", "said"), [(0, 1, "without workers (expected dask worker"), (1, 2, "with 2 threads")]
)
def test_a_cluster_needs_workers_of_one_thread(
    workers: int, threads: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with in_threads(workers, threads) as cluster:
        assert said in refused(cluster.scheduler_address, capsys)


def test_a_cluster_needs_this_version(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new, old = ({"packages": {"tuling_fsm": version}} for version in ("0.2.0", "0.0.9"))
    versions = {"client": new, "scheduler": new, "workers": {"tcp://10.0.0.2:4000": new, "tcp://10.0.0.3:4000": old}}
    monkeypatch.setattr(Client, "get_versions", lambda client, packages: versions)
    assert refused(cluster.scheduler_address, capsys) == (
        "tcp://10.0.0.3:4000: tuling_fsm there: 0.0.9 (expected version 0.2.0, as here)\n"
    )


def test_a_file_that_a_worker_does_not_see_is_named(cluster: LocalCluster, tmp_path: Path) -> None:
    absent = tmp_path / "absent.osc"
    with pytest.raises(InputError, match=r"absent\.osc is not there"):
        run_all([job(1, absent)], partial(on_cluster, address=cluster.scheduler_address))


def test_without_dask_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert refused("tcp://127.0.0.1:8786", capsys) == (
        "--cluster: the package distributed is not installed (expected pip install distributed)\n"
    )


def test_workers_here_and_a_cluster_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["campaign", str(ROAM), "--seeds", "1", "--workers", "1", "--cluster", "tcp://127.0.0.1:8786"])
    assert "not allowed with argument" in capsys.readouterr().err
