"""A switch by BMv2's own protocol over Thrift, the only one by which it lets registers be read.

The stubs of the protocol (`bm_runtime`) come with BMv2's installation, in the Python folder beside its programs."""

import glob
import importlib
import logging
import pathlib
import shutil
import sys
from typing import Any

from heddle_p4.program import Program, to_bytes
from heddle_p4.switch import Key, NotConnected, Prefix, Switch, Values

UNSIGNED = 1 << 64


class MissingStubs(Exception):
    """BMv2's Python files were not found."""


def find_stubs() -> None:
    """Puts BMv2's Python files on the path. Raises MissingStubs."""
    program = shutil.which("simple_switch") or shutil.which("simple_switch_grpc")
    roots = [pathlib.Path(program).resolve().parent.parent] if program else []
    for root in [*roots, pathlib.Path("/usr/local"), pathlib.Path("/usr")]:
        for folder in glob.glob(str(root / "lib" / "python3*" / "*-packages")):
            if pathlib.Path(folder, "bm_runtime").is_dir():
                sys.path.append(folder)
                return
    raise MissingStubs("BMv2's Python files (bm_runtime) are missing: they come with simple_switch")


def connect(port: int) -> tuple[Any, Any, Any, Any]:
    """The transport, and clients for tables, multicast groups and mirroring sessions. Raises NotConnected."""
    find_stubs()
    # While a switch starts, nobody listens: the caller tries again, and says so if it gives up.
    logging.getLogger("thrift.transport.TSocket").setLevel(logging.CRITICAL)
    socket = importlib.import_module("thrift.transport.TSocket").TSocket("127.0.0.1", port)
    transports = importlib.import_module("thrift.transport.TTransport")
    transport = transports.TBufferedTransport(socket)
    protocol = importlib.import_module("thrift.protocol.TBinaryProtocol").TBinaryProtocol(transport)
    multiplexed = importlib.import_module("thrift.protocol.TMultiplexedProtocol").TMultiplexedProtocol
    standard = importlib.import_module("bm_runtime.standard.Standard").Client(multiplexed(protocol, "standard"))
    groups = importlib.import_module("bm_runtime.simple_pre_lag.SimplePreLAG").Client(multiplexed(protocol, "simple_pre_lag"))
    mirrors = importlib.import_module("sswitch_runtime.SimpleSwitch").Client(multiplexed(protocol, "simple_switch"))
    try:
        transport.open()
    except transports.TTransportException as error:
        raise NotConnected(f"127.0.0.1:{port}") from error
    return transport, standard, groups, mirrors


class ThriftSwitch(Switch):
    """A switch with the Thrift port `port` that runs `program`."""

    def __init__(self, program: Program, port: int) -> None:
        self.program = program
        self.transport, self.client, self.groups, self.mirrors = connect(port)
        self.types = importlib.import_module("bm_runtime.standard.ttypes")
        self.handles: dict[tuple[str, tuple[Key, ...]], int] = {}
        self.nodes: dict[int, int] = {}

    def set_default(self, table: str, action: str, values: Values) -> None:
        found = self.program.table(table)
        chosen = found.actions[action]
        self.client.bm_mt_set_default_action(0, found.name, chosen.name, chosen.data(values))

    def set_entry(self, table: str, key: tuple[Key, ...], action: str, values: Values) -> None:
        found = self.program.table(table)
        chosen = found.actions[action]
        handle = self.handles.get((table, key))
        if handle is not None:
            self.client.bm_mt_modify_entry(0, found.name, handle, chosen.name, chosen.data(values))
            return
        parts = [self._part(part, kind, bits) for part, (kind, bits) in zip(key, found.keys, strict=True)]
        self.handles[table, key] = self.client.bm_mt_add_entry(0, found.name, parts, chosen.name, chosen.data(values), self.types.BmAddEntryOptions())

    def _part(self, part: Key, kind: str, bits: int) -> Any:
        if isinstance(part, Prefix):
            prefix = self.types.BmMatchParamLPM(to_bytes(part.address, bits), part.bits)
            return self.types.BmMatchParam(self.types.BmMatchParamType.LPM, lpm=prefix)
        if kind != "exact":
            raise ValueError(f"a key of kind {kind} takes a prefix")
        exact = self.types.BmMatchParamExact(to_bytes(part, bits))
        return self.types.BmMatchParam(self.types.BmMatchParamType.EXACT, exact=exact)

    def delete_entry(self, table: str, key: tuple[Key, ...]) -> None:
        handle = self.handles.pop((table, key), None)
        if handle is not None:
            self.client.bm_mt_delete_entry(0, self.program.table(table).name, handle)

    def set_group(self, group: int, ports: tuple[int, ...]) -> None:
        bits = "".join("1" if port in ports else "0" for port in range(max(ports, default=0), -1, -1))
        if group in self.nodes:
            self.groups.bm_mc_node_update(0, self.nodes[group], bits, "")
            return
        handle = self.groups.bm_mc_mgrp_create(0, group)
        self.nodes[group] = self.groups.bm_mc_node_create(0, group, bits, "")
        self.groups.bm_mc_node_associate(0, handle, self.nodes[group])

    def set_copies(self, session: int, port: int) -> None:
        config = importlib.import_module("sswitch_runtime.ttypes").MirroringSessionConfig
        self.mirrors.mirroring_session_add(session, config(port=port))

    def has_counter(self, name: str) -> bool:
        return name in self.program.counters

    def now(self) -> int:
        return int(self.mirrors.get_time_elapsed_us()) * 1000

    def counter(self, name: str, index: int) -> int:
        return int(self.client.bm_counter_read(0, self.program.counters[name], index).packets)

    def register(self, name: str, index: int) -> int:
        full, _ = self.program.registers[name]
        return int(self.client.bm_register_read(0, full, index)) % UNSIGNED

    def write_register(self, name: str, index: int, value: int) -> None:
        full, _ = self.program.registers[name]
        signed = value - UNSIGNED if value >= UNSIGNED // 2 else value
        self.client.bm_register_write(0, full, index, signed)

    def reset(self) -> None:
        self.client.bm_reset_state()
        self.handles.clear()
        self.nodes.clear()

    def close(self) -> None:
        self.transport.close()
