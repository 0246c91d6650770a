//! The arithmetic of `ir::eval` against tables worked out by hand and against unbounded integers.

use ir::eval::{self, Wide};
use ir::{BinaryOp, CompareOp, UnaryOp, WideOp};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed, ToPrimitive, Zero};
use proptest::prelude::*;

const BINARY: [BinaryOp; 15] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Mod,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Sar,
    BinaryOp::AddSatU,
    BinaryOp::SubSatU,
    BinaryOp::AddSatS,
    BinaryOp::SubSatS,
];

const COMPARE: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::Ne, CompareOp::LtU, CompareOp::LeU, CompareOp::LtS, CompareOp::LeS];

#[test]
fn binary_by_hand() {
    use BinaryOp::*;
    let max = u128::MAX;
    let top = 1u128 << 127;
    for (op, a, b, width, expected) in [
        (Add, 0xff, 1, 8, 0),
        (Add, max, 1, 128, 0),
        (Sub, 0, 1, 9, 0x1ff),
        (Mul, 0xff, 0xff, 8, 1),
        (Mul, max, max, 128, 1),
        (Div, 7, 2, 8, 3),
        (Div, 7, 0, 8, 0),
        (Mod, 7, 4, 8, 3),
        (Mod, 7, 0, 8, 0),
        (And, 0b1100, 0b1010, 4, 0b1000),
        (Or, 0b1100, 0b1010, 4, 0b1110),
        (Xor, 0b1100, 0b1010, 4, 0b0110),
        (Shl, 0b1011, 2, 4, 0b1100),
        (Shl, 1, 4, 4, 0),
        (Shl, 1, max, 128, 0),
        (Shl, 1, 127, 128, top),
        (Shr, 0b1011, 2, 4, 0b10),
        (Shr, 0xf, 4, 4, 0),
        (Shr, max, 128, 128, 0),
        (Sar, 0b1000, 1, 4, 0b1100),
        (Sar, 0b1000, 9, 4, 0b1111),
        (Sar, 0b0100, 9, 4, 0),
        (Sar, top, max, 128, max),
        (AddSatU, 250, 10, 8, 255),
        (AddSatU, max, 1, 128, max),
        (AddSatU, 1, 0, 1, 1),
        (SubSatU, 3, 4, 8, 0),
        (AddSatS, 0x7f, 1, 8, 0x7f),
        (AddSatS, 0x80, 0xff, 8, 0x80),
        (AddSatS, top, max, 128, top),
        (AddSatS, 0x7f, 0xff, 8, 0x7e),
        (SubSatS, 0x80, 1, 8, 0x80),
        (SubSatS, 0, 0x80, 8, 0x7f),
        (SubSatS, 0, top, 128, top - 1),
        // One signed bit holds -1 and 0.
        (AddSatS, 1, 1, 1, 1),
        (SubSatS, 0, 1, 1, 0),
    ] {
        assert_eq!(eval::binary(op, a, b, width), expected, "{op:?} {a:#x} {b:#x} in {width}");
    }
}

#[test]
fn the_rest_by_hand() {
    assert_eq!(eval::unary(UnaryOp::Neg, 1, 8), 0xff);
    assert_eq!(eval::unary(UnaryOp::Neg, 0x80, 8), 0x80);
    assert_eq!(eval::unary(UnaryOp::Not, 1, 1), 0);
    assert_eq!(eval::unary(UnaryOp::Not, 0, 128), u128::MAX);
    assert!(eval::compare(CompareOp::LtS, 0x80, 0x7f, 8));
    assert!(!eval::compare(CompareOp::LtU, 0x80, 0x7f, 8));
    assert_eq!(eval::resize(true, 0x80, 8, 16), 0xff80);
    assert_eq!(eval::resize(false, 0x80, 8, 16), 0x80);
    assert_eq!(eval::resize(true, 0x1234, 16, 8), 0x34);
    assert_eq!(eval::resize(true, 1, 1, 128), u128::MAX);
    assert_eq!(eval::slice(0xabcd, 11, 4), 0xbc);
    assert_eq!(eval::slice(u128::MAX, 127, 0), u128::MAX);
    assert_eq!(eval::insert(0xabcd, 0x12, 11, 4), 0xa12d);
    assert_eq!(eval::insert(0, u128::MAX, 127, 0), u128::MAX);
    assert_eq!(eval::concat(0xab, 0xc, 4), 0xabc);
    assert_eq!(eval::concat(0, 5, 128), 5);
    assert_eq!(eval::to_signed(0b100, 3), -4);
    assert!(eval::fits(255, 8) && !eval::fits(256, 8) && eval::fits(u128::MAX, 128));
}

#[test]
fn wide_forms_convert() {
    let value = Wide::from_le_bytes(&[1, 2, 3, 4, 5, 6, 7, 8, 9], 68);
    assert_eq!(value.low_u128(), 0x9_0807_0605_0403_0201);
    let mut bytes = [0xee; 16];
    value.write_le_bytes(&mut bytes);
    assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Wide::from_wire_bits(&[0xab, 0xcd, 0xef], 12), Wide::from_u128(0xabc, 12));
    assert_eq!(Wide::from_wire_bits(&[], 0), Wide::zero(0));
    assert_ne!(Wide::zero(8), Wide::zero(16), "the length of a varbit counts");
    assert_eq!(Wide::from_wire_bits(&[7; 40], 320).to_biguint(), BigUint::from_bytes_be(&[7; 40]));
}

#[test]
fn wide_concat_takes_any_number() {
    let parts = [Wide::from_u128(0xa, 4), Wide::from_u128(0xbcd, 12), Wide::from_u128(0xef, 8)];
    assert_eq!(eval::wide(WideOp::Concat, 24, &parts), Wide::from_u128(0xabcdef, 24));
}

/// The bits of `value` modulo 2^width.
fn wrap(value: &BigInt, width: u32) -> BigUint {
    let modulus = BigInt::one() << width;
    let rest = value % &modulus;
    let rest = if rest.is_negative() { rest + modulus } else { rest };
    rest.to_biguint().expect("not negative")
}

fn signed(value: &BigUint, width: u32) -> BigInt {
    let value = BigInt::from(value.clone());
    if width > 0 && value.bit(u64::from(width) - 1) { value - (BigInt::one() << width) } else { value }
}

fn binary_by_integers(op: BinaryOp, a: &BigUint, b: &BigUint, width: u32) -> BigUint {
    let (sa, sb) = (signed(a, width), signed(b, width));
    let highest = (BigInt::one() << (width - 1)) - 1;
    let lowest = -(BigInt::one() << (width - 1));
    let (ua, ub) = (BigInt::from(a.clone()), BigInt::from(b.clone()));
    let max = (BigInt::one() << width) - 1;
    let amount = b.to_u32().unwrap_or(u32::MAX).min(width);
    let result = match op {
        BinaryOp::Add => ua + ub,
        BinaryOp::Sub => ua - ub,
        BinaryOp::Mul => ua * ub,
        BinaryOp::Div | BinaryOp::Mod if b.is_zero() => BigInt::zero(),
        BinaryOp::Div => ua / ub,
        BinaryOp::Mod => ua % ub,
        BinaryOp::And => ua & ub,
        BinaryOp::Or => ua | ub,
        BinaryOp::Xor => ua ^ ub,
        BinaryOp::Shl => ua << amount,
        BinaryOp::Shr => ua >> amount,
        BinaryOp::Sar => sa >> amount,
        BinaryOp::AddSatU => (ua + ub).min(max),
        BinaryOp::SubSatU => (ua - ub).max(BigInt::zero()),
        BinaryOp::AddSatS => (sa + sb).clamp(lowest, highest),
        BinaryOp::SubSatS => (sa - sb).clamp(lowest, highest),
    };
    wrap(&result, width)
}

fn compare_by_integers(op: CompareOp, a: &BigUint, b: &BigUint, width: u32) -> bool {
    let (sa, sb) = (signed(a, width), signed(b, width));
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::LtU => a < b,
        CompareOp::LeU => a <= b,
        CompareOp::LtS => sa < sb,
        CompareOp::LeS => sa <= sb,
    }
}

/// A value of `width` bits; the extremes, where carries and signs go wrong, come often.
fn value(width: u32) -> impl Strategy<Value = BigUint> {
    let top = BigUint::one() << (width - 1);
    let max = (BigUint::one() << width) - 1u32;
    prop_oneof![
        4 => prop::collection::vec(any::<u8>(), width.div_ceil(8) as usize)
            .prop_map(move |bytes| BigUint::from_bytes_le(&bytes) % (BigUint::one() << width)),
        1 => Just(BigUint::zero()),
        1 => Just(BigUint::one()),
        1 => Just(max),
        1 => Just(top.clone() - (!top.is_zero()) as u32),
        1 => Just(top),
        1 => (0..=2 * width).prop_map(move |n| BigUint::from(n) % (BigUint::one() << width)),
    ]
}

fn pair(widths: impl Strategy<Value = u32>) -> impl Strategy<Value = (u32, BigUint, BigUint)> {
    widths.prop_flat_map(|width| (Just(width), value(width), value(width)))
}

fn scalar(value: &BigUint) -> u128 {
    value.to_u128().expect("at most 128 bits")
}

proptest! {
    #[test]
    fn scalar_ops_agree_with_integers((width, a, b) in pair(1..=128u32)) {
        let (x, y) = (scalar(&a), scalar(&b));
        for op in BINARY {
            let expected = scalar(&binary_by_integers(op, &a, &b, width));
            prop_assert_eq!(eval::binary(op, x, y, width), expected, "{:?} in {}", op, width);
        }
        for op in COMPARE {
            let expected = compare_by_integers(op, &a, &b, width);
            prop_assert_eq!(eval::compare(op, x, y, width), expected, "{:?} in {}", op, width);
        }
        prop_assert_eq!(eval::unary(UnaryOp::Neg, x, width), scalar(&wrap(&-BigInt::from(a.clone()), width)));
        prop_assert_eq!(eval::unary(UnaryOp::Not, x, width), scalar(&wrap(&!BigInt::from(a.clone()), width)));
        prop_assert_eq!(eval::to_signed(x, width), signed(&a, width).to_i128().expect("128 bits"));
    }

    #[test]
    fn scalar_resize((width, a, _) in pair(1..=128u32), to in 1..=128u32) {
        prop_assert_eq!(eval::resize(false, scalar(&a), width, to), scalar(&wrap(&a.clone().into(), to)));
        prop_assert_eq!(eval::resize(true, scalar(&a), width, to), scalar(&wrap(&signed(&a, width), to)));
    }

    #[test]
    fn scalar_bits((width, a, b) in pair(1..=128u32), x in any::<u32>(), y in any::<u32>()) {
        let (hi, lo) = ((x % width).max(y % width), (x % width).min(y % width));
        let size = hi - lo + 1;
        let (a, value) = (scalar(&a), scalar(&wrap(&b.into(), size)));
        let inserted = eval::insert(a, value, hi, lo);
        prop_assert_eq!(eval::slice(inserted, hi, lo), value);
        for bit in (0..width).filter(|bit| !(lo..=hi).contains(bit)) {
            prop_assert_eq!(inserted >> bit & 1, a >> bit & 1);
        }
        prop_assert!(eval::fits(inserted, width));
        if lo > 0 {
            // Cut in two and glued, a value is what it was.
            let glued = eval::concat(eval::slice(a, width - 1, lo), eval::slice(a, lo - 1, 0), lo);
            prop_assert_eq!(glued, a);
        }
    }

    #[test]
    fn wide_ops_agree_with_integers((width, a, b) in pair(1..=700u32)) {
        let args = [Wide::from_biguint(&a, width), Wide::from_biguint(&b, width)];
        prop_assert_eq!(args[0].to_biguint(), a.clone());
        for op in BINARY {
            let result = eval::wide(WideOp::Binary(op), width, &args);
            prop_assert_eq!(result.width(), width);
            prop_assert_eq!(result.to_biguint(), binary_by_integers(op, &a, &b, width), "{:?} in {}", op, width);
        }
        for op in COMPARE {
            let result = eval::wide(WideOp::Compare(op), 1, &args);
            let expected = Wide::from_u128(compare_by_integers(op, &a, &b, width).into(), 1);
            prop_assert_eq!(result, expected, "{:?} in {}", op, width);
        }
        let neg = eval::wide(WideOp::Unary(UnaryOp::Neg), width, &args[..1]);
        prop_assert_eq!(neg.to_biguint(), wrap(&-BigInt::from(a.clone()), width));
        let not = eval::wide(WideOp::Unary(UnaryOp::Not), width, &args[..1]);
        prop_assert_eq!(not.to_biguint(), wrap(&!BigInt::from(a.clone()), width));
    }

    #[test]
    fn wide_shifts_take_amounts_of_any_width((width, a, _) in pair(129..=400u32), amount in 0..500u32, bits in 9..=256u32) {
        let args = [Wide::from_biguint(&a, width), Wide::from_u128(amount.into(), bits)];
        for op in [BinaryOp::Shl, BinaryOp::Shr, BinaryOp::Sar] {
            let result = eval::wide(WideOp::Binary(op), width, &args).to_biguint();
            prop_assert_eq!(result, binary_by_integers(op, &a, &amount.into(), width), "{:?}", op);
        }
    }

    #[test]
    fn wide_bits((width, a, b) in pair(1..=500u32), x in any::<u32>(), y in any::<u32>(), to in 1..=600u32) {
        let wide = Wide::from_biguint(&a, width);
        let signed_longer = eval::wide(WideOp::ResizeS, to, std::slice::from_ref(&wide));
        prop_assert_eq!(signed_longer.to_biguint(), wrap(&signed(&a, width), to));
        let longer = eval::wide(WideOp::ResizeU, to, std::slice::from_ref(&wide));
        prop_assert_eq!(longer.to_biguint(), wrap(&a.clone().into(), to));

        let (hi, lo) = ((x % width).max(y % width), (x % width).min(y % width));
        let size = hi - lo + 1;
        let value = Wide::from_biguint(&b, size);
        let inserted = eval::wide(WideOp::Insert { hi, lo }, width, &[wide.clone(), value.clone()]);
        let back = eval::wide(WideOp::Slice { hi, lo }, size, std::slice::from_ref(&inserted));
        prop_assert_eq!(back, value);
        if lo > 0 && hi < width - 1 {
            let cut = |hi, lo| eval::wide(WideOp::Slice { hi, lo }, hi - lo + 1, std::slice::from_ref(&wide));
            let parts = [cut(width - 1, hi + 1), cut(hi, lo), cut(lo - 1, 0)];
            prop_assert_eq!(eval::wide(WideOp::Concat, width, &parts), wide.clone());
            let untouched = |wide: &Wide| {
                let cut = |hi, lo| eval::wide(WideOp::Slice { hi, lo }, hi - lo + 1, std::slice::from_ref(wide));
                (cut(width - 1, hi + 1), cut(lo - 1, 0))
            };
            prop_assert_eq!(untouched(&inserted), untouched(&wide));
        }
    }

    #[test]
    fn wire_bits_are_big_endian(bytes in prop::collection::vec(any::<u8>(), 0..60), spare in 0..8u32) {
        let width = (bytes.len() as u32 * 8).saturating_sub(spare);
        let expected = BigUint::from_bytes_be(&bytes) >> (bytes.len() as u32 * 8 - width);
        prop_assert_eq!(Wide::from_wire_bits(&bytes, width).to_biguint(), expected);
    }
}
