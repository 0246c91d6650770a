//! Programs for v1model that have one header, `hdr.name`, and do nothing but what is given.

/// The parts of such a program.
#[derive(Default)]
pub struct V1model<'t> {
    /// Fields of the header, and of `meta`.
    pub header: &'t str,
    pub metadata: &'t str,
    /// What stands before all blocks.
    pub declarations: &'t str,
    /// What ingress declares, and what it does.
    pub ingress_declarations: &'t str,
    pub ingress: &'t str,
    pub egress_declarations: &'t str,
    pub egress: &'t str,
}

impl V1model<'_> {
    pub fn text(&self) -> String {
        let Self { header, metadata, declarations, ingress_declarations, ingress, egress_declarations, egress } = self;
        format!(
            "#include <core.p4>
#include <v1model.p4>
header name_t {{ {header} }}
struct headers_t {{ name_t name; }}
struct meta_t {{ {metadata} }}
{declarations}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    state start {{ packet.extract(hdr.name); transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    {ingress_declarations}
    apply {{
        {ingress}
    }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    {egress_declarations}
    apply {{
        {egress}
    }}
}}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.name); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
        )
    }
}
