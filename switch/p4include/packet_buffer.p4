// A buffer for packets: an extern of the embedded switch, beside v1model.p4. BMv2 has none.
// docs/packet-buffer.md explains it.

#ifndef PACKET_BUFFER_P4
#define PACKET_BUFFER_P4

// The `instance_type` of a packet that comes out of a buffer.
const bit<32> INSTANCE_TYPE_KEPT = 7;

// Copies of packets, each under a number in one of so many queues. Numbers have 32 bits and go round: of two, the one that
// lies less than 2^31 behind the other is the lower one.
//
// A copy is of the packet as it came in, before any header was changed. When it starts again it goes through the parser and ingress like
// a packet that has just come by the same port, with the fields of its field list as they were at the end of the ingress
// that kept it.
extern packet_buffer {
    // So many queues; so many octets in all and in one queue. A copy counts with its length and 128 octets for what is known
    // of it.
    packet_buffer(bit<32> queues, bit<32> octets, bit<32> octets_of_queue);

    // Keeps a copy. After so many microseconds it starts again, behind those of its queue with lower numbers; what becomes
    // of the packet itself is for the program to say. False, and nothing is kept, where there is no room, where the queue has
    // one of that number, or where there is no such queue.
    bool keep(in bit<32> queue, in bit<32> number, in bit<32> microseconds, bit<8> fields);

    // Drops the copies of a queue with this number and lower ones.
    void release(in bit<32> queue, in bit<32> number);

    // Has them start again now, the lowest first: when this packet is done, before the next one that comes.
    void send(in bit<32> queue, in bit<32> number);
}

#endif
