// HIP's own messages (RFC 7401), where an edge speaks for hosts, looks at what they say or listens. All others pass.
//
// One behind extension headers is not looked at: nobody sends such, and it goes to its host.

#ifndef WAYNAME_HIP_MESSAGES_P4
#define WAYNAME_HIP_MESSAGES_P4

control HipMessages(in headers_t hdr, inout metadata_t meta) {
    apply {
        if (hdr.ipv6.next_header == NEXT_HIP && !meta.from_controller) {
            if (meta.session.source_speaker == SPEAKER_CHECKED || meta.session.destination_speaker == SPEAKER_CHECKED) {
                trap(meta, PUNT_HIP_VERIFY);
            } else if (meta.session.destination_speaker == SPEAKER_EDGE) {
                trap(meta, PUNT_HIP);
            } else if (meta.session.source_speaker == SPEAKER_HOST || meta.session.destination_speaker == SPEAKER_HOST) {
                mirror(meta, PUNT_HIP_SEEN);
            }
        }
    }
}

#endif
