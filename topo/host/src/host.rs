//! The host: frames, commands and the time go in; frames and events come out.

use std::collections::BTreeMap;

use smoltcp::iface::{Config as InterfaceConfig, Interface, SocketSet};
use smoltcp::wire::{HardwareAddress, IpCidr, Ipv6Address, Ipv6Packet};

use crate::command::Command;
use crate::config::{Config, MIN_MTU};
use crate::device::Queues;
use crate::event::{Event, FlowStatus, Status, What};
use crate::flow::{App, Context, Progress, Shared};
use crate::link::{IcmpError, Link, Received, mac_text, tcp_payload};
use crate::tcp::Tcp;
use crate::throttle::Throttle;
use crate::units::{instant, since_instant};

/// A host on a link.
pub struct Host {
    link: Link,
    device: Queues,
    interface: Interface,
    /// Of UDP.
    sockets: SocketSet<'static>,
    tcp: Tcp,
    apps: BTreeMap<u32, Box<dyn App>>,
    shared: Shared,
    random: fastrand::Rng,
    throttle: Throttle,
    /// Something came in that [`Host::poll`] has not dealt with.
    disturbed: bool,
}

impl Host {
    /// A host that has not begun: the first [`Host::poll`] says when that is.
    pub fn new(config: &Config) -> Result<Self, String> {
        config.check()?;
        let mut random = fastrand::Rng::with_seed(config.seed);
        let mut device = Queues::new(config.mtu);
        let interface = interface(&mut device, &mut random, 0);
        let tcp = Tcp::new(config.mtu, random.u64(..));
        Ok(Self {
            link: Link::new(config),
            device,
            interface,
            sockets: SocketSet::new(vec![]),
            tcp,
            apps: BTreeMap::new(),
            shared: Shared::default(),
            random,
            throttle: Throttle::default(),
            disturbed: true,
        })
    }

    /// Takes a frame from the wire.
    pub fn receive(&mut self, frame: &[u8], now: u64) {
        match self.link.receive(frame, now) {
            Received::Nothing => {}
            Received::Packet(packet) => self.take_packet(packet, now),
            Received::EchoReply(reply) => {
                let flow = self.apps.keys().copied().find(|flow| *flow as u16 == reply.ident);
                self.with_app(flow, now, |app, context| app.echo_reply(&reply, context));
            }
            Received::Error(error) => self.take_error(&error, now),
        }
        self.disturbed = true;
    }

    /// Does everything that can be done now; what leaves is added to `frames`.
    pub fn poll(&mut self, now: u64, frames: &mut Vec<Vec<u8>>) {
        self.disturbed = false;
        self.link.poll(now);
        self.configure(now);
        loop {
            self.interface.poll(instant(now), &mut self.device, &mut self.sockets);
            let busy = self.poll_apps(now);
            let mut packets: Vec<_> = self.device.leaving.drain(..).collect();
            self.tcp.poll(now, &mut packets);
            for packet in packets {
                self.link.send(packet, now);
            }
            let own = self.link.take_own();
            let idle = !busy && own.is_empty();
            for packet in own {
                self.take_packet(packet, now);
            }
            if idle {
                break;
            }
        }
        for what in self.link.take_events() {
            self.tell(now, what);
        }
        for destination in self.link.take_unroutable() {
            if let Some(held_back) = self.throttle.tell("no_route", destination, now) {
                self.tell(now, What::NoRoute { destination, held_back });
            }
        }
        self.link.take_frames(frames);
    }

    /// When [`Host::poll`] has something to do even if no frame comes: never, in the past (at once), or then.
    pub fn next_wake(&mut self, now: u64) -> Option<u64> {
        if self.disturbed {
            return Some(now);
        }
        let stack = self.interface.poll_at(instant(now), &self.sockets).map(since_instant);
        let apps = self.apps.values().filter_map(|app| app.next_wake());
        apps.chain(stack).chain(self.tcp.next_wake()).chain(self.link.next_wake()).min().map(|at| at.max(now))
    }

    /// Takes a command; answers the flow that it began, if it began one.
    pub fn command(&mut self, command: Command, now: u64) -> Result<Option<u32>, String> {
        self.disturbed = true;
        match command {
            Command::Stop(stop) => {
                if !self.apps.contains_key(&stop.flow) {
                    return Err(format!("there is no flow {}; it may have ended already", stop.flow));
                }
                self.with_app(Some(stop.flow), now, |app, context| {
                    app.stop(context);
                    context.tell(What::Stopped);
                });
                self.apps.remove(&stop.flow);
                Ok(None)
            }
            Command::Status(_) => {
                let status = self.status();
                self.tell(now, What::Status(status));
                Ok(None)
            }
            command => {
                let app = command.into_app(self.link.mtu())?;
                let flow = self.shared.new_flow();
                self.shared.events.push(Event {
                    at_ns: now,
                    flow: Some(flow),
                    what: What::Started { app: app.name() },
                });
                self.apps.insert(flow, app);
                Ok(Some(flow))
            }
        }
    }

    /// Takes a command as a line of JSON; what is wrong with it becomes an event.
    pub fn carry_out(&mut self, line: &str, now: u64) {
        if let Err(text) = Command::parse(line).and_then(|command| self.command(command, now)) {
            self.refuse(text, now);
        }
    }

    /// Tells that a command could not be carried out.
    pub fn refuse(&mut self, text: String, now: u64) {
        self.tell(now, What::Refused { text });
    }

    /// The wire below came or went.
    pub fn set_link(&mut self, up: bool, now: u64) {
        self.tell(now, if up { What::LinkUp } else { What::LinkDown });
        if up {
            self.link.restart(now);
            self.disturbed = true;
        }
    }

    /// Whether a UDP socket here is connected to a peer's.
    pub fn udp_is_connected(&self, local_port: u16, peer: Ipv6Address, peer_port: u16) -> bool {
        self.apps.values().any(|app| app.udp_peer(local_port) == Some((peer, peer_port)))
    }

    /// Takes what happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.shared.events)
    }

    fn tell(&mut self, now: u64, what: What) {
        self.shared.events.push(Event { at_ns: now, flow: None, what });
    }

    fn status(&self) -> Status {
        let flows = self.apps.iter().map(|(flow, app)| FlowStatus { flow: *flow, app: app.name() });
        Status {
            mac: mac_text(self.link.mac()),
            mtu: self.device.mtu,
            addresses: self.link.addresses().map(|cidr| cidr.to_string()).collect(),
            routers: self.link.routers().collect(),
            neighbours: self.link.neighbours().collect(),
            flows: flows.collect(),
        }
    }

    /// Lets smoltcp know the addresses and the longest packet.
    fn configure(&mut self, now: u64) {
        self.shorten_packets(self.link.mtu(), now);
        let wanted = self.link.addresses().map(IpCidr::Ipv6);
        if !self.interface.ip_addrs().iter().copied().eq(wanted) {
            let addresses: Vec<_> = self.link.addresses().map(IpCidr::Ipv6).collect();
            self.interface.update_ip_addrs(|own| {
                own.clear();
                // The link has no more of them than there is room for.
                own.extend(addresses);
            });
        }
    }

    /// smoltcp knows one MTU, from when an interface is made: a shorter one needs another interface.
    fn shorten_packets(&mut self, mtu: usize, now: u64) {
        if mtu < self.device.mtu {
            self.device.mtu = mtu;
            self.interface = interface(&mut self.device, &mut self.random, now);
            self.tcp.set_mtu(mtu);
            self.tell(now, What::PathMtu { mtu });
        }
    }

    fn poll_apps(&mut self, now: u64) -> bool {
        let mut busy = false;
        let flows: Vec<u32> = self.apps.keys().copied().collect();
        for flow in flows {
            let mut progress = Progress::Idle;
            self.with_app(Some(flow), now, |app, context| progress = app.poll(context));
            busy |= progress != Progress::Idle;
            if progress == Progress::Ended {
                self.apps.remove(&flow);
            }
        }
        busy |= !self.shared.started.is_empty();
        self.apps.extend(self.shared.started.drain(..));
        busy
    }

    fn with_app(&mut self, flow: Option<u32>, now: u64, run: impl FnOnce(&mut dyn App, &mut Context<'_>)) {
        let Some((flow, app)) = flow.and_then(|flow| Some((flow, self.apps.get_mut(&flow)?))) else {
            return;
        };
        let mut context = Context {
            now,
            flow,
            link: &mut self.link,
            sockets: &mut self.sockets,
            tcp: &mut self.tcp,
            random: &mut self.random,
            shared: &mut self.shared,
        };
        run(app.as_mut(), &mut context);
    }

    /// Takes a packet to one of the host's addresses: TCP is the host's own, the rest smoltcp's.
    fn take_packet(&mut self, packet: Vec<u8>, now: u64) {
        let ipv6 = Ipv6Packet::new_unchecked(&packet[..]);
        match tcp_payload(&ipv6) {
            Some(payload) => self.tcp.receive(&ipv6, payload, now),
            None => self.device.arrived.push_back(packet),
        }
    }

    fn take_error(&mut self, error: &IcmpError, now: u64) {
        // RFC 8201, section 4: a host may take one path's MTU for all, and none is below IPv6's least.
        if let Some(mtu) = error.mtu {
            self.shorten_packets((mtu as usize).max(MIN_MTU), now);
            self.configure(now);
        }
        let Some(held_back) = self.throttle.tell(error.error, error.quote.destination, now) else { return };
        let what = What::IcmpError {
            error: error.error,
            code: error.code,
            from: error.from,
            destination: error.quote.destination,
            mtu: error.mtu,
            held_back,
        };
        let flow = self.apps.iter().find(|(_, app)| app.sent(&error.quote)).map(|(flow, _)| *flow);
        self.shared.events.push(Event { at_ns: now, flow, what });
    }
}

fn interface(device: &mut Queues, random: &mut fastrand::Rng, now: u64) -> Interface {
    let mut config = InterfaceConfig::new(HardwareAddress::Ip);
    config.random_seed = random.u64(..);
    Interface::new(config, device, instant(now))
}
