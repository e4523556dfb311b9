"""The first and the last cell of the programs' registers: a release build of BMv2 does not check indices, so that a program must reach both and no
cell behind them."""

import itertools
import pathlib
import unittest
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import compiled
import frames
import interpreted
import traces
from frames import ACK, HOST_PORT, LOCAL_HOST, OTHER_HOST, Answer, Given
from heddle_p4 import tokens
from heddle_p4.cflb import mix
from heddle_p4.plan import BEST_HOPS, COUNTERS, SUBFLOWS
from heddle_p4.program import Program
from heddle_p4.settings import SwitchSettings, capacity_values

UP = (1 << 64) - 1
SALT = 1
SYN = 2
FORWARDED, PROBE_TAKEN, PROBE_FORWARDED, BAD_PROBE = 0, 2, 3, 11
FIRST_PORT, LAST_PORT = 0, 63
Json = dict[str, Any]


def hashes(slot: int, slots: int, ways: int = 1) -> Iterator[int]:
    """Flow hashes with this slot in a table of so many, or with the set of so many ways that begins there."""
    return (value for value in itertools.count() if mix(value, SALT) * ways % slots == slot)


def keys(slot: int, slots: int) -> Iterator[bytes]:
    """Keys of MPTCP whose tokens have the set of four that begins with this slot."""
    drawn = (number.to_bytes(8, "big") for number in itertools.count())
    return (key for key in drawn if mix(int.from_bytes(tokens.token(1, key), "big"), SALT) * 4 % slots == slot)


class FullSize(unittest.TestCase):
    """A program with all of its cells in use, in a fabric of as many ToRs as it has room for."""

    scheme = "hula"
    tor: int | None = None

    def running(self, program: pathlib.Path) -> AbstractContextManager[traces.Bench]:
        """A switch with a program."""
        return interpreted.bench(program)

    def config(self) -> Json:
        """The scheme's parameters with all cells in use."""
        hula: Json = traces.read("hula")[0]["config"]["hula"] | {"flowlet_slots": self.cells("flowlet_last")}
        if self.scheme == "hula":
            return {"hula": hula}
        given: Json = traces.read(self.scheme)[0]["config"][self.scheme]
        rows = self.cells("mapping_next_slot") // SUBFLOWS
        tables = {"best_k": BEST_HOPS, "mapping_rows": rows, "association_slots": self.cells("subflow_entry")}
        return {self.scheme: given | hula | tables}

    def cells(self, register: str) -> int:
        """The size of a register."""
        return int(self.program.registers[register][1])

    def setUp(self) -> None:
        path = compiled.path(self.scheme, test=True)
        self.program = Program(path)
        self.bench = self.enterContext(self.running(path))
        self.tors = self.cells("probe_sent")
        switch = {"salt": SALT, "tor": self.tor, "ports": traces.PORTS, "tors": self.tors}
        run = traces.Run(self.bench, traces.read(self.scheme)[0] | {"switch": switch, "config": self.config()})
        for tor in (0, self.tors - 1):
            run.routes.set(tor, tuple(range(traces.PORTS)), UP)

    def send(self, given: Given, frame: bytes) -> Answer:
        """The answer to a frame."""
        self.bench.send(0, given.pack() + frame)
        answer = self.bench.receive(0)
        self.assertIsNotNone(answer)
        return Answer.unpack(answer or b"")

    def assert_cells(self, register: str, written: dict[int, int]) -> None:
        """A register has these values at its ends and beside them, and zeros where none is given."""
        last = self.cells(register) - 1
        for index in (0, 1, last - 1, last):
            self.assertEqual(self.bench.switch.register(register, index), written.get(index, 0), f"{register}[{index}]")


class HulaEnds(FullSize):
    """A spine, which knows best hops and suppresses probes."""

    def forward(self, flow: int, shim: Json | None = None) -> None:
        """A packet from another switch to ToR 0."""
        packet = frames.ip((LOCAL_HOST, OTHER_HOST), frames.TCP, frames.tcp(1, 2, ACK, b""))
        self.assertEqual(self.send(Given(1, FIRST_PORT, flow_hash=flow), frames.ethernet(*packet, shim)).verdict, FORWARDED)

    def test_probes_of_the_first_and_the_last_tor(self) -> None:
        last = self.tors - 1
        for tor, port, verdict in ((0, 1, PROBE_FORWARDED), (last, LAST_PORT, PROBE_FORWARDED), (last + 1, 1, BAD_PROBE), (0xFFFFFF, 1, BAD_PROBE)):
            with self.subTest(tor):
                self.assertEqual(self.send(Given(7, port), frames.probe(tor)).verdict, verdict)
        self.assert_cells("probe_sent", {0: 7, last: 7})
        self.assert_best(last)

    def assert_best(self, last: int) -> None:
        """Best hops of the first and the last ToR."""
        self.assert_cells("best_next_port", {0: 2, last: LAST_PORT + 1})

    def test_flowlets_in_the_first_and_the_last_slot(self) -> None:
        slots = self.cells("flowlet_last")
        for slot in (0, slots - 1):
            self.send(Given(1, 5), frames.probe(0))
            self.forward(next(hashes(slot, slots)))
        self.assert_cells("flowlet_next_port", {0: 6, slots - 1: 6})

    def test_the_estimators_of_the_first_and_the_last_port(self) -> None:
        for port, length in ((FIRST_PORT, 100), (LAST_PORT, 1500)):
            self.send(Given(1, port, "sent", length=length), frames.probe(0))
        self.assert_cells("meter_bytes", {FIRST_PORT: 100, LAST_PORT: 1500})

    def test_a_probe_by_a_port_behind_the_last_one_is_by_no_next_hop(self) -> None:
        self.bench.switch.set_entry("ports", (LAST_PORT + 1,), "set_port", {"role": traces.ROLES["up"], "probe_group": 1, "inverse": 0})
        self.assertEqual(self.send(Given(1, LAST_PORT + 1), frames.probe(0)).verdict, PROBE_TAKEN)
        self.assert_best_empty()

    def assert_best_empty(self) -> None:
        """No hop is known."""
        self.assert_cells("best_next_port", {})


class MpHulaEnds(HulaEnds):
    """The same, and the k best hops, owners and mappings of flowlets."""

    scheme = "mp-hula"

    def assert_best(self, last: int) -> None:
        self.assert_cells("best_known", {0: 1, last: 1})
        self.assertEqual(self.bench.switch.register("best_port", last * BEST_HOPS), LAST_PORT)

    def assert_best_empty(self) -> None:
        self.assert_cells("best_known", {})

    def test_as_many_best_hops_of_the_last_tor_as_there_is_room_for(self) -> None:
        last = self.tors - 1
        for port in range(BEST_HOPS + 1):
            self.send(Given(1, 10 + port, util=port), frames.probe(last))
        self.assert_cells("best_known", {last: BEST_HOPS})
        # The ninth is worse than all of them.
        self.assert_cells("best_port", {last * BEST_HOPS + BEST_HOPS - 2: 16, last * BEST_HOPS + BEST_HOPS - 1: 17})

    def test_mappings_of_the_first_and_the_last_row(self) -> None:
        rows = self.cells("mapping_next_slot") // SUBFLOWS
        slots = self.cells("flowlet_last")
        for row, subflow, slot in ((0, 1, 0), (rows - 1, SUBFLOWS, slots - 1)):
            self.send(Given(1, 5), frames.probe(0))
            identity = next(number for number in itertools.count() if mix(mix(0, 0), number) % rows == row)
            self.forward(next(hashes(slot, slots)), {"id": f"{identity:016x}", "subflow": subflow})
        self.assert_cells("mapping_next_slot", {0: 1, rows * SUBFLOWS - 1: slots})
        self.assert_cells("flowlet_subflow", {0: 1, slots - 1: SUBFLOWS})


class ShuttleEnds(MpHulaEnds):
    """The same of Shuttle, and the loads of ports."""

    scheme = "shuttle"

    def config(self) -> Json:
        return {"shuttle": super().config()["shuttle"] | {"full_queue": 1 << 16, "range": 2}}

    def test_the_queues_of_the_first_and_the_last_port(self) -> None:
        for port, length in ((FIRST_PORT, 100), (LAST_PORT, 1500)):
            self.bench.switch.set_entry("capacities", (port,), "set_capacity", capacity_values(1 << 20))
            self.send(Given(1, port, "sent", length=length), frames.probe(0))
        self.assert_cells("port_queue", {FIRST_PORT: 100, LAST_PORT: 1500})
        self.assert_cells("port_full", {FIRST_PORT: 1 << 20, LAST_PORT: 1 << 20})

    def test_the_loads_of_as_many_hops_as_there_is_room_for(self) -> None:
        SwitchSettings(SALT, self.tors, None, UP, 28).apply(self.bench.switch)
        last = self.tors - 1
        for place in range(BEST_HOPS):
            port = LAST_PORT - place
            self.bench.switch.set_entry("capacities", (port,), "set_capacity", capacity_values(1 << 20))
            self.bench.switch.set_entry("ports", (port,), "set_port", {"role": traces.ROLES["down"], "probe_group": 1, "inverse": 0})
            self.send(Given(1, port, "sent", length=65536 - 4096 * place), frames.probe(0))
            self.send(Given(1, port), frames.probe(last))
        # Of the last hop, the least loaded one: 36864 bytes, of 2^20 in tau; 200 us drain 781 of them, and let the
        # estimator decay by 27.
        own = ((36864 - 27) * 65536 // (1 << 20) + 36864 - 781) // 2
        self.assertEqual(self.send(Given(200_001, LAST_PORT), frames.probe(last)).util, own >> 8)


class AssociationEnds(FullSize):
    """A ToR, which reads handshakes."""

    scheme = "mp-hula"
    tor = 1

    def handshake(self, flow: int, flags: int, options: bytes) -> None:
        """A segment of the host's."""
        packet = frames.ip((LOCAL_HOST, OTHER_HOST), frames.TCP, frames.tcp(1, 2, flags, options))
        self.send(Given(1, HOST_PORT, "handshake", flow_hash=flow), frames.ethernet(*packet))

    def counted(self, name: str) -> int:
        """A counter of the scheme."""
        return self.bench.switch.counter("scheme_counters", COUNTERS.index(name))

    def test_subflows_and_tokens_in_the_last_sets(self) -> None:
        slots = self.cells("subflow_entry")
        room = self.cells("token_next_slot")
        flows = hashes(slots - 4, slots, 4)
        key_a, key_b = itertools.islice(keys(room - 4, room), 2)
        self.handshake(next(flows), ACK, bytes.fromhex("1e160181") + key_a + key_b + bytes(2))
        for _ in range(4):
            self.handshake(next(flows), SYN, bytes.fromhex("1e0c1000") + tokens.token(1, key_b) + bytes(4))
        self.assertEqual((self.counted("connections"), self.counted("joins"), self.counted("table_collisions")), (1, 3, 1))
        self.assert_cells("subflow_seen", {slots - 2: 1, slots - 1: 1})
        for place, number in ((slots - 4, 1), (slots - 1, 4)):
            self.assertEqual(self.bench.switch.register("subflow_entry", place) >> 16 & 0xFF, number)
        # One entry for both tokens, which have one set.
        self.assertEqual([self.bench.switch.register("token_next_slot", room - 4 + way) for way in range(4)], [slots - 3, 0, 0, 0])

    def test_the_key_of_a_syn_of_version_0_in_the_last_slot(self) -> None:
        slots = self.cells("key_entry")
        self.handshake(next(hashes(slots - 1, slots)), SYN, bytes.fromhex("1e0c0081") + bytes(range(1, 9)))
        self.assert_cells("key_upper", {slots - 1: 0x01020304})
        self.assert_cells("key_lower", {slots - 1: 0x05060708})


class ShuttleAssociationEnds(AssociationEnds):
    """The same in Shuttle's program."""

    scheme = "shuttle"


if __name__ == "__main__":
    unittest.main()
