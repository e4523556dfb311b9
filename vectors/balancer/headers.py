"""Plain TCP, the order of options, and headers that are long, odd or lie."""

from world import *

CASES = {"plain": [], "options": [], "ipv4": [], "ipv6": [], "lengths": []}


def one(family_of, name, shows, given, frame, counts="", action="tx", out=None, **state):
    CASES[family_of].append(dict(name=name, shows=shows, given=given, frame=frame, action=action, counts=counts, out=out, **state))


def each(family_of, name, shows, given, make, target, counts, flow=None, families=(4, 6)):
    for f in families:
        made = make(f)
        one(family_of, f"{name}-v{f}", shows, given, ethernet(made), counts, out=sent(target, made), flow=flow)


def passed(family_of, name, shows, frame, counts="pass_malformed", given="fresh"):
    one(family_of, name, shows, given, frame, counts, "pass")


def plain():
    def add(*args, **named):
        each("plain", *args, **named)
    unknown = "sent_miss flow_added"
    add("syn", "RFC 9293 3.5: opens a flow", "fresh", syn, "b1", "sent_syn flow_added", "new")
    add("syn-bare", "without options", "fresh", lambda f: packet(f, SYN), "b1", "sent_syn flow_added", "new")
    add("syn-again", "RFC 9293 3.8.1: sent again, it goes where it went", "opened", syn, "b2", "sent_syn", "new")
    add("syn-on-live-flow", "a SYN for an established flow: forged, or of another connection", "known", syn, "b2", "sent_syn flow_kept",
        "established")
    add("syn-behind-fin", "RFC 9293 3.6.1: the port is used again; the end may be forged, so that the flow stays beside the connection",
        "closing", syn, "b1", "sent_syn flow_kept candidate_added", "closing")
    add("syn-ecn", "RFC 3168 6.1.1: ECE and CWR set up ECN", "fresh", lambda f: packet(f, SYN | ECE | CWR, USUAL_SYN), "b1",
        "sent_syn flow_added", "new")
    add("syn-fin", "SYN with FIN counts as SYN", "fresh", lambda f: packet(f, SYN | FIN, USUAL_SYN), "b1", "sent_syn flow_added", "new",
        families=[4])
    add("ack", "RFC 9293 3.5: the handshake's end", "opened", ack, "b2", "sent_flow", "established")
    add("ack-unknown", "a flow that is not known: the hash", "fresh", ack, "b1", unknown, "new")
    add("no-flags", "RFC 9293 3.1: no flag at all", "fresh", lambda f: packet(f, 0), "b1", unknown, "new", families=[4])
    add("all-flags", "RFC 9293 3.1: every flag; with RST it leaves no flow", "fresh", lambda f: packet(f, 0xff), "b1", "sent_miss", "none",
        families=[4])
    add("data", "a known flow, though the hash says b1", "known", lambda f: ack(f, data=b"hello"), "b2", "sent_flow", "established")
    add("urgent", "RFC 9293 3.8.5: urgent data", "known", lambda f: packet(f, ACK | URG | PSH, b"", b"!"), "b2", "sent_flow", "established",
        families=[4])
    add("other-port", "another flow of the same client", "known", lambda f: ack(f, port=40009), "b1", unknown, "new")
    add("fin", "RFC 9293 3.6: the end begins; no hash gives b2", "known", lambda f: packet(f, FIN | ACK), "b2", "sent_flow",
        "closing_stateful")
    add("rst", "RFC 9293 3.5.2: the end, or it is forged", "known", lambda f: packet(f, RST), "b2", "sent_flow", "closing_stateful")
    add("fin-explained", "the hash gives the flow's backend", "rival", lambda f: packet(f, FIN | ACK, port=40002), "b1", "sent_flow", "closing")
    add("rst-explained", "the hash gives the flow's backend", "rival", lambda f: packet(f, RST, port=40002), "b1", "sent_flow", "closing")
    add("rst-opened", "a handshake stays one, for the little time that it has", "opened", lambda f: packet(f, RST), "b2", "sent_flow", "new")
    add("closing", "what comes behind a FIN goes where the flow went", "closing", ack, "b2", "sent_flow", "closing")
    add("rst-unknown", "of a flow that is not known: nothing is remembered", "fresh", lambda f: packet(f, RST), "b1", "sent_miss", "none")
    add("fin-unknown", "of a flow that is not known: nothing is remembered", "fresh", lambda f: packet(f, FIN | ACK), "b1", "sent_miss",
        "none", families=[4])
    add("silent", "a flow that was silent for too long is not known", "forgotten", ack, "b1", unknown, "new")
    add("backend-down", "its backend is down: the hash, and remembered", "down", ack, "b1", "sent_flow flow_added flow_rehashed", "new")
    for f in (4, 6):
        made = ethernet(syn(f, to=PORTS[EMPTY]))
        one("plain", f"no-backend-v{f}", "a service without backends", "fresh", made, "drop_no_backend", "drop", flow="none")
        passed("plain", f"no-service-v{f}", "a port without a service: the stack's", ethernet(syn(f, to=444)), "pass_no_vip")
    passed("plain", "no-address-v4", "another address", ethernet(syn(4, service="192.0.2.81")), "pass_no_vip")
    passed("plain", "arp", "RFC 826: not IP", bytes.fromhex("ffffffffffff02000000000c08060001080006040001") + CLIENT_MAC
           + packed(CLIENT[4]) + bytes(6) + packed(SERVICE[4]) + bytes(18), "pass_not_ip")


def options():
    mss, sack, scale = bytes.fromhex("020405b4"), b"\4\2", bytes.fromhex("030307")
    v1, nop, end, prio, add_addr = capable_syn(), b"\1", b"\0", mptcp(5, 1), mptcp(3, 1, b"\2\xc0\0\2\x09")
    capable, plain_syn, bad = "sent_capable", "sent_syn", "sent_syn options_malformed"
    shapes = [
        ("first", "MP_CAPABLE before all others", v1 + mss, capable), ("alone", "MP_CAPABLE alone", v1, capable),
        ("nop-1", "behind one NOP: not on a word", nop + v1, capable), ("nop-2", "behind two", nop * 2 + v1, capable),
        ("nop-3", "behind three", nop * 3 + v1, capable), ("nop-36", "behind as many as there is room for", nop * 36 + v1, capable),
        ("between", "between options of odd lengths", scale + v1 + sack + mss, capable),
        ("behind-end", "RFC 9293 3.1: what is behind the end of the list is padding", mss + end + v1, plain_syn),
        ("end-first", "the list ends at once", end + v1, plain_syn), ("nops", "nothing but NOPs", nop * 40, plain_syn),
        ("unknown-kinds", "RFC 9293 3.1: unknown kinds are passed over by their lengths", b"\xfd\5abc\x45\2" + v1, capable),
        ("inside", "what looks like MP_CAPABLE inside another option is none", b"\xfd\6" + v1, plain_syn),
        ("length-0", "an option of length 0 ends the walk", b"\x45\0" + v1, bad), ("length-1", "and of length 1", b"\x45\1" + v1, bad),
        ("length-past-end", "an option longer than the header", mss + b"\x45\x28\0\0", bad),
        ("mptcp-past-end", "MP_CAPABLE longer than the header", mss + b"\x1e\x0c\x01\x01", bad),
        ("kind-at-end", "a kind without a length", mss + b"\1\1\1\x1e", bad),
        ("prio-first", "RFC 8684 3: two options; the one that names a connection counts", prio + v1, capable),
        ("add-addr-first", "the same with ADD_ADDR", add_addr + v1, capable),
        ("bad-first", "a malformed option before a sound one", mptcp(0, 1, b"\1\0") + v1, capable),
        ("bad-behind", "a malformed option behind a sound one", v1 + mptcp(0, 1, b"\1\0"), capable),
        ("two-capable", "two sound ones: the first counts", v1 + capable_syn(0), capable),
        ("capable-then-join", "MP_CAPABLE before MP_JOIN", v1 + join_syn(), capable),
        ("full", "forty bytes of options", USUAL_SYN + join_syn(b"\0\0\0\1") + v1 + nop * 4, "sent_join_unknown"),
        ("md5", "RFC 2385: with a signature", b"\x13\x12" + bytes(16) + v1, capable),
    ]
    for name, shows, area, verdict in shapes:
        for f in (4, 6) if name in ("first", "nop-1", "full", "behind-end") else (4,):
            made = packet(f, SYN, area)
            stored = verdict != "sent_join_unknown"
            one("options", f"{name}-v{f}", shows, "fresh", ethernet(made), verdict + " flow_added" * stored, out=sent("b1", made),
                flow="none" if not stored else "learning" if verdict == capable else "new")
    each("options", "join-then-capable", "MP_JOIN before MP_CAPABLE", "confirmed", lambda f: packet(f, SYN, join_syn() + v1, port=40001), "b2",
         "sent_join flow_added", "joining", families=[4])
    each("options", "dss-then-keys", "the first that a balancer looks for counts: no keys are learnt", "learning",
         lambda f: packet(f, ACK, dss(4) + capable_keys()), "b2", "sent_flow", "learning", families=[4])
    each("options", "keys-behind-add-addr", "keys behind ADD_ADDR", "learning", lambda f: packet(f, ACK, add_addr + capable_keys()), "b2",
         "sent_keys token_added", "learning", families=[4])


def ipv4_headers():
    def add(name, shows, make, target="b1", counts="sent_capable flow_added", given="fresh"):
        each("ipv4", name, shows, given, lambda f: make(), target, counts, families=[4])
    add("router-alert", "RFC 2113: an option of IP", lambda: syn(4, capable_syn(), ip_options=b"\x94\4\0\0"))
    add("record-route", "RFC 791 3.1: the longest header, 60 bytes", lambda: syn(4, capable_syn(), ip_options=b"\7\x27\4" + bytes(36) + b"\0"))
    add("options-known", "IP options on a known flow", lambda: ack(4, ip_options=b"\1\1\1\0"), "b2", "sent_flow", "known")
    add("dscp-ecn", "RFC 2983, RFC 6040: the outer header takes DSCP and ECN", lambda: syn(4, capable_syn(), tos=0xb9))
    add("ttl-1", "the balancer is no router", lambda: syn(4, capable_syn(), ttl=1))
    made = syn(4, capable_syn())
    for tag in (100, 0x6064):
        one("ipv4", f"vlan-{tag:04x}", "802.1Q: from a VLAN to a backend in none", "fresh", ethernet(made, tag=tag), "sent_capable flow_added",
            out=sent("b1", made), flow="learning")
    for tag in (0, 0x6000):
        one("ipv4", f"vlan-{tag:04x}", "802.1Q 9.6: VLAN 0 is none; a tag of priority alone is kept", "fresh", ethernet(made, tag=tag),
            "sent_capable flow_added", out=sent("b1", made, tag=tag), flow="learning")
    made6 = syn(6, capable_syn())
    one("ipv6", "vlan", "802.1Q: from a VLAN to a backend in none", "fresh", ethernet(made6, tag=100), "sent_capable flow_added", out=sent("b1", made6),
        flow="learning")
    double = ethernet(made, tag=100)
    passed("ipv4", "vlan-twice", "two tags: the stack's", double[:12] + b"\x81\0\0\7" + double[12:], "pass_tags")
    passed("ipv4", "vlan-service", "802.1ad: the stack's", double[:12] + b"\x88\xa8\0\7" + double[12:], "pass_tags")
    passed("ipv4", "header-16", "a header shorter than 20 bytes", ethernet(syn(4, ihl=4)))
    passed("ipv4", "header-past-end", "a header longer than the packet", ethernet(ipv4(CLIENT[4], SERVICE[4], TCP, b"", ihl=15)))
    passed("ipv4", "version-5", "not version 4", double[:12] + b"\x08\0\x55" + made[1:])
    passed("ipv4", "version-6", "IPv6 under IPv4's EtherType", ethernet(made6)[:12] + b"\x08\0" + made6)
    passed("ipv4", "sctp", "another protocol", ethernet(ipv4(CLIENT[4], SERVICE[4], 132, bytes(20))), "pass_protocol")
    passed("ipv4", "gre", "another protocol", ethernet(ipv4(CLIENT[4], SERVICE[4], 47, bytes(20))), "pass_protocol")


def ipv6_headers():
    hop, destination, routing = (0, b"\0\1\4" + bytes(4)), (60, b"\0\1\4" + bytes(4)), (43, b"\0\0\0" + bytes(4))
    long = (60, b"\3\1\x1c" + bytes(28))

    def add(name, shows, *chain):
        each("ipv6", name, shows, "fresh", lambda f: extended(syn(6, capable_syn()), *chain), "b1", "sent_capable flow_added", "learning",
             families=[6])
    add("hop-by-hop", "RFC 8200 4.3", hop)
    add("destination", "RFC 8200 4.6", destination)
    add("destination-long", "RFC 8200 4.6: 32 bytes", long)
    add("routing", "RFC 8200 4.4", routing)
    add("four", "RFC 8200 4.1: in the order that is recommended", hop, destination, routing, long)
    each("ipv6", "keys-behind-options", "keys behind a header", "learning", lambda f: extended(ack(6, capable_keys()), destination), "b2",
         "sent_keys token_added", "learning", families=[6])
    each("ipv6", "flow-label", "RFC 6437: the label stays the client's", "fresh",
         lambda f: ipv6(CLIENT[6], SERVICE[6], TCP, syn(6)[40:], tos=0xb9, label=0xabcde), "b1", "sent_syn flow_added", "new", families=[6])
    made = syn(6, capable_syn())
    passed("ipv6", "five", "more headers than anybody sends: the stack's", ethernet(extended(made, hop, *[destination] * 4)), "pass_extensions")
    passed("ipv6", "no-next-header", "RFC 8200 4.7", ethernet(ipv6(CLIENT[6], SERVICE[6], 59, b"")), "pass_protocol")
    passed("ipv6", "authentication", "RFC 4302: another protocol", ethernet(extended(made, (51, b"\4\0\0" + bytes(20)))), "pass_protocol")
    passed("ipv6", "header-past-packet", "RFC 8200 4.6: a header that ends behind the packet",
           ethernet(ipv6(CLIENT[6], SERVICE[6], 60, b"\6\xff\1\4" + bytes(4) + made[40:])))
    passed("ipv6", "header-cut", "a header that ends within the frame's end", ethernet(ipv6(CLIENT[6], SERVICE[6], 60, b"\6\0\1\2")))
    passed("ipv6", "version-4", "IPv4 under IPv6's EtherType", ethernet(made)[:12] + b"\x86\xdd" + syn(4))
    passed("ipv6", "jumbogram", "RFC 2675: payload length 0", ethernet(ipv6(CLIENT[6], SERVICE[6], 0, b"\6\0\xc2\4\0\1\0\0" + made[40:], length=0)))


def lengths():
    made, made6 = syn(4, capable_syn()), syn(6, capable_syn())

    def lying(length):
        return ethernet(ipv4(CLIENT[4], SERVICE[4], TCP, made[20:], length=length))

    def lying6(length, payload=made6[40:], protocol=TCP):
        return ethernet(ipv6(CLIENT[6], SERVICE[6], protocol, payload, length=length))
    for length in (0, 10, 19, 20, 39, 40, len(made) - 1):
        passed("lengths", f"v4-total-{length}", "RFC 791 3.1: a total length that ends within the headers", lying(length))
    for length in (len(made) + 1, 1500, 65535):
        passed("lengths", f"v4-total-{length}", "RFC 791 3.1: a total length beyond the frame", lying(length))
    for length in (0, 19, 20, len(made6) - 41):
        passed("lengths", f"v6-payload-{length}", "RFC 8200 3: a payload length that ends within the headers", lying6(length))
    for length in (len(made6) - 39, 1460, 65495, 65496, 65520, 65535):
        passed("lengths", f"v6-payload-{length}", "RFC 8200 3: a payload length beyond the frame", lying6(length))
    user = datagram(6)[40:]
    for length in (65496, 65535, 4, 7):
        passed("lengths", f"v6-udp-payload-{length}", "the same of UDP, whose header says its own length", lying6(length, user, UDP))
    for length in (20, 24, 27):
        passed("lengths", f"v4-udp-total-{length}", "RFC 768: not even its header",
               ethernet(ipv4(CLIENT[4], SERVICE[4], UDP, datagram(4)[20:], length=length)))
    for words in (0, 4, 14, 15):
        for f in (4, 6):
            passed("lengths", f"data-offset-{words}-v{f}", "RFC 9293 3.1: a data offset below 5, or past the packet",
                   ethernet(packet(f, SYN, USUAL_SYN, words=words)))
    for bytes_left in (14, 17, 33, 34, 53, 54, len(made) + 13):
        passed("lengths", f"frame-{bytes_left}", "a frame that is cut", ethernet(made)[:bytes_left])
    for f, whole in ((4, packet(4, SYN)), (6, packet(6, SYN))):
        one("lengths", f"padded-v{f}", "802.3: padding behind the packet goes along", "fresh", ethernet(whole) + b"\xaa" * 6,
            "sent_syn flow_added", out=sent("b1", whole, padding=b"\xaa" * 6), flow="new")
    hidden = packet(4, SYN, words=6)
    passed("lengths", "options-in-padding", "TCP options that lie in the frame's padding", ethernet(hidden) + capable_syn() + b"\0\0")


plain()
options()
ipv4_headers()
ipv6_headers()
lengths()
