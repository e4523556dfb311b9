"""Runs one switch of a fabric: simple_switch with the scheme's program on the devices of this network namespace, its tables, its probes.

heddle-p4-switch SWITCH.json

SIGHUP reads the file again and changes the next hops; SIGTERM ends it."""

import argparse
import contextlib
import importlib
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from heddle_p4.plan import CPU_PORT, BadPlan, Plan, Tables
from heddle_p4.probes import Probes
from heddle_p4.program import Program
from heddle_p4.thrift_switch import MissingStubs, ThriftSwitch, find_stubs
from heddle_p4.tokens import Tokens

THRIFT_PORT = 9090
START = 60.0
LOOK = 0.005
COUNT = 0.5
NOT_FOUND = 127
CPU, CPU_FAR = "cpu0", "cpu1"
CPU_MTU = "2000"  # a full packet, and the header of tokens


def run(*command: str) -> None:
    """Runs a program that must not fail."""
    subprocess.run(command, check=True)


def carrier(device: str) -> bool:
    """True if the far end of a device is up."""
    try:
        return pathlib.Path("/sys/class/net", device, "carrier").read_text().strip() == "1"
    except OSError:
        return False


class Ports:
    """The ports that are up. /sys shows the devices of this namespace if the process has mounted it; else each port counts as up."""

    def __init__(self, plan: Plan) -> None:
        self.devices = {port.number: port.device for port in plan.ports}
        self.is_shown = all(pathlib.Path("/sys/class/net", device).exists() for device in self.devices.values())

    def up(self) -> int:
        """Bit i: port i is up."""
        if not self.is_shown:
            return sum(1 << number for number in self.devices)
        return sum(1 << number for number, device in self.devices.items() if carrier(device))


@contextlib.contextmanager
def cpu_port() -> Iterator[str]:
    """A pair of devices in front of the CPU port: the name of the end that is the control plane's."""
    run("ip", "link", "add", CPU, "type", "veth", "peer", "name", CPU_FAR)
    try:
        for device in (CPU, CPU_FAR):
            run("ip", "link", "set", device, "mtu", CPU_MTU, "up")
        yield CPU_FAR
    finally:
        subprocess.run(("ip", "link", "delete", CPU), check=False)


@contextlib.contextmanager
def simple_switch(plan: Plan) -> Iterator[ThriftSwitch]:
    """The switch, with nothing in its tables."""
    program = Program(plan.program())
    plan.check(program)
    # It ends with this process, however that ends.
    command = ["setpriv", "--pdeathsig", "KILL", "simple_switch", "--thrift-port", str(THRIFT_PORT), "--log-level", "off", str(plan.program())]
    for port in plan.ports:
        command += ["--interface", f"{port.number}@{port.device}"]
    command += ["--interface", f"{CPU_PORT}@{CPU}"]
    # Its default address is a file, the same in all network namespaces.
    with tempfile.TemporaryDirectory() as folder:
        command[4:4] = ["--notifications-addr", f"ipc://{folder}/notifications"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                yield connect(program, process)
            finally:
                process.terminate()


def connect(program: Program, process: subprocess.Popen[bytes]) -> ThriftSwitch:
    """A session, as soon as the switch is up."""
    from thrift.transport.TTransport import TTransportException

    deadline = time.monotonic() + START
    while True:
        try:
            return ThriftSwitch(program, THRIFT_PORT)
        except TTransportException:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Signals:
    """Signals as facts for a loop."""

    def __init__(self) -> None:
        self.ends = self.changed = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        signal.signal(signal.SIGHUP, self._change)

    def _end(self, *_: object) -> None:
        self.ends = True

    def _change(self, *_: object) -> None:
        self.changed = True


def write_counters(path: pathlib.Path, tables: Tables) -> None:
    """Beside the switch's file, as NAME.counters; never half of it."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(tables.counters()))
    new.replace(path.with_suffix(".counters"))


def serve(path: pathlib.Path) -> None:
    """Until SIGTERM."""
    signals, plan = Signals(), Plan.read(path)
    # The kernel of the namespace sees all frames too, and must not forward them a second time.
    run("sysctl", "-q", "-w", "net.ipv4.ip_forward=0")
    with cpu_port() as cpu, simple_switch(plan) as switch:
        ports = Ports(plan)
        up = ports.up()
        tables = Tables(plan, switch)
        tables.write(up)
        period = plan.probe_period()
        probes = Probes(cpu, plan.tor or 0, period) if period else None
        tokens = Tokens(cpu) if plan.asks_for_tokens() else None
        write_counters(path, tables)
        due = time.monotonic() + COUNT
        print("the switch runs", file=sys.stderr, flush=True)
        while not signals.ends:
            now = ports.up()
            if signals.changed:
                signals.changed = False
                tables.reroute(Plan.read(path), now)
            elif now != up:
                tables.set_up(now)
            up = now
            if time.monotonic() > due:
                write_counters(path, tables)
                due = time.monotonic() + COUNT
            time.sleep(LOOK)
        for thread in (probes, tokens):
            if thread:
                thread.close()


def missing() -> str | None:
    """What a switch takes and this machine lacks, and in the next line how to get it."""
    if not shutil.which("simple_switch"):
        return "simple_switch (BMv2) is not on the PATH\nhelp: ./x setup p4 says where it is to be had"
    try:
        find_stubs()
        importlib.import_module("bm_runtime.standard.Standard")
    except MissingStubs as error:
        return f"{error}\nhelp: put the whole installation of BMv2 on this machine: ./x setup p4 says where it is to be had"
    except ImportError as error:
        return f"the Python package {error.name} is missing\nhelp: run ./x setup p4, or name a Python that has it in HEDDLE_P4_PYTHON"
    return None


def main() -> int:
    """Status 1 for what the user can put right, 127 for what is missing."""
    parser = argparse.ArgumentParser(prog="heddle-p4-switch", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("switch", type=pathlib.Path, nargs="?", help="the switch, as JSON: see heddle_p4/plan.py")
    parser.add_argument("--check", action="store_true", help="only check that all that a switch takes is installed")
    given = parser.parse_args()
    lack = missing()
    if lack:
        print(lack, file=sys.stderr)
        return NOT_FOUND
    if given.check:
        return 0
    if given.switch is None:
        parser.error("give a switch's file")
    try:
        serve(given.switch)
    except (BadPlan, MissingStubs, ImportError) as error:
        print(f"heddle-p4-switch: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
