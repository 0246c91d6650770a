//! `packet_in` and `packet_out`.

use hir::{Expr, ExprKind, TypeId};
use ir::{BinaryOp, CompareOp, HeaderTypeId, Inst, Operand, Place};

use crate::context::{Lower, R, fail, offset};
use crate::layout::{LeafKind, Shape};
use crate::lvalue::Spot;
use crate::value::{FALSE, NARROW, TRUE, Value, Values};

/// More than the largest packet.
const MAX_LOOKAHEAD: u32 = 1 << 16;

impl Lower<'_> {
    pub fn call_packet(
        &mut self,
        method: &str,
        type_args: &[TypeId],
        args: &[Option<Expr>],
        call: &Expr,
    ) -> R<Option<Value>> {
        let given: Vec<&Expr> = args.iter().flatten().collect();
        match (method, given.as_slice()) {
            ("extract", [header, bits @ ..]) => {
                self.extract(header, bits.first().copied(), type_args, call)?;
                Ok(None)
            }
            ("lookahead", []) => self.lookahead(call.ty, call).map(Some),
            ("advance", [bits]) => {
                let bits = self.scalar(bits)?;
                let error = self.b.temp(32);
                self.b.push(Inst::Advance { error, bits });
                self.check(error, call)?;
                Ok(None)
            }
            ("length", []) => {
                let dst = self.b.temp(32);
                self.b.push(Inst::PacketLength { dst });
                Ok(Some(Value::Scalar(Operand::Temp(dst))))
            }
            ("emit", [value]) => {
                self.emit(value)?;
                Ok(None)
            }
            _ => fail(call.span, format!("a packet has no method `{method}` with these arguments")),
        }
    }

    /// Ends the parser if an extraction failed.
    fn check(&mut self, error: ir::Temp, call: &Expr) -> R<()> {
        let Some(reject) = self.reject else {
            return fail(call.span, "a packet can only be read in a parser");
        };
        let failed = self.b.compare(CompareOp::Ne, 32, Operand::Temp(error), FALSE);
        let (good, bad) = (self.b.block(), self.b.block());
        self.b.branch(failed, bad, good);
        self.b.enter(bad);
        self.raise(Operand::Temp(error), reject);
        self.b.enter(good);
        Ok(())
    }

    fn extract(&mut self, header: &Expr, bits: Option<&Expr>, type_args: &[TypeId], call: &Expr) -> R<()> {
        let (spot, ty) = if let ExprKind::DontCare = header.kind {
            let ty = type_args.first().copied().unwrap_or(header.ty);
            (Spot { place: self.alloc(ty), union: None }, ty)
        } else {
            (self.spot(header)?, header.ty)
        };
        let layout = self.layout(ty);
        let Shape::Header(id, _) = &layout.shape else {
            return fail(header.span, "only a header can be extracted");
        };
        self.whole_bytes(*id, header)?;
        let has_varbit = self.layouts.headers[*id].fields.iter().any(|field| field.varbit);
        let varbit_bits = match bits {
            Some(bits) if has_varbit => Some(self.scalar(bits)?),
            Some(bits) => return fail(bits.span, "the header has no varbit field whose length this could be"),
            None if has_varbit => {
                return fail(header.span, "a header with a varbit field needs the field's length as second argument");
            }
            None => None,
        };
        let error = self.b.temp(32);
        self.b.push(Inst::Extract { error, header: *id, place: spot.place, varbit_bits, peek: false });
        self.check(error, call)?;
        self.oust_siblings(&spot);
        // Extraction into `next` fills the stack by one, of a stack of unions too.
        let element = match &header.kind {
            ExprKind::Field(base, _) => base,
            _ => header,
        };
        if let ExprKind::StackNext(stack) = &element.kind {
            let stack = self.spot(stack)?;
            let next = self.b.load(stack.place, 32);
            let next = self.b.binary(BinaryOp::Add, 32, next, Operand::Imm(1));
            self.b.store(stack.place, 32, next);
        }
        Ok(())
    }

    fn lookahead(&mut self, ty: TypeId, call: &Expr) -> R<Value> {
        let layout = self.layout(ty);
        if layout.size > MAX_LOOKAHEAD {
            return fail(call.span, "`lookahead` cannot yield a value of more than 64 KiB");
        }
        let error = self.b.temp(32);
        match &layout.shape {
            Shape::Scalar { width: 0, .. } => Ok(Value::Scalar(FALSE)),
            Shape::Scalar { width, .. } => {
                let (dst, value) = self.dest(*width);
                self.b.push(Inst::Lookahead { error, dst });
                self.check(error, call)?;
                Ok(value)
            }
            Shape::Header(id, _) => {
                let place = self.alloc(ty);
                self.whole_bytes(*id, call)?;
                if self.layouts.headers[*id].fields.iter().any(|field| field.varbit) {
                    return fail(call.span, "`lookahead` needs a type whose size is fixed");
                }
                self.b.push(Inst::Extract { error, header: *id, place, varbit_bits: None, peek: true });
                self.check(error, call)?;
                Ok(Value::Frame(place))
            }
            Shape::Struct(_) => {
                let mut leaves = Vec::new();
                self.layouts.leaves(&self.hir.types, ty, "", 0, &mut leaves);
                if leaves.iter().any(|leaf| matches!(leaf.kind, LeafKind::Varbit(_))) {
                    return fail(call.span, "`lookahead` needs a type whose size is fixed");
                }
                let width: u32 =
                    self.data_leaves(ty, "").iter().map(|leaf| crate::objects::leaf_width(leaf.kind)).sum();
                let place = self.alloc(ty);
                self.zero(place, layout.size);
                if width == 0 {
                    return Ok(Value::Frame(place));
                }
                let (dst, packed) = self.dest(width);
                self.b.push(Inst::Lookahead { error, dst });
                self.check(error, call)?;
                self.unpack(&packed, width, place, ty);
                for leaf in leaves.iter().filter(|leaf| leaf.kind == LeafKind::Valid) {
                    self.b.store(offset(place, leaf.offset), 1, TRUE);
                }
                Ok(Value::Frame(place))
            }
            _ => fail(call.span, "`lookahead` cannot yield this type"),
        }
    }

    /// Emits every header in a value, in order.
    fn emit(&mut self, value: &Expr) -> R<()> {
        if let ExprKind::Aggregate(items) = &value.kind
            && !matches!(self.layout(value.ty).shape, Shape::Header(..))
        {
            return items.iter().try_for_each(|item| self.emit(item));
        }
        let spot = self.spot(value)?;
        self.emit_at(spot.place, value.ty, value)
    }

    fn emit_at(&mut self, place: Place, ty: TypeId, value: &Expr) -> R<()> {
        let layout = self.layout(ty);
        match &layout.shape {
            Shape::Header(header, _) => {
                self.whole_bytes(*header, value)?;
                self.b.push(Inst::Emit { header: *header, place });
            }
            Shape::Struct(members) | Shape::Union(members) => {
                for member in members {
                    self.emit_at(offset(place, member.offset), member.ty, value)?;
                }
            }
            Shape::Stack { element, count, stride, first } => {
                for index in 0..*count {
                    self.emit_at(offset(place, first + index * stride), *element, value)?;
                }
            }
            Shape::Scalar { .. } | Shape::Varbit(_) | Shape::Nothing => {
                return fail(value.span, "only headers can be emitted, and structures and stacks of headers");
            }
        }
        Ok(())
    }

    fn whole_bytes(&self, header: HeaderTypeId, at: &Expr) -> R<()> {
        let header = &self.layouts.headers[header];
        let bits = header.fixed_bits();
        if bits.is_multiple_of(8) {
            return Ok(());
        }
        let missing = bits.next_multiple_of(8) - bits;
        let message = format!(
            "header `{}` has {bits} bits, which is no number of whole bytes; a field of {missing} more would fill it up",
            header.name
        );
        fail(at.span, message)
    }

    /// Splits a value of `width` bits into the scalars of a type, the first in the highest bits.
    pub fn unpack(&mut self, packed: &Value, width: u32, place: Place, ty: TypeId) {
        let mut left = width;
        for leaf in self.data_leaves(ty, "") {
            let LeafKind::Scalar(size, _) = leaf.kind else { continue };
            let part = self.slice(packed, width, left - 1, left - size);
            self.store(offset(place, leaf.offset), size, &part);
            left -= size;
        }
    }

    /// The scalars of a type as one value, the first in the highest bits.
    pub fn pack(&mut self, place: Place, ty: TypeId) -> Value {
        let (mut packed, mut width) = (Value::Scalar(FALSE), 0);
        for leaf in self.data_leaves(ty, "") {
            let LeafKind::Scalar(size, _) = leaf.kind else { continue };
            let part = self.load(offset(place, leaf.offset), size);
            packed = self.concat(&packed, width, &part, size);
            width += size;
        }
        packed
    }

    /// Whether a value fits a temp.
    pub fn is_narrow(width: u32) -> bool {
        (1..=NARROW).contains(&width)
    }
}
