//! What smoltcp takes for a network card: packets that came, packets that are to go.

use std::collections::VecDeque;

use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;

use crate::link::ETHERNET_HEADER;

/// IPv6 packets between smoltcp and the link. Those that leave have room for an Ethernet header in front.
pub struct Queues {
    pub mtu: usize,
    pub arrived: VecDeque<Vec<u8>>,
    pub leaving: VecDeque<Vec<u8>>,
}

impl Queues {
    pub fn new(mtu: usize) -> Self {
        Self { mtu, arrived: VecDeque::new(), leaving: VecDeque::new() }
    }
}

impl Device for Queues {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _now: Instant) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        let packet = self.arrived.pop_front()?;
        Some((Arrived(packet), Leaving(&mut self.leaving)))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Self::TxToken<'_>> {
        Some(Leaving(&mut self.leaving))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        capabilities
    }
}

pub struct Arrived(Vec<u8>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

pub struct Leaving<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; ETHERNET_HEADER + length];
        let result = write(&mut packet[ETHERNET_HEADER..]);
        self.0.push_back(packet);
        result
    }
}
