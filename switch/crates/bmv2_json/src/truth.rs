//! Truth values, and branches on them.

use ir::{Arg, BlockId, CompareOp, Operand};
use lower::value::{FALSE, Values};

use crate::bounds::{Bounds, is_bool};
use crate::context::{HeaderSpot, Translation, field_at};
use crate::error::{Result, fail};
use crate::expr::{Expr, Op};

impl Translation<'_> {
    /// Goes to one of two blocks; the right operand of `and` and `or` is looked at only if it decides.
    pub fn condition(&mut self, expr: &Expr, then: BlockId, otherwise: BlockId) -> Result<()> {
        if let Expr::Op(op) = expr {
            match (op.name.as_str(), &op.left) {
                ("and", Some(left)) => {
                    let more = self.b.block();
                    self.condition(left, more, otherwise)?;
                    self.b.enter(more);
                    return self.condition(&op.right, then, otherwise);
                }
                ("or", Some(left)) => {
                    let more = self.b.block();
                    self.condition(left, then, more)?;
                    self.b.enter(more);
                    return self.condition(&op.right, then, otherwise);
                }
                ("not", None) => return self.condition(&op.right, otherwise, then),
                _ => {}
            }
        }
        let truth = self.truth(expr)?;
        self.b.branch(truth, then, otherwise);
        Ok(())
    }

    /// The value as one bit.
    pub fn truth(&mut self, expr: &Expr) -> Result<Operand> {
        let op = match expr {
            Expr::Bool(value) => return Ok(Operand::Imm(u128::from(*value))),
            Expr::Op(op) if is_bool(expr) => op,
            _ => return self.is_not_zero(expr),
        };
        match (op.name.as_str(), &op.left, &op.right) {
            ("not", _, right) => {
                let value = self.truth(right)?;
                Ok(self.b.not(value))
            }
            ("and", Some(left), right) => {
                let (a, b) = (self.truth(left)?, self.truth(right)?);
                Ok(self.b.and(a, b))
            }
            ("or", Some(left), right) => {
                let (a, b) = (self.truth(left)?, self.truth(right)?);
                Ok(self.b.or(a, b))
            }
            ("d2b", _, right) => self.is_not_zero(right),
            ("valid", _, right) => {
                let header = self.header_spot(right)?;
                Ok(self.b.load(header.place, 1))
            }
            ("valid_union", _, right) => {
                let mut any = FALSE;
                for member in self.union_spot(right)? {
                    let valid = self.b.load(member.place, 1);
                    any = self.b.or(any, valid);
                }
                Ok(any)
            }
            ("?", Some(yes), no) => {
                let Some(cond) = &op.cond else { return fail("`?` has no condition") };
                let (cond, yes, no) = (self.truth(cond)?, self.truth(yes)?, self.truth(no)?);
                Ok(self.b.select(1, cond, yes, no))
            }
            (name @ ("==" | "!="), Some(left), right) => {
                let equal = self.equal(left, right)?;
                Ok(if name == "==" { equal } else { self.b.not(equal) })
            }
            (_, Some(left), right) => self.order(op, left, right),
            (name, None, _) => fail(format!("`{name}` needs two operands")),
        }
    }

    fn is_not_zero(&mut self, expr: &Expr) -> Result<Operand> {
        let bounds = self.bounds(expr)?;
        let value = self.low(expr, bounds.width)?;
        let zero = lower::value::number(&num_bigint::BigInt::ZERO, bounds.width);
        Ok(self.compare(CompareOp::Ne, bounds.width, &value, &zero))
    }

    fn equal(&mut self, left: &Expr, right: &Expr) -> Result<Operand> {
        match (left, right) {
            _ if is_bool(left) || is_bool(right) => {
                let (a, b) = (self.truth(left)?, self.truth(right)?);
                Ok(self.b.compare(CompareOp::Eq, 1, a, b))
            }
            (Expr::HeaderStack(a), Expr::HeaderStack(b)) => {
                let (a, b) = (self.stack(a)?, self.stack(b)?);
                let mut all = Operand::Imm(1);
                for index in 0..a.count.min(b.count) {
                    let index = Operand::Imm(index.into());
                    let (a, b) = (self.element_at(&a, index), self.element_at(&b, index));
                    let same = self.same_members(&a, &b)?;
                    all = self.b.and(all, same);
                }
                Ok(all)
            }
            (Expr::HeaderUnion(_), _) => {
                let (a, b) = (self.union_spot(left)?, self.union_spot(right)?);
                self.same_members(&a, &b)
            }
            (Expr::Header(_), _) | (_, Expr::Header(_)) => self.equal_headers(left, right),
            (Expr::Op(op), _) if matches!(op.name.as_str(), "dereference_header_stack" | "access_union_header") => {
                self.equal_headers(left, right)
            }
            (Expr::Op(op), _) if op.name == "dereference_union_stack" => {
                let (a, b) = (self.union_spot(left)?, self.union_spot(right)?);
                self.same_members(&a, &b)
            }
            _ => {
                if let (Arg::Varbit(..), _) | (_, Arg::Varbit(..)) = (self.varbit(left)?, self.varbit(right)?) {
                    let args = vec![self.argument_of(left)?, self.argument_of(right)?];
                    return Ok(self.compare_args(CompareOp::Eq, args));
                }
                let (a, b, both) = self.pair(left, right)?;
                Ok(self.compare(CompareOp::Eq, both.width, &a, &b))
            }
        }
    }

    /// The field as an argument if it is a varbit, else nothing that counts.
    fn varbit(&mut self, expr: &Expr) -> Result<Arg> {
        if let Expr::Field(header, field) = expr {
            let spot = self.field(header, field)?;
            if spot.varbit {
                return Ok(Arg::Varbit(spot.place, spot.width));
            }
        }
        Ok(Arg::Scalar(FALSE, 1))
    }

    fn equal_headers(&mut self, left: &Expr, right: &Expr) -> Result<Operand> {
        let (a, b) = (self.header_spot(left)?, self.header_spot(right)?);
        self.same_header(&a, &b)
    }

    fn same_members(&mut self, a: &[HeaderSpot], b: &[HeaderSpot]) -> Result<Operand> {
        let mut all = Operand::Imm(1);
        for (a, b) in a.iter().zip(b) {
            let same = self.same_header(a, b)?;
            all = self.b.and(all, same);
        }
        Ok(all)
    }

    /// Both invalid, or both valid with the same fields.
    fn same_header(&mut self, a: &HeaderSpot, b: &HeaderSpot) -> Result<Operand> {
        let (a_valid, b_valid) = (self.b.load(a.place, 1), self.b.load(b.place, 1));
        let mut fields = Operand::Imm(1);
        for index in 0..a.header.ty.fields.len() {
            let (left, right) = (field_at(a, index)?, field_at(b, index)?);
            let same = if left.varbit {
                let args = vec![Arg::Varbit(left.place, left.width), Arg::Varbit(right.place, right.width)];
                self.compare_args(CompareOp::Eq, args)
            } else {
                let (x, y) = (self.load(left.place, left.width), self.load(right.place, right.width));
                self.compare(CompareOp::Eq, left.width, &x, &y)
            };
            fields = self.b.and(fields, same);
        }
        let alike = self.b.compare(CompareOp::Eq, 1, a_valid, b_valid);
        let absent = self.b.not(a_valid);
        let equal = self.b.or(absent, fields);
        Ok(self.b.and(alike, equal))
    }

    fn order(&mut self, op: &Op, left: &Expr, right: &Expr) -> Result<Operand> {
        let (a, b, both) = self.pair(left, right)?;
        let (less, at_most) =
            if both.signed { (CompareOp::LtS, CompareOp::LeS) } else { (CompareOp::LtU, CompareOp::LeU) };
        Ok(match op.name.as_str() {
            "<" => self.compare(less, both.width, &a, &b),
            "<=" => self.compare(at_most, both.width, &a, &b),
            ">" => self.compare(less, both.width, &b, &a),
            ">=" => self.compare(at_most, both.width, &b, &a),
            name => return fail(format!("operation `{name}` is not supported")),
        })
    }

    /// Two numbers in as many bits as hold both.
    fn pair(&mut self, left: &Expr, right: &Expr) -> Result<(lower::value::Value, lower::value::Value, Bounds)> {
        let both = self.bounds(left)?.join(self.bounds(right)?);
        Ok((self.low(left, both.width)?, self.low(right, both.width)?, both))
    }
}
