"""The tests of test_fabric.py with switches that P4Runtime controls: probes are packet-outs, tokens packet-ins and packet-outs."""

import unittest

import test_fabric


class FabricByP4Runtime(test_fabric.Fabric):
    """As root, with simple_switch_grpc."""

    protocol = "p4runtime"


class FabricByP4RuntimeWithExternalTokens(test_fabric.FabricWithExternalTokens):
    """The same with tokens by the control plane."""

    protocol = "p4runtime"


class FabricByP4RuntimeUnderShuttle(test_fabric.FabricUnderShuttle):
    """The same under Shuttle."""

    protocol = "p4runtime"


if __name__ == "__main__":
    unittest.main()
