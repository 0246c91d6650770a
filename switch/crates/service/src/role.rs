//! What a role may do. Role configs are Stratum's `P4RoleConfig`, which finsy and others send (spec "Role Config").

use control::{Scope, Status};
use prost::Message;
use prost_types::Any;
use proto::p4::v1::{PacketIn, PacketMetadata};
use proto::stratum::P4RoleConfig;

use crate::clients::Rights;

/// The one kind of role config that this switch knows.
const ROLE_CONFIG: &str = "stratum.P4RoleConfig";

/// What a role may see, change and receive.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    pub scope: Scope,
    /// Objects that no other role may have.
    pub exclusive: Vec<u32>,
    pub packet_ins: bool,
    /// It would be sent packets, if its client had the right to see them.
    pub withheld: bool,
    /// Only packets with this metadata are sent.
    pub packet_in_filter: Option<PacketMetadata>,
    pub can_push_pipeline: bool,
}

impl Default for Access {
    /// Of the default role, and of roles without config: everything.
    fn default() -> Self {
        Self {
            scope: Scope::All,
            exclusive: Vec::new(),
            packet_ins: true,
            withheld: false,
            packet_in_filter: None,
            can_push_pipeline: true,
        }
    }
}

impl Access {
    pub fn new(config: Option<&Any>) -> Result<Self, Status> {
        let Some(config) = config else { return Ok(Self::default()) };
        if config.type_url.rsplit('/').next() != Some(ROLE_CONFIG) {
            let given = &config.type_url;
            return Err(Status::invalid(format!("role.config is {given:?}; this switch knows {ROLE_CONFIG} only")));
        }
        let config = P4RoleConfig::decode(&*config.value)
            .map_err(|error| Status::invalid(format!("role.config is no {ROLE_CONFIG}: {error}")))?;
        let ids = config.exclusive_p4_ids.iter().chain(&config.shared_p4_ids).copied();
        Ok(Self {
            scope: Scope::Only(ids.collect()),
            packet_ins: config.receives_packet_ins,
            withheld: false,
            packet_in_filter: config
                .packet_in_filter
                .map(|filter| PacketMetadata { metadata_id: filter.metadata_id, value: filter.value }),
            can_push_pipeline: config.can_push_pipeline,
            exclusive: config.exclusive_p4_ids,
        })
    }

    /// What of it a client with these rights has.
    pub fn within(self, rights: Rights) -> Self {
        let withheld = self.packet_ins && !rights.capture;
        Self { packet_ins: self.packet_ins && !withheld, withheld, ..self }
    }

    pub fn receives(&self, packet: &PacketIn) -> bool {
        self.packet_ins && self.packet_in_filter.as_ref().is_none_or(|filter| packet.metadata.contains(filter))
    }

    /// An object that one of the two has for itself and the other has too.
    pub fn conflict(&self, other: &Self) -> Option<u32> {
        let has = |access: &Self, id: &u32| matches!(&access.scope, Scope::Only(ids) if ids.contains(id));
        let mine = self.exclusive.iter().find(|id| has(other, id));
        mine.or_else(|| other.exclusive.iter().find(|id| has(self, id))).copied()
    }
}

#[cfg(test)]
mod tests {
    use control::Code;

    use super::*;

    fn any(config: &P4RoleConfig) -> Any {
        Any { type_url: format!("type.googleapis.com/{ROLE_CONFIG}"), value: config.encode_to_vec() }
    }

    #[test]
    fn without_config_a_role_may_do_everything() {
        let access = Access::new(None).unwrap();
        assert!(access.receives(&PacketIn::default()) && access.can_push_pipeline);
        assert_eq!(access.scope, Scope::All);
    }

    #[test]
    fn packets_are_filtered_by_metadata() {
        let filter = proto::stratum::p4_role_config::PacketFilter { metadata_id: 2, value: vec![5] };
        let config = P4RoleConfig { receives_packet_ins: true, packet_in_filter: Some(filter), ..Default::default() };
        let access = Access::new(Some(&any(&config))).unwrap();
        let packet = |value| PacketIn { metadata: vec![PacketMetadata { metadata_id: 2, value }], payload: vec![] };
        assert!(access.receives(&packet(vec![5])));
        assert!(!access.receives(&packet(vec![6])));
        assert!(!access.can_push_pipeline);
    }

    #[test]
    fn another_kind_of_config_is_refused() {
        let other = Any { type_url: "type.googleapis.com/some.Config".into(), value: vec![] };
        let error = Access::new(Some(&other)).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains("stratum.P4RoleConfig"), "{}", error.message);
    }

    #[test]
    fn what_one_role_has_for_itself_no_other_may_have() {
        let access = |exclusive: &[u32], shared: &[u32]| {
            let (exclusive_p4_ids, shared_p4_ids) = (exclusive.to_vec(), shared.to_vec());
            Access::new(Some(&any(&P4RoleConfig { exclusive_p4_ids, shared_p4_ids, ..Default::default() }))).unwrap()
        };
        assert_eq!(access(&[1], &[]).conflict(&access(&[], &[1])), Some(1));
        assert_eq!(access(&[], &[1, 2]).conflict(&access(&[2], &[])), Some(2));
        assert_eq!(access(&[3], &[1]).conflict(&access(&[], &[1])), None);
    }
}
