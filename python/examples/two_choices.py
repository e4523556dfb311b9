import heddle as hd

SLOTS = 1024


class TwoChoices(hd.Scheme):
    """For each flowlet the shorter queue of two next hops that are drawn."""

    flowlet_gap = 100_000  # nanoseconds

    def __init__(self, switch: hd.Switch) -> None:
        self.table: list[tuple[int, int | None]] = [(0, None)] * SLOTS  # when the slot was used last, and its port

    def forward(self, step: hd.Step, packet: hd.Packet, next_hops: tuple[int, ...], ports: hd.Ports) -> int:
        slot = packet.flow_hash % SLOTS
        last, port = self.table[slot]
        if port not in next_hops or step.now - last > self.flowlet_gap:
            drawn = [next_hops[hd.pick(hd.mix(step.random, i), len(next_hops))] for i in (1, 2)]
            port = min(drawn, key=ports.queue_bytes)
        self.table[slot] = (step.now, port)
        return port


if __name__ == "__main__":
    sweep = hd.sweep("scenarios/first-scheme.toml", {"scheme": ["ecmp", TwoChoices]}, seeds=[1, 2], flows=50)
    for row in sweep.rows():
        print(f"{row['scheme']:10} seed {row['seed']}: {1e3 * row['fct_mean_s']:.2f} ms, {row['state']}")
