"""Fragments, ICMP, UDP, the ways to backends, and what balancers say to each other."""

from world import *

CASES = {"fragments": [], "icmp": [], "udp": [], "ways": [], "balancers": []}


def one(family_of, name, shows, given, frame, counts="", action="tx", out=None, **state):
    CASES[family_of].append(dict(name=name, shows=shows, given=given, frame=frame, action=action, counts=counts, out=out, **state))


def to(family_of, name, shows, given, made, target, counts, spread=0, **state):
    one(family_of, name, shows, given, ethernet(made), counts, out=sent(target, made, spread), **state)


def fragmented():
    for f in (4, 6):
        parts = fragments(ack(f, data=bytes(range(64))), 48, 77)
        others = fragments(ack(f, data=bytes(range(64))), 48, 78)
        section = {4: "RFC 791 3.2", 6: "RFC 8200 4.5"}[f]
        to("fragments", f"first-v{f}", f"{section}: the first has ports: the hash", "fresh", parts[0], "b1", "sent_fragment")
        to("fragments", f"first-known-v{f}", f"{section}: the first of a known flow", "known", parts[0], "b2", "sent_fragment")
        to("fragments", f"later-v{f}", f"{section}: a later one has none, and follows the first", "first", parts[1], "b2", "sent_fragment")
        one("fragments", f"later-before-first-v{f}", "it came before the first one: it waits", "fresh",
            ethernet(parts[1]), "fragment_waits", "drop")
        one("fragments", f"later-of-another-v{f}", "of another packet", "first", ethernet(others[1]), "fragment_waits", "drop")
        opening = fragments(syn(f, capable_syn(), data=bytes(64)), 48, 79)
        to("fragments", f"first-of-syn-v{f}", "a SYN in fragments: no options are read", "fresh", opening[0], "b1", "sent_fragment", flow="none")
        within = fragments(syn(f, capable_syn()), 40, 82)
        one("fragments", f"first-within-options-v{f}", "the first ends within TCP's options", "fresh", ethernet(within[0]), "pass_malformed", "pass")
        tiny = fragments(ack(f, data=bytes(64)), 8, 80)
        one("fragments", f"tiny-v{f}", "RFC 1858 3: the first is too short for TCP's header", "fresh", ethernet(tiny[0]), "pass_malformed", "pass")
        user = fragments(datagram(f, bytes(64)), 48, 81)
        to("fragments", f"first-udp-v{f}", "a UDP datagram's: a flow, since there may be no other packets of it", "fresh", user[0], "b1",
           "sent_fragment flow_added", flow="new")
        spread = flow_hash(CLIENT[f], 40000, 1)
        one("fragments", f"first-other-owner-v{f}", "the owner of the packet's id is told of its backend", "other", ethernet(parts[0]),
            "steered_fragment", out=steered(word(FRAGMENT, backend="b1"), parts[0], spread))
        one("fragments", f"later-other-owner-v{f}", "and has the others", "other", ethernet(parts[1]), "steered_fragment",
            out=steered(word(FRAGMENT), parts[1], flow_hash(CLIENT[f], 0, 0)))
        one("fragments", f"first-told-v{f}", "another balancer tells where the first goes", "peer",
            from_other(word(FRAGMENT, backend="b2"), parts[0]), "sent_fragment", out=sent("b2", parts[0]))
        one("fragments", f"later-told-v{f}", "another balancer has a later one", "peer-first", from_other(word(FRAGMENT), parts[1]),
            "sent_fragment", out=sent("b2", parts[1]))
        one("fragments", f"later-told-unknown-v{f}", "another balancer has a later one, and nobody its first", "peer",
            from_other(word(FRAGMENT), parts[1]), "fragment_waits", "drop")
    atomic = extended(ack(6), (44, b"\0\0\0" + bytes(4)))
    to("fragments", "atomic-v6", "RFC 6946: a fragment header on a whole packet, which is none", "known", atomic, "b2", "sent_flow")
    to("fragments", "atomic-syn-v6", "RFC 6946: a SYN's options are read behind it", "fresh",
       extended(syn(6, capable_syn()), (44, b"\0\0\0" + bytes(4))), "b1", "sent_capable flow_added", flow="learning")


def errors():
    quotes = {4: packet(4, ACK, port=443, to=40000, client=SERVICE[4], service=CLIENT[4], data=bytes(20))[:48],
              6: packet(6, ACK, port=443, to=40000, client=SERVICE[6], service=CLIENT[6], data=bytes(20))[:80]}
    kinds = {4: {"unreachable": (3, 1), "too-big": (3, 4), "time": (11, 0), "parameter": (12, 0)},
             6: {"unreachable": (1, 0), "too-big": (2, 0), "time": (3, 0), "parameter": (4, 0)}}
    for f in (4, 6):
        section = {4: "RFC 792, RFC 1191", 6: "RFC 4443 3"}[f]
        for name, (kind, code) in kinds[f].items():
            to("icmp", f"{name}-v{f}", f"{section}: an error about a known flow goes to its backend", "known",
               icmp(f, kind, code, 1400, quotes[f]), "b2", "sent_icmp")
        big = icmp(f, *kinds[f]["too-big"], 1400, quotes[f])
        to("icmp", f"unknown-flow-v{f}", "an error about a flow that is not known: the hash", "fresh", big, "b1", "sent_icmp")
        one("icmp", f"other-owner-v{f}", "another balancer may know the flow", "other", ethernet(big), "steered_forward",
            out=steered(word(FORWARD), big, flow_hash(CLIENT[f], 40000, 1)))
        for name, shows, message in (
            ("echo", "RFC 792, RFC 4443 4.1: a question for the stack", icmp(f, {4: 8, 6: 128}[f], 0, 1, bytes(16))),
            ("short-quote", "a quote without ports", icmp(f, *kinds[f]["too-big"], 1400, quotes[f][:{4: 22, 6: 42}[f]])),
            ("empty", "no quote at all", icmp(f, *kinds[f]["too-big"], 1400, b"")),
            ("other-quote", "about no flow of a service", icmp(f, *kinds[f]["too-big"], 1400,
             packet(f, ACK, port=444, to=40000, client=SERVICE[f], service=CLIENT[f]))),
            ("quote-of-garbage", "a quote that is no IP", icmp(f, *kinds[f]["too-big"], 1400, bytes(48))),
        ):
            one("icmp", f"{name}-v{f}", shows, "known", ethernet(message), "pass_icmp", "pass")
        about = packet(f, ACK, port=80, to=40000, client=SERVICE[f], service=CLIENT[f])
        to("icmp", f"layer-2-v{f}", "about a flow of a service whose backends share the link", "fresh",
           icmp(f, *kinds[f]["too-big"], 1400, about), "link", "sent_icmp")
    one("icmp", "redirect-v4", "RFC 792: for the stack", "known", ethernet(icmp(4, 5, 1, 0, quotes[4])), "pass_icmp", "pass")
    one("icmp", "neighbour-v6", "RFC 4861 4.3: for the stack", "known", ethernet(icmp(6, 135, 0, 0, packed(SERVICE[6]))), "pass_icmp", "pass")
    one("icmp", "header-alone-v4", "RFC 792: shorter than its header", "known", ethernet(ipv4(ROUTER[4], SERVICE[4], ICMP, b"\3\4\0\0")),
        "pass_icmp", "pass")


def datagrams():
    for f in (4, 6):
        to("udp", f"first-v{f}", "RFC 768: the hash, and remembered", "fresh", datagram(f), "b1", "sent_udp flow_added", flow="new")
        to("udp", f"known-v{f}", "the second packet: a flow that gives way to none", "served", datagram(f), "b2", "sent_flow", flow="udp")
        to("udp", f"empty-v{f}", "without data", "fresh", datagram(f, b""), "b1", "sent_udp flow_added", flow="new")
        to("udp", f"quic-v{f}", "RFC 9000 14.1: a QUIC client's first, of 1200 bytes", "fresh", datagram(f, b"\xc0" + bytes(1199)), "b1",
           "sent_udp flow_added", flow="new")
        one("udp", f"no-service-v{f}", "a port without a service", "fresh", ethernet(datagram(f, to=53)), "pass_no_vip", "pass")
    bare = ipv4(CLIENT[4], SERVICE[4], UDP, struct.pack(">HHHH", 40000, 443, 13, 0) + b"hello")
    to("udp", "no-checksum-v4", "RFC 768: no checksum", "fresh", bare, "b1", "sent_udp flow_added", flow="new")


def ways():
    for f in (4, 6):
        for service, target in ((GUE, "gue"), (OVER_IPV6, "ipip6"), (GUE_OVER_IPV6, "gue6"), (LINK, "link")):
            for client in (CLIENT[f], OTHER_CLIENT[f]):
                made = packet(f, SYN, USUAL_SYN, to=PORTS[service], client=client)
                which = "" if client == CLIENT[f] else "-other-client"
                to("ways", f"{target}{which}-v{f}", "RFC 2003, RFC 2473, RFC 4213; GUE variant 1; layer 2", "fresh", made, target,
                   "sent_syn flow_added", flow_hash(client, 40000, service))
        made = packet(f, SYN, USUAL_SYN, to=PORTS[OTHER_LINK])
        one("ways", f"redirect-v{f}", "out of another interface", "fresh", ethernet(made), "sent_syn flow_added", "redirect",
            sent("link2", made))
        marked = packet(f, SYN, USUAL_SYN, to=PORTS[GUE_OVER_IPV6], tos=0x2d)
        to("ways", f"gue6-marked-v{f}", "RFC 2983, RFC 6040: DSCP and ECN in the outer header", "fresh", marked, "gue6",
           "sent_syn flow_added", flow_hash(CLIENT[f], 40000, GUE_OVER_IPV6))
        plain = packet(f, SYN, USUAL_SYN, to=PORTS[LINK])
        one("ways", f"link-tagged-v{f}", "layer 2, from a VLAN to a backend in none", "fresh", ethernet(plain, tag=100), "sent_syn flow_added",
            out=sent("link", plain))
        one("ways", f"gue-tagged-v{f}", "GUE, from a VLAN to a backend in none", "fresh", ethernet(packet(f, SYN, b"", to=PORTS[GUE]), tag=100),
            "sent_syn flow_added", out=sent("gue", packet(f, SYN, b"", to=PORTS[GUE]), flow_hash(CLIENT[f], 40000, GUE)))
        most = ack(f, data=bytes(1480 - len(ack(f))))
        to("ways", f"as-large-as-fits-v{f}", "1500 bytes with the outer header", "known", most, "b2", "sent_flow", flow="established")
        over = ack(f, data=bytes(1481 - len(ack(f))))
        quoted = over[:548] if f == 4 else over[:1232]
        told = icmp_too_big(f, quoted)
        one("ways", f"too-big-v{f}", "RFC 1191, RFC 8201: one byte more: the sender is told", "known", ethernet(over), "too_big",
            out=ethernet(told, CLIENT_MAC + BALANCER_MAC))
    direct = packet(4, SYN, USUAL_SYN + join_syn(), service=DIRECT)
    to("ways", "direct-v4", "a backend's own address, to join by (RFC 8684 3.1, flag C)", "fresh", direct, "b2", "sent_direct")


def icmp_too_big(f, quoted):
    source, destination = SERVICE[f], CLIENT[f]
    if f == 4:
        message = struct.pack(">BBHI", 3, 4, 0, 1480) + quoted
        message = message[:2] + struct.pack(">H", checksum(message)) + message[4:]
        return ip(source, destination, ICMP, message, tos=0xc0)
    message = struct.pack(">BBHI", 2, 0, 0, 1480) + quoted
    return ip(source, destination, ICMPV6, summed(source, destination, ICMPV6, message, 2), tos=0xc0)


def balancers():
    v1 = TOKEN[1]
    for f in (4, 6):
        spread, joins = flow_hash(CLIENT[f], 40000, 1), flow_hash(CLIENT[f], 40001, 1)
        joining, keys = syn(f, join_syn(), port=40001), ack(f, capable_keys())
        more, plain_ack = ack(f, dss(), b"hello"), ack(f)

        def leaves(name, shows, given, made, counts, said, hashed=spread, **state):
            one("balancers", f"{name}-v{f}", shows, given, ethernet(made), counts, out=steered(said, made, hashed), **state)

        def comes(name, shows, given, frame, counts, out=None, action="tx", **state):
            one("balancers", f"{name}-v{f}", shows, given, frame, counts, action, out, **state)
        leaves("join-asks", "the token is another balancer's to know", "other", joining, "queried_join", word(JOIN, v1, who=1), joins, flow="none")
        leaves("keys-register", "the token's owner is told on the packet's way", "other-learning", keys, "steered_keys",
               word(REGISTER, v1, "b2"), flow="learning", token="none")
        leaves("stray-keys-register", "the same of a flow whose SYN was not seen: joins are to wait", "other", keys, "steered_keys flow_added",
               word(REGISTER, v1, "b1", 1), flow="learning")
        leaves("data-confirms", "and told again when the connection goes on", "other-proven", more, "steered_keys", word(CONFIRM, v1, "b2"),
               flow="established")
        leaves("flow-asks", "a subflow that is not known is the owner's to know", "other", more, "queried_flow", word(FLOW, who=1), flow="none")
        to("balancers", f"flow-hash-v{f}", "nor does one without MPTCP, that the hash explains", "other", plain_ack, "b1", "sent_miss flow_added",
           flow="new")
        to("balancers", f"capable-v{f}", "a SYN asks nobody", "other", syn(f, capable_syn()), "b1", "sent_capable flow_added", flow="learning")
        to("balancers", f"syn-v{f}", "a SYN asks nobody", "other", syn(f), "b1", "sent_syn flow_added", flow="new")
        leaves("rst-asks", "a flow's end must reach its backend too", "other", packet(f, RST), "queried_flow", word(FLOW, who=1), flow="none")
        leaves("data-moved", "the hash says b1 now: the token's owner is told first, the flow's then", "other-moved", more, "steered_keys",
               word(CONFIRM, v1, "b2"), flow="established")
        leaves("flow-register", "the hash says b1 and the flow is with b2: its owner is told", "other-opened", plain_ack, "steered_flow",
               word(REGISTER_FLOW, backend="b2"), flow="established")
        known = "peer-confirmed"
        comes("join-answered", "asked for a token", known, from_other(word(JOIN, v1, who=1), joining), "replied",
              steered(word(ANSWER, v1, "b2", JOIN, who=1), joining, joins), flow="none")
        comes("join-answered-unknown", "asked for a token that nobody knows", "peer", from_other(word(JOIN, v1, who=1), joining),
              "replied reply_unknown", steered(word(ANSWER, v1, None, JOIN, who=1), joining, joins))
        comes("flow-answered", "asked for a flow", "peer-known", from_other(word(FLOW, who=1), plain_ack), "replied",
              steered(word(ANSWER, backend="b2", asked=FLOW, who=1), plain_ack, spread))
        comes("flow-answered-unknown", "asked for a flow that nobody knows", "peer", from_other(word(FLOW, who=1), plain_ack),
              "replied reply_unknown", steered(word(ANSWER, asked=FLOW, who=1), plain_ack, spread))
        comes("answer-join", "the answer to a join, whose flow's owner is told with the SYN", "other",
              from_other(word(ANSWER, v1, "b2", JOIN, who=1), joining), "steered_join flow_added",
              steered(word(REGISTER_FLOW, v1, "b2"), joining, joins), flow="joining")
        comes("register-join", "a join to remember until its next packet", "peer", from_other(word(REGISTER_FLOW, v1, "b2"), joining),
              "sent_for_peer flow_added", sent("b2", joining), flow="joining")
        comes("answer-join-unknown", "nobody knows: the hash", "other", from_other(word(ANSWER, v1, None, JOIN, who=1), joining), "sent_join_unknown",
              sent("b1", joining), flow="none")
        comes("answer-flow", "the answer about a flow", "other", from_other(word(ANSWER, v1, "b2", FLOW, who=1), plain_ack), "sent_flow flow_added",
              sent("b2", plain_ack), flow="established")
        comes("answer-flow-unknown", "nobody knows: the hash", "other", from_other(word(ANSWER, asked=FLOW, who=1), plain_ack),
              "sent_miss flow_added", sent("b1", plain_ack), flow="new")
        comes("register", "a token to remember", "peer", from_other(word(REGISTER, v1, "b2"), keys), "sent_for_peer token_added",
              sent("b2", keys), flow="none", token="provisional")
        comes("confirm", "a token to keep", "peer", from_other(word(CONFIRM, v1, "b2"), more), "sent_for_peer token_added", sent("b2", more),
              flow="none", token="confirmed")
        comes("confirm-known", "a token that is known", known, from_other(word(CONFIRM, v1, "b2"), more), "sent_for_peer token_refreshed",
              sent("b2", more), token="confirmed")
        comes("register-other-backend", "a token that another backend has", known, from_other(word(REGISTER, v1, "b1"), keys),
              "sent_for_peer token_collision", sent("b1", keys), token="confirmed")
        comes("register-flow", "a flow to remember", "peer", from_other(word(REGISTER_FLOW, v1, "b2"), plain_ack), "sent_for_peer flow_added",
              sent("b2", plain_ack), flow="established")
        comes("forward", "a packet to treat as its own", "peer-known", from_other(word(FORWARD), plain_ack), "sent_flow",
              sent("b2", plain_ack), flow="established")
        comes("unknown-kind", "a word that nobody knows", "peer", from_other(word(99), plain_ack), "drop_malformed", action="drop")
        comes("no-service", "a packet for no service", "peer", from_other(word(JOIN, v1), syn(f, join_syn(), to=444)), "drop_malformed",
              action="drop")
        for name, shows, frame in (
            ("wrong-key", "who has another key", from_other(word(JOIN, v1), joining, key=bytes(16))),
            ("stranger", "who is no balancer", from_other(word(JOIN, v1), joining, source="10.0.0.3")),
            ("other-version", "a version to come", from_other(word(JOIN, v1, version=3), joining)),
            ("ip-options", "balancers send no IP options", from_other(word(JOIN, v1), joining, options=b"\1\1\1\0")),
        ):
            comes(name, shows, "peer", frame, "drop_unauthenticated", action="drop")
        comes("no-packet", "no packet behind the word", "peer", from_other(word(JOIN, v1), b""), "drop_malformed", action="drop")
        comes("no-ip", "no IP behind the word", "peer", from_other(word(JOIN, v1), b"\0" + joining[1:]), "drop_malformed", action="drop")
    beat = word(HEARTBEAT, bytes([0, 0, 0, 5]), number=77)
    there = ethernet(ipv4("10.0.0.2", OWN[4], UDP, udp_bytes("10.0.0.2", OWN[4], (54321, STEERING_PORT), signed(beat, "10.0.0.2", b""))))
    answer = signed(word(HEARTBEAT_ANSWER, bytes([0, 0, 0, 5])), OWN[4], b"")
    header = struct.pack(">HHHH", STEERING_PORT, STEERING_PORT, 28, 0)
    back = ethernet(ipv4(OWN[4], "10.0.0.2", UDP, header + answer), CLIENT_MAC + BALANCER_MAC)
    one("balancers", "heartbeat", "is the other one's path here whole?", "peer", there, "heartbeat_answered", "tx", back)
    one("balancers", "heartbeat-answer", "the answer to this one's", "peer", from_other(word(HEARTBEAT_ANSWER, bytes([0, 0, 0, 5])), b""),
        "heartbeat_heard", "drop")
    one("balancers", "heartbeat-wrong-key", "who has another key", "peer", from_other(beat, b"", key=bytes(16)), "drop_unauthenticated", "drop")


fragmented()
errors()
datagrams()
ways()
balancers()
