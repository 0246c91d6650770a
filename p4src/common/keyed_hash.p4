// Hashes that nobody can compute without the key: SipHash (Aumasson and Bernstein, "SipHash: a fast short-input PRF"). A CRC
// anybody can compute, and since it is linear a key xored into it changes nothing: what collided collides still.
//
// A message is words of 64 bits. Its last word has the message's length in octets in its highest octet and what is left of
// the message below, so messages of different lengths are apart under one key.

#ifndef WAYNAME_COMMON_KEYED_HASH_P4
#define WAYNAME_COMMON_KEYED_HASH_P4

#include "ids.p4"
#include "metadata.p4"

// The slot of a hash in an array whose size is a power of two.
#define SLOT(hashed, slots) ((hashed) & (bit<32>)(slots - 1))

// A hash's state is in v0 to v3. The parts below are no functions: p4c copies what a function changes in and out, and its copy
// propagation then writes each variable as an expression of those before, eight times as long with every round. What is written in
// place it leaves alone once it does not know what the variables begin as: the condition changes nothing, but p4c gives up where
// two branches meet.
#define SIP_BEGIN(key)                                              \
    bit<64> v0 = key[127:64] ^ 0x736F6D6570736575;                  \
    bit<64> v1 = key[63:0] ^ 0x646F72616E646F6D;                    \
    bit<64> v2 = key[127:64] ^ 0x6C7967656E657261;                  \
    bit<64> v3 = key[63:0] ^ 0x7465646279746573;                    \
    if (v0 == 0 && v1 == 0 && v2 == 0 && v3 == 0) {                 \
        v0 = 0;                                                     \
        v1 = 0;                                                     \
        v2 = 0;                                                     \
        v3 = 0;                                                     \
    }

#define SIP_ROUND                                                   \
    v0 = v0 + v1;                                                   \
    v2 = v2 + v3;                                                   \
    v1 = ((v1 << 13) | (v1 >> 51)) ^ v0;                            \
    v3 = ((v3 << 16) | (v3 >> 48)) ^ v2;                            \
    v0 = ((v0 << 32) | (v0 >> 32)) + v3;                            \
    v2 = v2 + v1;                                                   \
    v3 = ((v3 << 21) | (v3 >> 43)) ^ v0;                            \
    v1 = ((v1 << 17) | (v1 >> 47)) ^ v2;                            \
    v2 = (v2 << 32) | (v2 >> 32);

// A word of the message, in one round or two.
#define SIP_WORD_1(word)                                            \
    v3 = v3 ^ word;                                                 \
    SIP_ROUND                                                       \
    v0 = v0 ^ word;

#define SIP_WORD_2(word)                                            \
    v3 = v3 ^ word;                                                 \
    SIP_ROUND                                                       \
    SIP_ROUND                                                       \
    v0 = v0 ^ word;

// Behind the last word: three rounds, or four of what goes out.
#define SIP_END_3                                                   \
    v2 = v2 ^ 0xFF;                                                 \
    SIP_ROUND                                                       \
    SIP_ROUND                                                       \
    SIP_ROUND

#define SIP_END_4                                                   \
    SIP_ROUND                                                       \
    SIP_ROUND                                                       \
    SIP_ROUND                                                       \
    SIP_ROUND

// SipHash-1-3, for slots: nobody sees its results.
bit<64> slot_hash_of_word(in bit<128> key, in bit<64> word) {
    SIP_BEGIN(key)
    SIP_WORD_1(word)
    SIP_WORD_1((64w8 << 56))
    SIP_END_3
    return v0 ^ v1 ^ v2 ^ v3;
}

bit<64> slot_hash_of_address(in bit<128> key, in bit<128> address) {
    SIP_BEGIN(key)
    SIP_WORD_1(address[127:64])
    SIP_WORD_1(address[63:0])
    SIP_WORD_1((64w16 << 56))
    SIP_END_3
    return v0 ^ v1 ^ v2 ^ v3;
}

// Two addresses and what else tells a flow apart, as the last word.
bit<64> slot_hash_of_flow(in bit<128> key, in bit<128> local, in bit<128> remote, in bit<64> last) {
    SIP_BEGIN(key)
    SIP_WORD_1(local[127:64])
    SIP_WORD_1(local[63:0])
    SIP_WORD_1(remote[127:64])
    SIP_WORD_1(remote[63:0])
    SIP_WORD_1(last)
    SIP_END_3
    return v0 ^ v1 ^ v2 ^ v3;
}

// SipHash-2-4 with 128 bits, for what goes out into the world.
bit<128> secret_of_flow(in bit<128> key, in bit<128> local, in bit<128> remote, in bit<64> last) {
    SIP_BEGIN(key)
    v1 = v1 ^ 0xEE;
    SIP_WORD_2(local[127:64])
    SIP_WORD_2(local[63:0])
    SIP_WORD_2(remote[127:64])
    SIP_WORD_2(remote[63:0])
    SIP_WORD_2(last)
    v2 = v2 ^ 0xEE;
    SIP_END_4
    bit<64> first = v0 ^ v1 ^ v2 ^ v3;
    v1 = v1 ^ 0xDD;
    SIP_END_4
    return first ++ (v0 ^ v1 ^ v2 ^ v3);
}

// The keys. The controller draws them when a switch begins, and one that comes later leaves those that are there: so slots are
// found again. Without keys, slots can be computed, and no nonces are drawn.
control HashKeys(inout keys_t keys) {
    @id(SET_HASH_KEYS_ACTION_ID)
    @name("set_hash_keys")
    @brief("Secrets of this switch since it began: for slots, and for nonces.")
    action set_hash_keys(@id(1) bit<128> slots, @id(2) bit<128> nonces) {
        keys.slots = slots;
        keys.nonces = nonces;
    }

    @id(NO_HASH_KEYS_ACTION_ID)
    @name("no_hash_keys")
    action no_hash_keys() {
        keys.slots = 0;
        keys.nonces = 0;
    }

    @id(HASH_KEYS_TABLE_ID)
    @name("hash_keys")
    @brief("The secrets behind slots and nonces: a default action alone.")
    table hash_keys {
        actions = {
            set_hash_keys;
            no_hash_keys;
        }
        default_action = no_hash_keys;
    }

    apply {
        hash_keys.apply();
    }
}

#endif
