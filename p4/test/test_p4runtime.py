"""P4Runtime on BMv2: the tests of test_bmv2.py and of test_p4runtime_client.py on simple_switch_grpc. No network interfaces, no privileges."""

import unittest
from contextlib import AbstractContextManager

import bmv2
import compiled
import frames
import test_bad_input
import test_external_tokens
import test_icmp
import test_p4runtime_client
import test_paths
import test_register_ends
import test_vectors
import traces
from bmv2 import OnSimpleSwitchGrpc
from heddle_p4 import probes
from test_p4runtime_client import FABRIC_PORT, HOST_PORT, OTHER_PORT

PROBE_SENT = 4


class VectorsByP4Runtime(OnSimpleSwitchGrpc, test_vectors.Vectors):
    """The traces."""


class BadInputByP4Runtime(OnSimpleSwitchGrpc, test_bad_input.BadInput):
    """Packets that no well-behaved host or switch sends."""


class BadHandshakesByP4Runtime(OnSimpleSwitchGrpc, test_bad_input.BadHandshakes):
    """The same on MP-HULA, and handshakes."""


class BadInputOfShuttleByP4Runtime(OnSimpleSwitchGrpc, test_bad_input.BadInputOfShuttle):
    """The same on Shuttle."""


class ExternalTokensByP4Runtime(OnSimpleSwitchGrpc, test_external_tokens.ExternalTokens):
    """Tokens by the control plane."""


class ReportsByP4Runtime(OnSimpleSwitchGrpc, test_icmp.Reports):
    """Packets of whose end the sender is told."""


class HulaEndsByP4Runtime(OnSimpleSwitchGrpc, test_register_ends.HulaEnds):
    """Cells at the ends of HULA's registers."""


class MpHulaEndsByP4Runtime(OnSimpleSwitchGrpc, test_register_ends.MpHulaEnds):
    """The same of MP-HULA's."""


class AssociationEndsByP4Runtime(OnSimpleSwitchGrpc, test_register_ends.AssociationEnds):
    """The same of association."""


class ShuttleEndsByP4Runtime(OnSimpleSwitchGrpc, test_register_ends.ShuttleEnds):
    """Cells at the ends of Shuttle's registers."""


class ShuttleAssociationEndsByP4Runtime(OnSimpleSwitchGrpc, test_register_ends.ShuttleAssociationEnds):
    """The same of association."""


class PathsByP4Runtime(OnSimpleSwitchGrpc, test_paths.Paths):
    """Random frames, answered as the interpreter answers them."""


class SessionOnBmv2(test_p4runtime_client.Session):
    """The client's tests, and those of multicast, which the interpreter has not."""

    def running(self) -> AbstractContextManager[traces.Bench]:
        return bmv2.p4runtime_bench(compiled.path("mp-hula-external", test=False), (FABRIC_PORT, HOST_PORT, OTHER_PORT))

    def probe(self, *by: int) -> None:
        """It is time for a probe, which leaves by these ports."""
        self.switch.send(probes.frame(0))
        self.expect(by, frames.probe(1)[12:18])

    def test_a_packet_out_leaves_as_this_tors_probe_by_all_ports_of_its_group(self) -> None:
        self.switch.set_group(5, (FABRIC_PORT, OTHER_PORT))
        self.probe(FABRIC_PORT, OTHER_PORT)
        self.assertEqual(self.switch.counter("verdicts", PROBE_SENT), 1)
        self.switch.set_group(5, (HOST_PORT, OTHER_PORT))
        self.probe(HOST_PORT, OTHER_PORT)
        self.switch.set_group(5, ())
        self.probe()

    def test_a_reset_forgets_groups(self) -> None:
        for port in (FABRIC_PORT, OTHER_PORT):
            self.switch.set_group(5, (port,))
            self.probe(port)
            self.switch.reset()
            self.configure()
            self.probe()


if __name__ == "__main__":
    unittest.main()
