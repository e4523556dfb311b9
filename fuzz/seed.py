"""Fills corpus/ with what the repository has: captured frames and their options, scenarios, a graph, flows, sizes, the balancer's
packets and configurations.

The words of the scenarios become a dictionary, scenario.dict; those of the balancer's configuration another, balancer.dict.
"""

import gzip
import pathlib
import re

here = pathlib.Path(__file__).parent
root = here.parent


def seed(target, name, content):
    folder = here / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def packets(of, lines):
    """Those that lines of the compressed texts in a folder have in hex, each with a name."""
    for file in (root / of).glob("*.txt.gz"):
        found = re.findall(lines, gzip.decompress(file.read_bytes()).decode(), re.M)
        for number, line in enumerate(found):
            yield f"{file.name.removesuffix('.txt.gz')}-{number}", bytes.fromhex(line)


def frames():
    yield from packets("crates/shared/wire/tests/vectors", r"^frame (.*)")


def options(frame):
    """The bytes from the first thing that looks like an MPTCP option on."""
    at = next(at for at in range(54, len(frame)) if frame[at] == 30 and 3 <= frame[at + 1] <= 30)
    return frame[at:at + 40], frame[at:at + frame[at + 1]]


def balancer_frames():
    yield from packets("vectors/balancer", r"^(?:frame|out) (.*)")


def between_hosts(frame):
    """The frame with the addresses of the switch's hosts (crates/switch/conformance/c/packet_world.h)."""
    if frame[12:14] == b"\x08\x00" and len(frame) >= 34:
        return frame[:26] + bytes([10, 0, 0, 1, 10, 0, 1, 1]) + frame[34:]
    if frame[12:14] == b"\x86\xdd" and len(frame) >= 54:
        source, destination = (bytes.fromhex("fd" + "00" * 14) + bytes([last]) for last in (1, 2))
        return frame[:22] + source + destination + frame[54:]
    return frame


def arrival(port, frame):
    """A frame at a port, 16 us behind the one before (crates/switch/conformance/src/packets.rs)."""
    return bytes([port, 1]) + len(frame).to_bytes(2, "big") + frame


def dictionary(name, texts):
    words = sorted(set(re.findall(r"[a-z][\w-]+", " ".join(texts))))
    (here / name).write_text("".join(f'"{word}"\n' for word in words))


for name, frame in balancer_frames():
    seed("balancer_packet", name, frame)
for name, frame in frames():
    seed("frame", name, frame)
    seed("balancer_packet", name, frame)
    area, option = options(frame)
    seed("tcp_options", name, area)
    seed("mptcp_option", name, option)
    seed("switch_handshake", name, area)
    for flags in [0x02, 0x10]:
        seed("balancer_options", f"{name}-{flags}", bytes([flags]) + area)
    shim = bytes.fromhex("0123456789abcdef30000800") if frame[12:14] == b"\x08\x00" else None
    if shim:
        seed("frame", f"{name}-shim", frame[:12] + b"\x88\xb5" + shim + frame[14:])
        seed("shim", name, shim + frame[14:])

probe = arrival(1, bytes.fromhex("02000000000102000000000288b600000109") + bytes(42))
for name, frame in [*frames(), *balancer_frames()]:
    for scheme in range(4):
        for tier in range(2):
            seed("switch_packet", f"{name}-{scheme}-{tier}", bytes([scheme, tier]) + probe + arrival(0, between_hosts(frame)))
seed("probe", "probe", bytes([0, 0, 7, 128]))
for target, pattern in [
    ("scenario", "scenarios/*.toml"),
    ("graph", "scenarios/graphs/*.toml"),
    ("fabric_file", "scenarios/fabrics/*.toml"),
    ("replay", "scenarios/flows/*.csv"),
    ("flow_graph", "scenarios/flows/training-step.csv"),
    ("sizes", "crates/simulator/scenario/data/*.csv"),
]:
    for file in root.glob(pattern):
        seed(target, file.name, file.read_bytes())
seed("replay", "two-pod.csv", b"at_us,from,to,size_bytes\n0,host-1,host-9,20000\n10,host-2,host-32,1000000\n")
seed("sizes", "bytes.csv", b"bytes,cdf\n100,0.1\n1e6,0.9\n30000000,1\n")


def field(number, value):
    """A field of a protobuf message: a number, or bytes behind their length."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value


def trace(*messages):
    return b"".join(bytes([len(message)]) + message for message in (field(1, b"0.0.4"), *messages))


def node(number, kind, after=b"", **attributes):
    listed = (field(10, field(1, name.encode()) + field(9, value)) for name, value in attributes.items())
    return field(1, number) + field(2, b"x") + field(3, kind) + after + b"".join(listed)


sender = trace(node(1, 4, field(7, 5)), node(2, 5, field(5, 1), comm_dst=1, comm_size=9), node(3, 7, field(4, 2), comm_type=0, comm_size=8))
receiver = trace(node(1, 6, comm_src=0, comm_size=9), node(2, 7, field(5, 1), comm_type=0, comm_size=8))
# Two parts of an input stand behind each other, the length of the first at the end.
seed("chakra", "two", sender + receiver + bytes([len(sender)]))
step = '<step s="{}" type="{}" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>'
tb = f'<tb id="0" send="{{}}" recv="{{}}" chan="0">{step.format(0, "s")}{step.format(1, "rrc")}</tb>'
gpus = "".join(f'<gpu id="{gpu}">{tb.format(1 - gpu, 1 - gpu)}</gpu>' for gpu in range(2))
seed("msccl", "two", f'<algo name="x" nchunksperloop="2" ngpus="2" coll="allreduce">{gpus}</algo>'.encode())
seed("overrides", "fabric", b"fabric.link_delay=2us\nfabric.link_rate=40Gbps\nworkload.load=0.9\n")
seed("overrides", "scheme", b"scheme.kind=conga\nseeds=[1, 2]\nmeasure.flows=10\nevent.0.at=1ms\n")

dictionary("scenario.dict", [file.read_text() for file in (root / "scenarios").rglob("*.toml")])

sources = {file: file.read_text() for file in (root / "crates/balancer/daemon/src").rglob("*.rs")}
written = [text for source in sources.values() for text in re.findall(r'r#"(.*?)"#', source.replace("//! ", ""), re.S)]
configurations = [text for text in written if "[balancer]" in text or "[[service]]" in text]
for number, text in enumerate(configurations):
    seed("balancer_config", f"{number}.toml", text.encode())
keys = [text for file, text in sources.items() if file.match("config/raw*.rs") or file.match("config/raw/*.rs")]
dictionary("balancer.dict", configurations + [" ".join(re.findall(r"(\w+): ", text)) for text in keys])
