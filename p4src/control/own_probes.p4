// Probes of the router's own that come back: of a next hop, or of the ways of a schedule. Whoever sends one back bears our own
// address as source, so that the border knows them by their mark (BorderSides), as the controller's share does (PuntClasses).

#ifndef WAYNAME_CONTROL_OWN_PROBES_P4
#define WAYNAME_CONTROL_OWN_PROBES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"

control OwnProbes(inout metadata_t meta) {
    @id(OWN_PROBES_COUNTER_ID) TABLE_COUNTER(own_probes_counter);

    @id(OWN_PROBE_ACTION_ID)
    @name("own_probe")
    @brief("Next hop: by which it went, 0 if it is one of a path. Whoever controls the switch next goes on with the mark.")
    action own_probe(@id(1) @refers_to(nexthops, nexthop) nexthop_id_t nexthop) {
        meta.own_probe = true;
    }

    @id(FOREIGN_PROBE_ACTION_ID)
    @name("foreign_probe")
    action foreign_probe() {
    }

    @id(OWN_PROBES_TABLE_ID)
    @name("own_probes")
    @brief("Probes of the router that come back, by the VLAN and a mark that nobody can know who did not see one.")
    table own_probes {
        key = {
            meta.vlan       : exact @id(1) @name("vlan");
            meta.probe_mark : exact @id(2) @name("mark");
        }
        actions = {
            own_probe;
            @defaultonly foreign_probe;
        }
        const default_action = foreign_probe;
        counters = own_probes_counter;
        size = NEXTHOPS;
    }

    apply {
        if (meta.probe_mark != 0) {
            own_probes.apply();
        }
    }
}

#endif
