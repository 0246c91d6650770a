//! The two programs as one would write them in Rust for these packets alone, with the switch's own trie for the routes.

use runtime::Packet;
use tables::{Epochs, FieldKind, FieldSpec, Pattern, Reader, Schema, Table, table};

use crate::packets::Route;

const ETHERNET: usize = 14;
const IPV6: usize = 40;

pub struct Router {
    table: std::sync::Arc<Table>,
    /// Lets nothing be reclaimed while the loop runs.
    reader: Reader,
    routes: Vec<Route>,
    packet: Packet,
    headroom: usize,
}

impl Router {
    pub fn new(routes: &[Route]) -> Self {
        let epochs = Epochs::new();
        let schema = Schema { fields: vec![FieldSpec { kind: FieldKind::Lpm, width: 128 }] };
        let (table, mut writer) = table(schema, routes.len() as u64, &epochs);
        for (index, route) in routes.iter().enumerate() {
            let mask = u128::MAX << (128 - route.length);
            let pattern = Pattern {
                first: route.prefix.to_be_bytes().to_vec(),
                second: mask.to_be_bytes().to_vec(),
                priority: 0,
            };
            let inserted = writer.insert(&pattern, |_| index as u32);
            assert!(inserted.is_ok(), "routes differ and fit");
        }
        let reader = Reader::new(&epochs);
        Self { table, reader, routes: routes.to_vec(), packet: Packet::default(), headroom: 128 }
    }

    /// Called once per burst.
    pub fn pin(&mut self) {
        self.reader.pin();
    }

    /// Routes a packet: its port and its bytes as it leaves, or none if it is dropped.
    pub fn route(&mut self, bytes: &[u8]) -> Option<(u16, &[u8])> {
        self.packet.refill(self.headroom, bytes);
        let route = Self::forward(&self.table, &self.reader, &self.routes, self.packet.bytes_mut())?;
        Some((route.port, self.packet.bytes()))
    }

    /// The same, with a segment routing header of three segments and the destination.
    pub fn route_with_segments(&mut self, bytes: &[u8]) -> Option<(u16, &[u8])> {
        self.packet.refill(self.headroom, bytes);
        let route = Self::forward(&self.table, &self.reader, &self.routes, self.packet.bytes_mut())?;
        let mut headers = [0; ETHERNET + IPV6 + 72];
        headers[..ETHERNET + IPV6].copy_from_slice(&self.packet.bytes()[..ETHERNET + IPV6]);
        let (ip, srh) = headers[ETHERNET..].split_at_mut(IPV6);
        srh[..8].copy_from_slice(&[ip[6], 8, 4, 3, 3, 0, 0, 0]);
        srh[8..24].copy_from_slice(&ip[24..40]);
        let [first, second, third] = route.segments;
        srh[24..40].copy_from_slice(&third.to_be_bytes());
        srh[40..56].copy_from_slice(&second.to_be_bytes());
        srh[56..72].copy_from_slice(&first.to_be_bytes());
        let payload = u16::from_be_bytes([ip[4], ip[5]]).wrapping_add(72);
        ip[4..6].copy_from_slice(&payload.to_be_bytes());
        ip[6] = 43;
        ip[24..40].copy_from_slice(&first.to_be_bytes());
        let port = route.port;
        self.packet.replace_front(ETHERNET + IPV6, &headers, self.headroom);
        Some((port, self.packet.bytes()))
    }

    fn forward<'r>(table: &Table, reader: &Reader, routes: &'r [Route], packet: &mut [u8]) -> Option<&'r Route> {
        if packet.len() < ETHERNET + IPV6 || packet[12..14] != [0x86, 0xdd] || packet[21] <= 1 {
            return None;
        }
        let hit = table.lookup(reader, &packet[ETHERNET + 24..ETHERNET + 40])?;
        let route = &routes[hit.body as usize];
        packet[..6].copy_from_slice(&route.destination);
        packet[6..12].copy_from_slice(&route.source);
        packet[21] -= 1;
        Some(route)
    }
}
