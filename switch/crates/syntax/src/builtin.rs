//! The architecture files that come with the compiler.

/// A built-in file by the name programs include it by: the name it is shown under, and its text.
pub(crate) fn file(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        "core.p4" => Some(("p4include/core.p4", include_str!("../../../p4include/core.p4"))),
        "v1model.p4" => Some(("p4include/v1model.p4", include_str!("../../../p4include/v1model.p4"))),
        "psa.p4" | "bmv2/psa.p4" => Some(("p4include/psa.p4", include_str!("../../../p4include/psa.p4"))),
        "packet_buffer.p4" => Some(("p4include/packet_buffer.p4", include_str!("../../../p4include/packet_buffer.p4"))),
        _ => None,
    }
}
