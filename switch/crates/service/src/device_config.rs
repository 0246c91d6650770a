//! The text in a `p4_device_config`.

use std::borrow::Cow;

use control::Status;
use prost::Message;

/// `p4.tmp.P4DeviceConfig`, which clients wrapped the compiler's output in before P4Runtime 1.0, and some still do.
#[derive(Clone, PartialEq, Message)]
struct P4DeviceConfig {
    #[prost(bool, tag = "1")]
    reassign: bool,
    #[prost(bytes = "vec", tag = "3")]
    device_data: Vec<u8>,
}

/// The program: text of P4, or p4c's BMv2 JSON.
pub fn text(config: &[u8]) -> Result<Cow<'_, str>, Status> {
    if config.is_empty() {
        return Err(Status::invalid("p4_device_config is empty; it is the text of the P4 program, or p4c's BMv2 JSON"));
    }
    // A message begins with the tag of one of its fields, which is a control character that begins no text.
    if matches!(config[0], 0x08 | 0x12 | 0x1a)
        && let Ok(wrapped) = P4DeviceConfig::decode(config)
        && let Ok(text) = String::from_utf8(wrapped.device_data)
    {
        return Ok(text.into());
    }
    std::str::from_utf8(config).map(Into::into).map_err(|_| {
        Status::invalid(
            "p4_device_config is no text; it is the text of the P4 program, or p4c's BMv2 JSON (p4c-bm2-ss -o FILE)",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_config_is_taken_out() {
        let wrapped = P4DeviceConfig { reassign: true, device_data: b"{\"headers\": []}".to_vec() };
        assert_eq!(text(&wrapped.encode_to_vec()).unwrap(), "{\"headers\": []}");
        let wrapped = P4DeviceConfig { reassign: false, ..wrapped };
        assert_eq!(text(&wrapped.encode_to_vec()).unwrap(), "{\"headers\": []}");
    }

    #[test]
    fn a_text_stays_as_it_is() {
        for config in ["{}", "#include <v1model.p4>", "\n\theader h {}"] {
            assert_eq!(text(config.as_bytes()).unwrap(), config);
        }
    }

    #[test]
    fn what_is_no_text_is_refused_with_what_it_should_be() {
        assert!(text(b"").unwrap_err().message.contains("is empty"));
        assert!(text(b"\x7fELF\xff").unwrap_err().message.contains("p4c-bm2-ss"));
    }
}
