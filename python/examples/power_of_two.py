import heddle as hd


class PowerOfTwo(hd.Scheme):
    """The shortest queue of some next hops that are drawn for each packet."""

    choices = 2

    def forward(self, step: hd.Step, packet: hd.Packet, next_hops: tuple[int, ...], ports: hd.Ports) -> int:
        left = list(next_hops)
        numbers = range(min(self.choices, len(left)))
        drawn = [left.pop(hd.pick(hd.mix(step.random, i), len(left))) for i in numbers]
        return min(drawn, key=ports.queue_bytes)


run = hd.run("scenarios/hula-fig5.toml", scheme=PowerOfTwo, warm_up="1ms", flows=20, seed=1)
