/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens by the control plane, for targets without room for the rounds of SHA-1 and SHA-256 (MP-HULA's external function). A
 * packet of a handshake that tells keys goes its way, and a copy goes to the CPU port with the keys, comes back with the tokens,
 * changes the tables and ends: no later segment can overtake it. A join by a token that is not known yet goes to the CPU port
 * itself, once: the answers that are on their way come back before it. Nothing of its subflow follows a SYN until it is
 * answered. */

#define COPY_SESSION 1 /* of mirroring: the CPU port */
const bit<32> INGRESS_COPY = 1; /* v1model's instance_type of a copy */

/* A packet that the control plane sends back: as if it came by its own port. */
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
        meta.port = meta.controller;
    }

    apply {
        ask();
    }
}
