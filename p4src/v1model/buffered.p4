// The program for the embedded switch, which buffers packets: with reinjection and resequencing (docs/packet-buffer.md).

#define WITH_PACKET_BUFFERS
#include "main.p4"
