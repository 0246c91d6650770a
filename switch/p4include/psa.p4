// SPDX-License-Identifier: Apache-2.0

// The Portable Switch Architecture 1.2: ingress parser, ingress, ingress deparser, packet replication, queues, egress
// parser, egress, egress deparser. Widths are those of BMv2's psa_switch.

#ifndef _PSA_P4_
#define _PSA_P4_

#include <core.p4>

// A value of a ..._t has a type of its own, which the control plane may translate; its ...Uint_t is plain bits.
typedef bit<32> PortIdUint_t;
typedef bit<32> MulticastGroupUint_t;
typedef bit<16> CloneSessionIdUint_t;
typedef bit<8>  ClassOfServiceUint_t;
typedef bit<16> PacketLengthUint_t;
typedef bit<16> EgressInstanceUint_t;
typedef bit<64> TimestampUint_t;

@p4runtime_translation("p4.org/psa/v1/PortId_t", 32)
type PortIdUint_t         PortId_t;
@p4runtime_translation("p4.org/psa/v1/MulticastGroup_t", 32)
type MulticastGroupUint_t MulticastGroup_t;
@p4runtime_translation("p4.org/psa/v1/CloneSessionId_t", 16)
type CloneSessionIdUint_t CloneSessionId_t;
@p4runtime_translation("p4.org/psa/v1/ClassOfService_t", 8)
type ClassOfServiceUint_t ClassOfService_t;
@p4runtime_translation("p4.org/psa/v1/PacketLength_t", 16)
type PacketLengthUint_t   PacketLength_t;
@p4runtime_translation("p4.org/psa/v1/EgressInstance_t", 16)
type EgressInstanceUint_t EgressInstance_t;
@p4runtime_translation("p4.org/psa/v1/Timestamp_t", 64)
type TimestampUint_t      Timestamp_t;
typedef error ParserError_t;

const PortId_t PSA_PORT_RECIRCULATE = (PortId_t) 0xfffffffa;    // Egress to it goes back to ingress.
const PortId_t PSA_PORT_CPU = (PortId_t) 0xfffffffd;            // The controller.

const CloneSessionId_t PSA_CLONE_SESSION_TO_CPU = (CloneSessionId_t) 0;

// The same values as fields of headers that go to the controller: their widths are alike for all targets.
typedef bit<32> PortIdInHeaderUint_t;
typedef bit<32> MulticastGroupInHeaderUint_t;
typedef bit<16> CloneSessionIdInHeaderUint_t;
typedef bit<8>  ClassOfServiceInHeaderUint_t;
typedef bit<16> PacketLengthInHeaderUint_t;
typedef bit<16> EgressInstanceInHeaderUint_t;
typedef bit<64> TimestampInHeaderUint_t;

@p4runtime_translation("p4.org/psa/v1/PortIdInHeader_t", 32)
type PortIdInHeaderUint_t         PortIdInHeader_t;
@p4runtime_translation("p4.org/psa/v1/MulticastGroupInHeader_t", 32)
type MulticastGroupInHeaderUint_t MulticastGroupInHeader_t;
@p4runtime_translation("p4.org/psa/v1/CloneSessionIdInHeader_t", 16)
type CloneSessionIdInHeaderUint_t CloneSessionIdInHeader_t;
@p4runtime_translation("p4.org/psa/v1/ClassOfServiceInHeader_t", 8)
type ClassOfServiceInHeaderUint_t ClassOfServiceInHeader_t;
@p4runtime_translation("p4.org/psa/v1/PacketLengthInHeader_t", 16)
type PacketLengthInHeaderUint_t   PacketLengthInHeader_t;
@p4runtime_translation("p4.org/psa/v1/EgressInstanceInHeader_t", 16)
type EgressInstanceInHeaderUint_t EgressInstanceInHeader_t;
@p4runtime_translation("p4.org/psa/v1/TimestampInHeader_t", 64)
type TimestampInHeaderUint_t      TimestampInHeader_t;

#define PSA_CONVERSIONS(NAME)                                                                       \
NAME##_t psa_##NAME##_header_to_int(in NAME##InHeader_t x) {                                        \
    return (NAME##_t) (NAME##Uint_t) (NAME##InHeaderUint_t) x;                                      \
}                                                                                                   \
NAME##InHeader_t psa_##NAME##_int_to_header(in NAME##_t x) {                                        \
    return (NAME##InHeader_t) (NAME##InHeaderUint_t) (NAME##Uint_t) x;                              \
}

PSA_CONVERSIONS(PortId)
PSA_CONVERSIONS(MulticastGroup)
PSA_CONVERSIONS(CloneSessionId)
PSA_CONVERSIONS(ClassOfService)
PSA_CONVERSIONS(PacketLength)
PSA_CONVERSIONS(EgressInstance)
PSA_CONVERSIONS(Timestamp)

#undef PSA_CONVERSIONS

match_kind {
    range,      // Between two bounds, both included; priority decides among several entries.
    selector,   // No match: an input of the hash by which an ActionSelector picks a member.
    optional    // Equal, or anything at all.
}

// For the table property psa_idle_timeout.
enum PSA_IdleTimeout_t {
    NO_TIMEOUT,
    NOTIFY_CONTROL
}

// How a packet came to where it is.
enum PSA_PacketPath_t {
    NORMAL,             // Ingress: from a port.
    NORMAL_UNICAST,     // Egress: sent by ingress to one port.
    NORMAL_MULTICAST,   // Egress: one of the copies for a multicast group.
    CLONE_I2E,          // Egress: a clone of what ingress received.
    CLONE_E2E,          // Egress: a clone of what egress sent.
    RESUBMIT,           // Ingress: received once, looked at again.
    RECIRCULATE         // Ingress: egress sent it to PSA_PORT_RECIRCULATE.
}

struct psa_ingress_parser_input_metadata_t {
    PortId_t         ingress_port;
    PSA_PacketPath_t packet_path;
}

struct psa_egress_parser_input_metadata_t {
    PortId_t         egress_port;
    PSA_PacketPath_t packet_path;
}

struct psa_ingress_input_metadata_t {
    PortId_t         ingress_port;
    PSA_PacketPath_t packet_path;
    Timestamp_t      ingress_timestamp; // Microseconds of the switch's clock.
    ParserError_t    parser_error;
}

// What ingress wants done; the initial values are at the right.
struct psa_ingress_output_metadata_t {
    ClassOfService_t class_of_service;  // 0
    bool             clone;             // false
    CloneSessionId_t clone_session_id;  // undefined
    bool             drop;              // true
    bool             resubmit;          // false
    MulticastGroup_t multicast_group;   // 0
    PortId_t         egress_port;       // undefined
}

struct psa_egress_input_metadata_t {
    ClassOfService_t class_of_service;
    PortId_t         egress_port;
    PSA_PacketPath_t packet_path;
    EgressInstance_t instance;          // Which copy for a multicast group or clone session it is.
    Timestamp_t      egress_timestamp;  // Microseconds of the switch's clock.
    ParserError_t    parser_error;
}

struct psa_egress_deparser_input_metadata_t {
    PortId_t egress_port;
}

// What egress wants done; the initial values are at the right.
struct psa_egress_output_metadata_t {
    bool             clone;             // false
    CloneSessionId_t clone_session_id;  // undefined
    bool             drop;              // false
}

// For the deparsers, which may write each kind of metadata only if there will be such a packet: whether there will.
@pure
extern bool psa_clone_i2e(in psa_ingress_output_metadata_t istd);
@pure
extern bool psa_resubmit(in psa_ingress_output_metadata_t istd);
@pure
extern bool psa_normal(in psa_ingress_output_metadata_t istd);
@pure
extern bool psa_clone_e2e(in psa_egress_output_metadata_t istd);
@pure
extern bool psa_recirculate(in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd);

// Logs an error and drops the packet if check does not hold.
extern void assert(in bool check);
// The same at run time; tools may rely on it when they reason about the program.
extern void assume(in bool check);

// To one port. Whether the packet is cloned or resubmitted stays as it is, here and below.
@noWarn("unused")
action send_to_port(inout psa_ingress_output_metadata_t meta, in PortId_t egress_port) {
    meta.drop = false;
    meta.multicast_group = (MulticastGroup_t) 0;
    meta.egress_port = egress_port;
}

// To each member of a group.
@noWarn("unused")
action multicast(inout psa_ingress_output_metadata_t meta, in MulticastGroup_t multicast_group) {
    meta.drop = false;
    meta.multicast_group = multicast_group;
}

// To nowhere, and no resubmit.
@noWarn("unused")
action ingress_drop(inout psa_ingress_output_metadata_t meta) {
    meta.drop = true;
}

@noWarn("unused")
action egress_drop(inout psa_egress_output_metadata_t meta) {
    meta.drop = true;
}

// The two engines between the pipelines have no methods: the control plane programs them.
extern PacketReplicationEngine {
    PacketReplicationEngine();
}

extern BufferingQueueingEngine {
    BufferingQueueingEngine();
}

enum PSA_HashAlgorithm_t {
    IDENTITY,
    CRC32,
    CRC32_CUSTOM,
    CRC16,
    CRC16_CUSTOM,
    ONES_COMPLEMENT16,  // The Internet checksum (RFC 1071).
    TARGET_DEFAULT      // CRC16 here.
}

extern Hash<O> {
    Hash(PSA_HashAlgorithm_t algo);

    // The hash of data.
    @pure
    O get_hash<D>(in D data);

    // base + (the hash of data modulo max), or base if max is 0.
    @pure
    O get_hash<T, D>(in T base, in D data, in T max);
}

// A checksum over all that update was given. It starts afresh with each run of the parser or control that holds it.
extern Checksum<W> {
    Checksum(PSA_HashAlgorithm_t hash);
    void clear();
    void update<T>(in T data);
    @noSideEffects
    W get();
}

// The Internet checksum, from which data can be taken away again (RFC 1624). Data has a multiple of 16 bits.
extern InternetChecksum {
    InternetChecksum();
    void clear();
    void add<T>(in T data);
    void subtract<T>(in T data);
    @noSideEffects
    bit<16> get();
    // The sum so far, for a later set_state of this object or another.
    @noSideEffects
    bit<16> get_state();
    void set_state(in bit<16> checksum_state);
}

enum PSA_CounterType_t {
    PACKETS,
    BYTES,
    PACKETS_AND_BYTES
}

// An array of counters that the program counts up and the control plane reads. W is how wide they are, at least.
@noWarn("unused")
extern Counter<W, S> {
    Counter(bit<32> n_counters, PSA_CounterType_t type);
    // Counts this packet at the index; past the end nothing happens.
    void count(in S index);
}

// One counter for each entry of a table, which names it in its property psa_direct_counter.
@noWarn("unused")
extern DirectCounter<W> {
    DirectCounter(PSA_CounterType_t type);
    void count();
}

enum PSA_MeterType_t {
    PACKETS,
    BYTES
}

enum PSA_MeterColor_t { RED, GREEN, YELLOW }

// An array of two-rate three-colour meters (RFC 2698). With a colour, that is what the packet had before.
extern Meter<S> {
    Meter(bit<32> n_meters, PSA_MeterType_t type);
    PSA_MeterColor_t execute(in S index, in PSA_MeterColor_t color);
    PSA_MeterColor_t execute(in S index);
}

// One meter for each entry of a table, which names it in its property psa_direct_meter.
extern DirectMeter {
    DirectMeter(PSA_MeterType_t type);
    PSA_MeterColor_t execute(in PSA_MeterColor_t color);
    PSA_MeterColor_t execute();
}

// An array of values that stays from packet to packet.
extern Register<T, S> {
    Register(bit<32> size);
    // All of them begin with the value.
    Register(bit<32> size, T initial_value);

    @noSideEffects
    T read(in S index);
    void write(in S index, in T value);
}

// Numbers between min and max, both included, each equally likely.
extern Random<T> {
    Random(T min, T max);
    T read();
}

// Actions with their data, shared by the entries of tables that name it in their property psa_implementation.
extern ActionProfile {
    ActionProfile(bit<32> size);
}

// An action profile with groups: a hash of the table's selector keys picks the member.
extern ActionSelector {
    ActionSelector(PSA_HashAlgorithm_t algo, bit<32> size, bit<32> outputWidth);
}

// Data for the control plane.
extern Digest<T> {
    Digest();
    void pack(in T data);
}

// H is a pipeline's headers, M its metadata. The others go with a packet from one pipeline to the next: RESUBM with a
// resubmitted one, RECIRCM with a recirculated one, NM with an ordinary one, CI2EM and CE2EM with clones of ingress and
// of egress.
parser IngressParser<H, M, RESUBM, RECIRCM>(
    packet_in buffer,
    out H parsed_hdr,
    inout M user_meta,
    in psa_ingress_parser_input_metadata_t istd,
    in RESUBM resubmit_meta,
    in RECIRCM recirculate_meta);

control Ingress<H, M>(
    inout H hdr,
    inout M user_meta,
    in psa_ingress_input_metadata_t istd,
    inout psa_ingress_output_metadata_t ostd);

control IngressDeparser<H, M, CI2EM, RESUBM, NM>(
    packet_out buffer,
    out CI2EM clone_i2e_meta,
    out RESUBM resubmit_meta,
    out NM normal_meta,
    inout H hdr,
    in M meta,
    in psa_ingress_output_metadata_t istd);

parser EgressParser<H, M, NM, CI2EM, CE2EM>(
    packet_in buffer,
    out H parsed_hdr,
    inout M user_meta,
    in psa_egress_parser_input_metadata_t istd,
    in NM normal_meta,
    in CI2EM clone_i2e_meta,
    in CE2EM clone_e2e_meta);

control Egress<H, M>(
    inout H hdr,
    inout M user_meta,
    in psa_egress_input_metadata_t istd,
    inout psa_egress_output_metadata_t ostd);

control EgressDeparser<H, M, CE2EM, RECIRCM>(
    packet_out buffer,
    out CE2EM clone_e2e_meta,
    out RECIRCM recirculate_meta,
    inout H hdr,
    in M meta,
    in psa_egress_output_metadata_t istd,
    in psa_egress_deparser_input_metadata_t edstd);

package IngressPipeline<IH, IM, NM, CI2EM, RESUBM, RECIRCM>(
    IngressParser<IH, IM, RESUBM, RECIRCM> ip,
    Ingress<IH, IM> ig,
    IngressDeparser<IH, IM, CI2EM, RESUBM, NM> id);

package EgressPipeline<EH, EM, NM, CI2EM, CE2EM, RECIRCM>(
    EgressParser<EH, EM, NM, CI2EM, CE2EM> ep,
    Egress<EH, EM> eg,
    EgressDeparser<EH, EM, CE2EM, RECIRCM> ed);

package PSA_Switch<IH, IM, EH, EM, NM, CI2EM, CE2EM, RESUBM, RECIRCM>(
    IngressPipeline<IH, IM, NM, CI2EM, RESUBM, RECIRCM> ingress,
    PacketReplicationEngine pre,
    EgressPipeline<EH, EM, NM, CI2EM, CE2EM, RECIRCM> egress,
    BufferingQueueingEngine bqe);

#endif
