"""Next hops as tables have them: a group for each list of ports, and for each ToR its group."""

from heddle_p4.switch import Switch

FIRST_GROUP = 1


def as_set(ports: tuple[int, ...]) -> int:
    """A set of ports as a word."""
    return sum(1 << port for port in set(ports))


class Routes:
    """The next hops that a switch has been told, so that what it has is not sent again."""

    def __init__(self, switch: Switch) -> None:
        self.switch = switch
        self.groups: dict[tuple[int, ...], int] = {}
        self.towards: dict[int, tuple[tuple[int, ...], int]] = {}

    def _group(self, ports: tuple[int, ...]) -> int:
        if ports not in self.groups:
            group = self.groups[ports] = FIRST_GROUP + len(self.groups)
            for index, port in enumerate(ports):
                self.switch.set_entry("members", (group, index), "set_member", {"port": port})
        return self.groups[ports]

    def set(self, tor: int, ports: tuple[int, ...], up: int) -> None:
        """Packets to ToR number `tor` have these next hops, in this order; bit i of `up` says that port i is up."""
        if not ports:
            self.towards.pop(tor, None)
            self.switch.delete_entry("next_hops", (tor,))
            return
        usable = sum(1 << index for index, port in enumerate(ports) if up >> port & 1)
        if self.towards.get(tor) == (ports, usable):
            return
        self.towards[tor] = (ports, usable)
        values = {"set": as_set(ports), "count": len(ports), "group": self._group(ports), "usable": usable}
        self.switch.set_entry("next_hops", (tor,), "set_next_hops", values)
