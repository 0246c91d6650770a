//! The Portable Switch Architecture's words.

use super::{Architecture, ObjectKind, TableProperty};

pub static PSA: Architecture = Architecture {
    name: "psa",
    package: "PSA_Switch",
    objects: &[
        ("Counter", ObjectKind::Counter),
        ("DirectCounter", ObjectKind::DirectCounter),
        ("Meter", ObjectKind::Meter),
        ("DirectMeter", ObjectKind::DirectMeter),
        ("Register", ObjectKind::Register),
        ("ActionProfile", ObjectKind::ActionProfile),
        ("ActionSelector", ObjectKind::ActionSelector),
        ("Digest", ObjectKind::Digest),
    ],
    properties: &[
        ("psa_implementation", TableProperty::Implementation),
        ("psa_direct_counter", TableProperty::DirectCounter),
        ("psa_direct_meter", TableProperty::DirectMeter),
        ("psa_idle_timeout", TableProperty::IdleTimeout),
    ],
};
