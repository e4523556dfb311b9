"""Fabrics, MPTCP's options, the papers' claims: what the command line says."""

import json
from collections.abc import Callable
from pathlib import Path

import polars
import pytest

import heddle as hd

CommandLine = Callable[..., str]

FAT_TREE = Path(__file__).parents[2] / "scenarios/fabrics/fat-tree-8.toml"


@pytest.fixture
def fabric_file(tmp_path: Path, command_line: CommandLine) -> Path:
    """A fabric file with a new key beside it."""
    file = tmp_path / "fabric.toml"
    file.write_text(FAT_TREE.read_text())
    command_line("path", "keygen", tmp_path / "fat-tree-8.key", "--quiet")
    return file


def test_paths_are_the_command_lines(fabric_file: Path, command_line: CommandLine) -> None:
    fabric = hd.Fabric(fabric_file)
    assert len(fabric.hosts) == 128
    for options, paths in (
        (["--limit", "5"], fabric.paths("host-1", "host-128", 5)),
        (["--disjoint", "4"], fabric.disjoint("host-1", "host-128", 4)),
    ):
        theirs = json.loads(command_line("path", "find", fabric_file, "host-1", "host-128", "--json", *options))
        assert fabric.count("host-1", "host-128") == theirs["total"]
        assert [path._asdict() for path in paths] == [
            {"number": path["path"], **{key: path[key] for key in ("nodes", "next_hops", "out_of")}} for path in theirs["paths"]
        ]


def test_a_flow_with_the_encoded_fields_takes_the_path(fabric_file: Path) -> None:
    fabric = hd.Fabric(fabric_file)
    for path in fabric.paths("host-1", "host-128", 16):
        encoded = fabric.encode("host-1", "host-128", path.number)
        decoded = fabric.decode(
            "host-1",
            "host-128",
            source_port=encoded.source_port,
            destination_port=encoded.destination_port,
            ttl=encoded.ttl,
        )
        assert (decoded.path, decoded.outcome) == (path.number, "delivered")
        assert [step.router for step in decoded.steps] == path.nodes[1:-1]


def test_without_a_key_paths_are_found_and_none_is_named(tmp_path: Path) -> None:
    file = tmp_path / "fabric.toml"
    file.write_text(FAT_TREE.read_text())
    fabric = hd.Fabric(file)
    assert fabric.count("host-1", "host-128") == 16
    with pytest.raises(hd.HeddleError, match="the fabric has no key: give key="):
        fabric.encode("host-1", "host-128", 0)
    with pytest.raises(ValueError, match="host-999"):
        fabric.count("host-1", "host-999")


def test_options_of_mptcp_are_dictionaries() -> None:
    no_operations, syn = b"\x01\x01", bytes.fromhex("1e0c0181") + b"abcdefgh"
    join = bytes.fromhex("1e0c1102") + (0x9C56CC51).to_bytes(4, "big") + (7).to_bytes(4, "big")
    capable, joined = hd.mptcp.parse(no_operations + syn + join)
    assert capable == {"option": "mp_capable", "version": 1, "flags": 0x81, "sender_key": b"abcdefgh", "receiver_key": None}
    # RFC 8684, section 3.2: the token is the top 32 bits of the key's SHA-256, here by sha256sum.
    assert joined == {"option": "mp_join", "backup": True, "address": 2, "token": hd.mptcp.token(b"abcdefgh"), "nonce": 7}
    assert hd.mptcp.initial_data_seq(b"abcdefgh") == 0x190ECF1E430635AB
    with pytest.raises(ValueError):
        hd.mptcp.parse(bytes.fromhex("1e03f0"))
    with pytest.raises(ValueError, match="versions 0 and 1"):
        hd.mptcp.token(b"abcdefgh", version=2)


def test_claims_are_a_table(tmp_path: Path, command_line: CommandLine) -> None:
    claims = polars.DataFrame(hd.reproduce("cflb", ["C1"], out=tmp_path))
    command_line("reproduce", "cflb", "C1", "--quick", "--out", tmp_path, "--quiet")
    theirs = json.loads((tmp_path / "claims.json").read_text())["claims"]
    assert claims["claim"].to_list() == [claim["id"] for claim in theirs] != []
    assert claims["paper"].to_list() == [claim["paper"] for claim in theirs]
    assert claims["here"].to_list() == [claim["here"] and claim["here"]["mean"] for claim in theirs]
    with pytest.raises(ValueError, match="there is no paper"):
        hd.reproduce("none", out=tmp_path)
    with pytest.raises(ValueError, match="set one of them"):
        hd.reproduce("cflb", medium=True, full=True, out=tmp_path)
