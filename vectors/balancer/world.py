"""The balancer that the corpus is for: its services and targets, and the states that it is brought into by packets."""

import struct

from packets import *

LEARN, DATAGRAMS, LINK, GUE, OVER_IPV6, GUE_OVER_IPV6, EMPTY, OTHER_LINK, SOURCE_IP = range(1, 10)
PORTS = {LEARN: 443, DATAGRAMS: 443, LINK: 80, GUE: 8443, OVER_IPV6: 8080, GUE_OVER_IPV6: 8081, EMPTY: 9000, OTHER_LINK: 81,
         SOURCE_IP: 8088}
DIRECT = "203.0.113.7"

# Name of a target: its id among balancers, the last byte of its MAC address, how packets reach it, and where.
TARGETS = {
    "b1": (1001, 1, "ipip", "10.1.0.1"),
    "b2": (1002, 2, "ipip", "10.1.0.2"),
    "link": (1003, 3, "l2", None),
    "gue": (1004, 4, "gue", "10.1.0.4"),
    "ipip6": (1005, 5, "ipip", "fd00:1::5"),
    "gue6": (1006, 6, "gue", "fd00:1::6"),
    "link2": (1007, 7, "l2", None),
    "other": (102, 32, "steering", "10.0.0.2"),
}
JOIN, FLOW, ANSWER, REGISTER, CONFIRM, REGISTER_FLOW, FRAGMENT, FORWARD, HEARTBEAT, HEARTBEAT_ANSWER = range(1, 11)


def macs_to(target):
    return bytes([2, 0, 0, 1, 0, TARGETS[target][1]]) + BALANCER_MAC


def sent(target, frame_packet, spread=0, tag=None, padding=b""):
    """The frame that reaches a backend."""
    _, _, way, address = TARGETS[target]
    if way == "l2":
        made = frame_packet
    elif way == "gue":
        made = udp_outer(address, GUE_PORT, frame_packet, frame_packet, spread)
    else:
        made = outer(address, 41 if frame_packet[0] >> 4 == 6 else 4, frame_packet, frame_packet, spread)
    return ethernet(made, macs_to(target), tag) + padding


def word(kind, token=bytes(4), backend=None, asked=0, version=2, number=0, who=0):
    """A steering header without its tag."""
    name = number if backend is None else TARGETS[backend][0]
    return bytes([version, kind, asked, who]) + token + struct.pack(">I", name)


def steered(said, inner, spread):
    """The frame that goes to the other balancer."""
    return ethernet(udp_outer("10.0.0.2", STEERING_PORT, inner, signed(said, OWN[4], inner) + inner, spread), macs_to("other"))


def from_other(said, inner, source="10.0.0.2", options=b"", key=KEY):
    """The frame in which the other balancer sends this here."""
    said = signed(said, source, inner, key)
    payload = struct.pack(">HHHH", 50000, STEERING_PORT, 8 + len(said) + len(inner), 0) + said + inner
    return ethernet(ipv4(source, OWN[4], UDP, payload, ip_options=options))


# ---- states: what happens before the packet, for a client of each family ----

def both(*makers):
    return ["frame " + ethernet(maker(family)).hex() for maker in makers for family in (4, 6)]


def first_fragment(family):
    return fragments(ack(family, data=bytes(range(64))), 48, 77)[0]


BY_2, BY_1, RING_OTHER = ["hash b2"], ["hash b1"], ["ring other"]
OPENING = both(lambda f: syn(f, capable_syn()))
# One token: the IPv6 client's keys are the IPv4 client's, so both belong to the same backend.
KEYS = both(lambda f: ack(f, capable_keys()))
DATA = both(lambda f: ack(f, dss(), b"hello"))
JOINED = both(lambda f: syn(f, join_syn(), port=40001))
PLAIN = both(syn, ack)
RIVAL = both(lambda f: syn(f, port=40002), lambda f: ack(f, port=40002))

STATES = {
    "fresh": ("nothing is known, one balancer", []),
    "opened": ("a plain SYN went to b2", BY_2 + both(syn) + BY_1),
    "known": ("a plain flow is established with b2", BY_2 + PLAIN + BY_1),
    "learning": ("a SYN with MP_CAPABLE went to b2", BY_2 + OPENING + BY_1),
    "searched": ("as learning, 300 ticks later", BY_2 + OPENING + BY_1 + ["wait 300"]),
    "proven": ("keys followed to b2, which the hash says still: the token is provisional", BY_2 + OPENING + KEYS),
    "moved": ("as proven, and then the hash says b1", BY_2 + OPENING + KEYS + BY_1),
    "confirmed": ("data followed: the token is confirmed with b2", BY_2 + OPENING + KEYS + DATA + BY_1),
    "joined": ("port 40001 joined the confirmed connection", BY_2 + OPENING + KEYS + DATA + BY_1 + JOINED),
    "rival": ("as confirmed, and port 40002 has a plain flow with b1", BY_2 + OPENING + KEYS + DATA + BY_1 + RIVAL),
    "contested": ("as rival, and a SYN with MP_JOIN came for port 40002", BY_2 + OPENING + KEYS + DATA + BY_1 + RIVAL
                  + both(lambda f: syn(f, join_syn(), port=40002))),
    "reopened": ("as confirmed, and another SYN with MP_CAPABLE came", BY_2 + OPENING + KEYS + DATA + BY_1 + OPENING),
    "limited": ("as joined, where one join between refreshes is allowed", ["joins 1"] + BY_2 + OPENING + KEYS + DATA + BY_1
                + JOINED[:1]),
    "closing": ("an established flow with b2 had its FIN", BY_2 + PLAIN + both(lambda f: packet(f, FIN | ACK)) + BY_1),
    "forgotten": ("an established flow with b2, silent for longer than flow_timeout", BY_2 + PLAIN + BY_1 + ["wait 18000"]),
    "down": ("as confirmed, and b2 is down", BY_2 + OPENING + KEYS + DATA + BY_1 + ["down b2"]),
    "served": ("a UDP flow is with b2", ["datagrams b2"] + both(datagram) + ["datagrams b1"]),
    "first": ("a first fragment of an established flow went to b2", BY_2 + PLAIN + both(first_fragment) + BY_1),
    "other": ("another balancer owns all tokens and flows", RING_OTHER),
    "other-learning": ("as learning, then the other balancer owns all", BY_2 + OPENING + BY_1 + RING_OTHER),
    "other-proven": ("as proven, then the other balancer owns all", BY_2 + OPENING + KEYS + RING_OTHER),
    "other-moved": ("as moved, then the other balancer owns all", BY_2 + OPENING + KEYS + BY_1 + RING_OTHER),
    "other-opened": ("as opened, then the other balancer owns all", BY_2 + both(syn) + BY_1 + RING_OTHER),
    "peer-confirmed": ("as confirmed; there is another balancer, that owns nothing", BY_2 + OPENING + KEYS + DATA + BY_1
                       + ["ring own"]),
    "peer-known": ("as known; there is another balancer, that owns nothing", BY_2 + PLAIN + BY_1 + ["ring own"]),
    "peer-first": ("as first; there is another balancer, that owns nothing", BY_2 + PLAIN + both(first_fragment) + BY_1
                   + ["ring own"]),
    "peer": ("there is another balancer, that owns nothing", ["ring own"]),
}
