/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens by the control plane, for targets without room for the rounds of SHA-1 and SHA-256 (MP-HULA's external function): a packet of a handshake that
 * tells keys goes to the CPU port with them, comes back with the tokens, and is processed then. It is the packet itself, not a copy: a connection is known
 * before its handshake ends, as where the data plane hashes, so no join can come before it. Later segments of a client can, and
 * a server that sees one before any with keys falls back to TCP (docs/src/p4.md). */

control ConfigureTokens(inout metadata_t meta) {
    action set_controller(bit<16> port) {
        meta.scheme.controller = port;
    }

    table token_settings {
        actions = {
            set_controller;
        }
        default_action = set_controller(NO_PORT);
    }

    apply {
        token_settings.apply();
    }
}

/* A packet that the control plane sends back: as if it had just come by its own port. */
control TakeTokens(inout headers_t hdr, inout metadata_t meta) {
    action take() {
        meta.arrival = hdr.tokens.arrival;
        meta.role = hdr.tokens.role;
        meta.mptcp_version = hdr.tokens.version;
        meta.key_a = hdr.tokens.key_a;
        meta.key_b = hdr.tokens.key_b;
        meta.scheme.answered = 1;
        meta.scheme.task = hdr.tokens.task;
        meta.scheme.token_a = hdr.tokens.token_a;
        meta.scheme.token_b = hdr.tokens.token_b;
        hdr.ethernet.ether_type = hdr.tokens.ether_type;
        hdr.tokens.setInvalid();
    }

    apply {
        if (hdr.tokens.isValid() && meta.role == ROLE_CPU && hdr.tokens.answered == 1) {
            take();
        }
    }
}

control AskForTokens(inout headers_t hdr, inout metadata_t meta) {
    action ask() {
        hdr.tokens.setValid();
        hdr.tokens.ether_type = hdr.ethernet.ether_type;
        hdr.tokens.arrival = meta.arrival;
        hdr.tokens.role = meta.role;
        hdr.tokens.task = meta.scheme.task;
        hdr.tokens.version = meta.mptcp_version;
        hdr.tokens.answered = 0;
        hdr.tokens.key_a = meta.key_a;
        hdr.tokens.key_b = meta.key_b;
        hdr.tokens.token_a = 0;
        hdr.tokens.token_b = 0;
        hdr.ethernet.ether_type = ETHERTYPE_TOKENS;
        meta.port = meta.scheme.controller;
    }

    apply {
        ask();
    }
}
