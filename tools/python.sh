# The Python package: its wheel and its tests. Sourced, not run.

MATURIN=1.16.0
ZIG=0.13.0
PYTHON_TESTS=target/tools/python

# The environment that makes wheels, with more packages.
setup_maturin() {
    install_missing python3=python3
    python_environment target/tools/maturin "maturin==$MATURIN" "$@"
}

# Makes a wheel in folder $1; the other arguments are maturin's.
make_wheel() {
    local folder=$PWD/$1 zig=''
    shift
    case " $* " in *' --zig '*) zig=ziglang==$ZIG ;; esac
    setup_maturin ${zig:+"$zig"}
    # Zig is a module of this environment's Python.
    (cd python && PATH=$OLDPWD/target/tools/maturin/bin:$PATH && maturin build --quiet --out "$folder" "$@")
}

wheel() {
    setup_simulator
    if [ "${1:-}" = portable ]; then
        shift
        # Zig links for the oldest glibc that the name of the wheel promises.
        set -- --zig --compatibility manylinux2014 "$@"
    fi
    make_wheel out/wheels --profile dist "$@"
    say "wrote out/wheels; install it: pip install out/wheels/heddle-*.whl"
}

# Names of packages hold no spaces.
# shellcheck disable=SC2046
setup_python_tests() {
    setup_maturin
    python_environment "$PYTHON_TESTS" $(cat python/tests/requirements.txt)
}

# The wheel as a user would have it, in an environment of its own, with the libraries of data frames that its tests read
# tables with.
test_python() {
    setup_simulator
    local heddle
    heddle=$(program_for_tests heddle)
    rm -rf target/wheels-for-tests
    make_wheel target/wheels-for-tests --profile dev --features as-in-tests
    setup_python_tests
    install_into "$PYTHON_TESTS" --reinstall --no-deps target/wheels-for-tests/heddle-*.whl
    (cd python && "$OLDPWD/$PYTHON_TESTS/bin/python" -m mypy --cache-dir "$OLDPWD/target/mypy")
    # From a folder without the sources, so that the installed package is the one that is tested.
    HEDDLE=$heddle "$PYTHON_TESTS/bin/python" -m pytest --rootdir python -p no:cacheprovider \
        --import-mode importlib -q -rs --junitxml "$JUNIT/python.xml" "$@" python/tests
}
