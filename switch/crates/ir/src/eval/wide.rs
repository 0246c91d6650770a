//! Operations on values of any width.

use num_bigint::BigUint;
use smallvec::SmallVec;

use super::scalar;
use crate::inst::{BinaryOp, CompareOp, UnaryOp, WideOp};

/// A value of any width, zero included (an empty varbit).
///
/// Equality is that of P4: of two varbits the lengths count, and all other operands have equal widths anyhow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wide {
    width: u32,
    /// Little-endian, just enough for `width`; bits above `width` are zero.
    limbs: SmallVec<[u64; 8]>,
}

impl Wide {
    /// Zero in `width` bits.
    pub fn zero(width: u32) -> Self {
        Self { width, limbs: SmallVec::from_elem(0, width.div_ceil(64) as usize) }
    }

    /// The low `width` bits of `value`.
    pub fn from_u128(value: u128, width: u32) -> Self {
        let mut wide = Self::zero(width);
        for (limb, part) in wide.limbs.iter_mut().zip([value as u64, (value >> 64) as u64]) {
            *limb = part;
        }
        wide.trim()
    }

    /// The low `width` bits of a little-endian byte string, the form of the frame; missing bytes are zero.
    pub fn from_le_bytes(bytes: &[u8], width: u32) -> Self {
        let mut wide = Self::zero(width);
        for (limb, chunk) in wide.limbs.iter_mut().zip(bytes.chunks(8)) {
            let mut eight = [0; 8];
            eight[..chunk.len()].copy_from_slice(chunk);
            *limb = u64::from_le_bytes(eight);
        }
        wide.trim()
    }

    /// The first `width` bits of a byte string in wire order, first bit highest: the form of a varbit.
    pub fn from_wire_bits(bytes: &[u8], width: u32) -> Self {
        let count = width.div_ceil(8) as usize;
        let mut wide = Self::zero(count as u32 * 8);
        for (i, byte) in bytes.iter().take(count).enumerate() {
            let bit = (count - 1 - i) * 8;
            wide.limbs[bit / 64] |= u64::from(*byte) << (bit % 64);
        }
        wide.shifted_right(count as u32 * 8 - width).resized(false, width)
    }

    /// The low `width` bits of `value`.
    pub fn from_biguint(value: &BigUint, width: u32) -> Self {
        let mut wide = Self::zero(width);
        for (limb, digit) in wide.limbs.iter_mut().zip(value.iter_u64_digits()) {
            *limb = digit;
        }
        wide.trim()
    }

    pub fn to_biguint(&self) -> BigUint {
        let digits = self.limbs.iter().flat_map(|limb| [*limb as u32, (limb >> 32) as u32]).collect();
        BigUint::new(digits)
    }

    /// The low 128 bits.
    pub fn low_u128(&self) -> u128 {
        u128::from(self.limb(0)) | u128::from(self.limb(1)) << 64
    }

    pub fn width(&self) -> u32 {
        self.width
    }

    pub fn is_zero(&self) -> bool {
        self.limbs.iter().all(|limb| *limb == 0)
    }

    /// Little-endian limbs, just enough for the width.
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// Writes the value in the form of the frame: little-endian, zeros up to the end of `bytes`.
    pub fn write_le_bytes(&self, bytes: &mut [u8]) {
        for (i, chunk) in bytes.chunks_mut(8).enumerate() {
            chunk.copy_from_slice(&self.limb(i).to_le_bytes()[..chunk.len()]);
        }
    }

    fn limb(&self, i: usize) -> u64 {
        self.limbs.get(i).copied().unwrap_or(0)
    }

    /// Clears the bits above the width.
    fn trim(mut self) -> Self {
        let used = self.width % 64;
        if used != 0
            && let Some(top) = self.limbs.last_mut()
        {
            *top &= (1 << used) - 1;
        }
        self
    }

    fn bit(&self, i: u32) -> bool {
        self.limb(i as usize / 64) >> (i % 64) & 1 == 1
    }

    fn sign(&self) -> bool {
        self.width > 0 && self.bit(self.width - 1)
    }

    /// The amount of a shift, no more than `limit`.
    fn amount(&self, limit: u32) -> u32 {
        if self.limbs.iter().skip(1).any(|limb| *limb != 0) {
            return limit;
        }
        self.limb(0).min(u64::from(limit)) as u32
    }

    fn map(mut self, change: impl Fn(u64) -> u64) -> Self {
        for limb in &mut self.limbs {
            *limb = change(*limb);
        }
        self.trim()
    }

    fn zip(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let mut result = self.clone();
        for (i, limb) in result.limbs.iter_mut().enumerate() {
            *limb = join(*limb, other.limb(i));
        }
        result.trim()
    }

    fn resized(&self, signed: bool, width: u32) -> Self {
        let mut result = self.clone();
        result.width = width;
        let fill = signed && self.sign();
        if fill && !self.width.is_multiple_of(64) {
            let top = result.limbs.len() - 1;
            result.limbs[top] |= u64::MAX << (self.width % 64);
        }
        result.limbs.resize(width.div_ceil(64) as usize, if fill { u64::MAX } else { 0 });
        result.trim()
    }

    /// `self << amount` in `self`'s width.
    fn shifted_left(&self, amount: u32) -> Self {
        let mut result = Self::zero(self.width);
        let (whole, rest) = (amount as usize / 64, amount % 64);
        for i in whole..result.limbs.len() {
            let low = if rest > 0 && i > whole { self.limb(i - whole - 1) >> (64 - rest) } else { 0 };
            result.limbs[i] = self.limb(i - whole) << rest | low;
        }
        result.trim()
    }

    fn shifted_right(&self, amount: u32) -> Self {
        let mut result = Self::zero(self.width);
        let (whole, rest) = (amount as usize / 64, amount % 64);
        for (i, limb) in result.limbs.iter_mut().enumerate() {
            let high = if rest > 0 { self.limb(i + whole + 1) << (64 - rest) } else { 0 };
            *limb = self.limb(i + whole) >> rest | high;
        }
        result
    }

    fn plus(&self, other: &Self, mut carry: bool) -> Self {
        let mut result = self.clone();
        for (i, limb) in result.limbs.iter_mut().enumerate() {
            let sum = u128::from(*limb) + u128::from(other.limb(i)) + u128::from(carry);
            *limb = sum as u64;
            carry = sum >> 64 != 0;
        }
        result.trim()
    }

    fn minus(&self, other: &Self) -> Self {
        self.plus(&other.resized(false, self.width).map(|limb| !limb), true)
    }

    fn times(&self, other: &Self) -> Self {
        let mut result = Self::zero(self.width);
        let size = result.limbs.len();
        for i in 0..size {
            let mut carry = 0;
            for j in 0..size - i {
                let product = u128::from(self.limb(i)) * u128::from(other.limb(j));
                let sum = product + u128::from(result.limbs[i + j]) + carry;
                result.limbs[i + j] = sum as u64;
                carry = sum >> 64;
            }
        }
        result.trim()
    }

    fn less_unsigned(&self, other: &Self) -> bool {
        let size = self.limbs.len().max(other.limbs.len());
        (0..size).rev().map(|i| self.limb(i).cmp(&other.limb(i))).find(|order| order.is_ne())
            == Some(std::cmp::Ordering::Less)
    }

    fn less_signed(&self, other: &Self) -> bool {
        if self.sign() == other.sign() { self.less_unsigned(other) } else { self.sign() }
    }

    /// Ones in all bits.
    fn ones(width: u32) -> Self {
        Self::zero(width).map(|_| u64::MAX)
    }

    /// The number of greatest magnitude with the given sign.
    fn extreme(negative: bool, width: u32) -> Self {
        let lowest = Self::from_u128(1, width).shifted_left(width - 1);
        if negative { lowest } else { lowest.map(|limb| !limb) }
    }
}

/// `op` on `args`, the result in `width` bits. The widths are as [`WideOp`] demands.
pub fn wide(op: WideOp, width: u32, args: &[Wide]) -> Wide {
    let a = &args[0];
    match op {
        WideOp::ResizeU => a.resized(false, width),
        WideOp::ResizeS => a.resized(true, width),
        WideOp::Unary(UnaryOp::Neg) => Wide::zero(width).minus(a),
        WideOp::Unary(UnaryOp::Not) => a.clone().map(|limb| !limb),
        WideOp::Binary(op) => binary(op, a, &args[1]),
        WideOp::Compare(op) => Wide::from_u128(u128::from(compare(op, a, &args[1])), width),
        WideOp::Slice { hi, lo } => a.shifted_right(lo).resized(false, hi - lo + 1),
        WideOp::Insert { hi, lo } => {
            let hole = Wide::ones(hi - lo + 1).resized(false, a.width).shifted_left(lo);
            let value = args[1].resized(false, a.width).shifted_left(lo);
            a.zip(&hole, |limb, hole| limb & !hole).zip(&value, |limb, value| limb | value)
        }
        WideOp::Concat => args
            .iter()
            .fold(Wide::zero(width), |sum, part| sum.shifted_left(part.width).zip(part, |high, low| high | low)),
    }
}

fn binary(op: BinaryOp, a: &Wide, b: &Wide) -> Wide {
    let width = a.width;
    if width <= 128 && b.width <= 128 {
        return Wide::from_u128(scalar::binary(op, a.low_u128(), b.low_u128(), width), width);
    }
    match op {
        BinaryOp::Add => a.plus(b, false),
        BinaryOp::Sub => a.minus(b),
        BinaryOp::Mul => a.times(b),
        BinaryOp::Div | BinaryOp::Mod if b.is_zero() => Wide::zero(width),
        BinaryOp::Div => Wide::from_biguint(&(a.to_biguint() / b.to_biguint()), width),
        BinaryOp::Mod => Wide::from_biguint(&(a.to_biguint() % b.to_biguint()), width),
        BinaryOp::And => a.zip(b, |a, b| a & b),
        BinaryOp::Or => a.zip(b, |a, b| a | b),
        BinaryOp::Xor => a.zip(b, |a, b| a ^ b),
        BinaryOp::Shl => a.shifted_left(b.amount(width)),
        BinaryOp::Shr => a.shifted_right(b.amount(width)),
        BinaryOp::Sar => {
            let amount = b.amount(width);
            a.resized(true, width + amount).shifted_right(amount).resized(false, width)
        }
        BinaryOp::AddSatU => {
            let sum = a.plus(b, false);
            if sum.less_unsigned(a) { Wide::ones(width) } else { sum }
        }
        BinaryOp::SubSatU if a.less_unsigned(b) => Wide::zero(width),
        BinaryOp::SubSatU => a.minus(b),
        BinaryOp::AddSatS => {
            let sum = a.plus(b, false);
            let overflow = a.sign() == b.sign() && sum.sign() != a.sign();
            if overflow { Wide::extreme(a.sign(), width) } else { sum }
        }
        BinaryOp::SubSatS => {
            let difference = a.minus(b);
            let overflow = a.sign() != b.sign() && difference.sign() != a.sign();
            if overflow { Wide::extreme(a.sign(), width) } else { difference }
        }
    }
}

fn compare(op: CompareOp, a: &Wide, b: &Wide) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::LtU => a.less_unsigned(b),
        CompareOp::LeU => !b.less_unsigned(a),
        CompareOp::LtS => a.less_signed(b),
        CompareOp::LeS => !b.less_signed(a),
    }
}
