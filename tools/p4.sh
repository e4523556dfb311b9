# The P4 programs: what they take, and their tests. Sourced, not run.

# Versions with which the programs were compiled and tested.
P4C_KNOWN=1.2.5.16
BMV2_KNOWN=1.15.5
P4_PYTHON=target/tools/p4/bin/python
P4_PACKAGES=(ptf==0.12.0 pynng==0.9.0 thrift==0.25.0)

# A Python environment with the packages $2... in a folder of target/tools, unless it is there.
python_environment() {
    local folder=$1 package
    shift
    python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
    [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
    for package in "$@"; do
        "$folder/bin/pip" show --quiet --disable-pip-version-check "${package%==*}" 2>/dev/null ||
            "$folder/bin/pip" install --quiet --disable-pip-version-check "$package"
    done
}

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
    have simple_switch || p4lang_packages p4lang-bmv2
    say_missing_p4
}

# Says which of p4lang's programs are missing. Nothing here builds them.
say_missing_p4() {
    local program missing=()
    for program in p4c-bm2-ss p4c-barefoot simple_switch; do
        have "$program" || missing+=("$program")
    done
    [ ${#missing[@]} = 0 ] && return
    say "p4: missing: ${missing[*]}. Their tests are skipped."
    say "p4: known to work: p4c $P4C_KNOWN (p4c-bm2-ss; with the Tofino backend p4c-barefoot), BMv2 $BMV2_KNOWN (simple_switch, with its Python files)."
    say "help: packages and how to build: https://github.com/p4lang/p4c#readme and https://github.com/p4lang/behavioral-model#readme;"
    say "help: container images: p4lang/p4c and p4lang/behavioral-model on Docker Hub. Then put the programs on the PATH."
}

test_p4() {
    setup_p4
    "$P4_PYTHON" p4/test/run.py
}
