//! Segmentation and its reverse, beside packets that are built one by one.

use proptest::prelude::*;

use super::coalesce::Coalescer;
use super::*;

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

/// What differs from packet to packet.
#[derive(Debug, Clone)]
struct Shape {
    ipv6: bool,
    udp: bool,
    tags: usize,
    /// A hop-by-hop and a destination options header; in IPv4 an option.
    extended: bool,
    identification: u16,
    sequence: u32,
    flags: u8,
}

impl Shape {
    fn new(ipv6: bool) -> Self {
        Self { ipv6, udp: false, tags: 0, extended: false, identification: 7, sequence: 1000, flags: ACK }
    }

    /// The frame, its checksum made, or only begun for whoever segments it.
    fn frame(&self, payload: &[u8], finished: bool) -> Vec<u8> {
        let mut transport = vec![0x30, 0x39, 0x00, 0x50];
        if self.udp {
            transport.extend(((8 + payload.len()) as u16).to_be_bytes());
            transport.extend([0, 0]);
        } else {
            transport.extend(self.sequence.to_be_bytes());
            transport.extend([1, 2, 3, 4, 0x80, self.flags, 0x20, 0, 0, 0, 0, 0]);
            transport.extend([1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8]);
        }
        transport.extend(payload);
        let protocol = if self.udp { 17 } else { 6 };
        let (source, destination) =
            if self.ipv6 { ([0xfd; 16].to_vec(), [0x20; 16].to_vec()) } else { (vec![10, 0, 0, 1], vec![10, 0, 0, 2]) };
        let mut pseudo = [source.clone(), destination.clone(), vec![0, protocol]].concat();
        pseudo.extend((transport.len() as u16).to_be_bytes());
        let field = if self.udp { 6 } else { 16 };
        let begun = naive_sum(&pseudo);
        let checksum = if finished { !naive_sum(&[pseudo, transport.clone()].concat()) } else { begun };
        let checksum = if checksum == 0 && finished { 0xffff } else { checksum };
        transport[field..field + 2].copy_from_slice(&checksum.to_be_bytes());

        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        (0..self.tags).for_each(|tag| frame.extend([0x81, 0x00, 0x60, tag as u8]));
        if self.ipv6 {
            let options = if self.extended { 16 } else { 0 };
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 5]);
            frame.extend(((transport.len() + options) as u16).to_be_bytes());
            frame.extend([if self.extended { 0 } else { protocol }, 64]);
            frame.extend([source, destination].concat());
            if self.extended {
                frame.extend([60, 0, 1, 4, 0, 0, 0, 0, protocol, 0, 1, 4, 0, 0, 0, 0]);
            }
        } else {
            let options: &[u8] = if self.extended { &[0x94, 4, 0, 0] } else { &[] };
            let mut header = vec![0x45 + options.len() as u8 / 4, 0];
            header.extend(((20 + options.len() + transport.len()) as u16).to_be_bytes());
            header.extend(self.identification.to_be_bytes());
            header.extend([0x40, 0, 64, protocol, 0, 0]);
            header.extend([&source[..], &destination, options].concat());
            let checksum = !naive_sum(&header);
            header[10..12].copy_from_slice(&checksum.to_be_bytes());
            frame.extend([0x08, 0x00]);
            frame.extend(header);
        }
        frame.extend(transport);
        frame
    }

    fn transport(&self) -> usize {
        let options = if self.extended { if self.ipv6 { 16 } else { 4 } } else { 0 };
        14 + 4 * self.tags + if self.ipv6 { 40 } else { 20 } + options
    }

    fn offload(&self, size: u16) -> Offload {
        Offload {
            flags: NEEDS_CHECKSUM,
            segmentation: match (self.udp, self.ipv6) {
                (true, _) => UDP_DATAGRAMS,
                (false, true) => TCP_IPV6,
                (false, false) => TCP_IPV4,
            },
            header_len: (self.transport() + if self.udp { 8 } else { 32 }) as u16,
            segment_size: size,
            checksum_start: self.transport() as u16,
            checksum_offset: if self.udp { 6 } else { 16 },
        }
    }

    /// The packets that a host sends that leaves nothing to its card.
    fn segments(&self, payload: &[u8], size: usize) -> Vec<Vec<u8>> {
        let count = payload.len().div_ceil(size);
        let segment = |(number, part): (usize, &[u8])| {
            let mut shape = self.clone();
            shape.identification = shape.identification.wrapping_add(number as u16);
            shape.sequence = shape.sequence.wrapping_add((number * size) as u32);
            if number > 0 {
                shape.flags &= !CWR;
            }
            if number + 1 < count {
                shape.flags &= !(FIN | PSH);
            }
            shape.frame(part, true)
        };
        payload.chunks(size).enumerate().map(segment).collect()
    }
}

fn naive_sum(bytes: &[u8]) -> u16 {
    let mut sum: u32 =
        bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |low| u32::from(*low))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + at / 256) as u8).collect()
}

fn completed(offload: &Offload, frame: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut frames = vec![];
    let count = complete(offload, &mut frame.to_vec(), &mut |frame| frames.push(frame.to_vec()))?;
    assert_eq!(count, frames.len());
    Some(frames)
}

fn shapes() -> impl Strategy<Value = Shape> {
    let flags = prop::sample::subsequence(vec![FIN, PSH, ECE, CWR], 0..=4);
    let kind = (any::<bool>(), any::<bool>(), 0..3usize, any::<bool>());
    (kind, any::<u16>(), any::<u32>(), flags).prop_map(
        |((ipv6, udp, tags, extended), identification, sequence, flags)| Shape {
            ipv6,
            udp,
            tags,
            extended,
            identification,
            sequence,
            flags: flags.iter().fold(ACK, |all, flag| all | flag),
        },
    )
}

proptest! {
    #[test]
    fn segments_are_those_of_a_host_without_a_card(shape in shapes(), len in 1..20_000usize, size in 50..3000u16) {
        let payload = payload(len);
        let frames = completed(&shape.offload(size), &shape.frame(&payload, false));
        prop_assert_eq!(frames, Some(shape.segments(&payload, size.into())));
    }

    #[test]
    fn what_was_segmented_is_put_together_again(ipv6: bool, pushed: bool, id: u16, sequence: u32, len in 2..60_000usize, size in 100..3000u16) {
        let flags = if pushed { ACK | PSH } else { ACK };
        let shape = Shape { flags, identification: id, sequence, ..Shape::new(ipv6) };
        let payload = payload(len.max(usize::from(size) + 1));
        let mut coalescer = Coalescer::new();
        for segment in shape.segments(&payload, size.into()) {
            prop_assert!(coalescer.take(&segment));
        }
        let (offload, whole) = coalescer.held().unwrap();
        prop_assert_eq!(offload, shape.offload(size));
        prop_assert!(whole[..Offload::LEN] == offload.to_bytes());
        prop_assert!(whole[Offload::LEN..] == shape.frame(&payload, false));
    }

    #[test]
    fn a_begun_checksum_is_seen_and_finished(shape in shapes(), len in 0..1400usize, padding in 0..20usize) {
        let (mut begun, finished) = (shape.frame(&payload(len), false), shape.frame(&payload(len), true));
        begun.resize(begun.len() + padding, 0xee);
        let mut kept = [&finished[..], &vec![0xee; padding]].concat();
        finish_begun_checksum(&mut begun);
        prop_assert!(begun[..finished.len()] == finished && begun == kept);
        finish_begun_checksum(&mut kept);
        prop_assert!(begun == kept);
    }

    #[test]
    fn no_frame_breaks_it(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0..60usize, value: u8, ipv6: bool, words: [u16; 4], kind: u8, flags: u8) {
        let [header_len, segment_size, checksum_start, checksum_offset] = words;
        let offload = Offload { flags, segmentation: kind, header_len, segment_size, checksum_start, checksum_offset };
        completed(&offload, &bytes);
        finish_begun_checksum(&mut bytes.clone());
        let mut almost = Shape::new(ipv6).frame(&payload(100), false);
        almost[at] = value;
        let offload = Offload { segmentation: if ipv6 { TCP_IPV6 } else { TCP_IPV4 }, segment_size: segment_size % 50, ..offload };
        completed(&Offload { checksum_start: Shape::new(ipv6).transport() as u16, ..offload }, &almost);
        finish_begun_checksum(&mut almost.clone());
        let mut coalescer = Coalescer::new();
        coalescer.take(&bytes);
        coalescer.take(&almost);
        coalescer.take(&bytes);
        coalescer.held();
    }
}

#[test]
fn what_is_not_known_is_not_passed_on() {
    let shape = Shape::new(true);
    let frame = shape.frame(&payload(3000), false);
    let offload = shape.offload(1000);
    assert!(completed(&offload, &frame).is_some());
    // UFO, of a past kernel; sizes of nothing and of two octets; IPv4's kind for IPv6; the checksum of a packet in a tunnel; a
    // frame cut short.
    assert_eq!(completed(&Offload { segmentation: 3, ..offload }, &frame), None);
    assert_eq!(completed(&Offload { segment_size: 0, ..offload }, &frame), None);
    assert_eq!(completed(&Offload { segment_size: 2, ..offload }, &frame), None);
    assert_eq!(completed(&Offload { segmentation: TCP_IPV4, ..offload }, &frame), None);
    assert_eq!(completed(&Offload { checksum_start: 100, ..offload }, &frame), None);
    assert_eq!(completed(&offload, &frame[..2000]), None);
}

#[test]
fn the_mark_of_ecn_changes_nothing() {
    let shape = Shape { flags: ACK | ECE | CWR, ..Shape::new(false) };
    let offload = Offload { segmentation: TCP_IPV4 | WITH_ECN, ..shape.offload(1000) };
    let frames = completed(&offload, &shape.frame(&payload(2500), false));
    assert_eq!(frames, Some(shape.segments(&payload(2500), 1000)));
}

#[test]
fn only_what_continues_exactly_is_joined() {
    let first = Shape::new(true);
    let next = Shape { sequence: 2000, ..first.clone() };
    let joins = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut coalescer = Coalescer::new();
        assert!(coalescer.take(&first.frame(&payload(1000), true)));
        let mut frame = next.frame(&payload(1000), true);
        change(&mut frame);
        coalescer.take(&frame)
    };
    assert!(joins(&|_| {}));
    // An address, the flow label, the hop limit, a port, the acknowledgement, the window, a timestamp, the payload.
    for at in [0, 17, 21, 55, 64, 69, 79, 500] {
        assert!(!joins(&|frame| frame[at] ^= 1), "byte {at}");
    }
    // A change with its right checksum is none of this connection either.
    for shape in [
        Shape { sequence: 2001, ..next.clone() },
        Shape { flags: ACK | FIN, ..next.clone() },
        Shape { flags: ACK | CWR, ..next.clone() },
        Shape { udp: true, ..next.clone() },
        Shape { tags: 1, ..next.clone() },
    ] {
        assert!(!joins(&|frame| *frame = shape.frame(&payload(1000), true)), "{shape:?}");
    }
    assert!(!joins(&|frame| *frame = next.frame(&payload(1001), true)), "longer than the first");
    assert!(!joins(&|frame| *frame = next.frame(&[], true)), "without data");
}

#[test]
fn nothing_goes_behind_a_shorter_or_pushed_segment() {
    for (len, flags) in [(999, ACK), (1000, ACK | PSH)] {
        let mut coalescer = Coalescer::new();
        let shape = Shape::new(false);
        let second = Shape { sequence: 2000, identification: 8, flags, ..shape.clone() };
        let third = Shape { sequence: 2000 + len as u32, identification: 9, ..shape.clone() };
        assert!(coalescer.take(&shape.frame(&payload(1000), true)));
        assert!(coalescer.take(&second.frame(&payload(len), true)));
        assert!(!coalescer.take(&third.frame(&payload(100), true)));
    }
}

#[test]
fn a_frame_alone_leaves_as_it_came() {
    let frame = Shape::new(true).frame(&payload(10), true);
    let mut coalescer = Coalescer::new();
    let padded = [&frame[..], &[0; 4]].concat();
    assert!(coalescer.take(&padded));
    let (offload, whole) = coalescer.held().unwrap();
    assert_eq!(offload, Offload::default());
    assert!(whole[Offload::LEN..] == frame);
}
