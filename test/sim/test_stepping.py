"""Fixed-step lock-step and its client."""

from __future__ import annotations

import itertools
import queue
import threading
from types import SimpleNamespace

import pytest
from patience import PATIENCE_S

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim import stepping
from tuling_fsm.sim.parameters import SimParameters, SteppingParameters
from tuling_fsm.sim.scenario.model import Population
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.sim.stepping import AsyncWorld, Snapshot, SyncWorld
from tuling_fsm.sim.traffic.autopilot import Autopilot
from tuling_fsm.sim.traffic.client import TrafficClient
from tuling_fsm.sim.traffic.server import TrafficServer
from tuling_fsm.world.inputs import Inputs, RouteRequest, StampedRows

from .scenes import scenario, simulation


@pytest.mark.clause("SIM-1")
def test_a_frame_longer_than_its_substeps_is_refused(plain: RoadMap) -> None:
    stepping = SteppingParameters(fixed_delta=0.11, max_substep_delta=0.01, max_substeps=10)
    with pytest.raises(InputError, match=r"stepping.fixed_delta: 0.11 s .*at most 0.1 s"):
        Simulation(plain, scenario(), 1, Vehicle(), SimParameters(stepping=stepping))


@pytest.mark.parametrize(
    ("delta", "most", "count"), [(0.05, 0.01, 5), (0.1, 0.01, 10), (0.05, 0.03, 2), (0.01, 0.05, 1)]
)
@pytest.mark.clause("SIM-1")
def test_a_frame_is_cut_into_as_few_substeps_as_allowed(delta: float, most: float, count: int) -> None:
    assert SteppingParameters(max_substep_delta=most, max_substeps=10).substeps(delta) == count


@pytest.mark.clause("SIM-1")
def test_nothing_moves_until_the_plan_comes(plain: RoadMap) -> None:
    run = simulation(plain)
    first = run.inputs()
    assert run.inputs() is first
    assert (run.frame, run.stamp) == (0, 0.0)
    run.advance(None)
    assert (run.frame, run.stamp) == (1, 0.05)
    assert run.inputs().stamp == 0.05


def test_stamps_are_whole_nanoseconds_for_ever(plain: RoadMap) -> None:
    run = simulation(plain)
    for _ in range(200):
        run.advance(None)
        assert run.stamp == round(run.frame * 0.05 * 1e9) / 1e9


@pytest.mark.clause("SIM-1")
def test_a_client_ticks_and_is_told(plain: RoadMap) -> None:
    world = SyncWorld(simulation(plain), lambda inputs: None)
    told: list[tuple[str, Snapshot]] = []
    world.on_tick(lambda snapshot: told.append(("first", snapshot)))
    second = world.on_tick(lambda snapshot: told.append(("second", snapshot)))
    objects = world.listen("objects")
    assert world.tick() == 1
    world.remove_on_tick(second)
    assert world.tick() == 2
    assert told == [("first", Snapshot(1, 0.05)), ("second", Snapshot(1, 0.05)), ("first", Snapshot(2, 0.1))]
    for frame in (1, 2):
        number, table = objects.get_nowait()
        assert number == frame
        assert isinstance(table, StampedRows)
        assert table.stamp == frame * 0.05
    with pytest.raises(InputError, match="sensor: 'sonar' is unknown"):
        world.listen("sonar")


@pytest.mark.clause("SIM-1")
def test_waiting_for_a_tick_ends_with_the_tick_of_another_thread(plain: RoadMap) -> None:
    world = SyncWorld(simulation(plain), lambda inputs: None)
    seen: list[Snapshot] = []
    waiter = threading.Thread(target=lambda: seen.append(world.wait_for_tick(PATIENCE_S)))
    waiter.start()
    while waiter.is_alive():
        world.tick()
        waiter.join(0.001)
    assert len(seen) == 1
    assert 1 <= seen[0].frame <= world.snapshot.frame
    with pytest.raises(TimeoutError):
        world.wait_for_tick(0.0)


@pytest.mark.clause("SIM-1")
def test_number_and_time_of_a_snapshot_are_of_one_frame_while_the_simulation_goes_on(
    plain: RoadMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = simulation(plain)
    half_way, on = threading.Semaphore(0), threading.Semaphore(0)

    def advance(trajectory: object, delta: float | None = None) -> None:
        run.frame += 1
        half_way.release()
        assert on.acquire(timeout=PATIENCE_S)
        run._ns += 50_000_000

    monkeypatch.setattr(run, "advance", advance)
    world = SyncWorld(run, lambda inputs: None)
    ticker = threading.Thread(target=world.tick)
    ticker.start()
    assert half_way.acquire(timeout=PATIENCE_S)
    assert world.snapshot == Snapshot(0, 0.0)
    on.release()
    ticker.join(PATIENCE_S)
    assert world.snapshot == Snapshot(1, 0.05)


@pytest.mark.clause("SIM-1")
def test_every_sensor_has_a_queue_that_gets_what_is_new(plain: RoadMap) -> None:
    world = SyncWorld(simulation(plain), lambda inputs: None)
    queues = {sensor: world.listen(sensor) for sensor in ("odometry", "lane_lines", "occupancy")}
    for _ in range(6):
        world.tick()
    frames = {sensor: [waiting.get_nowait()[0] for _ in range(waiting.qsize())] for sensor, waiting in queues.items()}
    assert frames == {"odometry": [1, 2, 3, 4, 5, 6], "lane_lines": [2, 4, 6], "occupancy": []}


@pytest.mark.clause("SIM-2")
def test_a_reloaded_world_needs_its_seed_again(lit: RoadMap) -> None:
    world = SyncWorld(simulation(lit, 5, population=Population(6, 3)), lambda inputs: None)
    told: list[int] = []
    world.on_tick(lambda snapshot: told.append(snapshot.frame))

    def trace() -> str:
        for _ in range(40):
            world.tick()
        return world.simulation.trace_sha256()

    first = trace()
    traces = []
    for seed in (5, 6):
        world.reload(seed, lambda inputs: None)
        assert world.snapshot == Snapshot(0, 0.0)
        traces.append(trace())
    assert traces[0] == first != traces[1]
    assert told == [*range(1, 41)] * 3


@pytest.mark.clause("TM-4")
def test_a_world_whose_traffic_is_served_is_reloaded_when_the_server_is_closed(lit: RoadMap) -> None:
    world = SyncWorld(simulation(lit, population=Population(2, 0)), lambda inputs: None)
    with TrafficServer(Autopilot(world.simulation.traffic), 0) as server:
        world.tick()
        with pytest.raises(InputError, match="reload: a traffic server serves this world"):
            world.reload(1, lambda inputs: None)
        assert TrafficClient(server.port).frame == 1
    world.reload(1, lambda inputs: None)
    with TrafficServer(Autopilot(world.simulation.traffic), server.port), TrafficClient(server.port) as client:
        client.global_distance_to_leading_vehicle(9.0)
        world.tick()
        client.confirm()
        assert client.frame == 1
    assert world.simulation.traffic.fleet.rules.gap.tolist() == [9.0, 9.0]


@pytest.mark.clause("SIM-1")
def test_synchronous_variable_steps_warn_and_last_as_long_as_the_plan_within_the_substeps(
    plain: RoadMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, takes = 100.0, iter((0.0, 0.03, 7.0, 0.1, 0.0004))

    def plan(inputs: Inputs) -> None:
        nonlocal now
        now += next(takes)

    monkeypatch.setattr(stepping, "time", SimpleNamespace(monotonic=lambda: now))
    with pytest.warns(RuntimeWarning, match="variable-step runs do not repeat"):
        world = SyncWorld(simulation(plain), plan, variable_step=True)
    stamps = [world.snapshot.stamp]
    for _ in range(5):
        world.tick()
        stamps.append(world.snapshot.stamp)
    assert [b - a for a, b in itertools.pairwise(stamps)] == pytest.approx([0.001, 0.03, 0.1, 0.1, 0.001])


def test_a_run_that_is_over_goes_no_further(plain: RoadMap) -> None:
    run = simulation(plain, max_duration_s=0.1)
    run.advance(None)
    assert not run.finished
    run.advance(None)
    assert run.end == "time"
    with pytest.raises(RuntimeError):
        run.advance(None)


@pytest.mark.clause("SIM-1")
@pytest.mark.parametrize("variable_step", [False, True])
def test_an_asynchronous_world_goes_on_by_itself_and_warns(plain: RoadMap, variable_step: bool) -> None:
    with pytest.warns(RuntimeWarning, match="do not repeat"):
        world = AsyncWorld(simulation(plain), lambda inputs: None, variable_step)
    with world:
        first = world.wait_for_tick(PATIENCE_S)
        second = world.wait_for_tick(PATIENCE_S)
        with pytest.raises(RuntimeError):
            world.tick()
        with pytest.raises(RuntimeError):
            world.reload(1, lambda inputs: None)
    assert second.frame > first.frame
    step = (second.stamp - first.stamp) / (second.frame - first.frame)
    assert step == pytest.approx(0.05) if not variable_step else 0.0 < step < 0.1 + 1e-9


def fails(*_: object) -> None:
    raise ArithmeticError("no way on")


def until_over(world: AsyncWorld) -> None:
    """Wait for tick after tick to the last one."""
    with pytest.raises(RuntimeError, match="the run is over"):
        while True:
            world.wait_for_tick(PATIENCE_S)


@pytest.mark.clause("SIM-1")
def test_waiting_for_a_tick_of_a_run_that_is_over_says_so_at_once(plain: RoadMap) -> None:
    world = SyncWorld(simulation(plain, max_duration_s=0.2), lambda inputs: None)
    while not world.simulation.finished:
        with pytest.raises(TimeoutError):
            world.wait_for_tick(0.0)
        world.tick()
    with pytest.raises(RuntimeError, match=r"the run is over \(time\)"):
        world.wait_for_tick(PATIENCE_S)
    world.reload(1, lambda inputs: None)
    with pytest.raises(TimeoutError):
        world.wait_for_tick(0.0)


@pytest.mark.clause("SIM-1")
def test_who_waits_for_an_asynchronous_world_hears_of_its_last_tick_and_then_of_its_end(plain: RoadMap) -> None:
    run = simulation(plain, max_duration_s=0.2)
    with pytest.warns(RuntimeWarning, match="do not repeat"):
        world = AsyncWorld(run, lambda inputs: None)
    with world:
        until_over(world)
        assert world.snapshot == Snapshot(run.frame, run.stamp)


def test_an_asynchronous_run_that_is_over_asks_for_no_plan_and_stays_as_it_ended(plain: RoadMap) -> None:
    run, late = simulation(plain, max_duration_s=0.2), threading.Event()

    def drive(inputs: Inputs) -> None:
        if run.finished:
            late.set()
            fails()

    with pytest.warns(RuntimeWarning, match="do not repeat"):
        world = AsyncWorld(run, drive)
    with world:
        until_over(world)
        late.wait(3.0 * stepping.NOTHING_NEW_S)
    assert (run.end, late.is_set()) == ("time", False)


def test_a_plan_that_fails_once_the_run_is_over_leaves_its_end(plain: RoadMap) -> None:
    run, over = simulation(plain, max_duration_s=0.2), threading.Event()

    def drive(inputs: Inputs) -> None:
        assert over.wait(PATIENCE_S)
        fails()

    def outlast() -> None:
        with world:
            until_over(world)
            over.set()

    with pytest.warns(RuntimeWarning, match="do not repeat"):
        world = AsyncWorld(run, drive)
    with pytest.raises(ArithmeticError, match="no way on"):
        outlast()
    assert run.end == "time"


@pytest.mark.clause("SIM-1")
@pytest.mark.parametrize("culprit", ["planner", "callback"])
def test_what_is_raised_beside_the_context_stops_an_asynchronous_world(plain: RoadMap, culprit: str) -> None:
    run, held = simulation(plain), threading.Event()

    def drive(inputs: Inputs) -> None:
        assert held.wait(PATIENCE_S)
        if culprit == "planner":
            fails()

    with pytest.warns(RuntimeWarning, match="do not repeat"):
        world = AsyncWorld(run, drive)

    def outlast() -> None:
        for _ in range(400):
            world.wait_for_tick(PATIENCE_S)

    def inside() -> None:
        with world:
            world.wait_for_tick(PATIENCE_S)
            if culprit == "callback":
                world.on_tick(fails)
            held.set()
            with pytest.raises(ArithmeticError, match="no way on"):
                outlast()

    with pytest.raises(ArithmeticError, match="no way on"):
        inside()
    assert run.end == "error"


@pytest.mark.clause("SIM-1")
def test_the_planners_failure_comes_out_of_the_context_before_what_follows_from_it(plain: RoadMap) -> None:
    with pytest.warns(RuntimeWarning, match="do not repeat"):
        world = AsyncWorld(simulation(plain), fails)
    with pytest.raises(ArithmeticError, match="no way on"), world:
        world.listen("odometry").get(timeout=0.2)


@pytest.mark.clause("EST-3")
def test_a_call_between_two_ticks_is_on_the_next_frame_and_on_no_other(plain: RoadMap) -> None:
    run = simulation(plain)
    seen = []
    for frame in range(6):
        if frame in (1, 3):
            run.clear_emergency_stop()
        assert not run.inputs().clear_emergency_stop or frame in (2, 4)
        run.advance(None)
        seen.append(run.inputs().clear_emergency_stop)
    assert seen == [False, True, False, True, False, False]


@pytest.mark.clause("SIM-1")
@pytest.mark.clause("EST-3")
def test_a_planner_that_is_too_slow_for_a_frame_misses_no_call_and_no_answer(plain: RoadMap) -> None:
    run = simulation(plain)
    assert run.preset is not None
    start, goal = run.ego.pose, Pose(*run.preset.poses()[-1].tolist())
    held, given = threading.Semaphore(0), queue.SimpleQueue[Inputs]()

    def slow(inputs: Inputs) -> None:
        given.put(inputs)
        held.acquire(timeout=PATIENCE_S)

    with pytest.warns(RuntimeWarning, match="do not repeat"):
        world = AsyncWorld(run, slow)
    with world:
        frames = [given.get(timeout=PATIENCE_S)]
        run.clear_emergency_stop()
        run.request_route(RouteRequest(1, "initial", start, goal))
        for _ in range(10):
            world.wait_for_tick(PATIENCE_S)
        for _ in range(3):
            held.release()
            frames.append(given.get(timeout=PATIENCE_S))
        held.release(99)
    assert [frame.clear_emergency_stop for frame in frames] == [False, True, False, False]
    assert [len(frame.route_answers) for frame in frames] == [0, 1, 0, 0]
    assert frames[1].stamp - frames[0].stamp > 0.4


@pytest.mark.clause("SIM-1")
def test_a_variable_frame_keeps_the_rule_of_the_substeps(plain: RoadMap) -> None:
    run = simulation(plain)
    run.advance(None, delta=0.03)
    assert run.stamp == 0.03
    for delta in (0.2, 0.0):
        with pytest.raises(InputError):
            run.advance(None, delta=delta)
