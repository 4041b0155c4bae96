"""CARLA and the planner as far as the bridge speaks to them, without ROS."""

from __future__ import annotations

from types import SimpleNamespace

from tuling_fsm.wire.carla import messages
from tuling_fsm.wire.carla.messages import packed
from tuling_fsm.wire.carla.pedals import Pedals
from tuling_fsm.wire.cdr import stamp_ns, unpack
from tuling_fsm.world.inputs import Inputs


class Port:
    """CARLA and the planner, as far as they are spoken to."""

    def __init__(self) -> None:
        self.commands: list[int] = []
        self.pedals: list[Pedals] = []
        self.frames: list[Inputs] = []
        self.again = 0
        self.there = True
        self.odometry_is_published = True
        self.requests: list[bytes] = []
        self.answers: list[object] = []
        self.placed: list[str] = []
        self.destroyed: list[int] = []
        self.watch = SimpleNamespace(state="", note=lambda *_: None)

    def command(self, raw: bytes) -> None:
        self.commands.append(stamp_ns(raw))
        read = unpack(raw, messages.CONTROL, "command")
        self.pedals.append(Pedals(read.throttle, read.brake, read.steer, read.reverse))

    @property
    def brakes(self) -> list[float]:
        return [each.brake for each in self.pedals]

    def has_publisher(self, name: str) -> bool:
        return self.odometry_is_published

    def ready_to_spawn(self) -> bool:
        return False

    def planner_connected(self) -> bool:
        return self.there

    all_connected = planner_connected

    def send_frame(self, inputs: Inputs, previous: Inputs | None, server_behaviour: object) -> None:
        self.frames.append(inputs)

    def send_again(self, inputs: Inputs) -> None:
        self.again += 1

    def spawn(self, request: bytes, answered) -> None:
        self.requests.append(request)
        self.answers.append(answered)

    def answer(self, number: int, error: str = "") -> None:
        self.answers.pop(0)(packed("carla_msgs/msg/SpawnObjectResponse", id=number, error_string=error))

    def destroy(self, request: bytes) -> None:
        self.destroyed.append(unpack(request, "carla_msgs/msg/DestroyObjectRequest", "destroy").id)

    def place(self, name: str, pose: bytes) -> None:
        self.placed.append(name)

    def forget(self, name: str) -> None:
        self.placed = [each for each in self.placed if each != name]

    def wishes(self) -> list[tuple[str, str]]:
        read = [unpack(raw, "carla_msgs/msg/SpawnObjectRequest", "spawn") for raw in self.requests]
        return [(output.type, output.id) for output in read]
