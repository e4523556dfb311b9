"""A simple_switch of a test: its packets come and go over a socket, so that it needs no privileges and no network interfaces."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Any

from frames import CPU_PORT
from heddle_p4.program import Program
from heddle_p4.thrift_switch import ThriftSwitch

START = 60.0
ANSWER = 60.0


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Bench:
    """A switch under test, and PTF's data plane in front of it."""

    def __init__(self, switch: ThriftSwitch, dataplane: Any) -> None:
        self.switch = switch
        self.dataplane = dataplane

    def send(self, port: int, frame: bytes) -> None:
        """Gives the switch a frame."""
        self.dataplane.send(0, port, frame)

    def receive(self, port: int, timeout: float = ANSWER) -> bytes | None:
        """The next frame that leaves by a port; None if there is none for so long."""
        frame: bytes | None = self.dataplane.poll(0, port, timeout)[2]
        return frame


def dataplane_of(address: str, ports: Iterable[int]) -> Any:
    """PTF's data plane on the switch's socket."""
    from ptf.dataplane import DataPlane

    plane = DataPlane({"platform": "nn", "qlen": 1000})
    for port in ports:
        plane.port_add(address, 0, port)
    return plane


def connect(program: Program, port: int, process: subprocess.Popen[bytes]) -> ThriftSwitch:
    """A session with the switch, as soon as it is up."""
    from thrift.transport.TTransport import TTransportException

    deadline = time.monotonic() + START
    while True:
        try:
            return ThriftSwitch(program, port)
        except TTransportException:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@contextlib.contextmanager
def bench(json_file: pathlib.Path, ports: Iterable[int] = (0, CPU_PORT)) -> Iterator[Bench]:
    """Runs a program until the context ends."""
    simple_switch = shutil.which("simple_switch")
    assert simple_switch, "simple_switch is missing"
    with tempfile.TemporaryDirectory() as folder:
        address = f"ipc://{folder}/packets"
        thrift_port = free_port()
        command = [simple_switch, "--thrift-port", str(thrift_port), "--packet-in", address, str(json_file)]
        with open(f"{folder}/log", "wb") as log, subprocess.Popen(command, stdout=log, stderr=log, cwd=folder) as process:
            try:
                switch = connect(Program(json_file), thrift_port, process)
                dataplane = dataplane_of(address, ports)
                try:
                    yield Bench(switch, dataplane)
                finally:
                    dataplane.kill()
                    switch.close()
            finally:
                process.kill()
