#!/usr/bin/env bash
# Builds fat-tree.cc against an installed ns-3 (Debian's, unless told otherwise), runs it, and prints one line of JSON.
# With --build it builds another program of this folder into target/ns3 and runs nothing.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../target/ns3
packages=(libns3-dev g++)
modules=(applications point-to-point internet traffic-control network core)

usage() {
    cat <<END
usage: run.sh [--install] [--prefix DIR] [--seconds S] [--seed N] [--scheduler NAME] [--build PROGRAM]

  --install         first install with apt-get (as root) what is missing
  --prefix DIR      where ns-3 is installed (default /usr)
  --seconds S       simulated time (default 1)
  --seed N          seed of the permutation, the starts and the hash salts (default 1)
  --scheduler NAME  ns-3's event queue (default ns3::PriorityQueueScheduler)
  --build PROGRAM   build PROGRAM.cc and stop
END
}

bad_usage() {
    usage >&2
    exit 2
}

# The core library of the ns-3 under $prefix; its name carries the version and the build profile of them all.
core_library() {
    local found
    found=$(compgen -G "$prefix/lib*/libns3*-core*.so" || compgen -G "$prefix/lib/*/libns3*-core*.so") || return 1
    head -n 1 <<<"$found"
}

installed() {
    core_library >/dev/null && command -v g++ >/dev/null
}

install_packages() {
    apt-get update -qq && apt-get install -qq --no-install-recommends "${packages[@]}"
} >&2

compile() {
    local core directory stem suffix version profile libraries
    core=$(core_library)
    directory=${core%/*}
    stem=${core%core*}
    suffix=${core##*core}
    version=$(sed -n 's/^Version: *//p' "$directory/pkgconfig/ns3-core.pc")
    profile=${suffix%.so}
    profile=${profile#-} # a release build has none in its name
    mapfile -t libraries < <(printf "$stem%s$suffix\n" "${modules[@]}")
    mkdir -p "$build"
    # An old-style rpath, which also serves the libraries that these libraries need.
    g++ -std=c++17 -O3 -DNDEBUG -DNS3_BUILD="\"$version ${profile:-release}\"" \
        -I"$prefix/include" "$here/$program.cc" -o "$build/$program" \
        "${libraries[@]}" -Wl,--disable-new-dtags,-rpath,"$directory"
}

install=no
prefix=/usr
arguments=()
program=fat-tree
while (($#)); do
    case $1 in
        --install) install=yes && shift && continue ;;
        -h | --help) usage && exit ;;
    esac
    (($# >= 2)) || bad_usage
    case $1 in
        --prefix) prefix=$2 ;;
        --build) program=$2 ;;
        --seconds | --seed | --scheduler) arguments+=("$1=$2") ;;
        *) bad_usage ;;
    esac
    shift 2
done

if [[ $install == yes ]] && ! installed; then
    install_packages
fi
if ! installed; then
    echo "ns-3 is not installed under $prefix. Run:  apt-get install ${packages[*]}   (or this script with --install, as root)" >&2
    exit 1
fi
compile
[[ $program == fat-tree ]] || exit 0
exec "$build/fat-tree" "${arguments[@]}"
