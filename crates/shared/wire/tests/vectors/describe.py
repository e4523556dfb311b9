"""Prints the frames of a capture and tshark's reading of their MPTCP options: describe.py FILE.pcap

For each frame that has one: "frame", its bytes in hex, then a line for each field of tshark that has a value. Where a
field occurs in several options of a frame, its values are joined by commas.
"""

import struct
import subprocess
import sys

FIELDS = """
    vlan.id ip.src ip.dst ipv6.src ipv6.dst tcp.srcport tcp.dstport tcp.seq_raw tcp.ack_raw tcp.flags
    tcp.len tcp.option_len mptcp.expected_token mptcp.expected_idsn mptcp.rm_addr.count
""".split() + ["tcp.options.mptcp." + name for name in """
    subtype version checksumreq.flags extensibility.flag nomoresubflows.flag sha1.flag sha256.flag sendkey recvkey datalvllen checksum
    backup.flag addrid recvtok sendrand sendtrunchmac sendhmac
    datafin.flag dseqn8.flag dseqnpresent.flag dataack8.flag dataackpresent.flag
    rawdataack rawdataseqno subflowseqno
    ipver echo ipv4 ipv6 port addaddrtrunchmac
    flag_U.flag flag_V.flag flag_W.flag flag_T.flag rst_reason
""".split()]


def frames(path):
    with open(path, "rb") as file:
        file.read(24)
        while header := file.read(16):
            yield file.read(struct.unpack("<IIII", header)[2])


def readings(path):
    command = ["tshark", "-r", path, "-T", "fields", "-o", "tcp.relative_sequence_numbers:FALSE"]
    for field in FIELDS:
        command += ["-e", field]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        yield [(field, value) for field, value in zip(FIELDS, line.split("\t")) if value]


for number, (frame, fields) in enumerate(zip(frames(sys.argv[1]), readings(sys.argv[1])), 1):
    if "tcp.options.mptcp.subtype" in dict(fields):
        print(f"# {number}\nframe {frame.hex()}")
        for field, value in fields:
            print(field, value)
        print()
