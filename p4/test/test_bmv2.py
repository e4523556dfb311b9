"""The tests of test_vectors.py, test_bad_input.py, test_external_tokens.py,
test_icmp.py, test_register_ends.py and test_paths.py on simple_switch. No network interfaces, no
privileges."""

import unittest

import test_bad_input
import test_external_tokens
import test_icmp
import test_paths
import test_register_ends
import test_vectors
from bmv2 import OnSimpleSwitch


class VectorsOnBmv2(OnSimpleSwitch, test_vectors.Vectors):
    """The traces."""


class BadInputOnBmv2(OnSimpleSwitch, test_bad_input.BadInput):
    """Packets that no well-behaved host or switch sends."""


class BadHandshakesOnBmv2(OnSimpleSwitch, test_bad_input.BadHandshakes):
    """The same on MP-HULA, and handshakes."""


class BadInputOfShuttleOnBmv2(OnSimpleSwitch, test_bad_input.BadInputOfShuttle):
    """The same on Shuttle."""


class ExternalTokensOnBmv2(OnSimpleSwitch, test_external_tokens.ExternalTokens):
    """Tokens by the control plane."""


class ReportsOnBmv2(OnSimpleSwitch, test_icmp.Reports):
    """Packets of whose end the sender is told."""


class HulaEndsOnBmv2(OnSimpleSwitch, test_register_ends.HulaEnds):
    """Cells at the ends of HULA's registers."""


class MpHulaEndsOnBmv2(OnSimpleSwitch, test_register_ends.MpHulaEnds):
    """The same of MP-HULA's."""


class AssociationEndsOnBmv2(OnSimpleSwitch, test_register_ends.AssociationEnds):
    """The same of association."""


class ShuttleEndsOnBmv2(OnSimpleSwitch, test_register_ends.ShuttleEnds):
    """Cells at the ends of Shuttle's registers."""


class ShuttleAssociationEndsOnBmv2(OnSimpleSwitch, test_register_ends.ShuttleAssociationEnds):
    """The same of association."""


class PathsOnBmv2(OnSimpleSwitch, test_paths.Paths):
    """Random frames, answered as the interpreter answers them."""


if __name__ == "__main__":
    unittest.main()
