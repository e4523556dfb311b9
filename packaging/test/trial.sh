#!/usr/bin/env bash
# The packages as an operator has them, as root: a bare Debian root that systemd boots in a container, the .deb
# installed there, the first packet through the balancer, then an upgrade under load that must lose no packet.
#
#   packaging/test/trial.sh FIRST.deb SECOND.deb
#
# HEDDLE_BARE_ROOT is a bare root that is copied instead of made, as mmdebstrap made it before.
#
# Needs clang, mmdebstrap, systemd-container, iproute2, ethtool, python3 and Debian's mirrors. Namespaces and folders
# are its own, and removed at the end.
set -euo pipefail

first=$(realpath "${1:?"usage: trial.sh FIRST.deb SECOND.deb"}")
second=$(realpath "${2:?"usage: trial.sh FIRST.deb SECOND.deb"}")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
name=heddle-trial-$$
work=$(mktemp -d)
root=$work/root
vip=192.0.2.10

say() { printf '%s\n' "$*" >&2; }
in_ns() { ip netns exec "$name-$1" "${@:2}"; }
# A command in the container, by its init's namespaces.
in_lb() { nsenter --target "$(cat "$work/init")" --all -- "$@"; }
seconds_since() { awk -v from="$1" -v to="$(date +%s.%N)" 'BEGIN { printf "%.1f", to - from }'; }

cleanup() {
    [ ! -e "$work/init" ] || kill -s RTMIN+4 "$(cat "$work/init")" 2>/dev/null || true
    [ -z "${container:-}" ] || wait "$container" 2>/dev/null || true
    local host
    for host in switch client lb backend; do ip netns delete "$name-$host" 2>/dev/null || true; done
    umount "$work/bpf" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

# A port of the switch, and the host at its far end. The port needs an XDP program, or frames that the balancer sends
# back are lost there.
host() {
    local host=$1 address=$2
    ip netns add "$name-$host"
    ip -n "$name-switch" link add "$host" type veth peer name eth0 netns "$name-$host"
    ip -n "$name-switch" link set "$host" master bridge up
    ip -n "$name-switch" link set dev "$host" xdp object "$work/pass.o" section xdp
    in_ns "$host" ethtool -K eth0 tx off >/dev/null
    ip -n "$name-$host" address add "$address/24" dev eth0
    ip -n "$name-$host" link set eth0 up
    ip -n "$name-$host" link set lo up
}

network() {
    clang -O2 -target bpf -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$here/../../bpf/tools/pass.bpf.c" -o "$work/pass.o"
    ip netns add "$name-switch"
    ip -n "$name-switch" link add bridge type bridge
    ip -n "$name-switch" link set bridge up
    host client 10.0.0.7
    host lb 10.0.0.11
    host backend 10.0.0.101
    ip -n "$name-client" route add "$vip/32" via 10.0.0.11
    in_ns backend sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
    ip -n "$name-backend" address add "$vip/32" dev lo
}

# Boots the root in the balancer's network. An init of systemd's is the child of systemd-nspawn.
boot() {
    mkdir -p "$work/bpf" && mount -t bpf bpf "$work/bpf"
    systemd-nspawn --quiet --boot --directory "$root" --machine "$name" --register=no --keep-unit \
        --network-namespace-path="/run/netns/$name-lb" --bind "$work/bpf:/sys/fs/bpf" \
        --capability=CAP_BPF,CAP_PERFMON,CAP_NET_ADMIN,CAP_SYS_ADMIN,CAP_SYS_NICE --system-call-filter=bpf \
        </dev/null >"$work/console" 2>&1 &
    container=$!
    for _ in $(seq 100); do
        init=$(pgrep --parent "$container" | head -n 1 || true)
        if [ -n "$init" ] && nsenter --target "$init" --all -- systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; then
            echo "$init" >"$work/init" && return
        fi
        sleep 0.2
    done
    cat "$work/console" >&2
    say "the container does not boot" && exit 1
}

configuration() {
    cat <<TEXT
[balancer]
name = "lb1"
interfaces = ["eth0"]

[[service]]
name = "numbers"
address = "$vip"
port = 9000
protocol = "udp"

[[service.backend]]
name = "be1"
address = "10.0.0.101"
TEXT
}

# Numbered datagrams from the client to the service: $1 in all, $2 a second. Prints those that the backend received,
# once each.
load() {
    in_ns backend python3 "$here/datagrams.py" receive "$vip" 9000 "$1" >"$work/received" &
    local receiver=$!
    sleep 0.5
    in_ns client python3 "$here/datagrams.py" send "$vip" 9000 "$1" "$2"
    wait "$receiver"
}

# Sends datagrams until one has come through, for a minute at most.
first_packet() {
    in_ns backend python3 "$here/datagrams.py" receive "$vip" 9000 1 >"$work/received" &
    local receiver=$!
    while kill -0 "$receiver" 2>/dev/null; do
        in_ns client python3 "$here/datagrams.py" send "$vip" 9000 1 1 2>/dev/null || true
    done
    [ "$(cat "$work/received")" = 1 ] || { in_lb journalctl -u heddled >&2; say "no packet came through"; exit 1; }
}

say "a bare root: mmdebstrap --variant=minbase with systemd, dbus and no more"
[ -z "${HEDDLE_BARE_ROOT:-}" ] || cp -a "$HEDDLE_BARE_ROOT" "$root"
[ -d "$root" ] || mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root"
network
boot
cp "$first" "$second" "$root/root/"
began=$(date +%s.%N)
in_lb apt-get -q install -y --no-install-recommends "/root/$(basename "$first")" >"$work/apt" 2>&1 || { cat "$work/apt" >&2; exit 1; }
say "installed after $(seconds_since "$began") s"
configuration >"$root/etc/heddle/heddled.toml"
in_lb heddle lb check /etc/heddle/heddled.toml >&2
in_lb systemctl enable --now heddled
first_packet
say "first packet through the balancer after $(seconds_since "$began") s"
in_lb heddle lb status >&2

say "the load without an upgrade"
load 200000 20000
say "received $(cat "$work/received") of 200000 datagrams"
say "the load, and an upgrade with the daemon's restart in the middle of it"
before=$(in_lb systemctl show --property MainPID --value heddled)
load 200000 20000 &
loading=$!
sleep 4
in_lb dpkg --install "/root/$(basename "$second")" >&2
say "upgraded; the daemon is $(in_lb systemctl is-active heddled)"
wait "$loading"
after=$(in_lb systemctl show --property MainPID --value heddled)
[ "$before" != "$after" ] || { say "the daemon was not restarted"; exit 1; }
received=$(cat "$work/received")
say "received $received of 200000 datagrams; the daemon had process $before and has $after"
[ "$received" = 200000 ]
