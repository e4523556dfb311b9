"""The CPU port of a switch without packet-in and packet-out: a pair of network devices, one end the switch's, the other the control plane's."""

import contextlib
import select
import socket
import subprocess
from collections.abc import Iterator

from heddle_p4.icmp import ETHERTYPE_REPORT
from heddle_p4.tokens import ETHERTYPE_TOKENS

SWITCH_END, OWN_END = "cpu0", "cpu1"
MTU = "65535"  # any packet, and a header in front of it
ASKED = (ETHERTYPE_TOKENS, ETHERTYPE_REPORT)


def packet_socket(device: str, ether_type: int) -> socket.socket:
    """A socket for the frames of a device that have an EtherType."""
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ether_type))
    opened.bind((device, ether_type))
    return opened


class DevicePort:
    """A CpuPort on a network device. Of what comes by it, frames of the types ASKED are read: others are none of the switch's."""

    def __init__(self, device: str) -> None:
        self.sockets = [packet_socket(device, ether_type) for ether_type in ASKED]

    def send(self, frame: bytes) -> None:
        """Gives the switch a frame."""
        self.sockets[0].send(frame)

    def receive(self, timeout: float) -> bytes | None:
        """The next frame; None if none comes for so many seconds."""
        ready = select.select(self.sockets, [], [], timeout)[0]
        return ready[0].recv(65536) if ready else None

    def close(self) -> None:
        """Closes the sockets."""
        for opened in self.sockets:
            opened.close()


def _ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True)


@contextlib.contextmanager
def device_pair() -> Iterator[DevicePort]:
    """Makes the pair: SWITCH_END is for the switch, the other end is what the context gives."""
    _ip("link", "add", SWITCH_END, "type", "veth", "peer", "name", OWN_END)
    try:
        for device in (SWITCH_END, OWN_END):
            _ip("link", "set", device, "mtu", MTU, "up")
        with contextlib.closing(DevicePort(OWN_END)) as port:
            yield port
    finally:
        subprocess.run(("ip", "link", "delete", SWITCH_END), check=False)
