# `./x release`: a tree that is fit to be released, its archives, a tag; `./x archives` makes the archives alone.
# Sourced, not run.

# The programs of each archive, with the package that each is built from.
SIMULATOR_PROGRAMS=(heddle heddle-path-service)
BALANCER_PROGRAMS=(heddled heddle-lb heddle-lab heddle-romanroads heddle-switch heddle-agent)

release() {
    local version='' dry_run=no argument
    for argument in "$@"; do
        case "$argument" in
            --dry-run) dry_run=yes ;;
            -*) fail "unknown option $argument" "usage: ./x release VERSION [--dry-run]" ;;
            *) version=$argument ;;
        esac
    done
    [ -n "$version" ] || fail "a release needs its version." "usage: ./x release VERSION [--dry-run]"
    check_tree "$version"
    unset HEDDLE_WITHOUT_ROOT HEDDLE_WITHOUT_ETCD CARGO_TARGET_DIR
    . tools/lint.sh && lint && lint publish
    run_tests
    archives
    if [ "$dry_run" = yes ]; then
        say "dry run: v$version is not tagged"
    else
        git tag --annotate "v$version" --message "Heddle $version"
        say "tagged v$version; publish it with: git push origin v$version"
    fi
}

# Nothing uncommitted, on main, the version that Cargo.toml and CHANGELOG.md name, and not released before.
check_tree() {
    local version=$1
    [ -z "$(git status --porcelain)" ] || fail "there are uncommitted changes." "commit them, or remove them"
    [ "$(git rev-parse --abbrev-ref HEAD)" = main ] || fail "a release is made on main."
    [ "$(workspace_value version)" = "$version" ] ||
        fail "Cargo.toml has version $(workspace_value version), not $version." "set [workspace.package] version, and commit"
    grep -qE "^## $version - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md ||
        fail "CHANGELOG.md has no heading '## $version - DATE'." "date the section of this release"
    ! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null || fail "v$version is tagged already."
}

# Two archives of the programs of this tree, with their checksums, in out/release.
archives() {
    local version
    version=$(workspace_value version)
    setup_balancer
    cargo build --profile dist --locked "${SIMULATOR[@]}" "${BALANCER[@]}"
    rm -rf out/release
    archive "heddle-$version" "${SIMULATOR_PROGRAMS[@]}"
    archive "heddled-$version" "${BALANCER_PROGRAMS[@]}"
    (cd out/release && sha256sum -- *.tar.gz >SHA256SUMS && sha256sum --check --quiet SHA256SUMS)
    say "out/release:" && ls -l out/release >&2
}

# An archive of programs with man pages, completions, licences, and what the balancer's needs to be installed.
archive() {
    local name=$1 target folder program shell
    shift
    target=$(rustc -vV | sed -n 's/^host: //p')
    folder=out/release/$name-$target
    rm -rf "$folder" "$folder.tar.gz"
    mkdir -p "$folder"/{bin,share/man/man1,share/completions}
    cp README.md CHANGELOG.md LICENSE "$folder"
    for program in "$@"; do
        install -m 755 "target/dist/$program" "$folder/bin/$program"
        "target/dist/$program" manual --out "$folder/share/man/man1"
        for shell in bash zsh fish; do
            "target/dist/$program" completions "$shell" >"$folder/share/completions/$program.$shell"
        done
    done
    case "$name" in heddled-*) cp -r packaging LICENSES "$folder" ;; esac
    tar --create --gzip --file "$folder.tar.gz" --owner=0 --group=0 --sort=name --mtime="@$(git log -1 --format=%ct)" \
        --directory out/release "$(basename "$folder")"
    rm -rf "$folder"
}
