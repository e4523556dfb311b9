"""BMv2's two programs with the same data plane: simple_switch_grpc, which P4Runtime controls, and simple_switch, which Thrift controls."""

import contextlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from heddle_p4.cpu_port import SWITCH_END, device_pair
from heddle_p4.patience import Deadline
from heddle_p4.program import Program
from heddle_p4.switch import CpuPort, NotConnected, Switch
from heddle_p4.thrift_switch import MissingStubs, ThriftSwitch, find_stubs

P4RUNTIME, THRIFT = "p4runtime", "thrift"
PROGRAMS = {P4RUNTIME: "simple_switch_grpc", THRIFT: "simple_switch"}
CHOICE = "HEDDLE_P4_PROTOCOL"
START = 60.0
BESIDE = 5.0  # Thrift answers just behind P4Runtime, or never
P4RUNTIME_PORT, THRIFT_PORT = 9559, 9090
BUILT_WITH = "it is to be built with nanomsg (its default), simple_switch_grpc with PI as well"
SETUP = "./x setup p4 says where it is to be had"
PACKAGES = "run ./x setup p4, or name a Python that has it in HEDDLE_P4_PYTHON"

Session = TypeVar("Session")


class Missing(Exception):
    """What this machine lacks, and in the second line how to get it."""


def _lack(protocol: str) -> tuple[str, str] | None:
    """What a protocol takes and this machine lacks, and how to get it."""
    if not shutil.which(PROGRAMS[protocol]):
        return f"{PROGRAMS[protocol]} (BMv2) is not on the PATH", SETUP
    package = "finsy" if protocol == P4RUNTIME else "thrift"
    if importlib.util.find_spec(package) is None:
        return f"the Python package {package} is missing", PACKAGES
    if protocol == THRIFT:
        try:
            find_stubs()
            importlib.import_module("bm_runtime.standard.Standard")
        except (MissingStubs, ImportError) as error:
            return str(error), f"put the whole installation of BMv2 on this machine: {SETUP}"
    return None


def require(package: str) -> None:
    """Raises Missing if this Python has no such package."""
    if importlib.util.find_spec(package) is None:
        raise Missing(f"the Python package {package} is missing\nhelp: {PACKAGES}")


def choose(wanted: str | None = None, fills_registers: bool = False) -> str:
    """The protocol `wanted`, or that of the environment (HEDDLE_P4_PROTOCOL). By default P4Runtime if the machine has what it takes, else Thrift; and
    Thrift for a program whose registers the control plane fills, which P4Runtime on BMv2 cannot. Raises Missing."""
    wanted = wanted or os.environ.get(CHOICE)
    if wanted and wanted not in PROGRAMS:
        raise Missing(f'{CHOICE} is "{wanted}"\nhelp: write {P4RUNTIME} or {THRIFT}')
    if fills_registers and wanted == P4RUNTIME:
        raise Missing(f"Skip32's table is a register, and {PROGRAMS[P4RUNTIME]} writes none\nhelp: take --protocol {THRIFT}, or another cipher")
    lacks = []
    for protocol in [wanted] if wanted else [THRIFT] if fills_registers else PROGRAMS:
        lack = _lack(protocol)
        if lack is None:
            return protocol
        lacks.append(lack)
    raise Missing("; ".join(what for what, _ in lacks) + f"\nhelp: {lacks[0][1]}")


def connected(connect: Callable[[], Session], process: subprocess.Popen[bytes], limit: float = START) -> Session:
    """A session, as soon as the switch answers. Raises NotConnected if it ends, or does not answer within so many seconds of an idle machine."""
    deadline = Deadline(limit)
    while True:
        try:
            return connect()
        except NotConnected as error:
            status = process.poll()
            if status is not None:
                raise NotConnected(f"{error}: it has ended with status {status}; what it printed is above\nhelp: {BUILT_WITH}") from error
            if deadline.passed():
                raise NotConnected(f"{error}: {deadline}, though it runs") from error
            time.sleep(0.05)


@contextlib.contextmanager
def _process(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A switch that ends with the context, and with this process, however that ends."""
    with subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdout=sys.stderr) as process:
        try:
            yield process
        finally:
            process.terminate()


def _interfaces(devices: dict[int, str]) -> list[str]:
    return [word for port, device in devices.items() for word in ("--interface", f"{port}@{device}")]


@contextlib.contextmanager
def _by_p4runtime(program: Program, devices: dict[int, str], cpu: int) -> Iterator[tuple[Switch, CpuPort]]:
    from heddle_p4.p4runtime_switch import DEVICE, P4RuntimeSwitch

    address = f"127.0.0.1:{P4RUNTIME_PORT}"
    command = [PROGRAMS[P4RUNTIME], "--no-p4", "--device-id", str(DEVICE), "--log-level", "off", "--thrift-port", str(THRIFT_PORT)]
    command += [*_interfaces(devices), "--", "--grpc-server-addr", address, "--cpu-port", str(cpu)]
    with _process(command) as process, contextlib.closing(connected(lambda: P4RuntimeSwitch(program, address), process)) as switch:
        switch.beside = _by_thrift_beside(program, process)
        yield switch, switch


def _by_thrift_beside(program: Program, process: subprocess.Popen[bytes]) -> Switch | None:
    """The registers of a switch by Thrift; None where BMv2 is built without, or its stubs are missing."""
    try:
        return connected(lambda: ThriftSwitch(program, THRIFT_PORT), process, BESIDE)
    except (MissingStubs, ImportError, NotConnected):
        return None


@contextlib.contextmanager
def _by_thrift(program: Program, devices: dict[int, str], cpu: int) -> Iterator[tuple[Switch, CpuPort]]:
    # The default address of notifications is a file, the same in all network namespaces.
    with device_pair() as port, tempfile.TemporaryDirectory() as folder:
        command = [PROGRAMS[THRIFT], "--thrift-port", str(THRIFT_PORT), "--log-level", "off"]
        command += ["--notifications-addr", f"ipc://{folder}/notifications", *_interfaces(devices | {cpu: SWITCH_END}), str(program.path)]
        with _process(command) as process:
            switch = connected(lambda: ThriftSwitch(program, THRIFT_PORT), process)
            with contextlib.closing(switch):
                yield switch, port


def running(protocol: str, program: Program, devices: dict[int, str], cpu: int) -> contextlib.AbstractContextManager[tuple[Switch, CpuPort]]:
    """A switch with nothing in its tables, on these devices by port, and the end of its CPU port, which has the number `cpu`."""
    return (_by_p4runtime if protocol == P4RUNTIME else _by_thrift)(program, devices, cpu)
