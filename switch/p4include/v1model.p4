// SPDX-License-Identifier: Apache-2.0

// The v1model architecture: parser, checksum check, ingress, egress, checksum update, deparser.
//
// Two variants. 20180101 (the default) takes bit<32> for every index. With V1MODEL_VERSION defined as 20200408 before
// the #include, counters, meters and registers take the type of their index as an argument, and ports are a PortId_t.

#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include <core.p4>

#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif

match_kind {
    range,      // Between two bounds, both included; priority decides among several entries.
    optional,   // Equal, or anything at all.
    selector    // No match: an input of the hash by which an action_selector picks a member.
}

const bit<32> __v1model_version = V1MODEL_VERSION;

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#endif

// What the architecture knows about a packet.
@metadata @name("standard_metadata")
struct standard_metadata_t {
#if V1MODEL_VERSION >= 20200408
    PortId_t    ingress_port;
    PortId_t    egress_spec;
    PortId_t    egress_port;
#else
    bit<9>      ingress_port;   // Where the packet came in.
    bit<9>      egress_spec;    // Where ingress wants it to leave.
    bit<9>      egress_port;    // Where it leaves; egress reads this one.
#endif
    bit<32>     instance_type;  // Ordinary packet, clone, replica, resubmitted or recirculated.
    bit<32>     packet_length;  // In bytes; recirculation does not change it.

    // The queue between ingress and egress; all are 0 before it.
    @alias("queueing_metadata.enq_timestamp")
    bit<32>     enq_timestamp;  // When it was put in, in microseconds.
    @alias("queueing_metadata.enq_qdepth")
    bit<19>     enq_qdepth;     // Packets in the queue at that time.
    @alias("queueing_metadata.deq_timedelta")
    bit<32>     deq_timedelta;  // Microseconds it was in the queue.
    @alias("queueing_metadata.deq_qdepth")
    bit<19>     deq_qdepth;     // Packets in the queue when it was taken out.

    @alias("intrinsic_metadata.ingress_global_timestamp")
    bit<48>     ingress_global_timestamp;   // When ingress began, in microseconds of the switch's clock.
    @alias("intrinsic_metadata.egress_global_timestamp")
    bit<48>     egress_global_timestamp;    // When egress began.
    @alias("intrinsic_metadata.mcast_grp")
    bit<16>     mcast_grp;      // Set by ingress: the multicast group that gets a replica each; 0 is none.
    @alias("intrinsic_metadata.egress_rid")
    bit<16>     egress_rid;     // Which replica of a multicast packet this is.
    bit<1>      checksum_error; // verify_checksum found a wrong one.
    error       parser_error;   // What the parser ended with.
    @alias("intrinsic_metadata.priority")
    bit<3>      priority;       // The queue it goes to; 0 is the least urgent.
}

enum CounterType {
    packets,
    bytes,
    packets_and_bytes
}

enum MeterType {
    packets,
    bytes
}

// An array of counters that the program counts up and the control plane reads.
extern counter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    counter(bit<32> size, CounterType type);

    // Counts this packet at the index; past the end nothing happens.
#if V1MODEL_VERSION >= 20200408
    void count(in I index);
#else
    void count(in bit<32> index);
#endif
}

// One counter for each entry of a table, which names it in its property `counters`.
extern direct_counter {
    direct_counter(CounterType type);
    // For the actions of that table: counts this packet. A hit counts even without the call.
    void count();
}

// What a meter says: in profile, above the committed rate, above the peak rate.
#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

// An array of two-rate three-colour meters (RFC 2698).
extern meter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    meter(bit<32> size, MeterType type);

    // Meters this packet at the index; result gets one of the three colours.
#if V1MODEL_VERSION >= 20200408
    void execute_meter<T>(in I index, out T result);
#else
    void execute_meter<T>(in bit<32> index, out T result);
#endif
}

// One meter for each entry of a table, which names it in its property `meters`.
extern direct_meter<T> {
    direct_meter(MeterType type);
    // For the actions of that table: the colour of this packet.
    void read(out T result);
}

// An array of values that stays from packet to packet.
#if V1MODEL_VERSION >= 20200408
extern register<T, I>
#else
extern register<T>
#endif
{
    register(bit<32> size);

    // Reads the value at the index; past the end the result is undefined.
    @noSideEffects
#if V1MODEL_VERSION >= 20200408
    void read(out T result, in I index);
#else
    void read(out T result, in bit<32> index);
#endif

    // Writes the value at the index; past the end nothing happens. Read and write around each other belong in an
    // @atomic block if no other packet may come between.
#if V1MODEL_VERSION >= 20200408
    void write(in I index, in T value);
#else
    void write(in bit<32> index, in T value);
#endif
}

// Actions with their data, shared by the entries of tables that name it in their property `implementation`.
extern action_profile {
    action_profile(bit<32> size);
}

// A number between lo and hi, both included, each equally likely.
extern void random<T>(out T result, in T lo, in T hi);

// Sends data to the control plane; receiver is for targets with several of them.
extern void digest<T>(in bit<32> receiver, in T data);

enum HashAlgorithm {
    crc32,
    crc32_custom,
    crc16,
    crc16_custom,
    random,
    identity,
    csum16,     // The Internet checksum (RFC 1071).
    xor16       // Exclusive or of all 16-bit words.
}

@deprecated("Please use mark_to_drop(standard_metadata) instead.")
extern void mark_to_drop();

// Makes the end of ingress or egress drop the packet, by egress_spec; a later write to that takes it back.
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

// base + (the hash of data modulo max), or base if max is 0.
@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

// An action profile with groups: a hash of the table's selector keys picks the member.
extern action_selector {
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

enum CloneType {
    I2E,    // From ingress to egress: the packet as it came in.
    E2E     // From egress to egress: the packet as it leaves.
}

@deprecated("Please use verify_checksum/update_checksum instead.")
extern Checksum16 {
    Checksum16();
    bit<16> get<D>(in D data);
}

// For the checksum check: if condition holds and checksum is not that of data, sets checksum_error.
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

// For the checksum update: if condition holds, sets checksum to that of data.
@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

// The same two over data and then the packet's payload, which is what the parser did not extract.
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

// At the end of ingress or egress, sends a copy to where the clone session says.
extern void clone(in CloneType type, in bit<32> session);

// The three that keep metadata name the fields by @field_list(index) on the user's metadata; all other user
// metadata starts afresh. Each takes effect at the end of its control, and the last call counts.

// For ingress: the packet as it came in goes to the parser once more.
@deprecated("Please use 'resubmit_preserving_field_list' instead")
extern void resubmit<T>(in T data);
extern void resubmit_preserving_field_list(bit<8> index);

// For egress: the packet as it leaves goes to the parser once more.
@deprecated("Please use 'recirculate_preserving_field_list' instead")
extern void recirculate<T>(in T data);
extern void recirculate_preserving_field_list(bit<8> index);

@deprecated("Please use 'clone_preserving_field_list' instead")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);

// Cuts the packet that leaves down to so many bytes.
extern void truncate(in bit<32> length);

// Logs an error and drops the packet if check does not hold.
extern void assert(in bool check);

// The same at run time; tools may rely on it when they reason about the program.
extern void assume(in bool check);

// Writes to the switch's log; each {} in msg stands for the next member of data.
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

parser Parser<H, M>(packet_in b,
                    out H parsedHdr,
                    inout M meta,
                    inout standard_metadata_t standard_metadata);

// Only verify_checksum and verify_checksum_with_payload are called here.
control VerifyChecksum<H, M>(inout H hdr,
                             inout M meta);

@pipeline
control Ingress<H, M>(inout H hdr,
                      inout M meta,
                      inout standard_metadata_t standard_metadata);

@pipeline
control Egress<H, M>(inout H hdr,
                     inout M meta,
                     inout standard_metadata_t standard_metadata);

// Only update_checksum and update_checksum_with_payload are called here.
control ComputeChecksum<H, M>(inout H hdr,
                              inout M meta);

// Only emit is called here.
@deparser
control Deparser<H>(packet_out b, in H hdr);

package V1Switch<H, M>(Parser<H, M> p,
                       VerifyChecksum<H, M> vr,
                       Ingress<H, M> ig,
                       Egress<H, M> eg,
                       ComputeChecksum<H, M> ck,
                       Deparser<H> dep);

#endif
