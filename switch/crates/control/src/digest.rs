//! Digests on their way to the control plane (spec "DigestEntry"): gathered into lists, without duplicates, and not
//! sent again before they are acknowledged. It has no clock; every call says what time it is.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::update::Type;

use crate::control::{Control, unknown};
use crate::schema;
use crate::status::{Result, Status};

/// The longest list when the control plane sets no bound.
const LONGEST_LIST: usize = 1024;
/// The most messages of one digest that wait to be sent; more are dropped, as the spec allows.
const MOST_WAITING: usize = 65_536;
/// The most messages of one digest that wait to be acknowledged; the oldest lists are forgotten first.
const MOST_UNACKNOWLEDGED: usize = 65_536;

type Message = Arc<[BigUint]>;

/// All digests that the control plane wants, by P4Info id.
#[derive(Debug, Default)]
pub struct Digests {
    wanted: BTreeMap<u32, Digest>,
    last_list: u64,
}

#[derive(Debug)]
struct Digest {
    config: v1::digest_entry::Config,
    waiting: Vec<Message>,
    /// When the first of the waiting messages came.
    since: u64,
    /// Waiting or sent and not acknowledged.
    known: HashSet<Message>,
    /// Lists that were sent and not acknowledged, with the time they were sent.
    sent: BTreeMap<u64, (u64, Vec<Message>)>,
    sent_messages: usize,
}

/// A list to send.
#[derive(Debug, PartialEq)]
pub struct List {
    pub digest: u32,
    pub list: u64,
    pub messages: Vec<Message>,
}

impl Digests {
    /// Takes a message in; whether it will be sent.
    pub fn offer(&mut self, digest: u32, message: &[BigUint], now: u64) -> bool {
        let Some(digest) = self.wanted.get_mut(&digest) else { return false };
        digest.forget_expired(now);
        if digest.waiting.len() >= MOST_WAITING || digest.known.contains(message) {
            return false;
        }
        let message: Message = message.into();
        if digest.waiting.is_empty() {
            digest.since = now;
        }
        digest.known.insert(message.clone());
        digest.waiting.push(message);
        true
    }

    /// The lists that are full or have waited long enough.
    pub fn due(&mut self, now: u64) -> Vec<List> {
        let mut due = Vec::new();
        for (&id, digest) in &mut self.wanted {
            digest.forget_expired(now);
            let longest = digest.longest();
            let old = now >= digest.deadline();
            while digest.waiting.len() >= longest || (old && !digest.waiting.is_empty()) {
                let rest = digest.waiting.split_off(longest.min(digest.waiting.len()));
                let messages = std::mem::replace(&mut digest.waiting, rest);
                self.last_list += 1;
                digest.was_sent(self.last_list, now, &messages);
                due.push(List { digest: id, list: self.last_list, messages });
                digest.since = now;
            }
        }
        due
    }

    /// When [`Self::due`] has something next, if nothing new comes.
    pub fn deadline(&self) -> Option<u64> {
        self.wanted.values().filter(|digest| !digest.waiting.is_empty()).map(Digest::deadline).min()
    }

    fn acknowledge(&mut self, digest: u32, list: u64) {
        if let Some(digest) = self.wanted.get_mut(&digest) {
            digest.forget(list);
        }
    }
}

impl Digest {
    fn new(config: v1::digest_entry::Config) -> Self {
        Self { config, waiting: Vec::new(), since: 0, known: HashSet::new(), sent: BTreeMap::new(), sent_messages: 0 }
    }

    fn longest(&self) -> usize {
        match usize::try_from(self.config.max_list_size) {
            Ok(0) | Err(_) => LONGEST_LIST,
            Ok(size) => size,
        }
    }

    fn deadline(&self) -> u64 {
        self.since.saturating_add(self.config.max_timeout_ns.unsigned_abs())
    }

    fn was_sent(&mut self, list: u64, now: u64, messages: &[Message]) {
        if self.config.ack_timeout_ns == 0 {
            for message in messages {
                self.known.remove(message);
            }
            return;
        }
        self.sent_messages += messages.len();
        self.sent.insert(list, (now, messages.to_vec()));
        while self.sent_messages > MOST_UNACKNOWLEDGED {
            let Some(oldest) = self.sent.keys().next().copied() else { break };
            self.forget(oldest);
        }
    }

    /// Lists have rising numbers, so the oldest come first.
    fn forget_expired(&mut self, now: u64) {
        let timeout = self.config.ack_timeout_ns.unsigned_abs();
        while let Some((list, (sent, _))) = self.sent.first_key_value() {
            if now < sent.saturating_add(timeout) {
                break;
            }
            let list = *list;
            self.forget(list);
        }
    }

    fn forget(&mut self, list: u64) {
        if let Some((_, messages)) = self.sent.remove(&list) {
            self.sent_messages -= messages.len();
            for message in &messages {
                self.known.remove(message);
            }
        }
    }
}

impl Control {
    pub(crate) fn write_digest(&self, kind: Type, given: &v1::DigestEntry) -> Result<()> {
        let id = given.digest_id;
        let name = &self.schema.digests.get(&id).ok_or_else(|| unknown("digest", id))?.name;
        let wanted = &mut self.digests().wanted;
        match (kind, wanted.contains_key(&id)) {
            (Type::Insert, true) => return Err(Status::exists(format!("{name}: is sent already; modify it"))),
            (Type::Modify | Type::Delete, false) => {
                return Err(Status::not_found(format!("{name}: is not sent; insert it")));
            }
            _ => {}
        }
        if kind == Type::Delete {
            wanted.remove(&id);
            return Ok(());
        }
        let config = given.config.unwrap_or_default();
        for (field, value) in [
            ("max_timeout_ns", config.max_timeout_ns),
            ("max_list_size", config.max_list_size.into()),
            ("ack_timeout_ns", config.ack_timeout_ns),
        ] {
            if value < 0 {
                return Err(Status::invalid(format!("{name}: {field} is {value}, below 0")));
            }
        }
        wanted.entry(id).or_insert_with(|| Digest::new(config)).config = config;
        Ok(())
    }

    pub(crate) fn read_digests(&self, wanted: &v1::DigestEntry) -> Result<Vec<Entity>> {
        if wanted.digest_id != 0 && !self.schema.digests.contains_key(&wanted.digest_id) {
            return Err(unknown("digest", wanted.digest_id));
        }
        let digests = self.digests();
        let selected = digests.wanted.iter().filter(|(id, _)| [0, **id].contains(&wanted.digest_id));
        let entry = |(id, digest): (&u32, &Digest)| {
            Entity::DigestEntry(v1::DigestEntry { digest_id: *id, config: Some(digest.config) })
        };
        Ok(selected.map(entry).collect())
    }

    /// Takes a message of the data plane in, if the control plane wants it.
    pub fn digest(&self, digest: ir::DigestId, values: &[BigUint], now: u64) {
        if let Some(id) = schema::id_of(&self.schema.digests, digest, |digest| digest.handle) {
            self.digests().offer(id, values, now);
        }
    }

    /// The lists to send now; `since_epoch` is the wall clock in nanoseconds.
    pub fn digest_lists(&self, now: u64, since_epoch: u64) -> Vec<v1::DigestList> {
        let due = self.digests().due(now);
        let list = |list: List| {
            let shape = &self.schema.digests.get(&list.digest)?.shape;
            Some(v1::DigestList {
                digest_id: list.digest,
                list_id: list.list,
                data: list.messages.iter().map(|message| shape.encode(message, &self.texts)).collect(),
                timestamp: since_epoch.to_i64().unwrap_or(i64::MAX),
            })
        };
        due.into_iter().filter_map(list).collect()
    }

    /// When the next list is to be sent, if no more messages come.
    pub fn digest_deadline(&self) -> Option<u64> {
        self.digests().deadline()
    }

    pub fn acknowledge(&self, ack: &v1::DigestListAck) -> Result<()> {
        if !self.schema.digests.contains_key(&ack.digest_id) {
            return Err(unknown("digest", ack.digest_id));
        }
        self.digests().acknowledge(ack.digest_id, ack.list_id);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(max_timeout_ns: i64, max_list_size: i32, ack_timeout_ns: i64) -> Digests {
        let config = v1::digest_entry::Config { max_timeout_ns, max_list_size, ack_timeout_ns };
        Digests { wanted: BTreeMap::from([(7, Digest::new(config))]), last_list: 0 }
    }

    fn message(value: u32) -> Vec<BigUint> {
        vec![value.into()]
    }

    fn lists(due: &[List]) -> Vec<(u64, Vec<BigUint>)> {
        due.iter().map(|list| (list.list, list.messages.iter().flat_map(|one| one.to_vec()).collect())).collect()
    }

    #[test]
    fn a_list_leaves_when_it_is_full_or_old() {
        let mut digests = digests(100, 2, 1000);
        assert!(digests.offer(7, &message(1), 10));
        assert_eq!(digests.due(109), []);
        assert_eq!(digests.deadline(), Some(110));
        assert!(digests.offer(7, &message(2), 109));
        assert_eq!(lists(&digests.due(109)), [(1, vec![1u32.into(), 2u32.into()])]);
        assert!(digests.offer(7, &message(3), 120));
        assert_eq!(digests.due(219), []);
        assert_eq!(lists(&digests.due(220)), [(2, vec![3u32.into()])]);
        assert_eq!(digests.deadline(), None);
    }

    #[test]
    fn what_is_known_is_not_sent_again_until_acknowledged_or_forgotten() {
        let mut digests = digests(0, 1, 1000);
        assert!(digests.offer(7, &message(1), 0));
        assert!(!digests.offer(7, &message(1), 0), "it waits");
        assert_eq!(digests.due(0).len(), 1);
        assert!(!digests.offer(7, &message(1), 999), "it was sent");
        digests.acknowledge(7, 1);
        assert!(digests.offer(7, &message(1), 999));
        assert_eq!(digests.due(999).len(), 1);
        assert!(!digests.offer(7, &message(1), 1998));
        assert!(digests.offer(7, &message(1), 1999), "the acknowledgement did not come in time");
    }

    #[test]
    fn without_acknowledgements_nothing_is_remembered() {
        let mut digests = digests(0, 1, 0);
        for _ in 0..2 {
            assert!(digests.offer(7, &message(1), 5));
            assert_eq!(digests.due(5).len(), 1);
        }
    }

    #[test]
    fn many_messages_become_several_lists_and_no_more_than_the_bound_wait() {
        let mut digests = digests(i64::MAX, 3, 0);
        (0..7).for_each(|value| assert!(digests.offer(7, &message(value), 0)));
        assert_eq!(digests.due(0).iter().map(|list| list.messages.len()).collect::<Vec<_>>(), [3, 3]);
        let taken = (0..MOST_WAITING as u32 + 10).filter(|value| digests.offer(7, &message(100 + value), 0)).count();
        assert_eq!(taken, MOST_WAITING - 1, "one waits already");
    }

    #[test]
    fn digests_that_nobody_wants_are_dropped() {
        assert!(!digests(0, 1, 0).offer(8, &message(1), 0));
    }
}
