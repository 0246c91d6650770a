// Wayname's edge switch on v1model. The behaviour is in the folders beside this one, one concern each; ingress.p4 and egress.p4
// have its order.

#include "arch.p4"
#include "../parsing/deparser.p4"
#include "egress.p4"
#include "ingress.p4"
#include "standard.p4"

@pkginfo(name = "wayname", version = "0.1.0", organization = "Wayname", contact = "", url = "")
V1Switch(EdgePacket(), NoChecksums(), ingress(), egress(), ErrorChecksum(), EdgeDeparser()) main;
