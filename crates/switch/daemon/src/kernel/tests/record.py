"""Records the kernel's answers to dumps of routes, nexthop objects and neighbours, in a new network namespace, as root:

    unshare --net python3 record.py >recorded.txt

Each line of the result has the name of a state and one message in hexadecimal digits.
"""

import socket
import struct
import subprocess
import time

DUMP = 0x301  # NLM_F_REQUEST, NLM_F_DUMP
# Requests: type, bytes of the family's header.
ROUTES, OBJECTS, NEIGHBOURS = (26, 12), (106, 8), (30, 12)

NETWORK = """
link set lo up
link add index 11 name swp1 type veth peer index 21 name far1
link add index 12 name swp2 type veth peer index 22 name far2
link add index 13 name eth0 type veth peer index 23 name far3
link set far1 up
link set far2 up
link set far3 up
link set swp1 up
link set swp2 up
link set eth0 up
address add 10.1.11.0/31 dev swp1
address add 10.1.12.0/31 dev swp2
address add 192.0.2.2/24 dev eth0
neighbour add 10.1.11.1 lladdr 02:00:00:00:00:01 dev swp1 nud permanent
neighbour add 10.1.12.1 lladdr 02:00:00:00:00:02 dev swp2 nud permanent
neighbour add fe80::2 lladdr 02:00:00:00:00:02 dev swp2 nud permanent
route add default via 192.0.2.1
"""

STATES = {
    "multipath": """
route add 10.0.2.0/24 nexthop via 10.1.11.1 nexthop via 10.1.12.1
route add 10.0.2.0/24 via 192.0.2.1 metric 100
route add 10.0.2.0/24 via 10.1.11.1 table 100
route add 10.0.3.0/24 nexthop via 10.1.11.1 realms 3 nexthop via 10.1.12.1 realms 3
route add 10.0.4.0/24 via inet6 fe80::2 dev swp2 realm 4
route add blackhole 10.0.2.128/25
-6 route add fd00:2::/64 nexthop via fe80::1 dev swp1 nexthop via fe80::2 dev swp2
""",
    "changed": "route change 10.0.2.0/24 via 10.1.12.1",
    "deleted": "route del 10.0.2.0/24 via 10.1.12.1",
    "objects": """
nexthop add id 1 via 10.1.11.1 dev swp1
nexthop add id 2 via 10.1.12.1 dev swp2
nexthop add id 3 blackhole
nexthop add id 10 group 1/2
route add 10.0.5.0/24 nhid 10
route add 10.0.6.0/24 nhid 1
route add 10.0.7.0/24 nhid 3
""",
    "replaced": "nexthop replace id 10 group 2",
    "down": "link set far2 down",
}


def messages(kind, length, family):
    """The kernel's messages of a dump."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.send(struct.pack("=IHHII", 16 + length, kind, DUMP, 1, 0) + bytes([family]) + bytes(length - 1))
        while True:
            data = kernel.recv(1 << 20)
            while data:
                size, what = struct.unpack_from("=IH", data)
                if what in (2, 3):  # NLMSG_ERROR, NLMSG_DONE
                    return
                yield data[:size]
                data = data[(size + 3) & ~3 :]


def ip(lines):
    for line in lines.strip().splitlines():
        subprocess.run(["ip", *line.split()], check=True)


def main():
    ip(NETWORK)
    # Routes of nexthop objects come without the objects' next hops.
    with open("/proc/sys/net/ipv4/nexthop_compat_mode", "w", encoding="ascii") as file:
        file.write("0")
    for name, lines in STATES.items():
        ip(lines)
        # The kernel sees a carrier go within a second.
        time.sleep(2 if name == "down" else 0)
        for family in (socket.AF_INET, socket.AF_INET6):
            for kind in (ROUTES, NEIGHBOURS):
                for message in messages(*kind, family):
                    print(name, message.hex())
        for message in messages(*OBJECTS, 0):
            print(name, message.hex())


main()
