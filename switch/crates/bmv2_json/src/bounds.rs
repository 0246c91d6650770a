//! How many bits an expression can take. The format computes without bounds; the flat form needs widths.

use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;

use crate::context::{Argument, Translation};
use crate::error::{Error, Result, fail};
use crate::expr::{Expr, Op};

/// All values of an expression fit `width` bits, in two's complement if `signed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub width: u32,
    pub signed: bool,
}

/// More than any program computes with.
const MAX_WIDTH: u32 = 1 << 15;

pub const fn unsigned(width: u32) -> Bounds {
    Bounds { width, signed: false }
}

const fn signed(width: u32) -> Bounds {
    Bounds { width, signed: true }
}

impl Bounds {
    /// Bits in two's complement.
    pub fn with_sign(self) -> u32 {
        if self.signed { self.width } else { self.width + 1 }
    }

    /// What holds the values of both.
    pub fn join(self, other: Self) -> Self {
        if self.signed || other.signed {
            signed(self.with_sign().max(other.with_sign()))
        } else {
            unsigned(self.width.max(other.width))
        }
    }

    fn wider(self, by: u32) -> Self {
        Self { width: self.width + by, ..self }
    }
}

/// What a number of the document takes.
pub fn of_number(number: &BigInt) -> Bounds {
    let bits = number.bits() as u32;
    if number.sign() == Sign::Minus { signed(bits + 1) } else { unsigned(bits.max(1)) }
}

/// Whether an operation yields a truth value.
fn is_truth(op: &Op) -> bool {
    matches!(
        op.name.as_str(),
        "and" | "or" | "not" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "d2b" | "valid" | "valid_union"
    ) || op.name == "?" && op.left.as_ref().is_some_and(is_bool)
}

/// Whether an expression yields a truth value rather than a number.
pub fn is_bool(expr: &Expr) -> bool {
    match expr {
        Expr::Bool(_) => true,
        Expr::Op(op) => is_truth(op),
        _ => false,
    }
}

/// The width that a cast names.
pub fn cast_width(op: &Op) -> Result<u32> {
    match &op.right {
        Expr::Number(width) => width.to_u32().filter(|width| (1..MAX_WIDTH).contains(width)),
        _ => None,
    }
    .ok_or_else(|| Error::new(format!("the width of `{}` must be a number", op.name)))
}

impl Translation<'_> {
    pub fn bounds(&mut self, expr: &Expr) -> Result<Bounds> {
        let bounds = match expr {
            Expr::Field(..) | Expr::Member(..) => {
                let spot = self.spot(expr)?;
                Bounds { width: spot.width, signed: spot.signed }
            }
            Expr::StackField(stack, field) => {
                let stack = self.stack(stack)?;
                let ty = stack.members[0].ty.clone();
                let field = ty.fields.iter().find(|known| known.name == *field);
                field.map_or(unsigned(1), |field| Bounds { width: field.width, signed: field.signed })
            }
            Expr::UnionStackField(stack, member, field) => {
                let (header, _) = self.union_member(stack, member)?;
                let field = header.ty.fields.iter().find(|known| known.name == *field);
                field.map_or(unsigned(1), |field| Bounds { width: field.width, signed: field.signed })
            }
            Expr::Number(number) => of_number(number),
            Expr::Bool(_) => unsigned(1),
            Expr::Argument(index) => match self.arguments.get(*index) {
                Some(Argument::Entry { width, .. } | Argument::Constant(_, width)) => unsigned(*width),
                None => return fail(format!("the action has no argument {index}")),
            },
            Expr::Register(name, _) => unsigned(self.register(name)?.1),
            Expr::Lookahead(_, width) => unsigned(*width),
            Expr::Op(op) => self.bounds_of_operation(op)?,
            _ => return fail(format!("{expr:?} has no value")),
        };
        if bounds.width > MAX_WIDTH {
            return fail(format!("a value takes {} bits; up to {MAX_WIDTH} are supported", bounds.width));
        }
        Ok(bounds)
    }

    fn bounds_of_operation(&mut self, op: &Op) -> Result<Bounds> {
        if is_truth(op) {
            return Ok(unsigned(1));
        }
        let name = op.name.as_str();
        match name {
            "b2d" => return Ok(unsigned(1)),
            "two_comp_mod" | "sat_cast" => return Ok(signed(cast_width(op)?)),
            "usat_cast" => return Ok(unsigned(cast_width(op)?)),
            "last_stack_index" | "size_stack" => return Ok(unsigned(32)),
            "access_field" => {
                let spot = self.accessed(op)?;
                return Ok(Bounds { width: spot.width, signed: spot.signed });
            }
            _ => {}
        }
        let left = match &op.left {
            Some(left) => self.bounds(left)?,
            None => unsigned(1),
        };
        if name == "<<" {
            let Expr::Number(by) = &op.right else {
                // Most that an amount of its width can shift by; all of it is masked away by what stands around.
                let amount = self.bounds(&op.right)?;
                return Ok(left.wider(1u32.checked_shl(amount.width).unwrap_or(MAX_WIDTH).min(MAX_WIDTH)));
            };
            return Ok(left.wider(by.to_u32().unwrap_or(MAX_WIDTH).min(MAX_WIDTH)));
        }
        if name == ">>" {
            return Ok(left);
        }
        let right = self.bounds(&op.right)?;
        Ok(match name {
            "+" => left.join(right).wider(1),
            "-" => signed(left.join(right).width + 1 + u32::from(left.signed || right.signed)),
            "*" if left.signed || right.signed => signed(left.with_sign() + right.with_sign()),
            "*" => unsigned(left.width + right.width),
            "/" | "%" => left.join(right),
            "&" => match (left.signed, right.signed) {
                (false, false) => unsigned(left.width.min(right.width)),
                (false, true) => left,
                (true, false) => right,
                (true, true) => left.join(right),
            },
            "|" | "^" | "?" => left.join(right),
            "~" => signed(right.with_sign()),
            _ => return fail(format!("operation `{name}` is not supported")),
        })
    }
}
