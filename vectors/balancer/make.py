"""Writes the corpus: make.py, in this folder, with tshark at hand. README.md says what is in the files."""

import contextlib
import gzip
import io
import pathlib
import struct
import subprocess
import tempfile

import addresses
import handshakes
import headers
from world import STATES

HERE = pathlib.Path(__file__).parent
FIELDS = ["ip.checksum.status", "tcp.checksum.status", "udp.checksum.status", "tcp.srcport", "tcp.dstport", "tcp.flags",
          "tcp.option_len"] + ["tcp.options.mptcp." + name for name in
          "subtype version sendkey recvkey recvtok datalvllen backup.flag addrid".split()] + ["_ws.malformed"]
CHECKS = [word for protocol in ("ip", "tcp", "udp") for word in ("-o", f"{protocol}.check_checksum:TRUE")]


def tshark(frames):
    """For each frame, its fields that have a value."""
    with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
        file.flush()
        command = ["tshark", "-r", file.name, "-T", "fields", *CHECKS]
        for field in FIELDS:
            command += ["-e", field]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in text.split("\n")[:len(frames)]:
        yield [(field, value) for field, value in zip(FIELDS, line.split("\t")) if value]


def refereed(frames):
    """Checksums of what the balancer sends are right, says tshark; GUE's and steering's inner packets it does not find."""
    for frame, fields in zip(frames, tshark(frames)):
        assert "0" not in dict(fields).get("ip.checksum.status", ""), frame.hex()


@contextlib.contextmanager
def compressed(name):
    """A text file in gzip's format, the same bytes for the same text."""
    with io.StringIO() as text:
        yield text
        (HERE / f"{name}.txt.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def write(name, cases):
    outs = [case["out"] for case in cases if case.get("out")]
    refereed(outs)
    with compressed(name) as file:
        for case, fields in zip(cases, tshark([case["frame"] for case in cases])):
            file.write(f"# {case['name']}\nshows {case['shows']}\ngiven {case['given']}\nframe {case['frame'].hex()}\n")
            file.write(f"action {case['action']}\n")
            for key in ("counts", "flow", "token"):
                if case.get(key):
                    file.write(f"{key} {case[key]}\n")
            if case.get("out"):
                file.write(f"out {case['out'].hex()}\n")
            for field, value in fields:
                file.write(f"tshark.{field} {value}\n")
            file.write("\n")


families = handshakes.CASES | headers.CASES | addresses.CASES
for name, cases in families.items():
    assert len({case["name"] for case in cases}) == len(cases), name
    write(name, cases)
with compressed("states") as file:
    for name, (meaning, steps) in STATES.items():
        file.write("\n".join([f"# {name}", f"shows {meaning}", *steps]) + "\n\n")
print(sum(map(len, families.values())), "cases")
