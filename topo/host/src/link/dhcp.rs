//! A client of DHCPv6 for one address (RFC 8415): the link's router says that there is a server (its M flag).
//!
//! ```text
//!   Off -> Soliciting -ADVERTISE-> Requesting -REPLY-> Bound -T1-> Renewing -T2-> Rebinding
//!              ^                       |                 ^            |              |
//!              +------ no answer ------+                 +--- REPLY --+--------------+
//!              +------------------------ the lease ends -----------------------------+
//!
//!   | type | transaction |    options: | code | length | octets |
//! ```

use smoltcp::wire::{EthernetAddress, Ipv6Address};

use crate::units::SECOND;

pub const CLIENT_PORT: u16 = 546;
pub const SERVER_PORT: u16 = 547;
pub const ALL_SERVERS: Ipv6Address = Ipv6Address::new(0xff02, 0, 0, 0, 0, 0, 1, 2);

const ADVERTISE: u8 = 2;
const REPLY: u8 = 7;
const CLIENT_ID: u16 = 1;
const SERVER_ID: u16 = 2;
const IA_NA: u16 = 3;
const IA_ADDRESS: u16 = 5;
const PREFERENCE: u16 = 7;
const ELAPSED: u16 = 8;
/// The only association that this host has.
const IAID: [u8; 4] = [0, 0, 0, 1];
const MOST_REQUESTS: u32 = 10;
const INFINITE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Off,
    Soliciting,
    Requesting,
    Bound,
    Renewing,
    Rebinding,
}

/// An address for a time; ends are in nanoseconds, none is never.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub address: Ipv6Address,
    pub preferred_until: Option<u64>,
    pub valid_until: Option<u64>,
    renew_at: u64,
    rebind_at: u64,
}

pub struct Dhcp {
    mac: EthernetAddress,
    random: fastrand::Rng,
    state: State,
    transaction: [u8; 3],
    began: u64,
    sent: u32,
    wait: u64,
    due: u64,
    server: Vec<u8>,
    lease: Option<Lease>,
}

/// What an answer says.
struct Answer {
    kind: u8,
    server: Vec<u8>,
    decided: bool,
    lease: Option<Lease>,
}

impl Dhcp {
    pub fn new(mac: EthernetAddress, seed: u64) -> Self {
        Self {
            mac,
            random: fastrand::Rng::with_seed(seed),
            state: State::Off,
            transaction: [0; 3],
            began: 0,
            sent: 0,
            wait: 0,
            due: u64::MAX,
            server: vec![],
            lease: None,
        }
    }

    /// A router says that addresses are handed out.
    pub fn start(&mut self, now: u64) {
        if self.state == State::Off {
            self.enter(State::Soliciting, now);
            // Hosts that saw the same advertisement do not ask all at once (section 18.2.1).
            self.due = now + self.random.u64(0..SECOND);
        }
    }

    /// The link was away: the address may not fit any more.
    pub fn restart(&mut self, now: u64) {
        if self.state != State::Off {
            self.enter(if self.lease.is_some() { State::Rebinding } else { State::Soliciting }, now);
        }
    }

    pub fn next_wake(&self) -> Option<u64> {
        (self.due < u64::MAX).then_some(self.due)
    }

    /// The message that is due, for all servers of the link.
    pub fn poll(&mut self, now: u64) -> Option<Vec<u8>> {
        if now < self.due {
            return None;
        }
        let over = self.lease.as_ref().and_then(|lease| lease.valid_until).is_some_and(|end| end <= now);
        let rebind = self.lease.as_ref().is_some_and(|lease| lease.rebind_at <= now);
        match self.state {
            State::Off => return None,
            State::Soliciting if !self.server.is_empty() => self.enter(State::Requesting, now),
            State::Requesting if self.sent == MOST_REQUESTS => self.begin_again(now),
            State::Bound | State::Renewing | State::Rebinding if over => self.begin_again(now),
            State::Bound | State::Renewing if rebind => self.enter(State::Rebinding, now),
            State::Bound => self.enter(State::Renewing, now),
            _ => {}
        }
        Some(self.transmit(now))
    }

    /// Takes what a server says; answers the lease that it gives.
    pub fn receive(&mut self, octets: &[u8], now: u64) -> Option<&Lease> {
        let answer = self.read(octets, now)?;
        match (self.state, answer.kind) {
            (State::Soliciting, ADVERTISE) if answer.lease.is_some() => {
                self.server = answer.server;
                // Others have the time of the first solicitation to offer more, unless this one is sure (section 18.2.9).
                if self.sent > 1 || answer.decided {
                    self.enter(State::Requesting, now);
                }
                None
            }
            (State::Requesting | State::Renewing | State::Rebinding, REPLY) => {
                let Some(lease) = answer.lease else {
                    // The server does not know the address any more, or has none: ask again, not at once.
                    self.begin_again(now);
                    self.due = now + SECOND;
                    return None;
                };
                self.state = State::Bound;
                self.due = lease.renew_at;
                self.server = answer.server;
                self.lease = Some(lease);
                self.lease.as_ref()
            }
            _ => None,
        }
    }

    fn begin_again(&mut self, now: u64) {
        self.server.clear();
        self.lease = None;
        self.enter(State::Soliciting, now);
    }

    fn enter(&mut self, state: State, now: u64) {
        self.state = state;
        self.transaction = [self.random.u8(..), self.random.u8(..), self.random.u8(..)];
        self.began = now;
        self.sent = 0;
        self.due = now;
    }

    /// Makes the message, and says when it goes again (section 15).
    fn transmit(&mut self, now: u64) -> Vec<u8> {
        let (kind, first, most) = match self.state {
            State::Requesting => (3, SECOND, 30 * SECOND),
            State::Renewing => (5, 10 * SECOND, 600 * SECOND),
            State::Rebinding => (6, 10 * SECOND, 600 * SECOND),
            _ => (1, SECOND, 3600 * SECOND),
        };
        let wait = if self.sent == 0 { first } else { (2 * self.wait).min(most) };
        self.wait = wait + wait / 100 * self.random.u64(0..=10);
        self.due = now + self.wait;
        if let Some(lease) = &self.lease {
            let end =
                if self.state == State::Renewing { lease.rebind_at } else { lease.valid_until.unwrap_or(u64::MAX) };
            self.due = self.due.min(end);
        }
        self.sent += 1;
        let elapsed = u16::try_from((now - self.began) / (SECOND / 100)).unwrap_or(u16::MAX);
        let mut message = vec![kind];
        message.extend(self.transaction);
        put_option(&mut message, CLIENT_ID, &self.duid());
        if matches!(self.state, State::Requesting | State::Renewing) {
            put_option(&mut message, SERVER_ID, &self.server);
        }
        put_option(&mut message, ELAPSED, &elapsed.to_be_bytes());
        put_option(&mut message, IA_NA, &self.association());
        message
    }

    /// DUID-LL of Ethernet (section 11.4).
    fn duid(&self) -> Vec<u8> {
        [&[0, 3, 0, 1], &self.mac.0[..]].concat()
    }

    fn association(&self) -> Vec<u8> {
        let mut association = [&IAID[..], &[0; 8]].concat();
        if let Some(lease) = &self.lease {
            put_option(&mut association, IA_ADDRESS, &[&lease.address.octets()[..], &[0; 8]].concat());
        }
        association
    }

    fn read(&self, octets: &[u8], now: u64) -> Option<Answer> {
        if octets.get(1..4)? != self.transaction {
            return None;
        }
        let mut answer = Answer { kind: octets[0], server: vec![], decided: false, lease: None };
        let mut for_us = false;
        for (code, value) in options(&octets[4..]) {
            match code {
                CLIENT_ID => for_us = value == self.duid(),
                SERVER_ID => answer.server = value.to_vec(),
                PREFERENCE => answer.decided = value == [255],
                IA_NA if value.get(..4) == Some(&IAID) => answer.lease = lease(value, now),
                _ => {}
            }
        }
        (for_us && !answer.server.is_empty()).then_some(answer)
    }
}

/// The first address of an association that is valid; without times to renew, parts of the preferred lifetime.
fn lease(association: &[u8], now: u64) -> Option<Lease> {
    let (renew, rebind) = (number(association, 4)?, number(association, 8)?);
    options(association.get(12..)?).find_map(|(code, value)| {
        let (preferred, valid) = (number(value, 16)?, number(value, 20)?);
        if code != IA_ADDRESS || valid == 0 || preferred > valid {
            return None;
        }
        let address = Ipv6Address::from(<[u8; 16]>::try_from(value.get(..16)?).ok()?);
        let renew_at = at(if renew == 0 { part(preferred, 5) } else { renew }, now).unwrap_or(u64::MAX);
        let rebind_at = at(if rebind == 0 { part(preferred, 8) } else { rebind }, now).unwrap_or(u64::MAX);
        Some(Lease {
            address,
            preferred_until: at(preferred, now),
            valid_until: at(valid, now),
            renew_at,
            rebind_at: rebind_at.max(renew_at),
        })
    })
}

fn part(seconds: u32, tenths: u32) -> u32 {
    if seconds == INFINITE { INFINITE } else { (seconds / 10 * tenths).max(1) }
}

fn at(seconds: u32, now: u64) -> Option<u64> {
    (seconds != INFINITE).then(|| now + u64::from(seconds) * SECOND)
}

fn number(octets: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(octets.get(at..at + 4)?.try_into().ok()?))
}

fn put_option(message: &mut Vec<u8>, code: u16, value: &[u8]) {
    message.extend(code.to_be_bytes());
    message.extend((value.len() as u16).to_be_bytes());
    message.extend(value);
}

/// Options up to the first that says more than is there.
fn options(mut octets: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let code = u16::from_be_bytes([*octets.first()?, *octets.get(1)?]);
        let length = usize::from(u16::from_be_bytes([*octets.get(2)?, *octets.get(3)?]));
        let value = octets.get(4..4 + length)?;
        octets = &octets[4 + length..];
        Some((code, value))
    })
}
