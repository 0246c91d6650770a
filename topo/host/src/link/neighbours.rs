//! Which MAC a neighbour has, and whether it still answers (RFC 4861, section 7).
//!
//! ```text
//!                 advertised                  30 s                  a packet to it           5 s
//!   incomplete -------------> reachable -------------> stale -------------------> delay ------------> probe
//!       | 3 asked in vain         ^                      ^                                              |
//!       v                         '----------------------|------------- advertised, solicited ----------'
//!      gone                            heard of -> stale '                     3 asked in vain -> gone
//! ```

use std::collections::{BTreeMap, VecDeque};

use smoltcp::wire::{EthernetAddress, Ipv6Address};

use crate::units::SECOND;

/// RFC 4861, section 10.
const MAX_SOLICITS: u32 = 3;
const REACHABLE_TIME: u64 = 30 * SECOND;
const RETRANS_TIMER: u64 = SECOND;
const DELAY_FIRST_PROBE: u64 = 5 * SECOND;

/// Packets that wait for one neighbour's MAC; older ones are lost.
const MAX_WAITING: usize = 64;
/// More than a lab's link has; beyond it neighbours that nobody needs are forgotten.
const MAX_NEIGHBOURS: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Incomplete,
    Reachable,
    Stale,
    Delay,
    Probe,
}

#[derive(Debug)]
struct Neighbour {
    state: State,
    mac: EthernetAddress,
    /// When the state ends or the next solicitation is due.
    due: Option<u64>,
    asked: u32,
    waiting: VecDeque<Vec<u8>>,
}

/// What the link is to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// To the neighbour alone if its MAC is given, else to the group of those who may have the address.
    Solicit {
        target: Ipv6Address,
        mac: Option<EthernetAddress>,
    },
    Send {
        mac: EthernetAddress,
        packet: Vec<u8>,
    },
    /// It did not answer; so many packets are lost.
    Unreachable {
        neighbour: Ipv6Address,
        packets: usize,
    },
}

/// What an advertisement says.
#[derive(Debug, Clone, Copy)]
pub struct Advertised {
    pub target: Ipv6Address,
    pub mac: Option<EthernetAddress>,
    pub solicited: bool,
    pub overrides: bool,
}

pub struct Neighbours {
    neighbours: BTreeMap<Ipv6Address, Neighbour>,
    reachable_time: u64,
    retrans_timer: u64,
}

impl Default for Neighbours {
    fn default() -> Self {
        Self { neighbours: BTreeMap::new(), reachable_time: REACHABLE_TIME, retrans_timer: RETRANS_TIMER }
    }
}

impl Neighbours {
    /// What routers want for this link; 0 leaves it as it is (RFC 4861, section 6.3.4).
    pub fn set_timers(&mut self, reachable_time: u64, retrans_timer: u64) {
        if reachable_time > 0 {
            self.reachable_time = reachable_time;
        }
        if retrans_timer > 0 {
            self.retrans_timer = retrans_timer;
        }
    }

    /// Sends a packet to a neighbour as soon as its MAC is known.
    pub fn send(&mut self, to: Ipv6Address, packet: Vec<u8>, now: u64, actions: &mut Vec<Action>) {
        if let Some(neighbour) = self.neighbours.get_mut(&to) {
            if neighbour.state == State::Incomplete {
                if neighbour.waiting.len() == MAX_WAITING {
                    neighbour.waiting.pop_front();
                }
                neighbour.waiting.push_back(packet);
                return;
            }
            if neighbour.state == State::Stale {
                neighbour.state = State::Delay;
                neighbour.due = Some(now + DELAY_FIRST_PROBE);
            }
            actions.push(Action::Send { mac: neighbour.mac, packet });
            return;
        }
        self.make_room();
        let neighbour = Neighbour {
            state: State::Incomplete,
            mac: EthernetAddress([0; 6]),
            due: Some(now + self.retrans_timer),
            asked: 1,
            waiting: VecDeque::from([packet]),
        };
        self.neighbours.insert(to, neighbour);
        actions.push(Action::Solicit { target: to, mac: None });
    }

    /// A neighbour said its MAC by the way, in a solicitation or a router's advertisement (RFC 4861, section 7.2.3).
    pub fn heard(&mut self, from: Ipv6Address, mac: EthernetAddress, actions: &mut Vec<Action>) {
        if !self.neighbours.contains_key(&from) {
            self.make_room();
        }
        let neighbour = self.neighbours.entry(from).or_insert_with(|| Neighbour {
            state: State::Stale,
            mac,
            due: None,
            asked: 0,
            waiting: VecDeque::new(),
        });
        if neighbour.state == State::Incomplete || neighbour.mac != mac {
            neighbour.state = State::Stale;
            neighbour.mac = mac;
            neighbour.due = None;
            neighbour.release(actions);
        }
    }

    /// An advertisement came (RFC 4861, section 7.2.5).
    pub fn advertised(&mut self, said: Advertised, now: u64, actions: &mut Vec<Action>) {
        let Some(neighbour) = self.neighbours.get_mut(&said.target) else {
            return;
        };
        if neighbour.state == State::Incomplete {
            let Some(mac) = said.mac else { return };
            neighbour.mac = mac;
            neighbour.become_known(said.solicited.then_some(now + self.reachable_time));
            neighbour.release(actions);
            return;
        }
        let another = said.mac.filter(|mac| *mac != neighbour.mac);
        if another.is_some() && !said.overrides {
            if neighbour.state == State::Reachable {
                neighbour.become_known(None);
            }
            return;
        }
        if let Some(mac) = another {
            neighbour.mac = mac;
        }
        if said.solicited {
            neighbour.become_known(Some(now + self.reachable_time));
        } else if another.is_some() {
            neighbour.become_known(None);
        }
    }

    /// Does what is due.
    pub fn poll(&mut self, now: u64, actions: &mut Vec<Action>) {
        let retrans_timer = self.retrans_timer;
        self.neighbours.retain(|address, neighbour| {
            if neighbour.due.is_none_or(|due| due > now) {
                return true;
            }
            match neighbour.state {
                State::Reachable | State::Stale => neighbour.become_known(None),
                State::Delay => {
                    neighbour.state = State::Probe;
                    neighbour.ask(*address, now + retrans_timer, actions);
                }
                State::Incomplete | State::Probe if neighbour.asked < MAX_SOLICITS => {
                    neighbour.ask(*address, now + retrans_timer, actions);
                }
                State::Incomplete | State::Probe => {
                    actions.push(Action::Unreachable { neighbour: *address, packets: neighbour.waiting.len() });
                    return false;
                }
            }
            true
        });
    }

    pub fn next_wake(&self) -> Option<u64> {
        self.neighbours.values().filter_map(|neighbour| neighbour.due).min()
    }

    /// Each neighbour, its MAC if known, and its state in a word.
    pub fn list(&self) -> impl Iterator<Item = (Ipv6Address, Option<EthernetAddress>, &'static str)> {
        self.neighbours.iter().map(|(address, neighbour)| {
            let state = match neighbour.state {
                State::Incomplete => "incomplete",
                State::Reachable => "reachable",
                State::Stale => "stale",
                State::Delay => "delay",
                State::Probe => "probe",
            };
            (*address, (neighbour.state != State::Incomplete).then_some(neighbour.mac), state)
        })
    }

    fn make_room(&mut self) {
        if self.neighbours.len() >= MAX_NEIGHBOURS {
            let idle = self.neighbours.iter().find(|(_, neighbour)| neighbour.state == State::Stale);
            let address = idle.or(self.neighbours.iter().next()).map(|(address, _)| *address);
            address.and_then(|address| self.neighbours.remove(&address));
        }
    }
}

impl Neighbour {
    /// Reachable until then, or stale.
    fn become_known(&mut self, until: Option<u64>) {
        self.state = if until.is_some() { State::Reachable } else { State::Stale };
        self.due = until;
        self.asked = 0;
    }

    fn ask(&mut self, target: Ipv6Address, again: u64, actions: &mut Vec<Action>) {
        self.asked += 1;
        self.due = Some(again);
        let mac = (self.state == State::Probe).then_some(self.mac);
        actions.push(Action::Solicit { target, mac });
    }

    fn release(&mut self, actions: &mut Vec<Action>) {
        let mac = self.mac;
        actions.extend(self.waiting.drain(..).map(|packet| Action::Send { mac, packet }));
    }
}
