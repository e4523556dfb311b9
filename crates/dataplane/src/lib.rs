//! The balancer's eBPF programs, from Linux's side: compiled, loaded, attached, and their maps as types.
