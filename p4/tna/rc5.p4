/* SPDX-License-Identifier: Apache-2.0 */
/* Two rounds of RC5's decryption with 16-bit words (Rivest, FSE 1994), in nine stages: a rotation by a variable is a table of
 * rotations by constants, and a word's key is subtracted while the other word is worked on. */

#define ROTATE(word, n) state.word = state.word[n - 1:0] ++ state.word[15:n];

struct round_keys_t {
    bit<16> first;
    bit<16> second;
    bit<16> third;
    bit<16> fourth;
}

control Rounds(inout bridge_t state, inout round_keys_t keys) {
    action left_1() { ROTATE(left, 1) }
    action left_2() { ROTATE(left, 2) }
    action left_3() { ROTATE(left, 3) }
    action left_4() { ROTATE(left, 4) }
    action left_5() { ROTATE(left, 5) }
    action left_6() { ROTATE(left, 6) }
    action left_7() { ROTATE(left, 7) }
    action left_8() { ROTATE(left, 8) }
    action left_9() { ROTATE(left, 9) }
    action left_10() { ROTATE(left, 10) }
    action left_11() { ROTATE(left, 11) }
    action left_12() { ROTATE(left, 12) }
    action left_13() { ROTATE(left, 13) }
    action left_14() { ROTATE(left, 14) }
    action left_15() { ROTATE(left, 15) }

    action right_1() { ROTATE(right, 1) }
    action right_2() { ROTATE(right, 2) }
    action right_3() { ROTATE(right, 3) }
    action right_4() { ROTATE(right, 4) }
    action right_5() { ROTATE(right, 5) }
    action right_6() { ROTATE(right, 6) }
    action right_7() { ROTATE(right, 7) }
    action right_8() { ROTATE(right, 8) }
    action right_9() { ROTATE(right, 9) }
    action right_10() { ROTATE(right, 10) }
    action right_11() { ROTATE(right, 11) }
    action right_12() { ROTATE(right, 12) }
    action right_13() { ROTATE(right, 13) }
    action right_14() { ROTATE(right, 14) }
    action right_15() { ROTATE(right, 15) }

    table rotate_right {
        key = {
            state.left[3:0]: exact;
        }
        actions = {
            right_1;
            right_2;
            right_3;
            right_4;
            right_5;
            right_6;
            right_7;
            right_8;
            right_9;
            right_10;
            right_11;
            right_12;
            right_13;
            right_14;
            right_15;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        const entries = {
            1: right_1();
            2: right_2();
            3: right_3();
            4: right_4();
            5: right_5();
            6: right_6();
            7: right_7();
            8: right_8();
            9: right_9();
            10: right_10();
            11: right_11();
            12: right_12();
            13: right_13();
            14: right_14();
            15: right_15();
        }
    }

    table rotate_left {
        key = {
            state.right[3:0]: exact;
        }
        actions = {
            left_1;
            left_2;
            left_3;
            left_4;
            left_5;
            left_6;
            left_7;
            left_8;
            left_9;
            left_10;
            left_11;
            left_12;
            left_13;
            left_14;
            left_15;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        const entries = {
            1: left_1();
            2: left_2();
            3: left_3();
            4: left_4();
            5: left_5();
            6: left_6();
            7: left_7();
            8: left_8();
            9: left_9();
            10: left_10();
            11: left_11();
            12: left_12();
            13: left_13();
            14: left_14();
            15: left_15();
        }
    }

    table rotate_right_again {
        key = {
            state.left[3:0]: exact;
        }
        actions = {
            right_1;
            right_2;
            right_3;
            right_4;
            right_5;
            right_6;
            right_7;
            right_8;
            right_9;
            right_10;
            right_11;
            right_12;
            right_13;
            right_14;
            right_15;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        const entries = {
            1: right_1();
            2: right_2();
            3: right_3();
            4: right_4();
            5: right_5();
            6: right_6();
            7: right_7();
            8: right_8();
            9: right_9();
            10: right_10();
            11: right_11();
            12: right_12();
            13: right_13();
            14: right_14();
            15: right_15();
        }
    }

    table rotate_left_again {
        key = {
            state.right[3:0]: exact;
        }
        actions = {
            left_1;
            left_2;
            left_3;
            left_4;
            left_5;
            left_6;
            left_7;
            left_8;
            left_9;
            left_10;
            left_11;
            left_12;
            left_13;
            left_14;
            left_15;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        const entries = {
            1: left_1();
            2: left_2();
            3: left_3();
            4: left_4();
            5: left_5();
            6: left_6();
            7: left_7();
            8: left_8();
            9: left_9();
            10: left_10();
            11: left_11();
            12: left_12();
            13: left_13();
            14: left_14();
            15: left_15();
        }
    }

    action begin() {
        state.right = state.right - keys.first;
    }

    action add_left() {
        state.right = state.right ^ state.left;
        state.left = state.left - keys.second;
    }

    action add_right() {
        state.left = state.left ^ state.right;
        state.right = state.right - keys.third;
    }

    action add_left_again() {
        state.right = state.right ^ state.left;
        state.left = state.left - keys.fourth;
    }

    action end() {
        state.left = state.left ^ state.right;
    }

    apply {
        begin();
        rotate_right.apply();
        add_left();
        rotate_left.apply();
        add_right();
        rotate_right_again.apply();
        add_left_again();
        rotate_left_again.apply();
        end();
    }
}

/* The keys of the next two rounds; of the last pass, the two that are subtracted at the end. */
control RoundKeys(in bit<8> rounds, inout round_keys_t keys) {
    action set_keys(bit<16> first, bit<16> second, bit<16> third, bit<16> fourth) {
        keys.first = first;
        keys.second = second;
        keys.third = third;
        keys.fourth = fourth;
    }

    table round_keys {
        key = {
            rounds: exact;
        }
        actions = {
            set_keys;
        }
        default_action = set_keys(0, 0, 0, 0);
        size = 16;
    }

    apply {
        round_keys.apply();
    }
}
