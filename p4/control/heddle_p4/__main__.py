"""Runs one switch of a fabric: BMv2 with the scheme's program on the devices of this network namespace, its tables, its probes.

heddle-p4-switch SWITCH.json             runs it, as root
heddle-p4-switch SWITCH.json --status    prints ports, routes, best hops and counters of the one that runs
heddle-p4-switch SWITCH.json --check     checks the file, and that BMv2 and what else it takes are installed

BMv2 is simple_switch_grpc, controlled by P4Runtime, or where that is missing simple_switch, by Thrift; --protocol or HEDDLE_P4_PROTOCOL
chooses. SIGHUP reads the file again and changes the next hops; SIGTERM ends it. p4/examples/tor-0.json is a switch between two hosts;
docs/src/p4/control-plane.md runs it step by step and describes the keys of a file."""

import argparse
import json
import pathlib
import signal
import socket
import subprocess
import sys
import time

from heddle_p4 import bmv2, status, tokens
from heddle_p4.answers import Answers
from heddle_p4.cflb import BadConstants
from heddle_p4.document import BadPlan
from heddle_p4.icmp import Errors
from heddle_p4.patience import Deadline
from heddle_p4.plan import CPU_PORT, Plan, Tables
from heddle_p4.probes import Probes
from heddle_p4.program import Program
from heddle_p4.switch import NotConnected

LOOK = 0.005
COUNT = 0.5
ANSWER = 10.0
NOT_FOUND = 127


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


def write(path: pathlib.Path, content: status.Json | dict[str, int]) -> None:
    """Never half of it."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content))
    new.replace(path)


def read(path: pathlib.Path) -> Plan:
    """A switch that its program has room for. Raises BadPlan."""
    plan = Plan.read(path)
    plan.check(Program(plan.program()))
    return plan


def reread(path: pathlib.Path, running: Plan) -> Plan:
    """The file as it is now; the plan that runs if it is none, which is said."""
    try:
        return read(path)
    except BadPlan as error:
        print(f"heddle-p4-switch: the next hops stay as they are: {error}", file=sys.stderr, flush=True)
        return running


def check_devices(plan: Plan) -> None:
    """Raises BadPlan for a device that this network namespace has not: BMv2 does without its port."""
    there = [name for _, name in socket.if_nameindex()]
    for port in plan.ports:
        if port.device not in there:
            raise BadPlan(
                f'{plan.node}: port {port.number}: there is no device "{port.device}" in this network namespace, which has {", ".join(there)}\n'
                "help: ip netns exec NAME heddle-p4-switch SWITCH.json runs it in another one"
            )


def ask(path: pathlib.Path) -> status.Json:
    """The state of the switch that runs with this file: it writes NAME.status where there is none. Raises BadPlan if none runs."""
    answer = path.with_suffix(".status")
    answer.unlink(missing_ok=True)
    deadline = Deadline(ANSWER)
    while not deadline.passed():
        if answer.is_file():
            state: status.Json = json.loads(answer.read_text())
            return state
        time.sleep(LOOK)
    raise BadPlan(f"{path}: no switch answers, {deadline}: is heddle-p4-switch running with this file?")


def serve(path: pathlib.Path, plan: Plan, protocol: str) -> None:
    """Until SIGTERM."""
    signals = Signals()
    program = Program(plan.program())
    check_devices(plan)
    # The kernel of the namespace sees all frames too, and must not forward them a second time.
    subprocess.run(("sysctl", "-q", "-w", "net.ipv4.ip_forward=0"), check=True)
    with bmv2.running(protocol, program, {port.number: port.device for port in plan.ports}, CPU_PORT) as (switch, cpu):
        ports = Ports(plan)
        up = ports.up()
        tables = Tables(plan, switch)
        tables.write(up)
        period = plan.probe_period()
        probes = Probes(cpu, plan.tor or 0, period) if period else None
        errors = Errors(plan.icmp_source)
        answers = Answers(cpu, tokens.answer, errors.answer)
        write(path.with_suffix(".counters"), status.lab_counters(switch))
        due = time.monotonic() + COUNT
        print(f"the switch runs, controlled by {protocol}", file=sys.stderr, flush=True)
        while not signals.ends:
            now = ports.up()
            if signals.changed:
                signals.changed = False
                tables.reroute(reread(path, tables.plan), now)
            elif now != up:
                tables.set_up(now)
            up = now
            if time.monotonic() > due:
                write(path.with_suffix(".counters"), status.lab_counters(switch))
                if not path.with_suffix(".status").exists():
                    write(path.with_suffix(".status"), status.read(tables.plan, switch, up, errors.sent))
                due = time.monotonic() + COUNT
            time.sleep(LOOK)
        for thread in (probes, answers):
            if thread:
                thread.close()


def main() -> int:
    """Status 1 for what the user can put right, 127 for what is missing."""
    parser = argparse.ArgumentParser(prog="heddle-p4-switch", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("switch", type=pathlib.Path, nargs="?", help="the switch, as JSON, such as p4/examples/tor-0.json")
    parser.add_argument("--protocol", choices=list(bmv2.PROGRAMS), help="of the control plane (default: p4runtime where it is at hand)")
    parser.add_argument("--check", action="store_true", help="only check the file, if one is given, and that all that a switch takes is installed")
    parser.add_argument("--status", action="store_true", help="print the state of the switch that runs with this file")
    parser.add_argument("--json", action="store_true", help="as JSON")
    given = parser.parse_args()
    if given.switch is None and not given.check:
        parser.error("give a switch's file")
    try:
        if given.status:
            state = ask(given.switch)
            print(json.dumps(state) if given.json else status.text(state))
            return 0
        bmv2.require("jsonschema")
        plan = read(given.switch) if given.switch else None
        protocol = bmv2.choose(given.protocol, plan is not None and plan.fills_registers())
        if plan and not given.check:
            serve(given.switch, plan, protocol)
    except bmv2.Missing as lack:
        print(lack, file=sys.stderr)
        return NOT_FOUND
    except NotConnected as error:
        hint = "" if "help:" in str(error) else "\nhelp: the loopback device has to be up: ip link set lo up"
        print(f"heddle-p4-switch: {bmv2.PROGRAMS[protocol]} does not answer at {error}{hint}", file=sys.stderr)
        return 1
    except (BadPlan, BadConstants) as error:
        print(f"heddle-p4-switch: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
