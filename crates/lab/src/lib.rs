//! Network namespaces with MPTCP hosts in them, for tests and demonstrations.
