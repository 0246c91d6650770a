// Flows that take a path of their own within their hosts' session: the path index of Multipath LinShim6, one context and
// no fork. A flow is known by what its host writes: addresses, ports, DSCP.
//
//   path_policies      what the flow is, seen from the host here, so that both ends know it by one policy
//   preferred_paths    the session's path for it, as long as that is proven to work; or in how many copies its packets go, by a path
//                      each (scheduling/replication.p4)
//
// Fragments have no ports here.

#ifndef WAYNAME_SESSIONS_PATH_POLICIES_P4
#define WAYNAME_SESSIONS_PATH_POLICIES_P4

#include "../common/ids.p4"
#include "../common/packet_metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"

control PathPolicies(in headers_t hdr, inout session_t session, in flow_t flow) {
    @id(PATH_POLICIES_COUNTER_ID) TABLE_COUNTER(path_policies_counter);
    @id(PREFERRED_PATHS_COUNTER_ID) TABLE_COUNTER(preferred_paths_counter);

    bit<8> policy = 0;
    bit<16> local_port = 0;
    bit<16> remote_port = 0;

    @id(APPLY_PATH_POLICY_ACTION_ID)
    @name("apply_path_policy")
    action apply_path_policy(@id(1) @refers_to(preferred_paths, policy) bit<8> number) {
        policy = number;
        session.policed = true;
    }

    @id(NO_PATH_POLICY_ACTION_ID)
    @name("no_path_policy")
    action no_path_policy() {
    }

    @id(PATH_POLICIES_TABLE_ID)
    @name("path_policies")
    @brief("Flows that may take a path of their own, of all sessions with mode 32.")
    table path_policies {
        key = {
            session.local          : ternary @id(1) @name("local");
            session.remote         : ternary @id(2) @name("remote");
            flow.next_header       : ternary @id(3) @name("next_header");
            local_port                  : range   @id(4) @name("local_port");
            remote_port                 : range   @id(5) @name("remote_port");
            hdr.ipv6.traffic_class[7:2] : ternary @id(6) @name("dscp");
        }
        actions = {
            apply_path_policy;
            @defaultonly no_path_policy;
        }
        const default_action = no_path_policy;
        counters = path_policies_counter;
        size = PATH_POLICIES;
    }

    @id(PREFER_PATH_ACTION_ID)
    @name("prefer_path")
    action prefer_path(@id(1) @refers_to(paths, path) path_t path) {
        session.preferred = true;
        session.preferred_path = path;
    }

    @id(REPLICATE_FLOW_ACTION_ID)
    @name("replicate_flow")
    @brief("As replicate of session_schedules, for this flow of a session that has a schedule.")
    action replicate_flow(@id(1) bit<4> copies) {
        session.copies = copies;
    }

    @id(NO_PREFERRED_PATH_ACTION_ID)
    @name("no_preferred_path")
    action no_preferred_path() {
    }

    @id(PREFERRED_PATHS_TABLE_ID)
    @name("preferred_paths")
    @brief("The path that flows of a policy take in a session, or the copies in which their packets go.")
    table preferred_paths {
        key = {
            session.number : exact @id(1) @name("session") @refers_to(paths, session);
            policy              : exact @id(2) @name("policy");
        }
        actions = {
            prefer_path;
            replicate_flow;
            @defaultonly no_preferred_path;
        }
        const default_action = no_preferred_path;
        counters = preferred_paths_counter;
        size = PREFERRED_PATHS;
    }

    apply {
        if (session.direction == SESSION_OUTBOUND) {
            local_port = flow.source_port;
            remote_port = flow.destination_port;
        } else {
            local_port = flow.destination_port;
            remote_port = flow.source_port;
        }
        path_policies.apply();
        if (policy != 0 && session.direction == SESSION_OUTBOUND) {
            preferred_paths.apply();
        }
    }
}

#endif
