"""The runs of a campaign on a Dask cluster.

The workers read and write the files themselves, at the paths that they have here: scenarios, maps and results are on a
file system that all share. Each worker has one thread, so that it drives one run at a time, as a local process does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tuling_fsm.core.errors import InputError
from tuling_fsm.verbs.campaign_runs import CampaignRun, Ended, Run, broken_off, drive

if TYPE_CHECKING:
    from distributed import Client, Future

PACKAGE = "tuling_fsm"
SCHEDULER = "Scheduler"
"""As it calls itself."""
PATIENCE_S = 5.0
"""How long a scheduler may take to answer, s."""


def on_cluster(jobs: Sequence[CampaignRun], address: str) -> Ended:
    """Drive every job on the workers of a cluster; one that goes while it drives leaves its job to the rest.

    Args:
        jobs: what to drive.
        address: of the scheduler, e.g. `tcp://10.0.0.1:8786`.

    Raises:
        InputError: no cluster is there, or its workers cannot drive these jobs.
    """
    there = [_anywhere(job) for job in jobs]
    with _connected(address) as client:
        _check_cluster(client, address)
        for job in there:
            if job.out is not None:
                job.out.mkdir(parents=True, exist_ok=True)
        _check_files(client, there)
        yield from _driven(client, jobs, there)


def _anywhere(job: CampaignRun) -> CampaignRun:
    """A job whose paths do not depend on where a process was started."""
    settings = job.settings
    named = replace(
        settings, scenario=settings.scenario.absolute(), map_file=settings.map_file and settings.map_file.absolute()
    )
    return replace(job, settings=named, out=job.out and job.out.absolute())


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise InputError("--cluster", "the package distributed is not installed", "pip install distributed") from None
    logging.disable(logging.CRITICAL)  # What Dask logs is said by the campaign, in a line each.
    try:
        _check_scheduler(address)
        with Client(address, timeout=PATIENCE_S) as client:
            yield client
    finally:
        logging.disable(logging.NOTSET)


def _check_scheduler(address: str) -> None:
    """Raise `InputError` where no scheduler answers; a client would wait for ever for another kind of server."""
    try:
        found = asyncio.run(asyncio.wait_for(_kind(address), PATIENCE_S))
    except Exception as error:  # There is hardly a kind that some address or some server does not cause.
        found = str(error) or f"no answer in {PATIENCE_S:g} s"
    if found != SCHEDULER:
        raise InputError(address, f"no scheduler of a cluster: {found}", "its address, such as tcp://10.0.0.1:8786")


async def _kind(address: str) -> str:
    """What a server of a cluster says that it is."""
    from distributed import Security, rpc

    async with rpc(address, connection_args=Security().get_connection_args("client")) as server:
        identity = await server.identity()
    return str(identity["type"])


def _check_cluster(client: Client, address: str) -> None:
    """Raise `InputError` where a cluster has no workers, or some that are not made for runs."""
    threads: dict[str, int] = client.nthreads()
    if not threads:
        raise InputError(address, "a cluster without workers", f"dask worker {address} --nthreads 1")
    for worker, count in threads.items():
        if count != 1:
            raise InputError(worker, f"a worker with {count} threads", "one run at a time: dask worker --nthreads 1")
    versions = client.get_versions(packages=[PACKAGE])
    here = versions["client"]["packages"][PACKAGE]
    for place, installed in {address: versions["scheduler"], **versions["workers"]}.items():
        there = installed["packages"][PACKAGE]
        if there != here:
            raise InputError(place, f"{PACKAGE} there: {there or 'not installed'}", f"version {here}, as here")


def _check_files(client: Client, jobs: Sequence[CampaignRun]) -> None:
    """Raise `InputError` where a worker does not see a file or a folder of a job."""
    files = (file for job in jobs for file in (job.settings.scenario, job.settings.map_file, job.out))
    named = dict.fromkeys(file for file in files if file is not None)
    for worker, missing in client.run(_missing, tuple(named)).items():
        if missing is not None:
            raise InputError(worker, f"{missing} is not there", "a file system that all workers share")


def _missing(files: Sequence[Path]) -> Path | None:
    """The first of some files and folders that is not there."""
    return next((file for file in files if not file.exists()), None)


def _driven(client: Client, jobs: Sequence[CampaignRun], there: Sequence[CampaignRun]) -> Ended:
    from distributed import as_completed

    futures = {client.submit(_drive_here, job, pure=False): index for index, job in enumerate(there)}
    try:
        for future in as_completed(futures):
            index = futures[future]
            yield index, {**_outcome(jobs[index], future), **jobs[index].told}
    finally:
        client.cancel(list(futures))


def _drive_here(job: CampaignRun) -> Run:
    """One run on a worker, which breaks off when its client has gone."""
    from distributed import get_worker

    worker = get_worker()
    tasks, key = worker.state.tasks, worker.get_current_task()

    def go_on(_: str) -> None:
        if tasks[key].state == "cancelled":
            raise InterruptedError("given up")

    return drive(job, progress=go_on)


def _outcome(job: CampaignRun, future: Future) -> Run:
    from distributed import KilledWorker

    if future.cancelled():
        return broken_off(job, "the cluster has gone")
    try:
        run: Run = future.result()
    except KilledWorker as error:
        return broken_off(job, f"its worker was killed, {error.last_worker.address}")
    except Exception as error:
        return broken_off(job, f"{type(error).__name__}: {error}")
    return run
