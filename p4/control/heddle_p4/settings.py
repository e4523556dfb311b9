"""The entries of the programs' tables, from parameters as vectors/schemes/README.md names them, their quantities as numbers. Integer arithmetic
that a pipeline does not have (divisions, logarithms) is done here, exactly."""

import dataclasses
from typing import Any

from heddle_p4.switch import Switch, Values

MOST_UTIL_BITS = 16
INVERSE_SHIFT = 88
MOST_FULL = 1 << 36
MOST_QUEUE_SHIFT = 31
MOST_RANGE_SHIFT = 8
# As in p4/common/hash.p4.
NO_PORT = 0xFFFF
NO_LIMIT = 0xFFFFFFFF
SUBFLOWS_RULES = ("apart", "first-free", "alike")


def logarithm(number: int) -> int:
    """To base 2, of the power of two that is no less."""
    return max(number - 1, 0).bit_length()


def inverse(full: int) -> int:
    """ceil(2^88 / full): with it `bytes << 16` is divided exactly for all values of the estimator's register. A link without capacity counts as
    one byte."""
    return -(-(1 << INVERSE_SHIFT) // max(full, 1))


@dataclasses.dataclass(frozen=True)
class SwitchSettings:
    """The settings of a switch under any scheme. `tor`: None where it is no ToR. Bit i of `up`: port i is up. tau is 2^`tau_shift` ns.
    `controller`: the CPU port. `least_mtu`: of all ports."""

    salt: int
    tors: int
    tor: int | None
    up: int
    tau_shift: int
    controller: int = NO_PORT
    least_mtu: int = NO_LIMIT

    def apply(self, switch: Switch) -> None:
        """Writes the table."""
        own = {"is_tor": int(self.tor is not None), "own_tor": self.tor or 0, "controller": self.controller, "least_mtu": self.least_mtu}
        values = {"salt": self.salt, "tors": self.tors, "up": self.up, "tau": min(self.tau_shift, 28), **own}
        switch.set_default("switch_settings", "set_switch", values)


def quantise_shift(util_bits: int) -> int:
    """By how much a utilisation of 16 bits is shifted for a field of 1 to 16; other numbers count as the nearest of these."""
    return MOST_UTIL_BITS - min(max(util_bits, 1), MOST_UTIL_BITS)


def hula_values(hula: dict[str, Any]) -> Values:
    """The parameters of action set_hula."""
    period = hula["probe_period"]
    return {
        "suppress_for": period - period // 8,
        "fail_after": hula["fail_after"],
        "flowlet_gap": hula["flowlet_gap"],
        "flowlet_mask": hula["flowlet_slots"] - 1,
        "quantise": quantise_shift(hula["util_bits"]),
        "listing": int(hula["update"] == "listing"),
        "local_detection": int(hula["local_detection"]),
    }


def capacity_values(full: int) -> Values:
    """The parameters of action set_capacity of a port whose link carries `full` bytes in tau."""
    full = min(full, MOST_FULL)
    return {"full": full, "inverse": inverse(full)}


def _table_values(scheme: dict[str, Any], most_hops: int) -> Values:
    """What MP-HULA and Shuttle have alike: next hops remembered, and tables in use."""
    return {
        "best_k": min(max(scheme["best_k"], 1), most_hops),
        "mapping_mask": scheme["mapping_rows"] - 1,
        "slot_mask": scheme["association_slots"] - 1,
        "idle_after": scheme["association_idle"],
    }


def mp_hula_values(scheme: dict[str, Any], most_hops: int) -> Values:
    """The parameters of action set_mp_hula."""
    return _table_values(scheme, most_hops) | {
        "yields": int(scheme["long_flows"] == "yield-best"),
        "apart": int(scheme["long_flows"] == "apart"),
    }


def shuttle_values(scheme: dict[str, Any], most_hops: int) -> Values:
    """The parameters of action set_shuttle."""
    return _table_values(scheme, most_hops) | {
        "full_queue_shift": min(logarithm(scheme["full_queue"]), MOST_QUEUE_SHIFT),
        "range_shift": min(logarithm(scheme["range"]), MOST_RANGE_SHIFT),
        "two_draws": int(scheme["draws"] > 1),
        "least": int(scheme["choice"] == "least"),
        "subflows": SUBFLOWS_RULES.index(scheme["subflows"]),
    }
