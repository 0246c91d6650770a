//! What a packet does: headers in and out, externs, effects.

use std::sync::Arc;

use crate::common::*;
use ir::*;
use num_bigint::BigUint;
use runtime::{BitString, Context, Device, Packet};

fn field(name: &str, offset: u32, width: u32, varbit: bool) -> HeaderField {
    HeaderField { name: name.into(), offset, width, varbit }
}

/// `{ version: 4, flow: 20, address: 128, wide: 136, rest: varbit<40> }`, at 8 in the frame.
fn with_header() -> (Device, HeaderTypeId) {
    let mut program = program();
    let header = program.header_types.push(HeaderType {
        name: "h".into(),
        fields: vec![
            field("version", 1, 4, false),
            field("flow", 4, 20, false),
            field("address", 8, 128, false),
            field("wide", 24, 136, false),
            field("rest", 48, 40, true),
        ],
        size: 57,
    });
    (Device::new(Arc::new(program)).unwrap(), header)
}

const AT: u32 = 8;
/// Wire bytes of the header without its varbit: 3 + 16 + 17.
const FIXED: usize = 36;

fn bytes(len: u8) -> Vec<u8> {
    (1..=len).collect()
}

fn start<'d>(device: &'d Device, packet: &[u8]) -> Context<'d> {
    let mut context = Context::new(device, 1);
    context.packet = Packet::new(device.program().max_growth as usize, packet);
    context.start(0);
    context
}

#[test]
fn a_header_is_taken_off_and_put_back_bit_for_bit() {
    let (device, header) = with_header();
    for varbit in [0, 8, 16, 40] {
        let mut context = start(&device, &bytes(50));
        assert_eq!(context.extract(header, AT, Some(varbit), false), 0);
        let taken = FIXED + varbit as usize / 8;
        assert_eq!(context.cursor, taken);
        assert_eq!(context.frame.read(AT, 1), 1);
        assert_eq!(context.frame.read(AT + 1, 4), 0);
        assert_eq!(context.frame.read(AT + 4, 20), 0x1_0203);
        let address: [u8; 16] = bytes(50)[3..19].try_into().unwrap();
        assert_eq!(context.frame.read(AT + 8, 128), u128::from_be_bytes(address));
        assert_eq!(
            BigUint::from_bytes_le(context.frame.bytes(AT + 24, 24)),
            BigUint::from_bytes_be(&bytes(50)[19..36])
        );
        assert_eq!(context.frame.read(AT + 48, 32), varbit.into());
        context.emit(header, AT);
        assert_eq!(context.out, bytes(50)[..taken]);
        context.finish();
        assert_eq!(context.packet.bytes(), bytes(50));
    }
}

#[test]
fn extraction_ends_in_the_error_of_the_specification() {
    let (device, header) = with_header();
    let mut context = start(&device, &bytes(40));
    let error = |name: &str| device.program().errors.iter().position(|error| error == name).unwrap() as u32;
    assert_eq!(context.extract(header, AT, Some(4), false), error("ParserInvalidArgument"));
    assert_eq!(context.extract(header, AT, Some(40), false), error("PacketTooShort"));
    assert_eq!(context.extract(header, AT, Some(u32::MAX - 7), false), error("PacketTooShort"));
    assert_eq!((context.cursor, context.frame.read(AT, 1)), (0, 0));
    let mut context = start(&device, &bytes(60));
    assert_eq!(context.extract(header, AT, Some(48), false), error("HeaderTooShort"));
    assert_eq!(context.extract(header, AT, Some(8), true), 0);
    assert_eq!((context.cursor, context.frame.read(AT, 1)), (0, 1));
    assert_eq!(context.advance(12), error("ParserInvalidArgument"));
    assert_eq!(context.advance(8 * 61), error("PacketTooShort"));
    assert_eq!(context.advance(8 * 59), 0);
    assert_eq!(context.lookahead(8), Ok(60));
    assert_eq!(context.lookahead(9), Err(error("PacketTooShort")));
    assert_eq!(context.lookahead_bytes(9, &mut [0; 2]), error("PacketTooShort"));
    assert_eq!(context.packet_length(), 60);
}

#[test]
fn lookahead_reads_any_width_and_stays() {
    let (device, _) = with_header();
    let mut context = start(&device, &bytes(40));
    assert_eq!(context.advance(8), 0);
    assert_eq!(context.lookahead(12), Ok(0x020));
    let mut wide = [0xff; 24];
    assert_eq!(context.lookahead_bytes(130, &mut wide), 0);
    assert_eq!(BigUint::from_bytes_le(&wide), BigUint::from_bytes_be(&bytes(40)[1..18]) >> 6u8);
    assert_eq!(context.cursor, 1);
}

#[test]
fn only_valid_headers_are_emitted_and_the_payload_stays_in_place() {
    let (device, header) = with_header();
    let mut context = start(&device, &bytes(60));
    assert_eq!(context.extract(header, AT, Some(0), false), 0);
    let payload = context.packet.bytes()[FIXED..].as_ptr();
    context.emit(header, AT + 64);
    assert!(context.out.is_empty());
    context.emit(header, AT);
    context.emit(header, AT);
    context.finish();
    assert_eq!(context.packet.len(), 60 + FIXED);
    assert_eq!(context.packet.bytes()[2 * FIXED..].as_ptr(), payload);
    assert_eq!(context.packet.bytes()[2 * FIXED..], bytes(60)[FIXED..]);
}

#[test]
fn a_checksum_takes_the_payload_behind_the_cursor() {
    let (device, _) = with_header();
    let mut context = start(&device, &[1, 2, 3, 4, 5]);
    assert_eq!(context.advance(16), 0);
    let mut bits = BitString::new();
    bits.push(0xabc, 12);
    assert_eq!(context.checksum(HashAlgorithm::Csum16, bits.bytes(), false), u64::from(!0xabc0_u16));
    let sum = 0xabc0 + 0x0304 + 0x0500;
    assert_eq!(context.checksum(HashAlgorithm::Csum16, bits.bytes(), true), u64::from(!sum as u16));
    bits.push(0x5, 12);
    // Three bytes of data: the payload begins in the middle of a word.
    let sum = 0xabc0 + 0x0503 + 0x0405;
    assert_eq!(context.checksum(HashAlgorithm::Csum16, bits.bytes(), true), u64::from(!sum as u16));
}

#[test]
fn messages_are_formatted_and_effects_are_cleared() {
    let mut program = program();
    let format = program.strings.push("a={} b={} c={}".into());
    let plain = program.strings.push("plain".into());
    let device = device(program);
    let mut context = start(&device, &[]);
    context.log_message(format, &[big(1), big(u128::MAX)]);
    context.log_message(plain, &[big(3)]);
    assert_eq!(context.effects.log, ["a=1 b=340282366920938463463374607431768211455 c={}", "plain"]);
    context.clone_packet(CloneKind::IngressToEgress, 5, None);
    context.clone_packet(CloneKind::EgressToEgress, 6, Some(FieldListId::new(1)));
    context.resubmit(None);
    context.recirculate(None);
    context.truncate(60);
    context.digest(DigestId::new(0), vec![big(9)]);
    context.assert_failed(plain);
    assert_eq!(context.effects.clone_i2e, Some((5, None)));
    assert_eq!(context.effects.clone_e2e, Some((6, Some(FieldListId::new(1)))));
    assert_eq!(context.effects.digests, [(DigestId::new(0), vec![big(9)])]);
    context.start(1);
    assert_eq!(context.effects, Default::default());
}

#[test]
fn value_sets_are_replaced_as_a_whole() {
    let mut program = program();
    let set = program.value_sets.push(ValueSet {
        name: "tpids".into(),
        size: 2,
        keys: vec![key("tpid", 16, MatchKind::Exact), key("pri", 3, MatchKind::Ternary)],
    });
    let device = device(program);
    let mut context = start(&device, &[]);
    let any = Match::Ternary { value: big(0), mask: big(0) };
    let high = Match::Ternary { value: big(4), mask: big(4) };
    assert!(!context.in_value_set(set, &[0x88, 0xa8, 7]));
    device.set_value_set(set, &[vec![exact(0x8100), any.clone()], vec![exact(0x88a8), high.clone()]]).unwrap();
    assert!(context.in_value_set(set, &[0x81, 0x00, 1]));
    assert!(context.in_value_set(set, &[0x88, 0xa8, 7]));
    assert!(!context.in_value_set(set, &[0x88, 0xa8, 3]));
    let members = [vec![exact(0x88a8), high], vec![exact(0x9100), any.clone()]];
    device.set_value_set(set, &members).unwrap();
    assert!(!context.in_value_set(set, &[0x81, 0x00, 1]));
    assert!(context.in_value_set(set, &[0x91, 0x00, 1]));
    let too_many: Vec<_> = (0..3).map(|i| vec![exact(i), any.clone()]).collect();
    assert_eq!(device.set_value_set(set, &too_many).unwrap_err().to_string(), "tpids is full: it holds 2");
    assert!(device.set_value_set(set, &[vec![exact(1)]]).is_err());
    assert_eq!(device.value_set(set).len(), 2);
}

#[test]
fn random_numbers_follow_the_seed() {
    let (device, _) = with_header();
    let draw = |seed| {
        let mut context = Context::new(&device, seed);
        let wide = (BigUint::from(1u8) << 200u8, BigUint::from(3u8) << 200u8);
        let value = context.random_wide(&wide.0, &wide.1);
        assert!(wide.0 <= value && value <= wide.1);
        (context.random(0, 1 << 40), value)
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

#[test]
fn fuel_runs_out_and_is_refilled() {
    let (device, _) = with_header();
    let mut context = start(&device, &[]);
    let full = context.fuel;
    for _ in 1..full {
        assert!(!context.take_fuel());
    }
    assert!(!context.ran_out_of_fuel());
    assert!(context.take_fuel() && context.take_fuel());
    assert!(context.ran_out_of_fuel() && context.fuel == full);
    context.start(0);
    assert_eq!(context.fuel, full);
}
