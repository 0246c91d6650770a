//! v1model's words.

use super::{Architecture, ObjectKind, TableProperty};

pub static V1MODEL: Architecture = Architecture {
    name: "v1model",
    package: "V1Switch",
    objects: &[
        ("counter", ObjectKind::Counter),
        ("direct_counter", ObjectKind::DirectCounter),
        ("meter", ObjectKind::Meter),
        ("direct_meter", ObjectKind::DirectMeter),
        ("register", ObjectKind::Register),
        ("packet_buffer", ObjectKind::PacketBuffer),
        ("action_profile", ObjectKind::ActionProfile),
        ("action_selector", ObjectKind::ActionSelector),
    ],
    properties: &[
        ("implementation", TableProperty::Implementation),
        ("counters", TableProperty::DirectCounter),
        ("meters", TableProperty::DirectMeter),
        ("support_timeout", TableProperty::IdleTimeout),
    ],
};
