// What the folders beside this one need of an architecture, by v1model's names. Another architecture has the same file with its
// own, and its entry includes it first: it is the one file that no other includes.

#ifndef WAYNAME_V1MODEL_ARCH_P4
#define WAYNAME_V1MODEL_ARCH_P4

#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

// Packets and bytes of each entry of one table, and of each index.
#define TABLE_COUNTER(name)            direct_counter(CounterType.packets_and_bytes) name
#define COUNTERS(index_t, size, name)  counter<index_t>(size, CounterType.packets_and_bytes) name

// Packets a second, one rate for each index. An index whose rate was never set lets everything pass.
#define METERS(index_t, size, name)    meter<index_t>(size, MeterType.packets) name
#define METER(name, index, colour)     name.execute_meter(index, colour)

// Values that live on from packet to packet, by index.
#define REGISTERS(index_t, value_t, size, name) register<value_t, index_t>(size) name

// A number below the given one, by what tells flows apart. Anybody can compute it: it shares flows out, and is no place to keep
// anything in (keyed_hash.p4 is for that).
#define HASH_OF_4(result, below, a, b, c, d) hash(result, HashAlgorithm.crc32, 32w0, { a, b, c, d }, below)

// The checksum of two or four addresses or halves: the complement of the ones' complement sum of their words.
#define CHECKSUM_OF_2(result, a, b)       hash(result, HashAlgorithm.csum16, 16w0, { a, b }, 32w65536)
#define CHECKSUM_OF_4(result, a, b, c, d) hash(result, HashAlgorithm.csum16, 16w0, { a, b, c, d }, 32w65536)

// Picks a member of a group by a hash of the table's selector keys.
#define SELECTOR(size, name)           action_selector(HashAlgorithm.crc32, size, 32) name

// A table whose entries say when they were last hit long ago.
#define AGES                           support_timeout = true;

// With buffers for packets the program is for the embedded switch alone (buffered.p4).
#ifdef WITH_PACKET_BUFFERS
#include <packet_buffer.p4>
#endif

// The port of the controller.
#define CPU_PORT 510

#endif
