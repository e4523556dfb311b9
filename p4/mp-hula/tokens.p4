/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of MPTCP: the top 32 bits of a key's hash, SHA-1 in version 0 (RFC 6824), SHA-256 in version 1 (RFC 8684); both FIPS
 * 180-4.
 *
 * A key is one block. The message schedule is a register that is shifted by a word each round: its first word is the round's. So
 * are SHA-256's constants. Rounds are loops of one action, which BMv2 runs as such; a pipeline of fixed stages takes a stage or
 * more for each round. */

/* With what the round's function gives, and its constant. */
#define SHA1_ROUND(mixed, constant)                                                                                                     \
    meta.scheme.sum = (meta.scheme.a[26:0] ++ meta.scheme.a[31:27]) + (mixed) + meta.scheme.e + constant + meta.scheme.words[511:480];    \
    meta.scheme.next = meta.scheme.words[511:480] ^ meta.scheme.words[447:416] ^ meta.scheme.words[255:224] ^ meta.scheme.words[95:64];   \
    meta.scheme.words = meta.scheme.words[479:0] ++ meta.scheme.next[30:0] ++ meta.scheme.next[31:31];                                    \
    meta.scheme.e = meta.scheme.d;                                                                                                        \
    meta.scheme.d = meta.scheme.c;                                                                                                        \
    meta.scheme.c = meta.scheme.b[1:0] ++ meta.scheme.b[31:2];                                                                            \
    meta.scheme.b = meta.scheme.a;                                                                                                        \
    meta.scheme.a = meta.scheme.sum;

#define WORD_1 meta.scheme.words[479:448]
#define WORD_14 meta.scheme.words[63:32]
#define ROTATE_3(x, i, j, k) ((x[i:0] ++ x[31:i + 1]) ^ (x[j:0] ++ x[31:j + 1]) ^ (x[k:0] ++ x[31:k + 1]))

/* The tokens of both keys. */
control Tokens(inout metadata_t meta) {
    bit<64> mptcp_key = 0;
    bit<2048> constants = 0;
    bit<8> number = 0;
    bit<8> round = 0;

    action sha1() {
        mptcp_key = meta.key_b;
        for (number = 0; number < 2; number = number + 1) {
            meta.scheme.words = mptcp_key ++ 32w0x80000000 ++ 416w64;
            meta.scheme.a = 0x67452301;
            meta.scheme.b = 0xefcdab89;
            meta.scheme.c = 0x98badcfe;
            meta.scheme.d = 0x10325476;
            meta.scheme.e = 0xc3d2e1f0;
            for (round = 0; round < 20; round = round + 1) {
                SHA1_ROUND(meta.scheme.d ^ (meta.scheme.b & (meta.scheme.c ^ meta.scheme.d)), 0x5a827999)
            }
            for (round = 0; round < 20; round = round + 1) {
                SHA1_ROUND(meta.scheme.b ^ meta.scheme.c ^ meta.scheme.d, 0x6ed9eba1)
            }
            for (round = 0; round < 20; round = round + 1) {
                SHA1_ROUND((meta.scheme.b & meta.scheme.c) | (meta.scheme.d & (meta.scheme.b | meta.scheme.c)), 0x8f1bbcdc)
            }
            for (round = 0; round < 20; round = round + 1) {
                SHA1_ROUND(meta.scheme.b ^ meta.scheme.c ^ meta.scheme.d, 0xca62c1d6)
            }
            meta.scheme.token_b = meta.scheme.token_a;
            meta.scheme.token_a = meta.scheme.a + 0x67452301;
            mptcp_key = meta.key_a;
        }
    }

    action sha256() {
        mptcp_key = meta.key_b;
        for (number = 0; number < 2; number = number + 1) {
            meta.scheme.words = mptcp_key ++ 32w0x80000000 ++ 416w64;
            constants =
                512w0x428a2f9871374491b5c0fbcfe9b5dba53956c25b59f111f1923f82a4ab1c5ed5d807aa9812835b01243185be550c7dc372be5d7480deb1fe9bdc06a7c19bf174 ++
                512w0xe49b69c1efbe47860fc19dc6240ca1cc2de92c6f4a7484aa5cb0a9dc76f988da983e5152a831c66db00327c8bf597fc7c6e00bf3d5a7914706ca635114292967 ++
                512w0x27b70a852e1b21384d2c6dfc53380d13650a7354766a0abb81c2c92e92722c85a2bfe8a1a81a664bc24b8b70c76c51a3d192e819d6990624f40e3585106aa070 ++
                512w0x19a4c1161e376c082748774c34b0bcb5391c0cb34ed8aa4a5b9cca4f682e6ff3748f82ee78a5636f84c878148cc7020890befffaa4506cebbef9a3f7c67178f2;
            meta.scheme.a = 0x6a09e667;
            meta.scheme.b = 0xbb67ae85;
            meta.scheme.c = 0x3c6ef372;
            meta.scheme.d = 0xa54ff53a;
            meta.scheme.e = 0x510e527f;
            meta.scheme.f = 0x9b05688c;
            meta.scheme.g = 0x1f83d9ab;
            meta.scheme.h = 0x5be0cd19;
            for (round = 0; round < 64; round = round + 1) {
                meta.scheme.sum = meta.scheme.h + constants[2047:2016] + meta.scheme.words[511:480]
                    + ROTATE_3(meta.scheme.e, 5, 10, 24) + (meta.scheme.g ^ (meta.scheme.e & (meta.scheme.f ^ meta.scheme.g)));
                meta.scheme.next = meta.scheme.words[511:480] + meta.scheme.words[223:192]
                    + ((WORD_1[6:0] ++ WORD_1[31:7]) ^ (WORD_1[17:0] ++ WORD_1[31:18]) ^ (WORD_1 >> 3))
                    + ((WORD_14[16:0] ++ WORD_14[31:17]) ^ (WORD_14[18:0] ++ WORD_14[31:19]) ^ (WORD_14 >> 10));
                meta.scheme.words = meta.scheme.words[479:0] ++ meta.scheme.next;
                constants = constants[2015:0] ++ 32w0;
                meta.scheme.h = meta.scheme.g;
                meta.scheme.g = meta.scheme.f;
                meta.scheme.f = meta.scheme.e;
                meta.scheme.e = meta.scheme.d + meta.scheme.sum;
                meta.scheme.sum = meta.scheme.sum + ROTATE_3(meta.scheme.a, 1, 12, 21)
                    + ((meta.scheme.a & meta.scheme.b) | (meta.scheme.c & (meta.scheme.a | meta.scheme.b)));
                meta.scheme.d = meta.scheme.c;
                meta.scheme.c = meta.scheme.b;
                meta.scheme.b = meta.scheme.a;
                meta.scheme.a = meta.scheme.sum;
            }
            meta.scheme.token_b = meta.scheme.token_a;
            meta.scheme.token_a = meta.scheme.a + 0x6a09e667;
            mptcp_key = meta.key_a;
        }
    }

    apply {
        if (meta.mptcp_version == 0) {
            sha1();
        } else {
            sha256();
        }
    }
}
