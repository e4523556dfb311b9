"""A P4Runtime server whose switch is the interpreter, for the control plane's tests on machines without BMv2. It keeps to P4Runtime's specification
(version 1.5) as far as a client of Heddle's programs goes, and like simple_switch_grpc it has no registers."""

import argparse
import concurrent.futures
import contextlib
import pathlib
import queue
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

import finsy
import grpc
import interpreted
from finsy.p4entity import decode_entity
from finsy.p4schema import P4Schema
from finsy.proto import p4r, p4r_grpc
from frames import CPU_PORT
from heddle_p4.program import last_name
from heddle_p4.switch import Key, Prefix

VERSION = "1.5.0"
NO_PROGRAM = "No forwarding pipeline config set for this device"
LOOK = 0.1


def identity(entity: Any) -> bytes:
    """What tells an entity from the others: all but what a change may change."""
    kept = p4r.Entity()
    kept.CopyFrom(entity)
    kept.table_entry.ClearField("action")
    if entity.HasField("packet_replication_engine_entry"):
        kept.CopyFrom(entity)
        engine = kept.packet_replication_engine_entry
        getattr(engine, engine.WhichOneof("type")).ClearField("replicas")
    identified: bytes = kept.SerializeToString(deterministic=True)
    return identified


def _part(part: Any, field: Any) -> Key:
    """A part of a key as the interpreter has it."""
    if field.match_type.name != "LPM":
        return int(part)
    address, bits = part if isinstance(part, tuple) else (part, field.bitwidth)
    return Prefix(int(address), int(bits))


class Server(p4r_grpc.P4RuntimeServicer):  # type: ignore[misc]
    """One switch, one client at a time."""

    def __init__(self, folder: pathlib.Path, cpu_port: int = CPU_PORT) -> None:
        self.folder, self.cpu_port = folder, cpu_port
        self.config: Any = None
        self.schema = P4Schema()
        self.bench: interpreted.InterpretedBench
        self.entities: dict[bytes, Any] = {}
        self.stream: queue.Queue[Any] = queue.Queue()
        self.load_time = 0.0  # seconds

    def Capabilities(self, _request: Any, _context: Any) -> Any:
        return p4r.CapabilitiesResponse(p4runtime_api_version=VERSION)

    def SetForwardingPipelineConfig(self, request: Any, _context: Any) -> Any:
        """Section 7: a program that is committed starts with nothing in its tables."""
        time.sleep(self.load_time)
        self.config = request.config
        path = self.folder / "program.json"
        path.write_bytes(request.config.p4_device_config)
        self.schema.set_p4info(request.config.p4info)
        self.bench = interpreted.InterpretedBench(interpreted.InterpretedSwitch(path))
        self.entities.clear()
        return p4r.SetForwardingPipelineConfigResponse()

    def GetForwardingPipelineConfig(self, _request: Any, context: Any) -> Any:
        if self.config is None:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, NO_PROGRAM)
        return p4r.GetForwardingPipelineConfigResponse(config=self.config)

    def Write(self, request: Any, context: Any) -> Any:
        """Section 12: entities are added once, and changed or removed only if they are there."""
        for update in request.updates:
            entity = decode_entity(update.entity, self.schema)
            if update.entity.HasField("register_entry"):
                context.abort(grpc.StatusCode.UNIMPLEMENTED, "Register writes are not supported yet")
            name = identity(update.entity)
            is_default = isinstance(entity, finsy.P4TableEntry) and entity.is_default_action
            if update.type == p4r.Update.INSERT and name in self.entities:
                context.abort(grpc.StatusCode.ALREADY_EXISTS, str(entity))
            if update.type != p4r.Update.INSERT and name not in self.entities and not is_default:
                context.abort(grpc.StatusCode.NOT_FOUND, str(entity))
            if update.type == p4r.Update.DELETE:
                del self.entities[name]
            elif not is_default:
                self.entities[name] = update.entity
            self._apply(entity, update.type == p4r.Update.DELETE)
        return p4r.WriteResponse()

    def _apply(self, entity: Any, is_removed: bool) -> None:
        switch = self.bench.switch
        if isinstance(entity, finsy.P4MulticastGroupEntry):
            switch.set_group(entity.multicast_group_id, () if is_removed else tuple(entity.replicas))
        elif isinstance(entity, finsy.P4CloneSessionEntry):
            if is_removed:
                switch.machine.copy_ports.pop(entity.session_id, None)
            else:
                switch.set_copies(entity.session_id, *entity.replicas)
        elif isinstance(entity, finsy.P4TableEntry):
            self._apply_entry(entity, is_removed)

    def _apply_entry(self, entry: finsy.P4TableEntry, is_removed: bool) -> None:
        table = last_name(self.schema.tables[entry.table_id].name)
        if entry.is_default_action:
            if entry.action:
                self.bench.switch.set_default(table, last_name(entry.action.name), dict(entry.action.args))
        elif is_removed:
            self.bench.switch.delete_entry(table, self._key(entry))
        else:
            self.bench.switch.set_entry(table, self._key(entry), last_name(entry.action.name), dict(entry.action.args))

    def _key(self, entry: finsy.P4TableEntry) -> tuple[Key, ...]:
        """A field of a longest-prefix match that is not given matches all."""
        given = entry.match or {}
        return tuple(_part(given.get(field.alias, (0, 0)), field) for field in self.schema.tables[entry.table_id].match_fields)

    def Read(self, request: Any, context: Any) -> Iterator[Any]:
        """Section 11: a counter's cell, or all entities of a kind."""
        for wanted in request.entities:
            kind = wanted.WhichOneof("entity")
            if kind == "register_entry":
                context.abort(grpc.StatusCode.UNIMPLEMENTED, "Register reads are not supported yet")
            if kind == "counter_entry":
                cell = decode_entity(wanted, self.schema)
                count = self.bench.switch.counter(last_name(self.schema.counters[cell.counter_id].name), cell.index)
                cell.data = finsy.P4CounterData(packet_count=count)
                yield p4r.ReadResponse(entities=[cell.encode(self.schema)])
            else:
                yield p4r.ReadResponse(entities=[entity for entity in self.entities.values() if same_kind(entity, wanted)])

    def send(self, port: int, frame: bytes) -> None:
        """A frame arrives; what leaves for it by the CPU port is a packet-in."""
        self.bench.send(port, frame)
        while packet := self.bench.receive(self.cpu_port):
            self.stream.put(p4r.StreamMessageResponse(packet=p4r.PacketIn(payload=packet)))

    def StreamChannel(self, requests: Any, context: Any) -> Iterator[Any]:
        """Sections 5 and 16: the client is primary, and its packets arrive by the CPU port."""
        stream = self.stream = queue.Queue()
        threading.Thread(target=self._take, args=(requests,), daemon=True).start()
        while context.is_active():
            with contextlib.suppress(queue.Empty):
                yield stream.get(timeout=LOOK)

    def _take(self, requests: Any) -> None:
        with contextlib.suppress(grpc.RpcError):
            for request in requests:
                if request.HasField("arbitration"):
                    answer = p4r.MasterArbitrationUpdate()
                    answer.CopyFrom(request.arbitration)
                    answer.status.code = 0
                    self.stream.put(p4r.StreamMessageResponse(arbitration=answer))
                elif request.HasField("packet"):
                    self.send(self.cpu_port, request.packet.payload)


def same_kind(entity: Any, wanted: Any) -> bool:
    """True if a wildcard asks for such an entity."""
    kind = wanted.WhichOneof("entity")
    if entity.WhichOneof("entity") != kind:
        return False
    of = getattr(wanted, kind)
    return kind == "table_entry" or bool(getattr(entity, kind).WhichOneof("type") == of.WhichOneof("type"))


@contextlib.contextmanager
def running(address: str = "127.0.0.1:0", cpu_port: int = CPU_PORT) -> Iterator[tuple[Server, str]]:
    """A server until the context ends, and its address."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(pathlib.Path(folder), cpu_port)
        listener = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        p4r_grpc.add_P4RuntimeServicer_to_server(server, listener)
        port = listener.add_insecure_port(address)
        listener.start()
        try:
            yield server, f"127.0.0.1:{port}"
        finally:
            listener.stop(None).wait()


def main() -> None:
    """In the place of simple_switch_grpc, with its options, until a signal ends it. Its ports have no devices."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--grpc-server-addr", required=True)
    parser.add_argument("--cpu-port", type=int, required=True)
    given = parser.parse_args(sys.argv[sys.argv.index("--") + 1 :])
    with running(given.grpc_server_addr, given.cpu_port):
        signal.pause()
