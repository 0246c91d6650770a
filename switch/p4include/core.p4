// SPDX-License-Identifier: Apache-2.0

// The part of P4_16 that every architecture shares: what a parser reads from, what a deparser writes to, and the
// names the language itself speaks of.

#ifndef _CORE_P4_
#define _CORE_P4_

// A control plane sees these as numbers, so the order matters: NoError is 0.
error {
    NoError,                // All went well.
    PacketTooShort,         // extract, advance or lookahead went past the end of the packet.
    NoMatch,                // No case of a select took the value.
    StackOutOfBounds,       // A header stack has no such element.
    HeaderTooShort,         // More bits for a varbit field than it can hold.
    ParserTimeout,          // The parser went on for too long.
    ParserInvalidArgument   // A value that a parser operation does not take.
}

// The packet on its way in, with a cursor that only moves forward.
extern packet_in {
    // Fills hdr from the bits at the cursor, makes it valid and moves the cursor behind them.
    void extract<T>(out T hdr);
    // The same for a header with one varbit field, which gets variableFieldSizeInBits bits.
    void extract<T>(out T variableSizeHeader,
                    in bit<32> variableFieldSizeInBits);
    // Reads a T at the cursor and leaves the cursor where it is.
    T lookahead<T>();
    // Skips sizeInBits bits.
    void advance(in bit<32> sizeInBits);
    // The packet's length in bytes; not every target knows it.
    bit<32> length();
}

// The packet on its way out.
extern packet_out {
    // Appends hdr. An invalid header adds nothing; a struct, union or stack adds its parts in order.
    void emit<T>(in T hdr);
}

// In a parser: goes to reject with the error toSignal unless check holds.
extern void verify(in bool check, in error toSignal);

// The action that leaves all as it is; the default of a table that names none.
@noWarn("unused")
action NoAction() {}

match_kind {
    exact,      // Equal in all bits.
    ternary,    // Equal in the bits of a mask; of several entries, priority decides.
    lpm         // Equal in the first bits; of several entries, the longest prefix wins.
}

// Stops the compilation unless check, which must be known then, holds. The value is true.
extern bool static_assert(bool check, string message);
extern bool static_assert(bool check);

#endif
