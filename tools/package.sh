# `./x package`: a .deb and an OCI image of the same staged files. Sourced, not run.

# The programs of the package, in the folders that packaging/systemd names.
PACKAGED_SBIN=(heddled heddle-switch heddle-agent)
PACKAGED_BIN=(heddle heddle-lb heddle-path-service)
PACKAGED_CRATES=(--package heddle --package heddle-path-service --package heddled --package heddle-lb --package heddle-switch --package heddle-agent)

package() {
    local profile=dist programs='' revision='' out=out/package
    while [ $# -gt 0 ]; do
        case "$1" in
            --profile) profile=${2:?"--profile takes a name: dist, release, dev"} && shift ;;
            --programs) programs=${2:?"--programs takes the folder of programs that are built"} && shift ;;
            --out) out=${2:?"--out takes a folder"} && shift ;;
            --revision) revision=-${2:?"--revision takes a number"} && shift ;;
            *) fail "unknown argument $1" "usage: ./x package [--profile NAME | --programs FOLDER] [--revision NUMBER] [--out FOLDER]" ;;
        esac
        shift
    done
    install_missing dpkg-deb=dpkg dpkg-shlibdeps=dpkg-dev python3=python3
    if [ -z "$programs" ]; then
        setup_balancer
        cargo build --profile "$profile" --locked "${PACKAGED_CRATES[@]}"
        programs=${CARGO_TARGET_DIR:-target}/${profile/#dev/debug}
    fi
    rm -rf "$out" && mkdir -p "$out"
    stage "$programs" "$out/root"
    make_deb "$out/root" "$out" "$(workspace_value version)$revision"
    make_image "$out/root" "$out" "$(workspace_value version)$revision"
    rm -rf "$out/root"
    (cd "$out" && sha256sum -- * >SHA256SUMS)
    say "$out:" && ls -l "$out" >&2
}

# The files of the package as they are installed: programs of folder $1 into folder $2.
stage() {
    local programs=$1 root=$2 program
    for program in "${PACKAGED_SBIN[@]}"; do install -D -m 755 --strip "$programs/$program" "$root/usr/sbin/$program"; done
    for program in "${PACKAGED_BIN[@]}"; do install -D -m 755 --strip "$programs/$program" "$root/usr/bin/$program"; done
    describe "$programs" "$root/usr/share"
    install -D -m 755 packaging/bird/heddle-announce "$root/usr/libexec/heddle/heddle-announce"
    install -D -m 644 -t "$root/usr/lib/systemd/system" packaging/systemd/*.service
    install -D -m 640 -t "$root/etc/heddle" packaging/deb/heddled.toml
    install -d "$root/etc/heddle/switch"
    install -D -m 644 -t "$root/usr/share/doc/heddle/examples" packaging/heddled.toml packaging/bird/*.conf
    install -D -m 644 -t "$root/usr/share/doc/heddle/examples/switch" packaging/switch/*
    install -m 644 -t "$root/usr/share/doc/heddle/examples" packaging/prometheus/*.yml packaging/grafana/heddled.json
    install -m 644 README.md CHANGELOG.md "$root/usr/share/doc/heddle"
    copyright >"$root/usr/share/doc/heddle/copyright"
    find "$root" -type d -exec chmod 755 {} +
    chmod 750 "$root/etc/heddle"
}

# Manual pages and completions, made by the programs themselves.
describe() {
    local programs=$1 share=$2 program
    mkdir -p "$share"/{man/man1,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
    for program in "${PACKAGED_SBIN[@]}" "${PACKAGED_BIN[@]}"; do
        "$programs/$program" manual --out "$share/man/man1"
        "$programs/$program" completions bash >"$share/bash-completion/completions/$program"
        "$programs/$program" completions zsh >"$share/zsh/vendor-completions/_$program"
        "$programs/$program" completions fish >"$share/fish/vendor_completions.d/$program.fish"
    done
    gzip --no-name --best "$share"/man/man1/*
}

copyright() {
    cat <<'TEXT'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Heddle
Source: https://github.com/heddle/heddle

Files: *
Copyright: Heddle's authors
License: Apache-2.0

Files: bpf/*
Copyright: Heddle's authors
License: GPL-2.0-only or Apache-2.0

License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.

License: GPL-2.0-only or Apache-2.0
 On Debian systems the texts are in /usr/share/common-licenses/GPL-2 and
 /usr/share/common-licenses/Apache-2.0.
TEXT
}

# The package of the staged files $1, of version $3, in folder $2. What the programs link to becomes its dependencies.
make_deb() {
    local root=$1 out=$2 version=$3 architecture control
    architecture=$(dpkg --print-architecture)
    control=$root/DEBIAN
    mkdir "$control"
    sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@DEPENDS@/$(linked_packages "$root")/" \
        -e "s/@SIZE@/$(du --summarize --apparent-size --block-size=1024 "$root" | cut -f 1)/" packaging/deb/control >"$control/control"
    install -m 755 -t "$control" packaging/deb/postinst packaging/deb/prerm packaging/deb/postrm
    (cd "$root" && find etc -type f -printf '/%p\n') >"$control/conffiles"
    (cd "$root" && find usr -type f -exec md5sum {} +) >"$control/md5sums"
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) dpkg-deb --root-owner-group --build "$root" "$out/heddle_${version}_$architecture.deb" >&2
    rm -r "$control"
}

# The Debian packages with the libraries that programs below $1 link to, with their oldest versions: the value of
# Depends.
linked_packages() {
    local folder
    folder=$(mktemp -d)
    mkdir "$folder/debian" && touch "$folder/debian/control"
    (cd "$1" && realpath usr/sbin/* usr/bin/*) | (cd "$folder" && xargs dpkg-shlibdeps --warnings=0 -O) | sed 's/^shlibs:Depends=//'
    rm -r "$folder"
}

# The balancer as an OCI image in a tar archive: of the staged files the programs that containers run, and the libraries
# that they link to.
make_image() {
    python3 tools/image.py --root "$1" --version "$3" --time "$(git log -1 --format=%ct)" --out "$2/heddled-$3-oci.tar" \
        usr/sbin/heddled usr/bin/heddle usr/bin/heddle-lb etc/heddle/heddled.toml usr/share/doc/heddle/copyright
}

# The packages of a build that is not optimised across crates, or of the programs in the folder that HEDDLE_PROGRAMS
# names.
test_package() {
    [ "$(id -u)" = 0 ] || fail "this installs into a root of its own and changes into it." "run it as root."
    # The programs of tests are large, and dpkg-deb's own choice is slow.
    local -x DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
    if [ -n "${HEDDLE_PROGRAMS:-}" ]; then
        package --programs "$HEDDLE_PROGRAMS" --out target/package
    else
        package --profile dev --out target/package
    fi
    python_environment target/tools/package pytest==9.2.0
    HEDDLE_PACKAGES=$PWD/target/package target/tools/package/bin/python -m pytest -p no:cacheprovider -q -rs --junitxml "$JUNIT/package.xml" "$@" packaging/test
}
