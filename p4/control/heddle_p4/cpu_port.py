"""The CPU port of a switch without packet-in and packet-out: a pair of network devices, one end the switch's, the other the control plane's."""

import contextlib
import select
import socket
import subprocess
from collections.abc import Iterator

from heddle_p4.tokens import ETHERTYPE_TOKENS

SWITCH_END, OWN_END = "cpu0", "cpu1"
MTU = "2000"  # a full packet, and the header of tokens


class DevicePort:
    """A CpuPort on a network device. Of what the switch sends, frames with this EtherType are read: others are none of the switch's."""

    def __init__(self, device: str, ether_type: int = ETHERTYPE_TOKENS) -> None:
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ether_type))
        self.socket.bind((device, ether_type))

    def send(self, frame: bytes) -> None:
        """Gives the switch a frame."""
        self.socket.send(frame)

    def receive(self, timeout: float) -> bytes | None:
        """The next frame; None if none comes for so many seconds."""
        return self.socket.recv(65536) if select.select([self.socket], [], [], timeout)[0] else None

    def close(self) -> None:
        """Closes the socket."""
        self.socket.close()


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
