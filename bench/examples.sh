#!/usr/bin/env bash
# Runs the examples whose figures the book quotes, with seeds 1 to 5: of each sweep tidy.csv, which has a line a seed,
# compressed, and of all of them summary.csv and the tables of the book (bench/examples.py).
#
# usage: bench/examples.sh [OUTPUT-FOLDER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=${1:-out/examples}
heddle=${HEDDLE:-target/dist/heddle}
[ -n "${HEDDLE:-}" ] || ./x build simulator >&2

# sweep NAME FILE ARGUMENTS...
sweep() {
    local name=$1
    shift
    "$heddle" sweep "$@" --set 'seeds=[1,2,3,4,5]' --quiet --out "$folder/runs/$name"
    cp "$folder/runs/$name/tidy.csv" "$folder/$name.csv"
}

# Each of 72 hosts sends to one in every other of 9 groups.
uniform() {
    python3 -c 'print([f"host-{8 * a + i + 1} host-{8 * b + i + 1}" for a in range(9) for i in range(8) for b in range(9) if a != b])' | tr "'" '"'
}

mkdir -p "$folder"
routing=(--over "fabric.routing=minimal,valiant,ugal-l,ugal-g")
sweep dragonfly-adversarial scenarios/dragonfly-adversarial.toml "${routing[@]}"
sweep dragonfly-uniform scenarios/dragonfly-adversarial.toml "${routing[@]}" --set "workload.pairs=$(uniform)"

windows=(--over "transport.receive_window=50KB,100KB,200KB,400KB")
sweep full-window scenarios/full-window.toml "${windows[@]}" --over transport.full_window=wait,retransmit,penalise
sweep full-window-wifi scenarios/full-window.toml "${windows[@]}" --set fabric.interfaces=1 \
    --set 'fabric.link=[{ between = "host-1 leaf-1", rate = "8Mbps", delay = "10ms" }]' \
    --set 'transport={ kind = "tcp", min_rto = "200ms" }'

sweep mptcp-beside-tcp scenarios/mptcp-beside-tcp.toml --over workload.0.transport.coupling=lia,olia,balia,uncoupled
sweep cflb-seven-links scenarios/cflb-seven-links.toml --over 'scheme={ kind = "cflb", field = "ports", elephants = "0B" },ecmp'

full=(scenarios/mp-hula-fig5.toml --set fabric.hosts_per_tor=16 --set fabric.host_rate=20Gbps --set transport.receive_window=256KB
    --set workload.load=0.9 --set measure.flows=1000)
sweep one-queue "${full[@]}" --over scheme=mp-hula,shuttle
sweep short-flows-first "${full[@]}" --over scheme=mp-hula,shuttle --over fabric.priority_bytes=20KB,100KB,1MB

python3 bench/examples.py "$folder"
xz --force "$folder"/*-*.csv
