// Every id of the contract with the controller. An id names one object for ever: one that is gone leaves a gap, and new
// objects take the group's next free number. Keys, parameters and fields of controller headers are numbered 1, 2, 3 ...
// inside their object, where they stand, by the same rule.

#ifndef WAYNAME_IDS_P4
#define WAYNAME_IDS_P4

// Tables (0x02......), with the action of their misses and their counters, by the file they stand in.
// Ports and VLANs: next free table 0x02000105, action 0x01000107, direct counter 0x13000105.
#define PORTS_TABLE_ID                  0x02000101
#define VLAN_MEMBERS_TABLE_ID           0x02000102
#define INTERFACES_TABLE_ID             0x02000103
#define VLAN_TAGS_TABLE_ID              0x02000104

#define SET_PORT_VLAN_ACTION_ID         0x01000101
#define ADMIT_TO_VLAN_ACTION_ID         0x01000102
#define REFUSE_VLAN_ACTION_ID           0x01000103
#define SET_INTERFACE_ACTION_ID         0x01000104
#define NO_INTERFACE_ACTION_ID          0x01000105
#define REFUSE_PORT_ACTION_ID           0x01000106
#define SEND_TAGGED_ACTION_ID           0x01000111
#define SEND_UNTAGGED_ACTION_ID         0x01000112
#define NOT_IN_VLAN_ACTION_ID           0x01000113

#define PORTS_COUNTER_ID                0x13000101
#define VLAN_MEMBERS_COUNTER_ID         0x13000102
#define INTERFACES_COUNTER_ID           0x13000103
#define VLAN_TAGS_COUNTER_ID            0x13000104

// Bridging: next free table 0x02000204, action 0x01000207, direct counter 0x13000204, meter 0x14000202.
#define SOURCES_TABLE_ID                0x02000201
#define STATIONS_TABLE_ID               0x02000202
#define FLOODS_TABLE_ID                 0x02000203

#define KNOWN_SOURCE_ACTION_ID          0x01000201
#define NEW_SOURCE_ACTION_ID            0x01000202
#define SEND_TO_PORT_ACTION_ID          0x01000203
#define FLOOD_ACTION_ID                 0x01000204
#define SEND_TO_GROUP_ACTION_ID         0x01000205
#define NO_FLOOD_GROUP_ACTION_ID        0x01000206

#define SOURCES_COUNTER_ID              0x13000201
#define STATIONS_COUNTER_ID             0x13000202
#define FLOODS_COUNTER_ID               0x13000203

#define LEARN_METER_ID                  0x14000201

// Discovery: next free table 0x02000302, action 0x01000303, direct counter 0x13000302.
#define OWN_ADDRESSES_TABLE_ID          0x02000301

#define OWN_ADDRESS_ACTION_ID           0x01000301
#define FOREIGN_ADDRESS_ACTION_ID       0x01000302

#define OWN_ADDRESSES_COUNTER_ID        0x13000301

// Routing: next free table 0x02000409, action 0x01000412, direct counter 0x13000409, action profile 0x11000402.
#define ROUTES_TABLE_ID                 0x02000401
#define SPREADS_TABLE_ID                0x02000402
#define NEXTHOPS_TABLE_ID               0x02000403
#define NEIGHBOURS_TABLE_ID             0x02000404
#define PORT_MTUS_TABLE_ID              0x02000405
#define SOURCE_MACS_TABLE_ID            0x02000406
#define ROUTES_BY_TABLE_TABLE_ID        0x02000407
#define ROUTES_OF_IPV4_TABLE_ID         0x02000408

#define ROUTE_LOCAL_ACTION_ID           0x01000401
#define ROUTE_CONNECTED_ACTION_ID       0x01000402
#define ROUTE_NEXTHOP_ACTION_ID         0x01000403
#define ROUTE_SPREAD_ACTION_ID          0x01000404
#define ROUTE_PROHIBITED_ACTION_ID      0x01000405
#define ROUTE_DISCARD_ACTION_ID         0x01000406
#define NO_ROUTE_ACTION_ID              0x01000407
#define SPREAD_TO_NEXTHOP_ACTION_ID     0x01000408
#define SET_NEXTHOP_ACTION_ID           0x01000409
#define NO_NEXTHOP_ACTION_ID            0x0100040A
#define SET_NEIGHBOUR_ACTION_ID         0x0100040B
#define NEIGHBOUR_UNKNOWN_ACTION_ID     0x0100040C
#define SET_PORT_MTU_ACTION_ID          0x0100040D
#define SET_SOURCE_MAC_ACTION_ID        0x0100040E
#define NO_SOURCE_MAC_ACTION_ID         0x0100040F
#define IPV4_CONNECTED_ACTION_ID        0x01000410
#define NO_IPV4_ROUTE_ACTION_ID         0x01000411

#define ROUTES_COUNTER_ID               0x13000401
#define SPREADS_COUNTER_ID              0x13000402
#define NEXTHOPS_COUNTER_ID             0x13000403
#define NEIGHBOURS_COUNTER_ID           0x13000404
#define PORT_MTUS_COUNTER_ID            0x13000405
#define SOURCE_MACS_COUNTER_ID          0x13000406
#define ROUTES_BY_TABLE_COUNTER_ID      0x13000407
#define ROUTES_OF_IPV4_COUNTER_ID       0x13000408

#define SPREAD_MEMBERS_PROFILE_ID       0x11000401

// ICMPv6 errors, punts and drops: next free counter 0x12000508, meter 0x14000503.
#define ERROR_METER_ID                  0x14000501
#define PUNT_METER_ID                   0x14000502

#define PORT_RECEIVED_COUNTER_ID        0x12000501
#define PORT_SENT_COUNTER_ID            0x12000502
#define INGRESS_DROPS_COUNTER_ID        0x12000503
#define EGRESS_DROPS_COUNTER_ID         0x12000504
#define PUNTS_COUNTER_ID                0x12000505
#define ERRORS_SENT_COUNTER_ID          0x12000506
#define ERRORS_HELD_BACK_COUNTER_ID     0x12000507

// Captures: next free table 0x02000603, action 0x01000605, direct counter 0x13000603, meter 0x14000603.
#define CAPTURES_IN_TABLE_ID            0x02000601
#define CAPTURES_OUT_TABLE_ID           0x02000602

#define CAPTURE_IN_ACTION_ID            0x01000601
#define NOT_CAPTURED_IN_ACTION_ID       0x01000602
#define CAPTURE_OUT_ACTION_ID           0x01000603
#define NOT_CAPTURED_OUT_ACTION_ID      0x01000604

#define CAPTURES_IN_COUNTER_ID          0x13000601
#define CAPTURES_OUT_COUNTER_ID         0x13000602

#define CAPTURE_IN_METER_ID             0x14000601
#define CAPTURE_OUT_METER_ID            0x14000602

// Segments: next free table 0x0200070C, action 0x0100071A, direct counter 0x1300070C.
#define SIDS_TABLE_ID                   0x02000701
#define POLICIES_TABLE_ID               0x02000702
#define HMACS_TABLE_ID                  0x02000703
#define SEGMENT_FOURS_1_TABLE_ID        0x02000704
#define SEGMENT_FOURS_2_TABLE_ID        0x02000705
#define SEGMENT_FOURS_3_TABLE_ID        0x02000706
#define SEGMENT_FOURS_4_TABLE_ID        0x02000707
#define SEGMENT_FOURS_5_TABLE_ID        0x02000708
#define SEGMENT_FOURS_6_TABLE_ID        0x02000709
#define SEGMENT_FOURS_7_TABLE_ID        0x0200070A
#define SEGMENT_FOURS_8_TABLE_ID        0x0200070B

#define END_ACTION_ID                   0x01000701
#define END_X_ACTION_ID                 0x01000702
#define END_T_ACTION_ID                 0x01000703
#define END_B6_ENCAPS_ACTION_ID         0x01000704
#define END_DX6_ACTION_ID               0x01000705
#define END_DX4_ACTION_ID               0x01000706
#define END_DT6_ACTION_ID               0x01000707
#define END_DT4_ACTION_ID               0x01000708
#define END_DT46_ACTION_ID              0x01000709
#define END_DX2_ACTION_ID               0x0100070A
#define NOT_A_SID_ACTION_ID             0x0100070B
#define NO_POLICY_ACTION_ID             0x0100070C
#define PUT_1_ACTION_ID                 0x0100070D
#define PUT_2_ACTION_ID                 0x0100070E
#define PUT_3_ACTION_ID                 0x0100070F
#define PUT_4_ACTION_ID                 0x01000710
#define PUT_HMAC_ACTION_ID              0x01000711
#define PUT_FOUR_1_ACTION_ID            0x01000712
#define PUT_FOUR_2_ACTION_ID            0x01000713
#define PUT_FOUR_3_ACTION_ID            0x01000714
#define PUT_FOUR_4_ACTION_ID            0x01000715
#define PUT_FOUR_5_ACTION_ID            0x01000716
#define PUT_FOUR_6_ACTION_ID            0x01000717
#define PUT_FOUR_7_ACTION_ID            0x01000718
#define PUT_FOUR_8_ACTION_ID            0x01000719

#define SIDS_COUNTER_ID                 0x13000701
#define POLICIES_COUNTER_ID             0x13000702
#define HMACS_COUNTER_ID                0x13000703
#define SEGMENT_FOURS_1_COUNTER_ID      0x13000704
#define SEGMENT_FOURS_2_COUNTER_ID      0x13000705
#define SEGMENT_FOURS_3_COUNTER_ID      0x13000706
#define SEGMENT_FOURS_4_COUNTER_ID      0x13000707
#define SEGMENT_FOURS_5_COUNTER_ID      0x13000708
#define SEGMENT_FOURS_6_COUNTER_ID      0x13000709
#define SEGMENT_FOURS_7_COUNTER_ID      0x1300070A
#define SEGMENT_FOURS_8_COUNTER_ID      0x1300070B

// Source routes: next free table 0x02000802, action 0x01000804, direct counter 0x13000802.
#define SOURCE_ROUTE_HOPS_TABLE_ID      0x02000801

#define SOURCE_ROUTE_HOP_ACTION_ID      0x01000801
#define PUT_SOURCE_ROUTE_ACTION_ID      0x01000802
#define NO_SOURCE_ROUTE_ACTION_ID       0x01000803

#define SOURCE_ROUTE_HOPS_COUNTER_ID    0x13000801

// Locators: next free action 0x01000902.
#define TRANSLATE_LOCATOR_ACTION_ID     0x01000901

// Encapsulations: next free table 0x02000A02, action 0x01000A05, direct counter 0x13000A02.
#define ENCAPSULATIONS_TABLE_ID         0x02000A01

#define ENCAPSULATE_SEGMENTS_ACTION_ID  0x01000A01
#define ENCAPSULATE_TRACE_ACTION_ID     0x01000A02
#define ENCAPSULATE_SOURCE_ROUTE_ACTION_ID 0x01000A03
#define ENCAPSULATE_NOTHING_ACTION_ID   0x01000A04

#define ENCAPSULATIONS_COUNTER_ID       0x13000A01

// In-situ OAM: next free table 0x02000B04, action 0x01000B08, direct counter 0x13000B04, meter 0x14000B02, register 0x16000B03.
#define TRACES_TABLE_ID                 0x02000B01
#define NAMESPACES_TABLE_ID             0x02000B02
#define EXPORT_RULES_TABLE_ID           0x02000B03

#define PUT_TRACE_ACTION_ID             0x01000B01
#define NO_TRACE_ACTION_ID              0x01000B02
#define SET_NAMESPACE_ACTION_ID         0x01000B03
#define FOREIGN_NAMESPACE_ACTION_ID     0x01000B04
#define PUT_DIRECT_EXPORT_ACTION_ID     0x01000B05
#define EXPORT_DIRECTLY_ACTION_ID       0x01000B06
#define NOT_EXPORTED_ACTION_ID          0x01000B07

#define TRACES_COUNTER_ID               0x13000B01
#define NAMESPACES_COUNTER_ID           0x13000B02
#define EXPORT_RULES_COUNTER_ID         0x13000B03

#define EXPORT_METER_ID                 0x14000B01

#define TRACE_TURNS_REGISTER_ID         0x16000B01
#define EXPORT_SEQUENCES_REGISTER_ID    0x16000B02

// Sessions: next free table 0x02000C06, action 0x01000C0C, direct counter 0x13000C06.
#define CONTEXT_TAGS_TABLE_ID           0x02000C01
#define IDENTITIES_TABLE_ID             0x02000C02
#define FORKS_TABLE_ID                  0x02000C03
#define LOCATOR_PAIRS_TABLE_ID          0x02000C04
#define PATHS_TABLE_ID                  0x02000C05

#define ADMIT_ACTION_ID                 0x01000C01
#define UNKNOWN_TAG_ACTION_ID           0x01000C02
#define SEND_IN_SESSION_ACTION_ID       0x01000C03
#define NO_SESSION_ACTION_ID            0x01000C04
#define FORK_TO_ACTION_ID               0x01000C05
#define NOT_FORKED_ACTION_ID            0x01000C06
#define ON_PATH_ACTION_ID               0x01000C07
#define UNPROVEN_ACTION_ID              0x01000C08
#define SEND_PLAIN_ACTION_ID            0x01000C09
#define SEND_SHIM6_ACTION_ID            0x01000C0A
#define NO_PATH_ACTION_ID               0x01000C0B

#define CONTEXT_TAGS_COUNTER_ID         0x13000C01
#define IDENTITIES_COUNTER_ID           0x13000C02
#define FORKS_COUNTER_ID                0x13000C03
#define LOCATOR_PAIRS_COUNTER_ID        0x13000C04
#define PATHS_COUNTER_ID                0x13000C05

// Watching sessions and pairs: next free table 0x02000D02, action 0x01000D03, direct counter 0x13000D02, register 0x16000D0E.
#define BACKUPS_TABLE_ID                0x02000D01

#define NEXT_PATH_ACTION_ID             0x01000D01
#define NO_BACKUP_ACTION_ID             0x01000D02

#define BACKUPS_COUNTER_ID              0x13000D01

#define SESSION_PLACES_REGISTER_ID      0x16000D01
#define SESSION_UNANSWERED_REGISTER_ID  0x16000D02
#define SESSION_WATCHED_REGISTER_ID     0x16000D03
#define SESSION_TOLD_REGISTER_ID        0x16000D04
#define SESSION_UNREPLIED_REGISTER_ID   0x16000D05
#define SESSION_KEPT_REGISTER_ID        0x16000D06
#define SESSION_REPORTED_REGISTER_ID    0x16000D07
#define SESSION_PEER_PATHS_REGISTER_ID  0x16000D08
#define PAIR_ADDRESSES_REGISTER_ID      0x16000D09
#define PAIR_BEGAN_REGISTER_ID          0x16000D0A
#define PAIR_SEEN_REGISTER_ID           0x16000D0B
#define PAIR_BYTES_REGISTER_ID          0x16000D0C
#define SESSION_MOVED_REGISTER_ID       0x16000D0D

// Whose hosts: next free table 0x02000E06, action 0x01000E0B, direct counter 0x13000E06.
#define PROXIED_SOURCES_TABLE_ID        0x02000E01
#define PROXIED_DESTINATIONS_TABLE_ID   0x02000E02
#define PROVIDER_ROUTES_TABLE_ID        0x02000E03
#define MAPPED_SOURCES_TABLE_ID         0x02000E04
#define MAPPED_DESTINATIONS_TABLE_ID    0x02000E05

#define PROXY_ACTION_ID                 0x01000E01
#define TRANSPARENT_ACTION_ID           0x01000E02
#define VERIFY_ACTION_ID                0x01000E03
#define NOT_PROXIED_ACTION_ID           0x01000E04
#define ROUTE_BY_ACTION_ID              0x01000E05
#define ROUTE_AS_ANY_ACTION_ID          0x01000E06
#define MAP_SOURCE_ACTION_ID            0x01000E07
#define KEEP_SOURCE_ACTION_ID           0x01000E08
#define MAP_DESTINATION_ACTION_ID       0x01000E09
#define KEEP_DESTINATION_ACTION_ID      0x01000E0A

#define PROXIED_SOURCES_COUNTER_ID      0x13000E01
#define PROXIED_DESTINATIONS_COUNTER_ID 0x13000E02
#define PROVIDER_ROUTES_COUNTER_ID      0x13000E03
#define MAPPED_SOURCES_COUNTER_ID       0x13000E04
#define MAPPED_DESTINATIONS_COUNTER_ID  0x13000E05

// HIP and ESP: next free table 0x02001111, action 0x01001113, direct counter 0x13001111. 01 to 0F are of HIP.
#define SPIS_TABLE_ID                   0x02001110

#define ADMIT_ESP_ACTION_ID             0x01001110
#define UNKNOWN_SPI_ACTION_ID           0x01001111
#define SEND_BEET_ACTION_ID             0x01001112

#define SPIS_COUNTER_ID                 0x13001110

// Scheduling: next free table 0x02001202, action 0x01001206, direct counter 0x13001202, register 0x16001205.
#define SCHEDULES_TABLE_ID              0x02001201

#define FASTEST_FIRST_ACTION_ID         0x01001201
#define WEIGHTED_ROUND_ROBIN_ACTION_ID  0x01001202
#define PER_FLOW_ACTION_ID              0x01001203
#define BEST_PATH_ACTION_ID             0x01001204
#define NOT_SCHEDULED_ACTION_ID         0x01001205

#define SCHEDULES_COUNTER_ID            0x13001201

#define SCHEDULE_STATES_REGISTER_ID     0x16001201
#define SCHEDULE_FREE_REGISTER_ID       0x16001202
#define SCHEDULE_TURNS_REGISTER_ID      0x16001203
#define SCHEDULE_ROUNDS_REGISTER_ID     0x16001204

// Headers of the controller.
#define PACKET_IN_HEADER_ID             0x04000001
#define PACKET_OUT_HEADER_ID            0x04000002

#endif
