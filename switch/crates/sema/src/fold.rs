//! Constant evaluation. A constant is an expression made of literals alone; every operator over constants is computed
//! here, in the type it has at run time, so no later stage meets one.

use hir::{BinaryOp, Expr, ExprKind, Type, TypeId, Types, UnaryOp};
use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// The largest constant of type `int`, in bits. Anything wider is an error: no field is wider, and an unbounded shift
/// could eat all memory.
pub const MAX_INT_BITS: u64 = 1 << 16;

/// The longest string that `++` makes: each constant could double the one before.
const MAX_STRING_BYTES: usize = 1 << 16;

pub fn is_const(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Str(_)
        | ExprKind::Error(_)
        | ExprKind::EnumMember(_)
        | ExprKind::Invalid => true,
        ExprKind::Aggregate(items) => items.iter().all(is_const),
        _ => false,
    }
}

fn mask(width: u32) -> BigInt {
    (BigInt::one() << width) - 1
}

/// The value modulo 2^width, as a non-negative number.
fn unsigned(value: &BigInt, width: u32) -> BigInt {
    value & mask(width)
}

fn signed(value: &BigInt, width: u32) -> BigInt {
    let value = unsigned(value, width);
    if width > 0 && value.bit(u64::from(width) - 1) { value - (BigInt::one() << width) } else { value }
}

/// The value as a variable of the type would hold it.
pub fn wrap(value: &BigInt, ty: &Type) -> BigInt {
    match ty {
        Type::Bit(width) => unsigned(value, *width),
        Type::Signed(width) => signed(value, *width),
        _ => value.clone(),
    }
}

/// The width of a type with a fixed number of bits.
pub fn width(ty: &Type) -> Option<u32> {
    match ty {
        Type::Bit(w) | Type::Signed(w) => Some(*w),
        _ => None,
    }
}

pub fn fold_unary(op: UnaryOp, operand: &Expr, ty: &Type) -> Option<ExprKind> {
    Some(match (op, &operand.kind) {
        (UnaryOp::Not, ExprKind::Bool(b)) => ExprKind::Bool(!b),
        (UnaryOp::Neg, ExprKind::Int(n)) => ExprKind::Int(wrap(&-n, ty)),
        (UnaryOp::Complement, ExprKind::Int(n)) => ExprKind::Int(wrap(&!n, ty)),
        _ => return None,
    })
}

/// Computes `l op r`; `Ok(None)` if the operands are not constant. `ty` is the stored type of the result.
pub fn fold_binary(types: &Types, op: BinaryOp, l: &Expr, r: &Expr, ty: &Type) -> Result<Option<ExprKind>, String> {
    // `false && x` is known whatever `x` is; the right side has no effect then, for it is never evaluated.
    match (op, &l.kind) {
        (BinaryOp::And, ExprKind::Bool(false)) => return Ok(Some(ExprKind::Bool(false))),
        (BinaryOp::Or, ExprKind::Bool(true)) => return Ok(Some(ExprKind::Bool(true))),
        (BinaryOp::And, ExprKind::Bool(true)) | (BinaryOp::Or, ExprKind::Bool(false)) => {
            return Ok(Some(r.kind.clone()));
        }
        _ => {}
    }
    if !is_const(l) || !is_const(r) {
        return Ok(None);
    }
    match op {
        BinaryOp::Eq => return Ok(Some(ExprKind::Bool(const_eq(l, r)))),
        BinaryOp::Ne => return Ok(Some(ExprKind::Bool(!const_eq(l, r)))),
        _ => {}
    }
    if let (ExprKind::Str(a), ExprKind::Str(b), BinaryOp::Concat) = (&l.kind, &r.kind, op) {
        if a.len() + b.len() > MAX_STRING_BYTES {
            return Err(format!("a string may have up to {MAX_STRING_BYTES} bytes"));
        }
        return Ok(Some(ExprKind::Str(format!("{a}{b}"))));
    }
    let (ExprKind::Int(a), ExprKind::Int(b)) = (&l.kind, &r.kind) else { return Ok(None) };
    let compared = match op {
        BinaryOp::Lt => Some(a < b),
        BinaryOp::Le => Some(a <= b),
        BinaryOp::Gt => Some(a > b),
        BinaryOp::Ge => Some(a >= b),
        _ => None,
    };
    if let Some(result) = compared {
        return Ok(Some(ExprKind::Bool(result)));
    }
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div | BinaryOp::Mod => {
            if b.is_zero() {
                return Err("division by zero".into());
            }
            if a.is_negative() || b.is_negative() {
                return Err("division is not defined on negative numbers".into());
            }
            if op == BinaryOp::Div { a.div_floor(b) } else { a.mod_floor(b) }
        }
        BinaryOp::SatAdd => saturate(a + b, ty),
        BinaryOp::SatSub => saturate(a - b, ty),
        BinaryOp::Shl | BinaryOp::Shr => shift(op, a, b, ty)?,
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Concat => {
            let stored = types.get(types.stored(r.ty));
            let Some(right) = width(stored) else { return Ok(None) };
            (a << right) | unsigned(b, right)
        }
        _ => return Ok(None),
    };
    if value.bits() > MAX_INT_BITS {
        return Err(format!("the constant needs {} bits; constants may have up to {MAX_INT_BITS}", value.bits()));
    }
    Ok(Some(ExprKind::Int(wrap(&value, ty))))
}

fn saturate(value: BigInt, ty: &Type) -> BigInt {
    let (low, high) = match ty {
        Type::Bit(w) => (BigInt::zero(), mask(*w)),
        Type::Signed(w) if *w > 0 => (-(BigInt::one() << (w - 1)), mask(w - 1)),
        _ => return value,
    };
    value.clamp(low, high)
}

fn shift(op: BinaryOp, a: &BigInt, b: &BigInt, ty: &Type) -> Result<BigInt, String> {
    if b.is_negative() {
        return Err(format!("shift by the negative amount {b}"));
    }
    if op == BinaryOp::Shr {
        let all_out = if a.is_negative() { -BigInt::one() } else { BigInt::zero() };
        return Ok(b.to_u64().filter(|by| *by <= MAX_INT_BITS).map_or(all_out, |by| a >> by));
    }
    match b.to_u64() {
        _ if a.is_zero() => Ok(BigInt::zero()),
        Some(by) if width(ty).is_some_and(|w| by >= u64::from(w)) => Ok(BigInt::zero()),
        Some(by) if by <= MAX_INT_BITS => Ok(a << by),
        _ if width(ty).is_some() => Ok(BigInt::zero()),
        _ => Err(format!("shift by {b}: constants may have up to {MAX_INT_BITS} bits")),
    }
}

/// Whether two constants of one type are equal.
pub fn const_eq(l: &Expr, r: &Expr) -> bool {
    match (&l.kind, &r.kind) {
        (ExprKind::Aggregate(a), ExprKind::Aggregate(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| const_eq(a, b))
        }
        (a, b) => a == b,
    }
}

/// `e[hi:lo]` of a constant.
pub fn fold_slice(base: &Expr, hi: u32, lo: u32) -> Option<ExprKind> {
    let ExprKind::Int(n) = &base.kind else { return None };
    Some(ExprKind::Int(unsigned(&(n >> lo), hi - lo + 1)))
}

/// The constant converted to another type the language lets it be cast to.
pub fn fold_cast(types: &Types, e: &Expr, to: TypeId) -> Option<ExprKind> {
    if !is_const(e) {
        return None;
    }
    let stored = types.get(types.stored(to));
    Some(match (&e.kind, stored) {
        (ExprKind::Bool(b), Type::Bit(_) | Type::Signed(_)) => ExprKind::Int(BigInt::from(u8::from(*b))),
        (ExprKind::Int(n), Type::Bool) => ExprKind::Bool(!n.is_zero()),
        (ExprKind::Int(n), ty) => ExprKind::Int(wrap(n, ty)),
        (kind, _) => kind.clone(),
    })
}

/// Whether the number keeps its value in the type. A negative one fits `bit<W>` never; `bit<W>` patterns written as
/// positive numbers do not fit `int<W>`.
pub fn fits(value: &BigInt, ty: &Type) -> bool {
    match ty {
        Type::Bit(w) => value.sign() != Sign::Minus && value.bits() <= u64::from(*w),
        Type::Signed(_) => wrap(value, ty) == *value,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(types: &mut Types, n: i64, ty: Type) -> Expr {
        let ty = types.intern(ty);
        Expr { ty, kind: ExprKind::Int(BigInt::from(n)), span: Default::default() }
    }

    fn binary(op: BinaryOp, a: i64, b: i64, ty: Type) -> Result<Option<ExprKind>, String> {
        let mut types = Types::default();
        let l = int(&mut types, a, ty.clone());
        let r = int(&mut types, b, ty.clone());
        fold_binary(&types, op, &l, &r, &ty)
    }

    fn value(n: i64) -> Result<Option<ExprKind>, String> {
        Ok(Some(ExprKind::Int(BigInt::from(n))))
    }

    #[test]
    fn wraps_in_the_type() {
        assert_eq!(binary(BinaryOp::Add, 255, 1, Type::Bit(8)), value(0));
        assert_eq!(binary(BinaryOp::Sub, 0, 1, Type::Bit(8)), value(255));
        assert_eq!(binary(BinaryOp::Add, 127, 1, Type::Signed(8)), value(-128));
        assert_eq!(binary(BinaryOp::Sub, 0, 1, Type::Int), value(-1));
    }

    #[test]
    fn saturates() {
        assert_eq!(binary(BinaryOp::SatAdd, 250, 10, Type::Bit(8)), value(255));
        assert_eq!(binary(BinaryOp::SatSub, 1, 10, Type::Bit(8)), value(0));
        assert_eq!(binary(BinaryOp::SatSub, -100, 100, Type::Signed(8)), value(-128));
        assert_eq!(binary(BinaryOp::SatAdd, 100, 100, Type::Signed(8)), value(127));
    }

    #[test]
    fn shifts() {
        assert_eq!(binary(BinaryOp::Shl, 1, 9, Type::Bit(8)), value(0));
        assert_eq!(binary(BinaryOp::Shr, -4, 1, Type::Signed(8)), value(-2));
        assert_eq!(binary(BinaryOp::Shr, -4, 100, Type::Signed(8)), value(-1));
        assert_eq!(binary(BinaryOp::Shl, 1, 100, Type::Int), Ok(Some(ExprKind::Int(BigInt::one() << 100))));
        assert!(binary(BinaryOp::Shl, 1, 1 << 40, Type::Int).is_err());
        assert!(binary(BinaryOp::Shl, 1, -1, Type::Int).is_err());
    }

    #[test]
    fn divides_only_what_is_defined() {
        assert_eq!(binary(BinaryOp::Div, 7, 2, Type::Int), value(3));
        assert_eq!(binary(BinaryOp::Mod, 7, 2, Type::Int), value(1));
        assert!(binary(BinaryOp::Div, 7, 0, Type::Int).is_err());
        assert!(binary(BinaryOp::Mod, -7, 2, Type::Int).is_err());
    }

    #[test]
    fn concatenates_by_the_width_of_the_right() {
        let mut types = Types::default();
        let l = int(&mut types, 0xa, Type::Bit(4));
        let r = int(&mut types, -1, Type::Signed(4));
        assert_eq!(fold_binary(&types, BinaryOp::Concat, &l, &r, &Type::Bit(8)), value(0xaf));
    }

    #[test]
    fn fits_by_sign_and_width() {
        assert!(fits(&BigInt::from(255), &Type::Bit(8)));
        assert!(!fits(&BigInt::from(256), &Type::Bit(8)));
        assert!(!fits(&BigInt::from(-1), &Type::Bit(8)));
        assert!(fits(&BigInt::from(-128), &Type::Signed(8)));
        assert!(!fits(&BigInt::from(128), &Type::Signed(8)));
    }
}
