"""A switch by P4Runtime, as simple_switch_grpc and hardware targets serve it; finsy speaks the protocol.

simple_switch_grpc serves tables, groups, counters and packets of the CPU port, and no registers: "Register reads are not supported yet".
Where it is built with Thrift, they are read by that beside P4Runtime."""

import asyncio
import contextlib
import logging
import pathlib
import queue
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import finsy
import finsy.p4client
from finsy.proto import p4r

from heddle_p4.program import Program
from heddle_p4.switch import Key, NotConnected, NotServed, Prefix, Switch, Values

DEVICE = 1
ANSWER = 600.0  # a limit for hung switches: on a busy machine loading a large program takes minutes
UPDATES = 1000  # of a request: gRPC's messages have 4 MB at most
PACKETS = 4096  # from the CPU port, not yet read; more are lost

# finsy gives a request 10 s and has no option for it.
finsy.p4client._DEFAULT_RPC_TIMEOUT = ANSWER

Result = TypeVar("Result")


class EventLoop:
    """finsy is asynchronous, the control plane is not: a thread runs the event loop on which callers wait."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="p4runtime", daemon=True)
        self.thread.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of a coroutine. Raises TimeoutError after ANSWER seconds."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(ANSWER)

    async def _end_tasks(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def close(self) -> None:
        """Ends what runs, and the thread."""
        self.run(self._end_tasks())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@contextlib.contextmanager
def _served() -> Iterator[None]:
    """Raises NotServed for what the server does not implement."""
    try:
        yield
    except finsy.P4ClientError as error:
        said = {error.code: error.message} | {detail.canonical_code: detail.message for detail in error.details.values()}
        if finsy.GRPCStatusCode.UNIMPLEMENTED in said:
            raise NotServed(said[finsy.GRPCStatusCode.UNIMPLEMENTED]) from error
        raise


def _match(part: Key) -> int | tuple[int, int]:
    """A part of a key as finsy has it."""
    return (part.address, part.bits) if isinstance(part, Prefix) else part


class P4RuntimeSwitch(Switch):
    """A switch whose P4Runtime server listens on `address` ("127.0.0.1:9559"), and its CPU port.

    It is given `program`, described by the P4Info beside it, or by that in `p4info`, and forgets what it was given before.
    `beside` is the same switch by a protocol that has registers."""

    def __init__(self, program: Program, address: str, p4info: pathlib.Path | None = None, beside: Switch | None = None) -> None:
        self.program, self.address, self.beside = program, address, beside
        self.p4info = p4info or program.path.with_suffix(".p4info.txtpb")
        # It warns that a server has no gNMI, which nothing here takes.
        logging.getLogger("finsy").setLevel(logging.ERROR)
        self.packets: queue.Queue[bytes] = queue.Queue(PACKETS)
        self.written: set[object] = set()
        self.batched: list[Any] | None = None
        self.loop = EventLoop()
        try:
            self.session = self.loop.run(self._open())
        except BaseException:
            self.loop.close()
            raise

    async def _open(self) -> finsy.Switch:
        """Becomes the switch's primary client and loads the program. Raises NotConnected."""
        options = finsy.SwitchOptions(p4info=self.p4info, p4blob=self.program.path, p4force=True, device_id=DEVICE)
        session = finsy.Switch("switch", self.address, options)
        try:
            await session.__aenter__()
        except finsy.P4ClientError as error:
            if error.code == finsy.GRPCStatusCode.UNAVAILABLE:
                raise NotConnected(self.address) from error
            raise
        session.create_task(self._take_packets(session), background=True)
        return session

    async def _take_packets(self, session: finsy.Switch) -> None:
        """Keeps what comes by the CPU port until somebody reads it."""
        async for packet in session.read_packets(queue_size=PACKETS):
            if not self.packets.full():
                self.packets.put_nowait(packet.payload)

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        """One request of P4Runtime for all, up to UPDATES."""
        batched: list[Any] = []
        self.batched = batched
        try:
            yield
        finally:
            self.batched = None
        self._write(*batched)

    def _write(self, *updates: Any) -> None:
        if self.batched is not None:
            self.batched += updates
            return
        for first in range(0, len(updates), UPDATES):
            self.loop.run(self.session.write(updates[first : first + UPDATES]))

    def _set(self, entity: Any, name: object) -> None:
        """Adds an entity, or changes it if it has been added under this name before."""
        self._write(~entity if name in self.written else +entity)
        self.written.add(name)

    def _entry(self, table: str, key: tuple[Key, ...]) -> finsy.P4TableEntry:
        name = self.program.table(table).name
        fields = self.session.p4info.tables[name].match_fields
        match = {field.name: _match(part) for field, part in zip(fields, key, strict=True)}
        return finsy.P4TableEntry(name, match=finsy.P4TableMatch(match))

    def _action(self, table: str, action: str, values: Values) -> finsy.P4TableAction:
        return finsy.P4TableAction(self.program.table(table).actions[action].name, **values)

    def set_default(self, table: str, action: str, values: Values) -> None:
        name = self.program.table(table).name
        entry = finsy.P4TableEntry(name, action=self._action(table, action, values), is_default_action=True)
        self._write(~entry)

    def set_entry(self, table: str, key: tuple[Key, ...], action: str, values: Values) -> None:
        entry = self._entry(table, key)
        entry.action = self._action(table, action, values)
        self._set(entry, (table, key))

    def delete_entry(self, table: str, key: tuple[Key, ...]) -> None:
        if (table, key) in self.written:
            self.written.remove((table, key))
            self._write(-self._entry(table, key))

    def set_group(self, group: int, ports: tuple[int, ...]) -> None:
        self._set(finsy.P4MulticastGroupEntry(group, replicas=ports), ("group", group))

    def set_copies(self, session: int, port: int) -> None:
        self._set(finsy.P4CloneSessionEntry(session, replicas=(port,)), ("copies", session))

    def has_counter(self, name: str) -> bool:
        return name in self.program.counters

    def now(self) -> int:
        if self.beside is None:
            raise NotServed("P4Runtime does not tell the switch's clock")
        return self.beside.now()

    def counter(self, name: str, index: int) -> int:
        return self.loop.run(self._counter(finsy.P4CounterEntry(self.program.counters[name], index=index)))

    async def _counter(self, entry: finsy.P4CounterEntry) -> int:
        return sum([cell.packet_count async for cell in self.session.read(entry)])

    def register(self, name: str, index: int) -> int:
        if self.beside:
            return self.beside.register(name, index)
        return self.loop.run(self._register(finsy.P4RegisterEntry(self.program.registers[name][0], index=index)))

    async def _register(self, entry: finsy.P4RegisterEntry) -> int:
        with _served():
            return [int(cell.data) async for cell in self.session.read(entry)][0]

    def write_register(self, name: str, index: int, value: int) -> None:
        if self.beside:
            self.beside.write_register(name, index, value)
            return
        entry = finsy.P4RegisterEntry(self.program.registers[name][0], index=index, data=value)
        with _served():
            self._write(~entry)

    def send(self, frame: bytes) -> None:
        """A packet-out, without metadata: the switch takes it as arrived by the CPU port."""
        self.loop.run(self.session.write([p4r.StreamMessageRequest(packet=p4r.PacketOut(payload=frame))]))

    def receive(self, timeout: float) -> bytes | None:
        """The next packet-in."""
        try:
            return self.packets.get(timeout=timeout)
        except queue.Empty:
            return None

    def reset(self) -> None:
        # The server keeps multicast groups and clone sessions when it loads a program, and forgets that it has them.
        self.loop.run(self.session.delete_all())
        self.loop.run(self.session.__aexit__(None, None, None))
        self.session = self.loop.run(self._open())
        self.written.clear()
        while not self.packets.empty():
            self.packets.get_nowait()

    def close(self) -> None:
        if self.beside:
            self.beside.close()
        self.loop.run(self.session.__aexit__(None, None, None))
        self.loop.close()
