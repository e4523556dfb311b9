#!/bin/sh
# Captures what the Linux kernel's MPTCP sends: ipv4.pcap, ipv6.pcap and refused.pcap, in the folder given.
# Needs root, iproute2, tcpdump, python3 and a kernel with MPTCP. Makes two network namespaces and removes them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$1" && pwd)

on() { host=$1; shift; ip netns exec "heddle-$host" "$@"; }

remove_hosts() {
    for host in a b; do ip netns delete heddle-$host 2>/dev/null || true; done
}

# Hosts a and b with two addresses each, .1 and .11 at a, .2 and .12 at b; b listens at .2.
# The second ones are deprecated, so that nothing but a join starts from them.
make_hosts() { # address prefix, prefix length, flags of the addresses
    remove_hosts
    ip netns add heddle-a
    ip netns add heddle-b
    ip link add eth0 netns heddle-a type veth peer name eth0 netns heddle-b
    for host in a b; do
        on $host ip link set eth0 up
        on $host ip mptcp limits set subflows 4 add_addr_accepted 4
    done
    on a ip address add "${1}1/$2" dev eth0 $3
    on b ip address add "${1}2/$2" dev eth0 $3
    on a ip address add "${1}11/$2" dev eth0 preferred_lft 0 $3
    on b ip address add "${1}12/$2" dev eth0 preferred_lft 0 $3
}

capture() { # file, b's address, how a ends
    on b tcpdump -U -i eth0 -w "$out/$1.pcap" tcp 2>/dev/null &
    dump=$!
    on b python3 "$here/peer.py" listen "$2" &
    sleep 1
    on a python3 "$here/peer.py" "$3" "$2" &
    peer=$!
}

end_capture() {
    wait $peer || true
    sleep 1
    kill $dump
    wait $dump || true
}

trap remove_hosts EXIT

# IPv4: a joins from .11, b offers .12 with a port; then a makes .11 a backup and takes it back; ends unread.
make_hosts 10.0.0. 24 ""
on a ip mptcp endpoint add 10.0.0.11 id 3 dev eth0 subflow
on b ip mptcp endpoint add 10.0.0.12 id 5 dev eth0 signal port 5001
capture ipv4 10.0.0.2 abandon
sleep 0.7
on a ip mptcp endpoint change id 3 backup
sleep 0.3
on a ip mptcp endpoint delete id 3
end_capture

# IPv6 with checksums: a joins from ::11 as a backup, b offers ::12; ends with DATA_FIN.
make_hosts fd00:: 64 nodad
for host in a b; do on $host sysctl -q net.mptcp.checksum_enabled=1; done
on a ip mptcp endpoint add fd00::11 id 4 dev eth0 subflow backup
capture ipv6 fd00::2 finish
sleep 0.7
on b ip mptcp endpoint add fd00::12 id 6 dev eth0 signal
end_capture

# A join that is refused: b allows no further subflow.
make_hosts 10.0.0. 24 ""
on b ip mptcp limits set subflows 0 add_addr_accepted 0
on a ip mptcp endpoint add 10.0.0.11 id 3 dev eth0 subflow
capture refused 10.0.0.2 finish
end_capture
