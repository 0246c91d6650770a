//! Packets to and from the control plane (spec "Packet I/O"): `@controller_header`s and their metadata.

use num_bigint::BigUint;
use proto::p4::v1;
use runtime::BitString;

use crate::control::Control;
use crate::field::Field;
use crate::number;
use crate::status::{Result, Status};

impl Control {
    /// Takes the `packet_in` header off a packet that left the CPU port.
    pub fn packet_in(&self, packet: &[u8]) -> Result<v1::PacketIn> {
        let Some(fields) = &self.schema.packet_in else {
            return Ok(v1::PacketIn { payload: packet.to_vec(), metadata: Vec::new() });
        };
        let size = header_size(fields);
        let Some((header, payload)) = packet.split_at_checked(size) else {
            let len = packet.len();
            return Err(Status::invalid(format!(
                "a packet of {len} bytes is too short for its packet_in header of {size}"
            )));
        };
        let bits = BigUint::from_bytes_be(header);
        let mut left = size as u64 * 8;
        let metadata = fields.iter().map(|field| {
            left -= u64::from(field.width);
            let value = (&bits >> left) & number::ones(field.width);
            v1::PacketMetadata { metadata_id: field.id, value: self.texts.to_control(field, &value) }
        });
        Ok(v1::PacketIn { metadata: metadata.collect(), payload: payload.to_vec() })
    }

    /// Puts the `packet_out` header in front of a packet that is to enter by the CPU port.
    pub fn packet_out(&self, packet: &v1::PacketOut) -> Result<Vec<u8>> {
        let fields = self.schema.packet_out.as_deref().unwrap_or(&[]);
        let mut values: Vec<Option<BigUint>> = vec![None; fields.len()];
        for metadata in &packet.metadata {
            let Some(at) = fields.iter().position(|field| field.id == metadata.metadata_id) else {
                return Err(Status::invalid(format!("packet_out has no metadata with id {}", metadata.metadata_id)));
            };
            let place = |error: Status| Status {
                message: format!("packet_out metadata {} {}", fields[at].name, error.message),
                ..error
            };
            let value = self.texts.to_data(&fields[at], &metadata.value).map_err(place)?;
            if values[at].replace(value).is_some() {
                return Err(place(Status::invalid("is given twice")));
            }
        }
        let mut header = BitString::new();
        for (field, value) in fields.iter().zip(values) {
            let value =
                value.ok_or_else(|| Status::invalid(format!("packet_out metadata {} is missing", field.name)))?;
            header.push_le(&value.to_bytes_le(), field.width);
        }
        let mut bytes = header.bytes().to_vec();
        bytes.extend_from_slice(&packet.payload);
        Ok(bytes)
    }
}

fn header_size(fields: &[Field]) -> usize {
    fields.iter().map(|field| field.width as usize).sum::<usize>().div_ceil(8)
}
