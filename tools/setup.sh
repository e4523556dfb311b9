# The requirements of building, testing and checking. Each function installs what is missing, or says what to install.
# Sourced, not run.

# Rust alone, and on Linux a C linker: the simulator.
setup_simulator() {
    use_cargo_path
    [ "$(uname -s)" != Linux ] || install_missing cc=gcc cc=libc6-dev
    rust_is_new_enough && return
    install_rust || true
    rust_is_new_enough && return
    fail "Rust $(workspace_value rust-version) or newer is needed." "install it from https://rustup.rs, then run this again."
}

# The balancer's eBPF programs are C; clang brings the libclang that makes Rust's types of their header. protoc makes
# the messages of the etcd client.
setup_balancer() {
    setup_simulator
    install_missing clang=clang /usr/include/bpf/bpf_helpers.h=libbpf-dev protoc=protobuf-compiler \
        /usr/include/google/protobuf/descriptor.proto=libprotobuf-dev
}

# The programs that tests run; most of them in network namespaces, where root is needed.
setup_tests() {
    setup_balancer
    install_missing ip=iproute2 bridge=iproute2 tc=iproute2 nstat=iproute2 nsenter=util-linux sysctl=procps ethtool=ethtool \
        tcpdump=tcpdump tshark=tshark curl=curl ping=iputils-ping /usr/sbin/bird=bird2 vtysh=frr etcd=etcd-server etcdctl=etcd-client promtool=prometheus
    setup_cargo_tools
}

# The programs that `./x lint` runs beside cargo.
setup_lint() {
    setup_balancer
    install_missing clang-format=clang-format shellcheck=shellcheck python3=python3 promtool=prometheus g++=g++ \
        /usr/include/ns3/core-module.h=libns3-dev
    setup_cargo_tools
}

# Whether cargo is there and new enough for this workspace.
rust_is_new_enough() {
    have cargo || return 1
    local minor wanted
    minor=$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
    wanted=$(workspace_value rust-version)
    [ "${minor:-0}" -ge "${wanted#1.}" ]
}

# By rustup: the one that is there, the distribution's, or its own installer.
install_rust() {
    if ! have rustup && have apt-get && apt-cache show rustup >/dev/null 2>&1; then
        install_packages rustup
    fi
    say "installing Rust (stable) with rustup, for this user"
    if have rustup; then
        rustup toolchain install stable --profile minimal --component rustfmt --component clippy >&2
        rustup default stable >&2
    else
        have curl || install_packages curl ca-certificates
        curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
            sh -s -- -y --profile minimal --component rustfmt --component clippy >&2
    fi
    use_cargo_path
}
