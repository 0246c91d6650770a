// Consistent hashing: by which provider a new flow goes, without anything remembered of it. Its hash is one of 256 buckets, and
// the controller says for each which provider is its home, and which one serves it now. When a provider fails its buckets alone move,
// and when it is back they alone move again.
//
//   flow_policies       some flows have buckets of their own (site-controlled multihoming, RFC 6748)
//   hash_buckets        home, and who serves
//   provider_states     does a provider work? Asked where a flow goes by another one than its bucket says

#ifndef WAYNAME_NPTV6_PROVIDER_CHOICE_P4
#define WAYNAME_NPTV6_PROVIDER_CHOICE_P4

#include "../common/ids.p4"
#include "../common/sizes.p4"
#include "metadata.p4"

control ProviderChoice(in border_t border, in bit<32> hashed_ports, out bit<8> home, out bit<8> current) {
    @id(FLOW_POLICIES_COUNTER_ID) TABLE_COUNTER(flow_policies_counter);
    @id(HASH_BUCKETS_COUNTER_ID) TABLE_COUNTER(hash_buckets_counter);

    bit<16> policy = 0;
    bit<16> bucket = 0;

    @id(USE_FLOW_POLICY_ACTION_ID)
    @name("use_flow_policy")
    @brief("These flows have the buckets of a policy.")
    action use_flow_policy(@id(1) @refers_to(hash_buckets, policy) bit<16> number) {
        policy = number;
    }

    @id(NO_FLOW_POLICY_ACTION_ID)
    @name("no_flow_policy")
    action no_flow_policy() {
        policy = border.site;
    }

    @id(FLOW_POLICIES_TABLE_ID)
    @name("flow_policies")
    @brief("Flows that do not go as any of their site, whose number is that of its own policy.")
    table flow_policies {
        key = {
            border.site        : ternary @id(1) @name("site");
            border.local       : ternary @id(2) @name("local");
            border.remote      : ternary @id(3) @name("remote");
            border.next_header : ternary @id(4) @name("next_header");
            border.local_port  : range   @id(5) @name("local_port");
            border.remote_port : range   @id(6) @name("remote_port");
        }
        actions = {
            use_flow_policy;
            @defaultonly no_flow_policy;
        }
        const default_action = no_flow_policy;
        counters = flow_policies_counter;
        size = FLOW_POLICIES;
    }

    @id(SET_BUCKET_ACTION_ID)
    @name("set_bucket")
    @brief("The provider that its flows begin by unless that fails, and the one that they begin by now; 0 is none.")
    action set_bucket(@id(1) @refers_to(nptv6_sources, provider) bit<8> owner,
                      @id(2) @refers_to(nptv6_sources, provider) bit<8> now) {
        home = owner;
        current = now;
    }

    @id(NO_BUCKET_ACTION_ID)
    @name("no_bucket")
    action no_bucket() {
    }

    @id(HASH_BUCKETS_TABLE_ID)
    @name("hash_buckets")
    @brief("Consistent hashing: by which provider flows go.")
    table hash_buckets {
        key = {
            policy : exact @id(1) @name("policy");
            bucket : exact @id(2) @name("bucket");
        }
        actions = {
            set_bucket;
            @defaultonly no_bucket;
        }
        const default_action = no_bucket;
        counters = hash_buckets_counter;
        size = HASH_BUCKETS;
    }

    apply {
        home = 0;
        current = 0;
        flow_policies.apply();
        // The protocol does not count: what hosts say before their session stands, and in it, goes one way.
        HASH_OF_4(bucket, (bit<32>)HASH_BUCKETS_OF_POLICY, border.local, border.remote, hashed_ports[31:16], hashed_ports[15:0]);
        hash_buckets.apply();
    }
}

control ProviderStates(in bit<8> provider, out bit<8> state) {
    @id(PROVIDER_STATES_COUNTER_ID) TABLE_COUNTER(provider_states_counter);

    @id(SET_PROVIDER_STATE_ACTION_ID)
    @name("set_provider_state")
    @brief("0 works, 1 failed a moment ago and connections wait, 2 failed.")
    action set_provider_state(@id(1) bit<8> now) {
        state = now;
    }

    @id(PROVIDER_UNKNOWN_ACTION_ID)
    @name("provider_unknown")
    action provider_unknown() {
    }

    @id(PROVIDER_STATES_TABLE_ID)
    @name("provider_states")
    @brief("Whether providers work.")
    table provider_states {
        key = {
            provider : exact @id(1) @name("provider");
        }
        actions = {
            set_provider_state;
            @defaultonly provider_unknown;
        }
        const default_action = provider_unknown;
        counters = provider_states_counter;
        size = PROVIDERS;
    }

    apply {
        state = PROVIDER_FAILED;
        provider_states.apply();
    }
}

#endif
