// The paths of sessions: what a session's packet bears on its way to the peer.
//
//   paths -> plain: the identities as they are
//         -> Shim6: locators for identities, and the peer's tag in a payload header
//         -> BEET: other locators for those that an ESP packet has
//
// Each entry counts what was sent by its path.

#ifndef WAYNAME_SESSION_PATHS_P4
#define WAYNAME_SESSION_PATHS_P4

// The path by the controller's choice alone.
control PathChoice(in headers_t hdr, inout metadata_t meta) {
    apply {
        meta.session.path = meta.session.choice;
        if (meta.session.spread != 0) {
            bit<32> flow;
            HASH_OF_4(flow, (bit<32>)meta.session.spread, hdr.ipv6.flow_label, meta.flow.next_header,
                      meta.flow.source_port, meta.flow.destination_port);
            meta.session.path = (path_t)flow;
        }
    }
}

control SessionPaths(inout headers_t hdr, inout metadata_t meta) {
    @id(PATHS_COUNTER_ID) TABLE_COUNTER(paths_counter);

    @id(SEND_PLAIN_ACTION_ID)
    @name("send_plain")
    @brief("With the identities as addresses, by a table of routes; 0 is as their provider has it.")
    action send_plain(@id(1) route_table_t route_table) {
        meta.session.route_table = route_table;
        // Whoever sends learns now what fits by the other paths, and not when this one has failed.
        meta.session.reserved = PAYLOAD_HEADER_BYTES;
    }

    @id(SEND_SHIM6_ACTION_ID)
    @name("send_shim6")
    @brief("With locators as addresses and the peer's tag, by a table of routes; 0 is as their provider has it.")
    action send_shim6(@id(1) ipv6_address_t source, @id(2) ipv6_address_t destination, @id(3) context_tag_t tag,
                      @id(4) route_table_t route_table) {
        hdr.ipv6.source = source;
        hdr.ipv6.destination = destination;
        meta.session.with_header = true;
        meta.session.tag = tag;
        meta.session.route_table = route_table;
    }

    @id(SEND_BEET_ACTION_ID)
    @name("send_beet")
    @brief("With locators as addresses and no header: ESP is known by its SPI. By a table of routes; 0 is as their provider has it.")
    action send_beet(@id(1) ipv6_address_t source, @id(2) ipv6_address_t destination, @id(3) route_table_t route_table) {
        hdr.ipv6.source = source;
        hdr.ipv6.destination = destination;
        meta.session.route_table = route_table;
    }

    @id(NO_PATH_ACTION_ID)
    @name("no_path")
    action no_path() {
        drop(meta, DROP_PATH_UNKNOWN);
    }

    @id(PATHS_TABLE_ID)
    @name("paths")
    @brief("How a session's packets go by each of its paths.")
    table paths {
        key = {
            meta.session.number : exact @id(1) @name("session");
            meta.session.path   : exact @id(2) @name("path");
        }
        actions = {
            send_plain;
            send_shim6;
            send_beet;
            @defaultonly no_path;
        }
        const default_action = no_path;
        counters = paths_counter;
        size = SESSION_PATHS;
    }

    apply {
        paths.apply();
    }
}

#endif
