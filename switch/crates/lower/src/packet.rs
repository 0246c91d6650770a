//! `packet_in` and `packet_out`.

use hir::{Expr, ExprKind, TypeId};
use ir::{BinaryOp, CompareOp, HeaderType, Inst, Operand, Place};

use crate::context::{Lower, R, fail, offset};
use crate::layout::{LeafKind, Shape, header_field};
use crate::lvalue::Spot;
use crate::value::{FALSE, NARROW, TRUE, Value};

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
                self.b.push(Inst::Extract { error, header: *id, place, varbit_bits: None, peek: true });
                self.check(error, call)?;
                Ok(Value::Frame(place))
            }
            // A structure is read as a header would be, with a validity byte before it that nobody looks at.
            Shape::Struct(_) => {
                let mut leaves = Vec::new();
                self.layouts.leaves(&self.hir.types, ty, "", 8, &mut leaves);
                if leaves.iter().any(|leaf| matches!(leaf.kind, LeafKind::Varbit(_) | LeafKind::Next)) {
                    return fail(call.span, "`lookahead` needs a type whose size is fixed");
                }
                let valid: Vec<u32> =
                    leaves.iter().filter(|leaf| leaf.kind == LeafKind::Valid).map(|leaf| leaf.offset).collect();
                let fields = leaves.into_iter().filter_map(header_field).collect();
                let size = 8 + layout.size;
                let header = self.layouts.headers.push(HeaderType { name: "lookahead".to_string(), fields, size });
                let place = self.b.alloc(size, 8);
                self.b.push(Inst::Extract { error, header, place, varbit_bits: None, peek: true });
                self.check(error, call)?;
                for at in valid {
                    self.b.store(offset(place, at), 1, TRUE);
                }
                Ok(Value::Frame(offset(place, 8)))
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
            Shape::Header(header, _) => self.b.push(Inst::Emit { header: *header, place }),
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

    /// The most bytes that a header has on the wire.
    pub fn header_bytes(header: &HeaderType) -> u32 {
        header.fields.iter().map(|field| field.width).sum::<u32>().div_ceil(8)
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
