// Transports over ILNP count identifiers only (RFC 6744, section 3), ICMPv6 whole addresses. A host that knows nothing
// of ILNP counts whole addresses in all: its checksums change with the locators.

#ifndef WAYNAME_ILNP_CHECKSUMS_P4
#define WAYNAME_ILNP_CHECKSUMS_P4

// The ones' complement sum of half an address.
bit<16> sum_of_half(in bit<64> half) {
    bit<32> sum = (bit<32>)half[63:48] + (bit<32>)half[47:32] + (bit<32>)half[31:16] + (bit<32>)half[15:0];
    sum = (sum & 0xFFFF) + (sum >> 16);
    return sum[15:0] + sum[31:16];
}

bit<16> sum_of_two(in bit<16> one, in bit<16> other) {
    bit<32> sum = (bit<32>)one + (bit<32>)other;
    return sum[15:0] + sum[31:16];
}

// What a packet's locators add to a checksum over whole addresses.
bit<16> sum_of_locators(in ipv6_address_t source, in ipv6_address_t destination) {
    return sum_of_two(sum_of_half(source[127:64]), sum_of_half(destination[127:64]));
}

bit<16> sum_of_addresses(in ipv6_address_t source, in ipv6_address_t destination) {
    bit<16> identifiers = sum_of_two(sum_of_half(source[63:0]), sum_of_half(destination[63:0]));
    return sum_of_two(sum_of_locators(source, destination), identifiers);
}

#endif
