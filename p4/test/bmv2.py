"""BMv2 under a test: its packets come and go over a socket, so that it needs no privileges and no network interfaces. simple_switch is controlled by
Thrift, simple_switch_grpc by P4Runtime; its registers, which P4Runtime does not read, are read by Thrift beside it."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import compiled
import traces
from frames import CPU_PORT
from heddle_p4.bmv2 import connected
from heddle_p4.program import Program
from heddle_p4.switch import CpuPort, Switch
from heddle_p4.thrift_switch import ThriftSwitch

ANSWER = 600.0


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Bench:
    """A switch under test, PTF's data plane in front of it, and the end of its CPU port where that is none of PTF's ports."""

    def __init__(self, switch: Switch, dataplane: Any, cpu: CpuPort | None) -> None:
        self.switch = switch
        self.dataplane = dataplane
        self.cpu = cpu

    def send(self, port: int, frame: bytes) -> None:
        """Gives the switch a frame."""
        self.dataplane.send(0, port, frame)

    def receive(self, port: int, timeout: float = ANSWER) -> bytes | None:
        """The next frame that leaves by a port; None if there is none for so long."""
        if port == CPU_PORT and self.cpu:
            return self.cpu.receive(timeout)
        frame: bytes | None = self.dataplane.poll(0, port, timeout)[2]
        return frame


@contextlib.contextmanager
def dataplane_of(address: str, ports: Iterable[int]) -> Iterator[Any]:
    """PTF's data plane on the switch's socket, until the context ends."""
    from ptf.dataplane import DataPlane, DataPlanePortNN

    plane = DataPlane({"platform": "nn", "qlen": 1000})
    try:
        for port in ports:
            plane.port_add(address, 0, port)
        yield plane
    finally:
        plane.kill()
        # PTF keeps the socket for ever, which dials the switch that has ended again and again, with a file descriptor
        # for each attempt.
        DataPlanePortNN.packet_injecters.pop((0, address)).close()


@contextlib.contextmanager
def _running(program: str, words: list[str], connect: Callable[[], Switch], ports: Iterable[int]) -> Iterator[tuple[Switch, Any]]:
    """A program of BMv2 until the context ends, and PTF's data plane in front of it."""
    path = shutil.which(program)
    assert path, f"{program} is missing"
    with tempfile.TemporaryDirectory() as folder:
        address = f"ipc://{folder}/packets"
        # The default address of notifications is one file for all switches of the machine.
        command = [path, "--packet-in", address, "--notifications-addr", f"ipc://{folder}/notifications", *words]
        with open(f"{folder}/log", "wb") as log, subprocess.Popen(command, stdout=log, stderr=log, cwd=folder) as process:
            try:
                with contextlib.closing(connected(connect, process)) as switch, dataplane_of(address, ports) as dataplane:
                    yield switch, dataplane
            finally:
                process.kill()


@contextlib.contextmanager
def bench(json_file: pathlib.Path, ports: Iterable[int] = (0, CPU_PORT)) -> Iterator[Bench]:
    """Runs a program on simple_switch until the context ends."""
    program, thrift = Program(json_file), free_port()
    words = ["--thrift-port", str(thrift), str(json_file)]
    with _running("simple_switch", words, lambda: ThriftSwitch(program, thrift), ports) as (switch, dataplane):
        yield Bench(switch, dataplane, None)


@contextlib.contextmanager
def p4runtime_bench(json_file: pathlib.Path, ports: Iterable[int] = (0,)) -> Iterator[Bench]:
    """Runs a program on simple_switch_grpc until the context ends. Frames of its CPU port are packets of P4Runtime."""
    from heddle_p4.p4runtime_switch import DEVICE, P4RuntimeSwitch

    def connect() -> P4RuntimeSwitch:
        # Thrift answers behind P4Runtime: where it does, both do.
        return P4RuntimeSwitch(program, address, compiled.p4info(json_file), ThriftSwitch(program, thrift))

    program, address, thrift = Program(json_file), f"127.0.0.1:{free_port()}", free_port()
    words = ["--no-p4", "--device-id", str(DEVICE), "--thrift-port", str(thrift), "--", "--grpc-server-addr", address, "--cpu-port", str(CPU_PORT)]
    with _running("simple_switch_grpc", words, connect, ports) as (switch, dataplane):
        assert isinstance(switch, P4RuntimeSwitch)
        yield Bench(switch, dataplane, switch)


class OnSimpleSwitch:
    """Tests of a class beside this one run on simple_switch."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        """A switch with a program."""
        return bench(program)


class OnSimpleSwitchGrpc:
    """Tests of a class beside this one run on simple_switch_grpc."""

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        """A switch with a program."""
        return p4runtime_bench(program)
