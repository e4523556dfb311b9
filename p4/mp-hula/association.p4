/* SPDX-License-Identifier: Apache-2.0 */
/* Association of subflows with MPTCP connections, by the handshakes that pass a ToR (MP-HULA section 2.1). A port of
 * crates/schemes/policy/src/association.rs, which decides on what the paper leaves open. */

const bit<8> TCP_FIN = 0x01;
const bit<8> TCP_SYN = 0x02;
const bit<8> TCP_RST = 0x04;
const bit<8> TCP_ACK = 0x10;

/* The questions of a packet to the tables. */
typedef bit<8> task_t;
const task_t TASK_NONE = 0;
const task_t TASK_REMOVE = 1;     /* the 5-tuple has a new connection, or ends */
const task_t TASK_REMOVE_KEY = 2;
const task_t TASK_STORE_KEY = 3;  /* a version-0 SYN */
const task_t TASK_OPEN = 4;       /* both keys are known */
const task_t TASK_JOIN = 5;       /* a SYN with MP_JOIN */

/* From flags and option to the task. */
control ReadTask(inout headers_t hdr, inout metadata_t meta) {
    bit<24> entry = 0;
    bit<32> upper = 0;
    bit<32> lower = 0;

    /* A version-0 SYN/ACK: with the key of the SYN, the connection's keys. */
    action take_key() {
        key_entry.write(meta.scheme.key_slot, 8w0 ++ entry[15:0]);
        meta.key_b = meta.key_a;
        key_upper.read(upper, meta.scheme.key_slot);
        key_lower.read(lower, meta.scheme.key_slot);
        meta.key_a = upper ++ lower;
        meta.scheme.task = TASK_OPEN;
    }

    apply {
        meta.scheme.task = TASK_NONE;
        if (hdr.tcp.flags & TCP_RST != 0) {
            meta.scheme.task = TASK_REMOVE;
        } else if (meta.mptcp == MPTCP_CAPABLE) {
            if (hdr.tcp.flags & TCP_SYN == 0) {
                if (meta.mptcp_keys == 2) {
                    meta.scheme.task = TASK_OPEN;
                }
            } else if (hdr.tcp.flags & TCP_ACK == 0) {
                meta.scheme.task = TASK_REMOVE_KEY;
                if (meta.mptcp_keys == 1) {
                    meta.scheme.task = TASK_STORE_KEY;
                }
            } else if (meta.mptcp_keys == 1) {
                key_entry.read(entry, meta.scheme.key_slot);
                if (entry[23:16] != 0 && entry[15:0] == meta.scheme.fingerprint) {
                    take_key();
                }
            }
        } else if (hdr.tcp.flags & TCP_SYN != 0) {
            meta.scheme.task = TASK_REMOVE;
            if (hdr.tcp.flags & TCP_ACK == 0) {
                if (meta.mptcp == MPTCP_JOIN_SYN) {
                    meta.scheme.task = TASK_JOIN;
                }
            } else if (meta.mptcp != MPTCP_NONE) {
                meta.scheme.task = TASK_NONE;
            }
        }
    }
}

/* A packet that repeats what is known changes nothing. */
control IgnoreRepeated(inout metadata_t meta) {
    bit<32> a = 0;
    bit<32> b = 0;

    apply {
        a = meta.scheme.known_a;
        b = meta.scheme.known_b;
        if (meta.scheme.known == 1) {
            if (meta.scheme.task == TASK_STORE_KEY && a == meta.scheme.token_a) {
                meta.scheme.task = TASK_NONE;
            } else if (meta.scheme.task == TASK_OPEN && a == meta.scheme.token_a && b == meta.scheme.token_b) {
                meta.scheme.task = TASK_NONE;
            } else if (meta.scheme.task == TASK_JOIN && NUMBER(meta.scheme.known_entry) != 1 && (a == meta.token || b == meta.token)) {
                meta.scheme.task = TASK_NONE;
            }
        }
    }
}

control StoreKey(inout metadata_t meta) {
    bit<24> entry = 0;
    bit<64> since_when = 0;

    apply {
        key_entry.read(entry, meta.scheme.key_slot);
        key_since.read(since_when, meta.scheme.key_slot);
        if (entry[23:16] != 0 && since(meta.now, since_when) <= meta.scheme.idle_after) {
            scheme_counters.count(COUNT_TABLE_COLLISIONS);
        } else {
            key_since.write(meta.scheme.key_slot, meta.now);
            key_upper.write(meta.scheme.key_slot, meta.key_a[63:32]);
            key_lower.write(meta.scheme.key_slot, meta.key_a[31:0]);
            key_entry.write(meta.scheme.key_slot, 8w1 ++ meta.scheme.fingerprint);
        }
    }
}

/* A connection whose keys are known: its first subflow. */
control OpenConnection(inout metadata_t meta) {
    FindToken() find_a;
    FindToken() find_b;
    bit<32> known_a = 0;
    bit<32> known_b = 0;
    bit<32> free_a = 0;
    bit<32> free_b = 0;

    action store() {
        subflow_entry.write(meta.scheme.free_slot, meta.scheme.fingerprint ++ 8w1 ++ 8w1 ++ 8w0);
        subflow_token_a.write(meta.scheme.free_slot, meta.scheme.token_a);
        subflow_token_b.write(meta.scheme.free_slot, meta.scheme.token_b);
        subflow_seen.write(meta.scheme.free_slot, meta.now);
        token_next_slot.write(free_a, meta.scheme.free_slot + 1);
        token_next_slot.write(free_b, meta.scheme.free_slot + 1);
    }

    apply {
        find_a.apply(meta, meta.scheme.token_a, known_a, free_a);
        find_b.apply(meta, meta.scheme.token_b, known_b, free_b);
        if (meta.scheme.free_slot == NO_SLOT) {
            scheme_counters.count(COUNT_TABLE_COLLISIONS);
        } else if (known_a != NO_SLOT) {
            scheme_counters.count(COUNT_TOKEN_COLLISIONS);
        } else if (free_a == NO_SLOT) {
            scheme_counters.count(COUNT_TABLE_COLLISIONS);
        } else if (known_b != NO_SLOT) {
            scheme_counters.count(COUNT_TOKEN_COLLISIONS);
        } else if (free_b == NO_SLOT) {
            scheme_counters.count(COUNT_TABLE_COLLISIONS);
        } else {
            store();
            scheme_counters.count(COUNT_CONNECTIONS);
        }
    }
}

/* A further subflow of the connection with the token. After 16 numbers restart at 2. */
control Join(inout metadata_t meta) {
    FindToken() find;
    bit<32> first = 0;
    bit<32> free = 0;
    bit<40> entry = 0;
    bit<32> a = 0;
    bit<32> b = 0;
    bit<8> number = 0;

    action store() {
        subflow_token_a.read(a, first);
        subflow_token_b.read(b, first);
        subflow_entry.write(first, FINGERPRINT(entry) ++ NUMBER(entry) ++ number ++ FINS_OF(entry));
        subflow_entry.write(meta.scheme.free_slot, meta.scheme.fingerprint ++ number ++ number ++ 8w0);
        subflow_token_a.write(meta.scheme.free_slot, a);
        subflow_token_b.write(meta.scheme.free_slot, b);
        subflow_seen.write(meta.scheme.free_slot, meta.now);
    }

    apply {
        find.apply(meta, meta.token, first, free);
        if (first == NO_SLOT) {
#ifdef EXTERNAL_TOKENS
            if (meta.scheme.answered == 0) {
                meta.verdict = ASKED;
            } else
#endif
            scheme_counters.count(COUNT_UNKNOWN_TOKENS);
        } else if (meta.scheme.free_slot == NO_SLOT) {
            scheme_counters.count(COUNT_TABLE_COLLISIONS);
        } else {
            subflow_entry.read(entry, first);
            number = COUNT_OF(entry) + 1;
            if (number > SUBFLOWS) {
                number = 2;
                scheme_counters.count(COUNT_WRAPS);
            }
            store();
            scheme_counters.count(COUNT_JOINS);
        }
    }
}

/* A packet of a handshake or teardown, from or to a host of this ToR. */
control Observe(inout headers_t hdr, inout metadata_t meta) {
    FlowSlots() flow_slots;
    ReadTask() read_task;
#ifndef EXTERNAL_TOKENS
    Tokens() tokens;
#endif
    FindFlow() find_flow;
    IgnoreRepeated() ignore_repeated;
    RemoveFlow() remove_flow;
    FreeSlot() free_slot;
    StoreKey() store_key;
    OpenConnection() open_connection;
    Join() join;
    FindFlow() find_ending;
    bit<24> stored_key = 0;
    bit<8> fin = 1;

    apply {
        if (meta.is_tor == 1 && hdr.tcp.isValid()) {
            flow_slots.apply(meta);
#ifdef EXTERNAL_TOKENS
            if (meta.scheme.answered == 0) {
                read_task.apply(hdr, meta);
                if (meta.scheme.task == TASK_OPEN || meta.scheme.task == TASK_STORE_KEY) {
                    meta.scheme.copied = 1;
                    clone_preserving_field_list(CloneType.I2E, COPY_SESSION, COPY_FIELDS);
                }
            } else if (meta.scheme.task != TASK_JOIN) {
                meta.verdict = OBSERVED;
            }
        }
        if (meta.is_tor == 1 && hdr.tcp.isValid() && meta.scheme.copied == 0) {
#else
            read_task.apply(hdr, meta);
            if (meta.scheme.task == TASK_OPEN || meta.scheme.task == TASK_STORE_KEY) {
                tokens.apply(meta);
            }
#endif
            if (meta.scheme.task == TASK_OPEN || meta.scheme.task == TASK_STORE_KEY || meta.scheme.task == TASK_JOIN) {
                find_flow.apply(meta);
                ignore_repeated.apply(meta);
            }
            if (meta.scheme.task != TASK_NONE) {
                key_entry.read(stored_key, meta.scheme.key_slot);
                if (stored_key[15:0] == meta.scheme.fingerprint) {
                    key_entry.write(meta.scheme.key_slot, 8w0 ++ stored_key[15:0]);
                }
                if (meta.scheme.task != TASK_REMOVE_KEY) {
                    remove_flow.apply(meta);
                }
            }
            if (meta.scheme.task == TASK_STORE_KEY) {
                store_key.apply(meta);
            } else if (meta.scheme.task == TASK_OPEN || meta.scheme.task == TASK_JOIN) {
                free_slot.apply(meta);
                if (meta.scheme.task == TASK_OPEN) {
                    open_connection.apply(meta);
                } else {
                    join.apply(meta);
                }
            }
            if (hdr.tcp.flags & TCP_FIN != 0 && hdr.tcp.flags & TCP_RST == 0) {
                find_ending.apply(meta);
                if (meta.scheme.known == 1) {
                    if (meta.role != ROLE_HOST) {
                        fin = 2;
                    }
                    subflow_entry.write(meta.scheme.known_slot, meta.scheme.known_entry | (bit<40>)fin);
                }
            }
        }
    }
}

/* The shim of a packet from a host: none for plain TCP and for a connection with one subflow. Refreshes the entry. */
control ReadShim(inout metadata_t meta) {
    FlowSlots() flow_slots;
    FindFlow() find_flow;

    apply {
        flow_slots.apply(meta);
        find_flow.apply(meta);
        if (meta.scheme.known == 1) {
            subflow_seen.write(meta.scheme.known_slot, meta.now);
            if (COUNT_OF(meta.scheme.known_entry) > 1) {
                meta.scheme.shim_id = meta.scheme.known_a ++ meta.scheme.known_b;
                meta.scheme.shim_subflow = NUMBER(meta.scheme.known_entry);
                scheme_counters.count(COUNT_SHIMS);
            }
        }
    }
}
