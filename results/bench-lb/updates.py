"""The cost of changes: a daemon with 1,000 services of 10 backends each, whose backends get other weights ten times a second.

As root: python3 updates.py PATH_OF_HEDDLED PATH_OF_HEDDLE_LB

Two network namespaces: the balancer's, and one with a client of the services and the router to the backends. The client sends datagrams to a
service at a steady rate meanwhile; every one must be counted as sent. An answer to a change comes when the maps have it.
"""

import ctypes
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SERVICES, BACKENDS, CHANGES, RATE = 1000, 10, 300, 10
BALANCER, FAR = "heddle-upd-lb", "heddle-upd-far"


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def address(base: int, number: int) -> str:
    return f"10.{base + number // 62500}.{number // 250 % 250}.{number % 250 + 1}"


def configuration(folder: str) -> str:
    lines = [
        "[balancer]", 'name = "lb1"', 'interfaces = ["eth0"]', 'addresses = ["10.0.0.1"]', f'admin = "{folder}/admin.sock"',
        'metrics = "127.0.0.1:9100"', f'pin = "/sys/fs/bpf/{BALANCER}"', f'state_dir = "{folder}"',
        "[tables]", f"services = {SERVICES}", f"targets = {SERVICES * BACKENDS + 100}", "flows = 65536", "tokens = 65536",
    ]
    for service in range(SERVICES):
        lines += [
            "[[service]]", f'name = "s{service}"', f'address = "{address(200, service)}"', "port = 443", 'protocol = "udp"',
            'forwarding = "ipip"',
        ]
        for backend in range(BACKENDS):
            number = service * BACKENDS + backend
            lines += ["[[service.backend]]", f'name = "b{number}"', f'address = "{address(100, number)}"']
    return "\n".join(lines) + "\n"


class Admin(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=120)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(120)
        self.sock.connect(self.path)


def ask(path: str, method: str, target: str, body: object = None) -> dict:
    admin = Admin(path)
    headers = {"Content-Type": "application/json"} if body is not None else {}
    admin.request(method, target, json.dumps(body) if body is not None else None, headers)
    answer = admin.getresponse()
    text = answer.read().decode()
    if answer.status >= 300:
        raise RuntimeError(f"{method} {target}: {answer.status} {text}")
    return json.loads(text)


def memory(pid: int) -> float:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


class Sender(threading.Thread):
    """Sends datagrams to the first service from the far namespace: about 2,000 a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.sent, self.stopped = 0, False

    def run(self) -> None:
        with open(f"/run/netns/{FAR}") as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0x4000_0000):
                raise OSError(ctypes.get_errno(), "setns")
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(64)]
        for each in sockets:
            each.connect((address(200, 0), 443))
        while not self.stopped:
            for each in sockets[:20]:
                each.send(b"x" * 100)
                self.sent += 1
            time.sleep(0.01)


def verdicts(counters: dict, prefix: str) -> int:
    """Packets of the first service with verdicts that begin so."""
    service = next(each for each in counters["services"] if each["name"] == "s0")
    return sum(each["packets"] for each in service["verdicts"] if each["name"].startswith(prefix))


def main() -> None:
    heddled, client = sys.argv[1:]
    folder = tempfile.mkdtemp()
    path = f"{folder}/admin.sock"
    with open(f"{folder}/heddled.toml", "w") as file:
        file.write(configuration(folder))
    daemon = None
    try:
        for name in (BALANCER, FAR):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "link", "add", "eth0", "netns", BALANCER, "type", "veth", "peer", "name", "eth0", "netns", FAR)
        for name, own in ((BALANCER, "10.0.0.1/24"), (FAR, "10.0.0.2/24")):
            run("ip", "-n", name, "addr", "add", own, "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", BALANCER, "route", "add", "10.100.0.0/16", "via", "10.0.0.2")
        run("ip", "-n", FAR, "route", "add", "10.200.0.0/16", "via", "10.0.0.1")
        run("nsenter", f"--net=/run/netns/{FAR}", client, "pass", "--interface", "eth0", "--pin", f"/sys/fs/bpf/{FAR}")
        begun = time.monotonic()
        with open(f"{folder}/log", "w") as log:
            daemon = subprocess.Popen(
                ["nsenter", f"--net=/run/netns/{BALANCER}", heddled, "--config", f"{folder}/heddled.toml"], stdout=log, stderr=log
            )
        while True:
            time.sleep(0.05)
            if daemon.poll() is not None:
                raise RuntimeError(open(f"{folder}/log").read()[-3000:])
            try:
                ask(path, "GET", "/v1/health")
                break
            except OSError:
                if time.monotonic() - begun > 120:
                    raise
        print(f"start: {time.monotonic() - begun:.1f} s, {memory(daemon.pid):.0f} MB resident")
        before = ask(path, "GET", "/v1/counters")
        sender = Sender()
        sender.start()
        time.sleep(1)
        times, next_one = [], time.monotonic()
        usage = open(f"/proc/{daemon.pid}/stat").read().split()[13:15]
        for change in range(CHANGES):
            time.sleep(max(0.0, next_one - time.monotonic()))
            next_one += 1 / RATE
            service = change * 7 % SERVICES if change % 2 else 0
            backend = f"b{service * BACKENDS + change % BACKENDS}"
            started = time.monotonic()
            ask(path, "PATCH", f"/v1/services/s{service}/backends/{backend}", {"weight": 1 + change % 5})
            times.append(1000 * (time.monotonic() - started))
        spent = [int(b) - int(a) for a, b in zip(usage, open(f"/proc/{daemon.pid}/stat").read().split()[13:15])]
        quantiles = statistics.quantiles(times, n=100)
        print(
            f"{CHANGES} changes of weight, {RATE} a second: answered within {quantiles[49]:.1f} ms (median), {quantiles[98]:.1f} ms (99 %), "
            f"{max(times):.1f} ms (most); {sum(spent) * 10 / CHANGES:.1f} ms of processor time each"
        )
        reloads = []
        for number in range(5):
            text = configuration(folder).replace('name = "b0"', f'name = "b0"\nweight = {2 + number}', 1)
            with open(f"{folder}/heddled.toml", "w") as file:
                file.write(text)
            started = time.monotonic()
            ask(path, "POST", "/v1/reload")
            reloads.append(time.monotonic() - started)
        print(f"reload of the file: {statistics.median(reloads):.2f} s (median of 5), {memory(daemon.pid):.0f} MB resident")
        sender.stopped = True
        sender.join()
        time.sleep(0.5)
        after = ask(path, "GET", "/v1/counters")
        sent, dropped = (verdicts(after, name) - verdicts(before, name) for name in ("sent_", "drop_"))
        print(f"datagrams meanwhile: {sender.sent} sent by the client, {sent} forwarded, {dropped} dropped")
    finally:
        if daemon:
            daemon.terminate()
            daemon.wait(30)
        for name in (BALANCER, FAR):
            subprocess.run(["ip", "netns", "del", name], check=False)
        subprocess.run(["rm", "-rf", f"/sys/fs/bpf/{BALANCER}", f"/sys/fs/bpf/{FAR}"], check=False)


if __name__ == "__main__":
    main()
