// A look at destination options for the path option, which has a header for itself. It stays on the stack of extension headers.
//
// The caller knows that the header is there.

#ifndef WAYNAME_PARSING_PATH_OPTION_P4
#define WAYNAME_PARSING_PATH_OPTION_P4

#include "../common/packet_metadata.p4"
#include "../common/types.p4"
#include "../encapsulation/metadata.p4"
#include "../scheduling/path_option.p4"

parser PathOptionParser(packet_in packet, in chain_t chain, inout path_option_t option, in routing_t routing) {
    state start {
        path_option_start_t begin = packet.lookahead<path_option_start_t>();
        transition select(option.here, begin.type, begin.version, begin.octets, begin.length) {
            (false, OPTION_PATH, PATH_OPTION_VERSION, PATH_OPTION_LENGTH, 0): sequence;
            (false, OPTION_PATH, PATH_OPTION_VERSION, PATH_REPORT_LENGTH, 2): report;
            (false, OPTION_PATH, PATH_ORDER_VERSION, PATH_ORDER_LENGTH, 1): order;
            (false, OPTION_PATH, PATH_ORDER_VERSION, PATH_ORDER_REPORT_LENGTH, 3): report_behind_order;
            default: accept;
        }
    }

    state report {
        path_option_and_report_t seen = packet.lookahead<path_option_and_report_t>();
        option.reports = true;
        option.report.slot = seen.slot;
        option.report.newest = seen.newest;
        option.report.arrived = seen.arrived;
        option.report.received = seen.received;
        option.report.marked = seen.marked;
        option.report.came = seen.came;
        transition sequence;
    }

    state report_behind_order {
        path_option_order_and_report_t seen = packet.lookahead<path_option_order_and_report_t>();
        option.reports = true;
        option.report.slot = seen.slot;
        option.report.newest = seen.newest;
        option.report.arrived = seen.arrived;
        option.report.received = seen.received;
        option.report.marked = seen.marked;
        option.report.came = seen.came;
        transition order;
    }

    state order {
        path_option_and_order_t seen = packet.lookahead<path_option_and_order_t>();
        option.ordered = true;
        option.order = seen.order;
        option.copies = seen.copies;
        option.wait = seen.wait;
        transition sequence;
    }

    state sequence {
        path_option_start_t begin = packet.lookahead<path_option_start_t>();
        option.here = true;
        option.counted = begin.counted == 1;
        option.slot = begin.slot;
        option.sequence = begin.sequence;
        option.next_header = begin.next_header;
        option.size = chain.size;
        option.index = chain.count;
        option.behind = routing.type != 0;
        transition accept;
    }
}

#endif
