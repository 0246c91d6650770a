//! Operations on at most 128 bits.
//!
//! A value is a `u128` whose bits above its width are zero, signed or not; every function here expects that of its
//! operands and grants it for its result. Widths are 1 to 128.

use crate::inst::{BinaryOp, CompareOp, UnaryOp};

/// Ones in the low `width` bits.
#[inline]
pub const fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// Whether `value` has no bit above `width`.
#[inline]
pub const fn fits(value: u128, width: u32) -> bool {
    value & !mask(width) == 0
}

/// The number that the `width` bits are in two's complement.
#[inline]
pub const fn to_signed(value: u128, width: u32) -> i128 {
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}

/// `op a` in `width` bits.
#[inline]
pub fn unary(op: UnaryOp, a: u128, width: u32) -> u128 {
    let result = match op {
        UnaryOp::Neg => a.wrapping_neg(),
        UnaryOp::Not => !a,
    };
    result & mask(width)
}

/// `a op b` in `width` bits. Of a shift, `b` is the amount, of any width.
#[inline]
pub fn binary(op: BinaryOp, a: u128, b: u128, width: u32) -> u128 {
    let max = mask(width);
    match op {
        BinaryOp::Add => a.wrapping_add(b) & max,
        BinaryOp::Sub => a.wrapping_sub(b) & max,
        BinaryOp::Mul => a.wrapping_mul(b) & max,
        BinaryOp::Div => a.checked_div(b).unwrap_or(0),
        BinaryOp::Mod => a.checked_rem(b).unwrap_or(0),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl if b >= u128::from(width) => 0,
        BinaryOp::Shl => (a << b) & max,
        BinaryOp::Shr if b >= u128::from(width) => 0,
        BinaryOp::Shr => a >> b,
        BinaryOp::Sar => {
            let amount = b.min(127) as u32;
            (to_signed(a, width) >> amount) as u128 & max
        }
        BinaryOp::AddSatU => a.checked_add(b).map_or(max, |sum| sum.min(max)),
        BinaryOp::SubSatU => a.saturating_sub(b),
        BinaryOp::AddSatS => saturate(to_signed(a, width).saturating_add(to_signed(b, width)), width),
        BinaryOp::SubSatS => saturate(to_signed(a, width).saturating_sub(to_signed(b, width)), width),
    }
}

/// The nearest of the `width`-bit signed numbers.
fn saturate(value: i128, width: u32) -> u128 {
    let highest = (mask(width) >> 1) as i128;
    value.clamp(-highest - 1, highest) as u128 & mask(width)
}

/// `a op b`, both of `width` bits.
#[inline]
pub fn compare(op: CompareOp, a: u128, b: u128, width: u32) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::LtU => a < b,
        CompareOp::LeU => a <= b,
        CompareOp::LtS => to_signed(a, width) < to_signed(b, width),
        CompareOp::LeS => to_signed(a, width) <= to_signed(b, width),
    }
}

/// `a` of `from` bits in `to` bits: longer by zeros or the sign, shorter by cutting high bits.
#[inline]
pub fn resize(signed: bool, a: u128, from: u32, to: u32) -> u128 {
    let value = if signed { to_signed(a, from) as u128 } else { a };
    value & mask(to)
}

/// `a[hi:lo]`.
#[inline]
pub fn slice(a: u128, hi: u32, lo: u32) -> u128 {
    (a >> lo) & mask(hi - lo + 1)
}

/// `a` with the bits `hi..=lo` replaced by `value`.
#[inline]
pub fn insert(a: u128, value: u128, hi: u32, lo: u32) -> u128 {
    let hole = mask(hi - lo + 1) << lo;
    (a & !hole) | ((value << lo) & hole)
}

/// `a ++ b`, `b` of `b_width` bits; together they have at most 128 bits.
#[inline]
pub fn concat(a: u128, b: u128, b_width: u32) -> u128 {
    // With 128 bits on the right there is none on the left.
    a.checked_shl(b_width).unwrap_or(0) | b
}
