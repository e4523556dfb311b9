"""The checksum of a header whose TTL falls by one is that of the new header computed anew, for every checksum that a header has."""

import re
import struct
import unittest
from collections.abc import Callable, Iterator

import compiled
import frames
from expressions import function
from interpreter import Machine
from packet_state import Json, PacketState

HEADER = struct.Struct(">BBHHHBBHII")


def header(identification: int, ttl: int) -> bytes:
    """An IPv4 header without its checksum."""
    return HEADER.pack(0x45, 0, 40, identification, 0, ttl, frames.TCP, 0, 0x0A000101, 0x0A000201)


def steps() -> Iterator[tuple[int, int]]:
    """Checksums before and after, both computed anew. All that a header can have are among them, which is all but 0xffff."""
    for identification in range(1 << 16):
        yield frames.checksum(header(identification, 64)), frames.checksum(header(identification, 63))


class TtlChecksum(unittest.TestCase):
    """Of the compiled programs and of the sources for Tofino."""

    def check(self, update: Callable[[int], int]) -> None:
        """`update` is the arithmetic from one checksum to the next."""
        seen = set()
        for before, after in steps():
            if update(before) != after:
                self.fail(f"{before:#06x} becomes {update(before):#06x}, not {after:#06x}")
            seen.add(before)
        self.assertEqual(seen, set(range(0xFFFF)))

    def expression(self, program: str, test: bool) -> tuple[Machine, Json]:
        """The compiled right side of the checksum's assignment."""
        machine = Machine(compiled.path(program, test))
        action = next(each for each in machine.actions.values() if each["name"] == "SwitchIngress.decrement_ttl")
        return machine, next(step["parameters"][1] for step in action["primitives"] if step["parameters"][0]["value"] == ["ipv4", "checksum"])

    def test_of_bmv2(self) -> None:
        machine, expression = self.expression("ecmp", test=False)
        packet, value = PacketState(machine.layout), function(expression)

        def update(checksum: int) -> int:
            packet.set(("ipv4", "checksum"), checksum)
            return value(packet, ())

        self.check(update)

    def test_all_programs_have_the_same_arithmetic(self) -> None:
        _, first = self.expression("ecmp", test=False)
        for program in compiled.PROGRAMS:
            for test in (False, True):
                self.assertEqual(self.expression(program, test)[1], first, program)

    def test_of_tofino(self) -> None:
        source = (compiled.P4 / "tna" / "routes.p4").read_text()
        addends = [int(each, 16) for each in re.findall(r"checksum = hdr.ipv4.checksum \+ (0x[0-9a-f]+);", source)]
        condition = re.search(r"if \((hdr.ipv4.checksum.*)\) \{\s+decrement_v4_with_carry", source)
        assert condition, "the condition of the carry"
        words = condition[1].replace("hdr.ipv4.checksum[15:8]", "(checksum >> 8)").replace("hdr.ipv4.checksum", "checksum").replace("||", "or")
        carries = eval(f"lambda checksum: {words}")
        self.check(lambda checksum: checksum + addends[carries(checksum)] & 0xFFFF)


if __name__ == "__main__":
    unittest.main()
