"""MP_CAPABLE, MP_JOIN and DSS: what a balancer learns of a connection, and what it must not."""

from world import *

CASES = {"capable": [], "join": [], "data": []}


def each(family_of, name, shows, given, make, target, counts, flow=None, token=None, families=(4, 6)):
    """A packet of either family that reaches a target by IPIP."""
    for f in families:
        made = make(f)
        CASES[family_of].append(dict(name=f"{name}-v{f}", shows=shows, given=given, frame=ethernet(made), action="tx",
                                     counts=counts, out=sent(target, made), flow=flow, token=token))


def capable():
    def add(*args, **named):
        each("capable", *args, **named)
    opened = "sent_capable flow_added"
    add("v1-syn", "RFC 8684 3.1: version 1 opens with 4 bytes", "fresh", lambda f: syn(f, capable_syn()), "b1", opened, "learning")
    add("v0-syn", "RFC 6824 3.1: version 0 opens with the sender's key", "fresh", lambda f: syn(f, capable_syn(0)), "b1", opened,
        "learning")
    add("v1-syn-checksum", "RFC 8684 3.1: flag A", "fresh", lambda f: syn(f, capable_syn(1, 0x81)), "b1", opened, "learning")
    add("v1-syn-no-join-here", "RFC 8684 3.1: flag C", "fresh", lambda f: syn(f, capable_syn(1, 0x21)), "b1", opened, "learning",
        families=[4])
    add("v0-syn-all-flags", "RFC 6824 3.1: flags say nothing of where a packet goes", "fresh", lambda f: syn(f, capable_syn(0, 0xff)),
        "b1", opened, "learning", families=[4])
    add("v1-syn-again", "RFC 9293 3.8.1: a SYN that comes again goes where it went, though the hash says b1", "learning",
        lambda f: syn(f, capable_syn()), "b2", "sent_capable", "learning")
    add("syn-again-without-mptcp", "RFC 8684 3.7: the SYN is sent again without MPTCP", "learning", syn, "b2", "sent_syn", "learning")
    add("v1-syn-behind-plain", "a SYN with MP_CAPABLE behind one without, of the same flow", "opened",
        lambda f: syn(f, capable_syn()), "b2", "sent_capable", "learning")
    learnt = "sent_keys token_added"
    add("v1-third-ack", "RFC 8684 3.1: both keys, 20 bytes; the token is the receiver's", "learning", lambda f: ack(f, capable_keys()),
        "b2", learnt, "learning", "provisional")
    add("v0-third-ack", "RFC 6824 3.1: both keys; the token is of SHA-1", "learning", lambda f: ack(f, capable_keys(0)), "b2", learnt,
        "learning")
    add("v1-first-data", "RFC 8684 3.1: keys and the data's length, 22 bytes", "learning",
        lambda f: ack(f, capable_keys(rest=b"\0\5"), b"hello"), "b2", learnt, "learning", "provisional")
    add("v1-first-data-checksum", "RFC 8684 3.1: keys, length and checksum, 24 bytes", "learning",
        lambda f: ack(f, capable_keys(1, 0x81, b"\0\5\xbe\xef"), b"hello"), "b2", learnt, "learning", "provisional")
    add("v1-keys-again", "RFC 8684 3.1: the client repeats the keys until it has an answer", "proven",
        lambda f: ack(f, capable_keys(rest=b"\0\5"), b"hello"), "b2", "sent_keys", "learning", "provisional")
    add("v1-stray-keys", "the SYN went by another balancer", "fresh", lambda f: ack(f, capable_keys()), "b1",
        "sent_keys flow_added token_added", "learning", "unopened")
    add("v1-syn-on-live-flow", "a SYN for an established flow: it keeps its token", "confirmed", lambda f: syn(f, capable_syn()), "b2",
        "sent_capable flow_kept candidate_added", "established", "confirmed")
    add("v1-keys-on-live-flow", "the SYN's handshake goes on: its token is known, and a second later the flow's", "reopened",
        lambda f: ack(f, capable_keys(), seq=1001), "b2", "sent_keys", "established", "confirmed")
    add("v1-keys-established", "an established flow is not searched", "confirmed", lambda f: ack(f, capable_keys()), "b2", "sent_flow",
        "established", "confirmed")
    add("v1-stolen-token", "another client's ACK with the same keys: the token stays with b2", "confirmed",
        lambda f: ack(f, capable_keys(), client=OTHER_CLIENT[f], port=50000), "b1", "sent_keys flow_added token_collision",
        token="confirmed")
    add("v0-first-data-length", "RFC 6824 has no 22 byte form", "learning",
        lambda f: ack(f, capable_keys(0, rest=b"\0\5"), b"hello"), "b2", "sent_flow options_malformed", "learning", families=[4])
    add("v2-syn", "RFC 8684 3.1: of a version to come, there is no telling", "fresh", lambda f: syn(f, mptcp(0, 2, b"\1")), "b1",
        "sent_syn flow_added", "new")
    for length in (2, 3, 5, 11, 13):
        body = bytes([30, length, 0x01, 1])[:length].ljust(length, b"\0")
        add(f"v1-syn-length-{length}", "RFC 8684 3.1: no form has this length", "fresh", lambda f, b=body: syn(f, b), "b1",
            "sent_syn flow_added options_malformed", "new", families=[4])
    add("v0-syn-length-4", "RFC 6824 3.1: 12 bytes in a SYN", "fresh", lambda f: syn(f, mptcp(0, 0, b"\1")), "b1",
        "sent_syn flow_added options_malformed", "new", families=[4])
    add("v1-syn-length-12", "a form that belongs to the SYN/ACK", "fresh", lambda f: syn(f, mptcp(0, 1, b"\1" + KEY_A)), "b1",
        "sent_syn flow_added", "new", families=[4])
    add("v1-syn-with-keys", "a form that belongs to the ACK: forged", "fresh", lambda f: syn(f, capable_keys()), "b1",
        "sent_syn flow_added", "new")
    add("v1-third-ack-length-12", "one key is none to learn of", "learning", lambda f: ack(f, mptcp(0, 1, b"\1" + KEY_A)), "b2",
        "sent_flow", "learning", families=[4])
    add("v1-third-ack-length-21", "RFC 8684 3.1: no form has this length", "learning", lambda f: ack(f, capable_keys(rest=b"\0")), "b2",
        "sent_flow options_malformed", "learning", families=[4])
    add("syn-ack-to-service", "a SYN/ACK opens no flow of a service", "fresh",
        lambda f: packet(f, SYN | ACK, USUAL_SYN + mptcp(0, 1, b"\1" + KEY_A)), "b1", "sent_miss flow_added", "new")
    add("search-ends", "the server knows no MPTCP: packets are searched so long, no longer", "searched", ack, "b2", "sent_flow",
        "established", "none")
    add("search-goes-on", "no keys yet", "learning", ack, "b2", "sent_flow", "learning", "none")
    tfo = bytes([34, 10]) + b"\xc0\xc1\xc2\xc3\xc4\xc5\xc6\xc7"
    short = bytes.fromhex("020405b4")
    add("tfo-request", "RFC 7413 4.1.1: a SYN asks for a cookie", "fresh", lambda f: packet(f, SYN, short + bytes([34, 2]) + capable_syn()),
        "b1", opened, "learning")
    add("tfo-data", "RFC 8684 B.1: cookie and data in the SYN", "fresh",
        lambda f: packet(f, SYN, short + tfo + b"\1\1" + capable_syn(), b"GET / HTTP/1.0\r\n\r\n"), "b1", opened, "learning")
    add("tfo-data-v0", "the same with version 0", "fresh",
        lambda f: packet(f, SYN, short + tfo + b"\1\1" + capable_syn(0), b"GET / HTTP/1.0\r\n\r\n"), "b1", opened, "learning")
    add("tfo-data-again", "the same SYN again, without data", "learning",
        lambda f: packet(f, SYN, short + tfo + b"\1\1" + capable_syn()), "b2", "sent_capable", "learning")
    add("tfo-experimental", "RFC 6994: TFO's experimental option", "fresh",
        lambda f: packet(f, SYN, short + bytes([254, 4, 0xf9, 0x89]) + capable_syn()), "b1", opened, "learning", families=[4])
    for f in (4, 6):
        made = syn(f, capable_syn(), to=PORTS[LINK])
        CASES["capable"].append(dict(name=f"mode-off-v{f}", shows="a service without MPTCP: options are not read", given="fresh",
                                     frame=ethernet(made), action="tx", counts="sent_syn flow_added", out=sent("link", made), flow="new"))
    add("mode-source-ip", "a service by the client's address: options are not read", "fresh",
        lambda f: syn(f, capable_syn(), to=PORTS[SOURCE_IP]), "b1", "sent_syn flow_added", "new", families=[4])


def join():
    def add(*args, **named):
        each("join", *args, **named)
    joined = "sent_join flow_added"
    add("syn", "RFC 8684 3.2: the token tells the backend", "confirmed", lambda f: syn(f, join_syn(), port=40001), "b2", joined,
        "joining", "confirmed")
    add("syn-other-address", "RFC 8684 3.2: from another address", "confirmed",
        lambda f: syn(f, join_syn(), client=OTHER_CLIENT[f], port=41000), "b2", joined, "joining")
    add("syn-backup", "RFC 8684 3.2: flag B", "confirmed", lambda f: syn(f, join_syn(backup=1), port=40001), "b2", joined, "joining")
    add("syn-other-address-id", "RFC 8684 3.2: the address's id says nothing", "confirmed",
        lambda f: syn(f, join_syn(address=255), port=40001), "b2", joined, "joining", families=[4])
    add("syn-provisional", "a join may come before data", "moved", lambda f: syn(f, join_syn(), port=40001), "b2", joined, "joining",
        "provisional")
    add("syn-unknown-token", "no such token: the hash, and nothing is remembered", "confirmed",
        lambda f: syn(f, join_syn(b"\0\0\0\1"), port=40001), "b1", "sent_join_unknown", "none")
    add("syn-token-zero", "0 stands for no token", "confirmed", lambda f: syn(f, join_syn(bytes(4)), port=40001), "b1",
        "sent_join_unknown", "none", families=[4])
    add("syn-all-ones", "the largest token", "confirmed", lambda f: syn(f, join_syn(b"\xff" * 4), port=40001), "b1", "sent_join_unknown",
        "none", families=[4])
    add("syn-fresh", "nothing is known", "fresh", lambda f: syn(f, join_syn(), port=40001), "b1", "sent_join_unknown", "none")
    add("syn-again", "the same SYN again", "joined", lambda f: syn(f, join_syn(), port=40001), "b2", "sent_join", "joining")
    add("syn-limited", "a token has so many joins between two refreshes", "limited", lambda f: syn(f, join_syn(), port=40002), "b1",
        "sent_join_unknown joins_limited", "none")
    add("syn-backend-down", "the connection's backend is down", "down", lambda f: syn(f, join_syn(), port=40001), "b1",
        "sent_join_unknown", "none")
    add("syn-on-live-flow", "a join on another's established flow, forged perhaps: the SYN goes by its token, the flow stays", "rival",
        lambda f: syn(f, join_syn(), port=40002), "b2", "sent_join candidate_added", "established")
    add("syn-on-live-flow-unknown-token", "the same with a token that nobody has", "known", lambda f: syn(f, join_syn()), "b1",
        "sent_join_unknown", "established")
    add("third-ack-on-live-flow", "RFC 8684 3.2: the join goes on; a second later it has the entry", "contested",
        lambda f: ack(f, join_ack(), port=40002, seq=1001), "b2", "sent_flow", "established")
    add("other-ack-on-live-flow", "an ACK of another handshake: its number is not the one behind the SYN's", "contested",
        lambda f: ack(f, join_ack(), port=40002), "b1", "sent_flow", "established")
    add("data-on-live-flow", "data behind the SYN of a join go with it", "contested", lambda f: ack(f, data=b"hello", port=40002, seq=1001),
        "b2", "sent_flow", "established")
    add("third-ack", "RFC 8684 3.2: 24 bytes with the HMAC", "joined", lambda f: ack(f, join_ack(), port=40001), "b2",
        "sent_flow", "established")
    add("third-ack-unknown", "its SYN went by another balancer", "fresh",
        lambda f: ack(f, join_ack(), port=40001), "b1", "sent_miss flow_added", "new")
    add("syn-ack-form", "RFC 8684 3.2: 16 bytes belong to the SYN/ACK", "confirmed",
        lambda f: syn(f, mptcp(1, 0, bytes(13)), port=40001), "b1", "sent_syn flow_added", "new", families=[4])
    add("syn-ack-flags", "with ACK it is no SYN", "confirmed", lambda f: packet(f, SYN | ACK, join_syn(), port=40001), "b1",
        "sent_miss flow_added", "new")
    add("ack-with-token", "a token counts in a SYN alone", "confirmed", lambda f: ack(f, join_syn(), port=40001), "b1",
        "sent_miss flow_added", "new", families=[4])
    for length in (4, 11, 13, 20):
        body = bytes([30, length, 0x10, 1]) + bytes(length - 4)
        add(f"syn-length-{length}", "RFC 8684 3.2: no form has this length", "confirmed", lambda f, b=body: packet(f, SYN, b, port=40001),
            "b1", "sent_syn flow_added options_malformed", "new", families=[4])
    for f in (4, 6):
        made = syn(f, join_syn(), to=PORTS[LINK], port=40001)
        CASES["join"].append(dict(name=f"mode-off-v{f}", shows="a service without MPTCP", given="confirmed", frame=ethernet(made),
                                  action="tx", counts="sent_syn flow_added", out=sent("link", made), flow="new"))
        made = packet(f, SYN, USUAL_SYN[:4] + join_syn(), to=PORTS[GUE], port=40001)
        CASES["join"].append(dict(name=f"other-service-v{f}", shows="a token belongs to one service", given="confirmed",
                                  frame=ethernet(made), action="tx", counts="sent_join_unknown",
                                  out=sent("gue", made, flow_hash(CLIENT[f], 40001, GUE)), flow="none"))


def data():
    def add(*args, **named):
        each("data", *args, **named)
    for acked in (0, 4, 8):
        for seq in (0, 4, 8):
            for check in (False, True)[:1 + bool(seq)]:
                option = dss(acked, seq, check)
                add(f"dss-ack{acked}-seq{seq}" + "-checksum" * check, "RFC 8684 3.3: any DSS behind the keys confirms the token", "proven",
                    lambda f, o=option, n=seq: packet(f, ACK, o, b"hello"[:n]), "b2", "sent_flow token_confirms", "established",
                    "confirmed", families=[4])
    add("dss", "RFC 8684 3.3: behind the keys it confirms the token", "proven", lambda f: ack(f, dss(), b"hello"), "b2",
        "sent_flow token_confirms", "established", "confirmed", families=[6])
    add("dss-moved", "the hash says b1 now: the token is confirmed all the same", "moved",
        lambda f: ack(f, dss(), b"hello"), "b2", "sent_flow token_confirms", "established", "confirmed")
    add("dss-data-fin", "RFC 8684 3.3.3: DATA_FIN closes the connection, not the subflow", "confirmed",
        lambda f: ack(f, dss(8, 8, fin=True)), "b2", "sent_flow", "established", "confirmed")
    add("dss-established", "an established flow is one look", "confirmed", lambda f: ack(f, dss(8, 8), b"hello"), "b2", "sent_flow",
        "established", "confirmed")
    add("dss-without-keys", "no keys were seen: DSS alone names no connection", "learning", lambda f: ack(f, dss()), "b2", "sent_flow",
        "learning", "none")
    add("dss-unknown-flow", "of a flow that is not known", "fresh", lambda f: ack(f, dss()), "b1", "sent_miss flow_added", "new", "none")
    for option, name in ((mptcp(2, 0, b"\1" + bytes(6)), "10"), (mptcp(2, 0, b"\5" + bytes(13)), "17"), (mptcp(2, 0), "3")):
        add(f"dss-length-{name}", "RFC 8684 3.3: the flags say another length: it confirms nothing", "proven",
            lambda f, o=option: packet(f, ACK, o), "b2", "sent_flow options_malformed", "learning", "provisional", families=[4])
    others = {
        "add-addr": ("3.4.1", mptcp(3, 0, b"\2\xc0\0\2\x09" + bytes(8))), "add-addr-echo": ("3.4.1", mptcp(3, 1, b"\2\xc0\0\2\x09")),
        "remove-addr": ("3.4.2", mptcp(4, 0, b"\2\3")), "prio": ("3.3.8", mptcp(5, 1)),
        "fail": ("3.7", mptcp(6, 0, b"\0" + bytes(8))), "unknown-subtype": ("3", mptcp(9, 0, b"\0")),
    }
    for name, (section, option) in others.items():
        add(name, f"RFC 8684 {section}: names no connection and confirms none", "proven", lambda f, o=option: packet(f, ACK, o), "b2",
            "sent_flow", "learning", "provisional", families=[4])
    add("fastclose", "RFC 8684 3.5: with RST the flow closes", "confirmed", lambda f: packet(f, RST, mptcp(7, 0, b"\0" + KEY_B)), "b2",
        "sent_flow", "closing_stateful", "confirmed")
    add("tcprst", "RFC 8684 3.6: with RST the flow closes", "confirmed", lambda f: packet(f, RST, mptcp(8, 0, b"\1")), "b2", "sent_flow",
        "closing_stateful", "confirmed", families=[4])
    add("fin", "RFC 8684 3.3.3: a subflow ends", "confirmed", lambda f: packet(f, FIN | ACK, dss()), "b2", "sent_flow",
        "closing_stateful", "confirmed")
    add("fin-proven", "a FIN confirms nothing, and ends no handshake", "proven", lambda f: packet(f, FIN | ACK, dss()), "b2", "sent_flow", "learning",
        "provisional", families=[4])


capable()
join()
data()
