"""A switch of a fabric: its document, its tables, the way of its packets through the program as it is built for use."""

import dataclasses
import ipaddress
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from typing import Any

import fabric
import frames
import interpreted
from frames import ACK
from heddle_p4 import bmv2, icmp, status, tokens
from heddle_p4.__main__ import ask
from heddle_p4.cflb import mix
from heddle_p4.document import BadPlan
from heddle_p4.plan import COUNTERS, CPU_PORT, Plan, Tables
from heddle_p4.probes import frame as probe_frame
from heddle_p4.program import Program
from heddle_p4.switch import NotConnected
from test_fabric import MP_HULA, SHUTTLE

EXAMPLE = pathlib.Path(__file__).resolve().parents[1] / "examples" / "tor-0.json"
# What is put where in the example (None: taken out), and what is then said.
MISTAKES: list[tuple[tuple[str | int, ...], object, str]] = [
    (("ports",), None, 'the file: "ports" is missing'),
    (("tors",), "one", 'the file: "tors" is "one": a number is meant'),
    (("salt",), True, 'the file: "salt" is true: a number is meant'),
    (("tor",), -1, 'the file: "tor" is -1: a number or null is meant'),
    (("tor",), 1, '"tor" is 1: the fabric has 1 ToRs, from 0'),
    (("config", "fail_after"), None, 'config: "fail_after" is missing'),
    (("config", "update"), "newest", 'config: "update" is "newest": one of refresh, listing is meant'),
    (("config", "flowlet_slots"), 1000, 'config: "flowlet_slots" is 1000: a power of two is meant'),
    (("config", "flowlet_slots"), 0, 'config: "flowlet_slots" is 0: a power of two is meant'),
    (("ports", 1), 7, "ports[1]: an object is meant, not 7"),
    (("ports", 1, "role"), "uplink", 'ports[1]: "role" is "uplink": one of host, up, down is meant'),
    (("ports", 1, "own_mac"), "02:00", 'ports[1]: "own_mac" is "02:00": a number or text as "02:00:00:00:00:01" is meant'),
    (("ports", 1, "speed"), 1, 'ports[1]: there is no key "speed"; there are: number, device, role, own_mac, peer_mac, full, mtu, probe_ports'),
    (("ports", 1, "number"), 0, "ports: two have the number 0"),
    (("ports", 1, "mtu"), 65536, 'ports[1]: "mtu" is 65536: at most 65535 is meant'),
    (("icmp_source",), ["198.18"], "the file: \"icmp_source\": '198.18' does not appear to be an IPv4 or IPv6 address"),
    (("icmp_source",), ["198.18.0.1", "198.18.0.2"], 'the file: "icmp_source" has two addresses of one family'),
    (("icmp_source",), ["10.0.0.2"], 'the file: "icmp_source": 10.0.0.2 is a host\'s address'),
    (("ports", 1, "probe_ports"), [2], 'ports[1]: "probe_ports": 2 is no port of this switch; its ports: 0, 1'),
    (("next_hops",), [], '"next_hops" has 0 lists: one for each of the 1 ToRs is meant'),
    (("next_hops", 0), [5], "next_hops[0]: 5 is no port of this switch; its ports: 0, 1"),
    (("destinations", 0, "address"), "10.0.0", "destinations[0]: \"address\": '10.0.0' does not appear to be an IPv4 or IPv6 address"),
    (("destinations", 0, "tor"), 4, 'destinations[0]: "tor" is 4: the fabric has 1 ToRs, from 0'),
    (("destinations", 0, "port"), 4, 'destinations[0]: "port": 4 is no port of this switch; its ports: 0, 1'),
]
SPINES = 4
HULA: fabric.Json = {"probe_period": 200_000, "fail_after": 600_000, "flowlet_gap": 100_000, "flowlet_slots": 64, "util_bits": 8}
HULA |= {"update": "refresh", "local_detection": False}
DROPPED = 511
NONE_TOLD = {"answered": 0, "time_exceeded": 0}


def murmur(words: tuple[int, ...]) -> int:
    """MurmurHash3 (x86, 32 bits, seed 0) of whole words."""
    state = 0
    for word in words:
        turned = word * 0xCC9E2D51 % 2**32
        turned = (turned << 15 | turned >> 17) * 0x1B873593 % 2**32
        state ^= turned
        state = ((state << 13 | state >> 19) % 2**32 * 5 + 0xE6546B64) % 2**32
    return mix(state, 4 * len(words))


def put(given: Any, place: tuple[str | int, ...], value: object) -> None:
    """Puts a value into a document, or takes what is there out."""
    *outer, last = place
    for key in outer:
        given = given[key]
    if value is None:
        del given[last]
    else:
        given[last] = value


def plan_of(node: str, scheme: str, config: fabric.Json) -> Plan:
    """A switch of a leaf-spine fabric, through a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "switch.json")
        path.write_text(json.dumps(fabric.Fabric(SPINES, scheme, config, 10**9).plan(node)))
        return Plan.read(path)


class Switches(unittest.TestCase):
    """By the interpreter."""

    def running(self, plan: Plan) -> interpreted.InterpretedSwitch:
        """A switch with a plan's tables, and all ports up."""
        switch = interpreted.InterpretedSwitch(plan.program())
        Tables(plan, switch).write((1 << SPINES + 1) - 1)
        return switch

    def test_ecmp_hashes_the_5_tuple(self) -> None:
        plan = plan_of("leaf-0", "ecmp", {})
        switch = self.running(plan)
        source, destination = (ipaddress.IPv4Address(text) for text in ("10.0.0.1", "10.1.0.1"))
        for port in range(1000, 1050):
            packet = frames.ethernet(*frames.ip((source, destination), frames.TCP, frames.tcp(port, 80, ACK, b"")))
            left_by, frame = switch.machine.process(SPINES, packet)
            hashed = murmur((int(source), int(destination), port << 16 | 80, frames.TCP))
            self.assertEqual(left_by, mix(hashed, plan.salt) * SPINES >> 32)
            self.assertEqual(frame[:6], plan.ports[left_by].peer_mac.to_bytes(6, "big"))

    def test_a_probe_of_the_cpu_port_goes_to_all_uplinks_with_the_own_tor(self) -> None:
        switch = self.running(plan_of("leaf-1", "hula", HULA))
        self.assertEqual(switch.groups[CPU_PORT + 1], tuple(range(SPINES)))
        _, frame = switch.machine.process(CPU_PORT, probe_frame(1))
        self.assertEqual(struct.unpack_from(">HI", frame, 12), (frames.PROBE, 1 << 8))

    def test_a_packet_without_a_way_is_dropped(self) -> None:
        switch = self.running(plan_of("spine-0", "ecmp", {}))
        ends = (ipaddress.IPv4Address("10.0.0.1"), ipaddress.IPv4Address("10.9.0.1"))
        self.assertEqual(switch.machine.process(0, frames.ethernet(*frames.ip(ends, frames.UDP, bytes(8))))[0], DROPPED)

    def test_a_copy_of_keys_goes_to_the_cpu_port_where_the_control_plane_computes_tokens(self) -> None:
        switch = self.running(plan_of("leaf-0", "mp-hula", MP_HULA | {"tokens": "control-plane"}))
        ends = (ipaddress.IPv4Address("10.0.0.1"), ipaddress.IPv4Address("10.1.0.1"))
        options = bytes.fromhex("1e160181") + bytes(18) + bytes(2)
        packet = frames.ethernet(*frames.ip(ends, frames.TCP, frames.tcp(1, 2, ACK, options)))
        port, sent = switch.machine.process(SPINES, packet)
        self.assertIn(port, range(SPINES))
        self.assertEqual(sent[34:], packet[34:])
        (port, asked), *_ = switch.machine.copies
        self.assertEqual(port, CPU_PORT)
        back = tokens.answer(asked)
        assert back
        self.assertEqual(switch.machine.process(CPU_PORT, back)[0], DROPPED)
        self.assertEqual(switch.counter("scheme_counters", COUNTERS.index("connections")), 1)


class State(unittest.TestCase):
    """What a running switch tells, by the interpreter."""

    def switch(self, node: str, scheme: str, config: fabric.Json) -> tuple[Plan, interpreted.InterpretedSwitch]:
        """A switch with its tables, and all ports up but the first."""
        plan = plan_of(node, scheme, config)
        switch = interpreted.InterpretedSwitch(plan.program())
        Tables(plan, switch).write((1 << SPINES + 1) - 2)
        return plan, switch

    def test_best_hops_are_told_with_their_devices_utilisation_and_age(self) -> None:
        for scheme, config in (("hula", HULA), ("mp-hula", MP_HULA), ("shuttle", SHUTTLE)):
            plan, switch = self.switch("leaf-0", scheme, config)
            # The interpreter's clock stands at 0.
            switch.machine.process(2, frames.probe(1, 77))
            switch.clock = 1_500_000
            state = status.read(plan, switch, 2, NONE_TOLD)
            self.assertEqual([port["up"] for port in state["ports"]], [False, True, False, False, False])
            (route,) = state["routes"]
            self.assertEqual((route["tor"], route["next_hops"]), (1, ["eth0", "eth1", "eth2", "eth3"]))
            self.assertEqual(route["best"], [{"peer": "eth2", "util": 77, "age_ms": 1.5}])
            self.assertEqual({name: count for name, count in state["counters"].items() if count}, {"probe_taken": 1})
            self.assertIn("best 1: eth2 (util 77, 1.5 ms ago)", status.text(state))

    def test_a_ports_utilisation_is_its_estimators_decayed_until_now(self) -> None:
        plan, switch = self.switch("leaf-0", "ecmp", {})
        switch.write_register("meter_bytes", 1, plan.ports[1].full)
        switch.write_register("meter_last", 1, 1000)
        switch.clock = 1000 + (1 << plan.tau_shift) // 4
        state = status.read(plan, switch, 2, NONE_TOLD)
        self.assertEqual([port["utilisation"] for port in state["ports"][:3]], [0, 0.75, 0])
        self.assertRegex(status.text(state), r"eth1 +up +up +75\.0% +0")

    def test_a_switch_of_each_scheme_tells_its_counters(self) -> None:
        for scheme, config in (("ecmp", {}), ("hula", HULA), ("mp-hula", MP_HULA), ("shuttle", SHUTTLE)):
            plan, switch = self.switch("spine-1", scheme, config)
            switch.machine.process(0, frames.probe(0))
            state = status.read(plan, switch, 3, NONE_TOLD)
            self.assertEqual(sum(state["counters"].values()), 1)
            counted = status.lab_counters(switch)
            self.assertEqual(counted["probe_arrivals"], 1)
            self.assertEqual(set(counted), {*COUNTERS, "probe_arrivals"})
            self.assertEqual(list(state["scheme_counters"]), [] if scheme == "ecmp" else COUNTERS)

    def test_packets_whose_sender_was_told_are_not_among_the_dropped(self) -> None:
        plan, switch = self.switch("leaf-0", "ecmp", {})
        errors = icmp.Errors((ipaddress.ip_address("198.18.0.1"),))
        host, other = (ipaddress.ip_address(f"10.{leaf}.0.1") for leaf in (0, 1))
        longest = fabric.FABRIC_MTU - 20
        told = ((host, 1, 8), (host, 64, longest + 1), (ipaddress.ip_address("224.0.0.1"), 1, 8))
        for source, ttl, size in told:
            frame = frames.ethernet(*frames.ip((source, other), frames.UDP, bytes(size), ttl))
            port, report = switch.machine.process(SPINES, frame)
            self.assertEqual(port, CPU_PORT)
            back = errors.answer(report)
            if source == host:
                assert back
                port, left = switch.machine.process(CPU_PORT, back)
                self.assertEqual(port, SPINES)
                macs = plan.ports[SPINES].peer_mac.to_bytes(6, "big") + plan.ports[SPINES].own_mac.to_bytes(6, "big")
                self.assertEqual(left, macs + back[12:14] + frames.routed(frames.IPV4, back[14:]))
        counters = status.read(plan, switch, 2, errors.sent)["counters"]
        self.assertEqual(
            {name: count for name, count in counters.items() if count}, {"delivered": 2, "dropped_ttl": 1, "answered": 1, "time_exceeded": 1}
        )

    def test_a_switch_that_does_not_run_is_said_not_to(self) -> None:
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(unittest.mock.patch("heddle_p4.__main__.ANSWER", 0.01))
        with self.assertRaisesRegex(BadPlan, "no switch answers"):
            ask(pathlib.Path(folder, "switch.json"))


class Refused(unittest.TestCase):
    """Documents that no switch can run."""

    def test_tables_larger_than_the_programs_are_refused(self) -> None:
        plan = plan_of("leaf-0", "hula", HULA | {"flowlet_slots": 1 << 20})
        with self.assertRaisesRegex(BadPlan, "room for 65536"):
            plan.check(Program(plan.program()))

    def test_ports_behind_the_last_one_of_a_set_are_refused(self) -> None:
        plan = plan_of("leaf-0", "hula", HULA)
        one = dataclasses.replace(plan.ports[0], number=64)
        with self.assertRaisesRegex(BadPlan, "65 cells of meter_bytes: the program has room for 64"):
            dataclasses.replace(plan, ports=(one,)).check(Program(plan.program()))

    def test_more_bits_than_a_probe_has_are_refused(self) -> None:
        plan = plan_of("leaf-0", "hula", HULA | {"util_bits": 12})
        with self.assertRaisesRegex(BadPlan, "util_bits = 12"):
            plan.check(Program(plan.program()))

    def test_tokens_by_the_control_plane_are_of_mp_hula_alone(self) -> None:
        with self.assertRaisesRegex(BadPlan, '"control-plane" needs scheme "mp-hula"'):
            plan_of("leaf-0", "shuttle", SHUTTLE | {"tokens": "control-plane"}).program()
        with self.assertRaisesRegex(BadPlan, '"tokens": "switch"'):
            plan_of("leaf-0", "mp-hula", MP_HULA | {"tokens": "switch"}).program()

    def test_a_scheme_without_a_program_is_refused(self) -> None:
        with self.assertRaisesRegex(BadPlan, 'scheme "drill": there are programs for ecmp, hula, mp-hula, shuttle, cflb'):
            plan_of("leaf-0", "drill", {})

    def test_a_key_that_is_wrong_is_not_repeated(self) -> None:
        config = {"field": "ports", "cipher": "rc5", "radix": 4, "rules": "even", "key": "c0ffee5"}
        with self.assertRaises(BadPlan) as refused:
            plan_of("leaf-0", "cflb", config)
        self.assertIn('config: "key": an even number of hex digits is meant', str(refused.exception))
        self.assertNotIn(config["key"], str(refused.exception))

    def test_a_mistake_in_a_file_is_named_with_its_place(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "switch.json")
            for place, value, said in MISTAKES:
                with self.subTest(said):
                    given = json.loads(EXAMPLE.read_text())
                    put(given, place, value)
                    path.write_text(json.dumps(given))
                    with self.assertRaises(BadPlan) as refused:
                        Plan.read(path)
                    first, second = str(refused.exception).split("\n")
                    self.assertEqual(first, f"{path}: {said}")
                    self.assertRegex(second, "^help: .*control-plane.md")

    def test_what_is_no_json_or_no_object_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "switch.json")
            texts = ((None, "No such file"), ("{", "Expecting property name"), ("[]", r"an object is meant, not \[\]"), ("\0", "Expecting value"))
            for text, said in texts:
                if text is not None:
                    path.write_text(text)
                with self.assertRaisesRegex(BadPlan, said):
                    Plan.read(path)

    def test_the_example_fits_its_program(self) -> None:
        plan = Plan.read(EXAMPLE)
        plan.check(Program(plan.program()))
        self.assertEqual([port.peer_mac for port in plan.ports], [0x020000000000, 0x020000000001])

    def test_a_machine_without_bmv2_is_told_what_is_missing_and_how_to_get_it(self) -> None:
        with tempfile.TemporaryDirectory() as empty:
            environment = os.environ | {"PATH": empty, "PYTHONPATH": str(fabric.CONTROL)}
            command = (sys.executable, "-m", "heddle_p4", "--check")
            done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 127)
        self.assertRegex(done.stderr, "simple_switch_grpc.*simple_switch .*\nhelp: ./x setup p4")

    def test_a_python_package_that_is_missing_is_named(self) -> None:
        with self.assertRaisesRegex(bmv2.Missing, "package heddle_none is missing\nhelp: run ./x setup p4"):
            bmv2.require("heddle_none")

    def test_a_bmv2_that_ends_at_once_is_said_to_have_ended(self) -> None:
        def connect() -> None:
            raise NotConnected("127.0.0.1:9090")

        with subprocess.Popen(("false",)) as process:
            process.wait()
            with self.assertRaisesRegex(NotConnected, "127.0.0.1:9090: it has ended with status 1; .*\nhelp: .*nanomsg"):
                bmv2.connected(connect, process)

    def test_a_protocol_that_is_none_is_refused(self) -> None:
        with (
            unittest.mock.patch.dict(os.environ, {bmv2.CHOICE: "openflow"}),
            self.assertRaisesRegex(bmv2.Missing, "openflow.*\nhelp: write p4runtime"),
        ):
            bmv2.choose()

    def test_a_program_whose_registers_are_filled_is_refused_by_p4runtime(self) -> None:
        plan = dataclasses.replace(plan_of("leaf-0", "ecmp", {}), scheme="cflb", config={"cipher": "skip32"})
        with self.assertRaisesRegex(bmv2.Missing, "register.*\nhelp: take --protocol thrift"):
            bmv2.choose("p4runtime", plan.fills_registers())


if __name__ == "__main__":
    unittest.main()
