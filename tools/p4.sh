# The P4 programs: what they take, and their tests. Sourced, not run.

# Versions with which the programs were compiled and tested.
P4C_KNOWN=1.2.5.16
BMV2_KNOWN=1.15.5
P4_PYTHON=target/tools/p4/bin/python
P4_PACKAGES=(pytest==9.2.0 ptf==0.12.0 pynng==0.9.0 thrift==0.25.0 finsy==0.30.0 jsonschema==4.26.0)

# The distribution's packages of p4lang, if it has them.
p4lang_packages() {
    local package
    for package in "$@"; do
        apt-cache show "$package" >/dev/null 2>&1 && as_root apt-get -q install -y --no-install-recommends "$package" >&2 || true
    done
}

setup_p4() {
    install_missing python3=python3
    python_environment target/tools/p4 "${P4_PACKAGES[@]}"
    have p4c-bm2-ss || p4lang_packages p4lang-p4c
    if ! have simple_switch || ! have simple_switch_grpc; then p4lang_packages p4lang-bmv2; fi
    say_missing_p4
}

# Says which of p4lang's programs are missing. Nothing here builds them.
say_missing_p4() {
    local program missing=()
    for program in p4c-bm2-ss p4c-barefoot simple_switch simple_switch_grpc; do
        have "$program" || missing+=("$program")
    done
    if [ ${#missing[@]} = 0 ]; then
        say "p4: all programs are here: p4c with its Tofino backend, BMv2."
        return
    fi
    say "p4: missing: ${missing[*]}. Their tests are skipped."
    say "p4: known to work: p4c $P4C_KNOWN; p4c-barefoot is p4c built with the Tofino backend"
    say "p4: known to work: BMv2 $BMV2_KNOWN with nanomsg and its Python files, as it is built by default; simple_switch_grpc is BMv2 built with PI, and with Thrift for the tests"
    say "help: packages and how to build: https://github.com/p4lang/p4c#readme and https://github.com/p4lang/behavioral-model#readme;"
    say "help: container images: p4lang/p4c and p4lang/behavioral-model on Docker Hub. Then put the programs on the PATH."
}

test_p4() {
    setup_p4
    "$P4_PYTHON" -m pytest --rootdir p4 -p no:cacheprovider -q -rs --junitxml "$JUNIT/p4.xml" "$@" p4/test
}
