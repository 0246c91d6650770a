// Which way a packet crosses the border of a site, and who inside it is for.

#ifndef WAYNAME_NPTV6_CROSSING_P4
#define WAYNAME_NPTV6_CROSSING_P4

#include "../common/metadata.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"
#include "nptv6.p4"
#include "urpf.p4"

control BorderCrossing(in headers_t hdr, inout metadata_t meta) {
    BorderSides() border_sides;
    Nptv6Destination() change_destination;

    apply {
        border_sides.apply(hdr, meta);
        if (!meta.decided && meta.border.way != BORDER_STAYS) {
            change_destination.apply(hdr, meta);
        }
    }
}

#endif
