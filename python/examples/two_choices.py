import heddle as hd

SLOTS = 1024


class TwoChoices(hd.Scheme):
    """For each flowlet the shorter queue of two next hops that are drawn."""

    flowlet_gap = 100_000  # nanoseconds

    def __init__(self, switch: hd.Switch) -> None:
        # Of each slot when it was used last, and its port.
        self.table: list[tuple[int, int | None]] = [(0, None)] * SLOTS

    def forward(
        self, step: hd.Step, packet: hd.Packet, next_hops: tuple[int, ...], ports: hd.Ports
    ) -> int:
        slot = packet.flow_hash % SLOTS
        last, port = self.table[slot]
        if port not in next_hops or step.now - last > self.flowlet_gap:
            numbers = [hd.pick(hd.mix(step.random, i), len(next_hops)) for i in (1, 2)]
            port = min([next_hops[n] for n in numbers], key=ports.queue_bytes)
        self.table[slot] = (step.now, port)
        return port


if __name__ == "__main__":
    schemes = {"scheme": ["ecmp", TwoChoices]}
    sweep = hd.sweep("scenarios/first-scheme.toml", schemes, seeds=[1, 2], flows=50)
    for row in sweep.rows():
        mean = 1e3 * row["fct_mean_s"]
        print(f"{row['scheme']:10} seed {row['seed']}: {mean:.2f} ms, {row['state']}")
