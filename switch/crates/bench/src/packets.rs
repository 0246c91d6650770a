//! Routes and the packets that take them.

use fastrand::Rng;

/// A route and what its packets get.
#[derive(Clone)]
pub struct Route {
    pub prefix: u128,
    pub length: u32,
    pub port: u16,
    pub source: [u8; 6],
    pub destination: [u8; 6],
    /// First, second and third segment.
    pub segments: [u128; 3],
}

pub const ROUTES: usize = 10_000;
pub const PACKETS: usize = 1024;

/// Routes as in the wild: most are /48, some shorter, some longer.
pub fn routes(count: usize, numbers: &mut Rng) -> Vec<Route> {
    let mut routes: Vec<Route> = (0..count)
        .map(|i| {
            let length = [48, 48, 48, 48, 32, 40, 44, 36, 64, 56][i % 10];
            let block = (0x2000 + numbers.u128(..0x0c00)) << 112;
            let prefix = (block | numbers.u128(..) >> 16) & (u128::MAX << (128 - length));
            let mut address = || {
                let bytes = numbers.u64(..).to_be_bytes();
                [bytes[0] & 0xfe, bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]]
            };
            let (source, destination) = (address(), address());
            let segments = [numbers.u128(..), numbers.u128(..), numbers.u128(..)];
            Route { prefix, length, port: 1 + (i % 4) as u16, source, destination, segments }
        })
        .collect();
    routes.sort_by_key(|route| (route.prefix, route.length));
    routes.dedup_by_key(|route| (route.prefix, route.length));
    routes
}

/// Packets of 64 bytes of payload, each to a host under one of the routes.
pub fn packets(routes: &[Route], count: usize, numbers: &mut Rng) -> Vec<Vec<u8>> {
    (0..count)
        .map(|_| {
            let route = &routes[numbers.usize(..routes.len())];
            let host = numbers.u128(..) & !(u128::MAX << (128 - route.length));
            let mut packet = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd];
            packet.extend_from_slice(&[0x60, 0, 0, 0, 0, 64, 17, 64]);
            // A source that a router forwards for: neither multicast nor of a link.
            packet.extend_from_slice(&(0x2001 << 112 | numbers.u128(..) >> 16).to_be_bytes());
            packet.extend_from_slice(&(route.prefix | host).to_be_bytes());
            packet.extend((0..64).map(|_| numbers.u8(..)));
            packet
        })
        .collect()
}
