//! The text form of messages, in the layout of protobuf's own printer.

use std::fmt;
use std::sync::LazyLock;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, ReflectMessage, Value};
use proto::p4::config::v1::P4Info;
use proto::p4::v1::WriteRequest;

const P4INFO: (&str, &str) = ("p4/config/v1/p4info.proto", "p4.config.v1.P4Info");
const WRITE: (&str, &str) = ("p4/v1/p4runtime.proto", "p4.v1.WriteRequest");

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(proto::FILE_DESCRIPTOR_SET).expect("the descriptors that were compiled with the messages")
});

/// Why a text is not a message.
#[derive(Debug, Clone, PartialEq)]
pub struct TextError(String);

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TextError {}

/// P4Info as text, with the head that p4c gives its files.
pub fn to_text(p4info: &P4Info) -> String {
    print(p4info, P4INFO)
}

/// Entries as text.
pub fn entries_text(entries: &WriteRequest) -> String {
    print(entries, WRITE)
}

/// Reads P4Info from text.
pub fn parse_text(text: &str) -> Result<P4Info, TextError> {
    parse(text, P4INFO)
}

/// Reads entries from text.
pub fn parse_entries(text: &str) -> Result<WriteRequest, TextError> {
    parse(text, WRITE)
}

/// The message in a form that knows its fields.
pub fn dynamic(message: &impl Message, name: &str) -> DynamicMessage {
    let descriptor = POOL.get_message_by_name(name).expect("a message of the descriptors");
    let mut dynamic = DynamicMessage::new(descriptor);
    dynamic.transcode_from(message).expect("the same message in another form");
    dynamic
}

/// The P4Info in a form that knows its fields.
pub fn dynamic_p4info(p4info: &P4Info) -> DynamicMessage {
    dynamic(p4info, P4INFO.1)
}

fn parse<M: Message + Default>(text: &str, (_, name): (&str, &str)) -> Result<M, TextError> {
    let descriptor = POOL.get_message_by_name(name).expect("a message of the descriptors");
    let dynamic = DynamicMessage::parse_text_format(descriptor, text).map_err(|error| TextError(format!("{error}")))?;
    dynamic.transcode_to().map_err(|error| TextError(format!("{error}")))
}

fn print(message: &impl Message, (file, name): (&str, &str)) -> String {
    let mut printer = Printer { out: format!("# proto-file: {file}\n# proto-message: {name}\n\n"), indent: 0 };
    printer.fields(&dynamic(message, name));
    printer.out
}

struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    fn fields(&mut self, message: &DynamicMessage) {
        if let Some((url, inner)) = expanded(message) {
            self.block(&format!("[{url}]"), |printer| printer.fields(&inner));
            return;
        }
        // In the order of their numbers.
        for field in message.descriptor().fields().filter(|field| message.has_field(field)) {
            match &*message.get_field(&field) {
                Value::List(values) => values.iter().for_each(|value| self.field(&field, value)),
                Value::Map(map) => {
                    let mut entries: Vec<(&MapKey, &Value)> = map.iter().collect();
                    entries.sort_by_key(|(key, _)| *key);
                    let kind = field.kind();
                    let Some(entry) = kind.as_message() else { continue };
                    let (key_field, value_field) = (entry.map_entry_key_field(), entry.map_entry_value_field());
                    for (key, value) in entries {
                        self.block(field.name(), |printer| {
                            printer.field(&key_field, &Value::from(key.clone()));
                            printer.field(&value_field, value);
                        });
                    }
                }
                value => self.field(&field, value),
            }
        }
    }

    fn field(&mut self, field: &FieldDescriptor, value: &Value) {
        let text = match value {
            Value::Message(message) => return self.block(field.name(), |printer| printer.fields(message)),
            Value::String(text) => quoted(text.as_bytes()),
            Value::Bytes(bytes) => quoted(bytes),
            Value::EnumNumber(number) => match field.kind() {
                Kind::Enum(kind) => {
                    kind.get_value(*number).map_or_else(|| number.to_string(), |value| value.name().to_owned())
                }
                _ => number.to_string(),
            },
            other => other.to_string(),
        };
        self.line(&format!("{}: {text}", field.name()));
    }

    fn block(&mut self, name: &str, body: impl FnOnce(&mut Self)) {
        self.line(&format!("{name} {{"));
        self.indent += 1;
        body(self);
        self.indent -= 1;
        self.line("}");
    }

    fn line(&mut self, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
        self.out.push_str(text);
        self.out.push('\n');
    }
}

/// The message in an `Any`, if its type is known.
fn expanded(message: &DynamicMessage) -> Option<(String, DynamicMessage)> {
    if message.descriptor().full_name() != "google.protobuf.Any" {
        return None;
    }
    let (url, bytes) = (message.get_field_by_name("type_url")?, message.get_field_by_name("value")?);
    let (url, bytes) = (url.as_str()?, bytes.as_bytes()?);
    let descriptor = POOL.get_message_by_name(url.rsplit('/').next()?)?;
    Some((url.to_owned(), DynamicMessage::decode(descriptor, bytes.clone()).ok()?))
}

/// As in C, in quotes.
fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'"' | b'\'' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            0x20..=0x7e => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use proto::p4::config::v1 as info;

    use super::*;

    fn sample() -> P4Info {
        let translated = info::P4NewTypeSpec {
            representation: Some(info::p4_new_type_spec::Representation::TranslatedType(info::P4NewTypeTranslation {
                uri: "u".into(),
                sdn_type: Some(info::p4_new_type_translation::SdnType::SdnBitwidth(32)),
            })),
            ..Default::default()
        };
        let types = [("B_t".to_owned(), translated.clone()), ("A_t".to_owned(), translated)];
        let preamble = info::Preamble { id: 7, annotations: vec!["@a(\"x\")".into()], ..Default::default() };
        P4Info {
            tables: vec![info::Table {
                preamble: Some(preamble),
                initial_default_action: Some(info::TableActionCall {
                    action_id: 1,
                    arguments: vec![info::table_action_call::Argument { param_id: 1, value: vec![0, b'\'', 255] }],
                }),
                idle_timeout_behavior: info::table::IdleTimeoutBehavior::NotifyControl.into(),
                direct_resource_ids: vec![3, 4],
                ..Default::default()
            }],
            type_info: Some(info::P4TypeInfo { new_types: types.into(), ..Default::default() }),
            ..Default::default()
        }
    }

    const TEXT: &str = r#"# proto-file: p4/config/v1/p4info.proto
# proto-message: p4.config.v1.P4Info

tables {
  preamble {
    id: 7
    annotations: "@a(\"x\")"
  }
  initial_default_action {
    action_id: 1
    arguments {
      param_id: 1
      value: "\000\'\377"
    }
  }
  direct_resource_ids: 3
  direct_resource_ids: 4
  idle_timeout_behavior: NOTIFY_CONTROL
}
type_info {
  new_types {
    key: "A_t"
    value {
      translated_type {
        uri: "u"
        sdn_bitwidth: 32
      }
    }
  }
  new_types {
    key: "B_t"
    value {
      translated_type {
        uri: "u"
        sdn_bitwidth: 32
      }
    }
  }
}
"#;

    #[test]
    fn the_layout_is_protobufs() {
        assert_eq!(to_text(&sample()), TEXT);
    }

    #[test]
    fn text_is_read_back() {
        assert_eq!(parse_text(TEXT).unwrap(), sample());
        let error = parse_text("tables { sizes: 3 }").unwrap_err().to_string();
        assert!(error.contains("sizes"), "{error}");
    }

    #[test]
    fn a_known_message_in_an_any_is_written_out() {
        let inner = info::Documentation { brief: "b".into(), ..Default::default() };
        let any = |type_url: &str| info::Table {
            other_properties: Some(prost_reflect::prost_types::Any {
                type_url: type_url.into(),
                value: inner.encode_to_vec(),
            }),
            ..Default::default()
        };
        let known = "type.googleapis.com/p4.config.v1.Documentation";
        let given = P4Info { tables: vec![any(known), any("x/unknown")], ..Default::default() };
        let text = to_text(&given);
        assert!(
            text.contains("[type.googleapis.com/p4.config.v1.Documentation] {\n      brief: \"b\"\n    }"),
            "{text}"
        );
        assert!(text.contains("type_url: \"x/unknown\""), "{text}");
        assert_eq!(parse_text(&text).unwrap(), given);
    }
}
