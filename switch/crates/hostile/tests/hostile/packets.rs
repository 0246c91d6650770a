//! Hostile packets: the switch goes on, and both backends do the same with them.

use fastrand::Rng;
use hostile::mutate::mutated;
use hostile::packets::{Lasting, format};
use hostile::sources::edge_engines;
use stf::hostile::Packets;

#[test]
fn random_packets_through_the_edge_program() {
    let packets: Vec<_> = Packets::new(1).take(1000).collect();
    edge_engines("routing").unwrap().run(&packets).unwrap();
}

#[test]
fn mutated_packets_through_the_edge_program() {
    let mut random = Rng::with_seed(2);
    for case in ["extensions", "errors", "packet_out"] {
        let mut pair = edge_engines(case).unwrap();
        let packets = pair.packets();
        let mutations: Vec<_> = (0..500)
            .map(|_| {
                let (port, packet) = &packets[random.usize(..packets.len())];
                let (_, other) = &packets[random.usize(..packets.len())];
                (*port, mutated(&mut random, packet, other))
            })
            .collect();
        pair.run(&mutations).unwrap_or_else(|difference| panic!("{case}: {difference}"));
    }
}

#[test]
fn packets_cut_anywhere_go_through_the_edge_program() {
    let engines = edge_engines("extensions").unwrap();
    let packets = engines.packets();
    let (port, packet) = packets.iter().max_by_key(|(_, packet)| packet.len().min(400)).unwrap();
    let mut lasting = Lasting::new(engines).unwrap();
    for len in 0..packet.len().min(400) {
        lasting.run(&format(&[(*port, packet[..len].to_vec())])).unwrap();
    }
}

#[test]
fn the_longest_packets_go_through_the_edge_program() {
    let mut pair = edge_engines("extensions").unwrap();
    let long: Vec<_> = pair
        .packets()
        .into_iter()
        .map(|(port, mut packet)| {
            packet.resize(65_535, 0);
            (port, packet)
        })
        .collect();
    pair.run(&long).unwrap();
}
