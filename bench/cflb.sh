#!/usr/bin/env bash
# Measures what CFLB costs: a router's decision beside hashes, a sender's encoding, path queries, the path service;
# records all.
#
# usage: bench/cflb.sh [OUTPUT-FOLDER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
    -h | --help) sed -n '2,4p' "$0" | cut -c3-; exit 0 ;;
    -*) echo "error: unknown option $1" >&2; exit 2 ;;
esac
folder=${1:-results/$(date +%Y-%m-%d)-bench-cflb}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

./x build simulator >&2
mkdir -p "$folder"
bench() { cargo bench --quiet --locked --package "$1" --bench "$2"; }
echo "decisions beside hashes" >&2
target/dist/heddle reproduce cflb C4 --quiet --out "$scratch" >"$folder/claims.txt"
cp "$scratch/measured.json" "$folder/costs.json"
echo "decisions and encodings" >&2
bench heddle-policy cflb >"$folder/decisions.txt"
echo "path queries" >&2
bench heddle-fabric paths >"$folder/paths.txt"
echo "the path service" >&2
bench heddle-path-service encodings >"$folder/service.txt"

cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
cat >"$folder/README.md" <<TEXT
# What CFLB costs

Command: \`bench/cflb.sh\`.

- Heddle $(target/dist/heddle --version | cut -d' ' -f2), commit $(git rev-parse --short HEAD)
- Machine: $cpu, $(nproc) cores, $(uname -m), Linux $(uname -r); load average at the end $(cut -d' ' -f1-3 /proc/loadavg)

| File | What it has |
| --- | --- |
| costs.json, claims.txt | nanoseconds of processor time for a decision, medians of rounds by turns: CFLB beside CRC16, CRC32, MD5, Toeplitz, xxHash (\`heddle reproduce cflb C4\`) |
| decisions.txt | a router's decision and a sender's encoding by field, function and B (\`cargo bench -p heddle-policy --bench cflb\`) |
| paths.txt | path queries on a k = 32 fat-tree (\`cargo bench -p heddle-fabric --bench paths\`) |
| service.txt | encodings a second: in process, over gRPC, over HTTP (\`cargo bench -p heddle-path-service --bench encodings\`) |
TEXT
