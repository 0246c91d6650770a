//! A meter's configuration is for entries whose action reads the meter (spec "Direct Resources").

use std::sync::Arc;

use control::{Control, Scope, Status};
use pipeline::BackendKind;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::update::Type;

/// `marks` reads its meter through another action; `after` has its meter read behind the table.
const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
struct headers_t { }
struct meta_t { bit<2> color; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    direct_meter<bit<2>>(MeterType.packets) rate;
    direct_counter(CounterType.packets) unused;
    action read() { rate.read(meta.color); }
    action marks() { if (standard.ingress_port > 3) { read(); } }
    action passes() { standard.egress_spec = 2; }
    table metered {
        key = { standard.ingress_port : exact; }
        actions = { marks; read; passes; NoAction; }
        meters = rate;
    }
    table other {
        key = { meta.color : exact; }
        actions = { passes; NoAction; }
        counters = unused;
    }
    apply { metered.apply(); other.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

#[test]
fn a_meter_is_configured_with_actions_that_read_it() {
    let program = Arc::new(loader::load(PROGRAM, BackendKind::Interpreter).unwrap_or_else(|error| panic!("{error}")));
    let p4info = program.p4info.clone().expect("the P4Info of a P4 program");
    let id = |preamble: &Option<proto::p4::config::v1::Preamble>, name: &str| {
        preamble.as_ref().filter(|preamble| preamble.alias == name).map(|preamble| preamble.id)
    };
    let table_id = p4info.tables.iter().find_map(|table| id(&table.preamble, "metered")).expect("a table");
    let actions = ["marks", "read", "passes", "NoAction"];
    let actions = actions.map(|name| p4info.actions.iter().find_map(|action| id(&action.preamble, name)).unwrap());
    let control = Control::new(p4info, program).unwrap_or_else(|error| panic!("{error:?}"));
    let write = |port: u8, action_id: u32, meter_config: Option<v1::MeterConfig>, is_default: bool| {
        let exact = v1::field_match::Exact { value: vec![port] };
        let matched =
            v1::FieldMatch { field_id: 1, field_match_type: Some(v1::field_match::FieldMatchType::Exact(exact)) };
        let action = v1::Action { action_id, params: Vec::new() };
        let entry = v1::TableEntry {
            table_id,
            r#match: if is_default { Vec::new() } else { vec![matched] },
            action: Some(v1::TableAction { r#type: Some(v1::table_action::Type::Action(action)) }),
            meter_config,
            is_default_action: is_default,
            ..Default::default()
        };
        let kind = if is_default { Type::Modify } else { Type::Insert };
        let entity = Some(v1::Entity { entity: Some(Entity::TableEntry(entry)) });
        let update = v1::Update { r#type: kind as i32, entity };
        control.write(&[update], 0, &Scope::All, 0).expect("a batch of one").remove(0)
    };
    let config = Some(v1::MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, eburst: 0 });
    for (port, (action, is_read)) in (1..).zip(actions.into_iter().zip([true, true, false, false])) {
        let status = write(port, action, config, false);
        assert_eq!(status == Status::ok(), is_read, "{action}: {status:?}");
        if !is_read {
            assert!(format!("{status:?}").contains("does not read the direct meter"), "{status:?}");
            assert_eq!(write(port, action, None, false), Status::ok());
        }
    }
    assert_ne!(write(0, actions[3], config, true), Status::ok(), "the default entry's action does not read it either");
    assert_eq!(write(0, actions[3], None, true), Status::ok());
}
