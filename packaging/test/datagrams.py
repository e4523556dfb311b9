"""Numbered UDP datagrams, sent at a rate, and their count at the other end.

datagrams.py send ADDRESS PORT COUNT RATE
datagrams.py receive ADDRESS PORT COUNT     prints how many different numbers came, once all have or 5 s after the last one
"""

import socket
import sys
import time

SO_RCVBUFFORCE = 33
BUFFER = 64 << 20
IDLE = 5.0


def send(address: tuple[str, int], count: int, rate: int) -> None:
    """Sends at the rate on average; a late sender catches up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(address)
        began = time.monotonic()
        for number in range(count):
            ahead = number / rate - (time.monotonic() - began)
            if ahead > 0.001:
                time.sleep(ahead)
            sender.send(number.to_bytes(8, "big"))


def receive(address: tuple[str, int], count: int) -> int:
    """Counts different numbers."""
    numbers: set[bytes] = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
        receiver.bind(address)
        receiver.settimeout(10 * IDLE)
        while len(numbers) < count:
            try:
                numbers.add(receiver.recv(64))
            except TimeoutError:
                break
            receiver.settimeout(IDLE)
    return len(numbers)


def main() -> None:
    """Reads the command line."""
    what, host, port, count, *rest = sys.argv[1:]
    address = (host, int(port))
    if what == "send":
        send(address, int(count), int(rest[0]))
    else:
        print(receive(address, int(count)))


if __name__ == "__main__":
    main()
