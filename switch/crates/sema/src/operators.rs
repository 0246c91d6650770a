//! Operators and their typing rules (P4_16, "Expressions").

use hir::{BinaryOp, Expr, ExprKind, Type, TypeId, UnaryOp};
use num_traits::Signed;
use syntax::ast;
use syntax::source::Span;

use crate::checker::Checker;
use crate::fold;

fn op_of(op: ast::BinaryOp) -> BinaryOp {
    match op {
        ast::BinaryOp::Mul => BinaryOp::Mul,
        ast::BinaryOp::Div => BinaryOp::Div,
        ast::BinaryOp::Mod => BinaryOp::Mod,
        ast::BinaryOp::Add => BinaryOp::Add,
        ast::BinaryOp::Sub => BinaryOp::Sub,
        ast::BinaryOp::AddSat => BinaryOp::SatAdd,
        ast::BinaryOp::SubSat => BinaryOp::SatSub,
        ast::BinaryOp::Shl => BinaryOp::Shl,
        ast::BinaryOp::Shr => BinaryOp::Shr,
        ast::BinaryOp::Le => BinaryOp::Le,
        ast::BinaryOp::Ge => BinaryOp::Ge,
        ast::BinaryOp::Lt => BinaryOp::Lt,
        ast::BinaryOp::Gt => BinaryOp::Gt,
        ast::BinaryOp::Eq => BinaryOp::Eq,
        ast::BinaryOp::Ne => BinaryOp::Ne,
        ast::BinaryOp::BitAnd => BinaryOp::BitAnd,
        ast::BinaryOp::BitXor => BinaryOp::BitXor,
        ast::BinaryOp::BitOr => BinaryOp::BitOr,
        ast::BinaryOp::Concat => BinaryOp::Concat,
        ast::BinaryOp::And => BinaryOp::And,
        ast::BinaryOp::Or => BinaryOp::Or,
    }
}

impl Checker<'_> {
    /// The value under an enum with an underlying type, which operators take as that type.
    fn underlying(&mut self, e: Expr) -> Expr {
        if let Type::Enum(id) = self.ty(e.ty)
            && let Some(underlying) = self.prog.types.enums[*id].underlying
        {
            return self.cast_node(e, underlying);
        }
        e
    }

    fn is_number(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), Type::Bit(_) | Type::Signed(_) | Type::Int)
    }

    pub fn unary(&mut self, op: ast::UnaryOp, operand: Expr, span: Span) -> Expr {
        if self.is_poison(&operand) {
            return self.poison(span);
        }
        let operand = if op == ast::UnaryOp::Not { operand } else { self.underlying(operand) };
        let allowed = match op {
            ast::UnaryOp::Not => operand.ty == self.basic.bool,
            ast::UnaryOp::Complement => fold::width(self.ty(operand.ty)).is_some(),
            ast::UnaryOp::Neg | ast::UnaryOp::Plus => self.is_number(operand.ty),
        };
        if !allowed {
            let (symbol, found) = (op.symbol(), self.describe(&operand));
            let message = format!("`{symbol}` is not defined on {found}");
            match (op, self.ty(operand.ty)) {
                (ast::UnaryOp::Complement, Type::Int) => {
                    self.error_help(span, message, "give the number a width, as in `8w1`".into());
                }
                (ast::UnaryOp::Complement, Type::Bool) => {
                    self.error_help(span, message, "write `!` for a bool".into());
                }
                (ast::UnaryOp::Not, Type::Bit(_)) => {
                    self.error_help(span, message, "write `~` for its bits, or compare it with `== 0`".into());
                }
                _ => self.error(span, message),
            }
            return self.poison(span);
        }
        let op = match op {
            ast::UnaryOp::Plus => return Expr { span, ..operand },
            ast::UnaryOp::Not => UnaryOp::Not,
            ast::UnaryOp::Complement => UnaryOp::Complement,
            ast::UnaryOp::Neg => UnaryOp::Neg,
        };
        let ty = operand.ty;
        let kind = fold::fold_unary(op, &operand, self.ty(ty)).unwrap_or(ExprKind::Unary(op, Box::new(operand)));
        self.make(ty, kind, span)
    }

    pub fn binary(&mut self, symbol: ast::BinaryOp, l: Expr, r: Expr, span: Span) -> Expr {
        if self.is_poison(&l) || self.is_poison(&r) {
            return self.poison(span);
        }
        use ast::BinaryOp as Op;
        let typed = match symbol {
            Op::And | Op::Or => self.logical(symbol, l, r),
            Op::Eq | Op::Ne => self.equality(symbol, l, r),
            Op::Shl | Op::Shr => self.shift(symbol, l, r),
            Op::Concat => self.concat(l, r),
            Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                let bool = self.basic.bool;
                self.arithmetic(symbol, l, r).map(|(l, r, _)| (l, r, bool))
            }
            _ => self.arithmetic(symbol, l, r),
        };
        let Some((l, r, ty)) = typed else { return self.poison(span) };
        if self.is_poison(&l) || self.is_poison(&r) {
            return self.poison(span);
        }
        let op = op_of(symbol);
        match fold::fold_binary(&self.prog.types, op, &l, &r, self.ty(ty)) {
            Ok(Some(kind)) => self.make(ty, kind, span),
            Ok(None) => self.make(ty, ExprKind::Binary(op, Box::new(l), Box::new(r)), span),
            Err(message) => {
                self.error(span, message);
                self.poison(span)
            }
        }
    }

    fn undefined(&mut self, op: ast::BinaryOp, l: &Expr, r: &Expr, help: Option<String>) {
        let span = Span { end: r.span.end.max(l.span.end), ..l.span };
        let (symbol, left, right) = (op.symbol(), self.describe(l), self.describe(r));
        let message = format!("`{symbol}` is not defined on {left} and {right}");
        match help {
            Some(help) => self.error_help(span, message, help),
            None => self.error(span, message),
        }
    }

    fn logical(&mut self, op: ast::BinaryOp, l: Expr, r: Expr) -> Option<(Expr, Expr, TypeId)> {
        let bool = self.basic.bool;
        if l.ty == bool && r.ty == bool {
            return Some((l, r, bool));
        }
        self.undefined(op, &l, &r, Some("both sides must be `bool`; compare a number with `!= 0`".into()));
        None
    }

    fn equality(&mut self, op: ast::BinaryOp, l: Expr, r: Expr) -> Option<(Expr, Expr, TypeId)> {
        let (l, r) = self.same_type(op, l, r)?;
        let comparable = match self.ty(l.ty) {
            Type::TableResult(_) => false,
            _ => !self.is_object(l.ty),
        };
        if !comparable {
            self.undefined(op, &l, &r, None);
            return None;
        }
        Some((l, r, self.basic.bool))
    }

    /// Both operands in one type, whichever of the two the other converts to.
    fn same_type(&mut self, op: ast::BinaryOp, l: Expr, r: Expr) -> Option<(Expr, Expr)> {
        if l.ty == r.ty {
            if l.ty == self.basic.any {
                self.undefined(op, &l, &r, None);
                return None;
            }
            return Some((l, r));
        }
        let (lt, rt) = (l.ty, r.ty);
        match (self.ty(lt), self.ty(rt)) {
            // Two lists: part by part, for `{1, x} == {y, 2}` has an unknown width on both sides.
            (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
                let (ExprKind::Aggregate(a), ExprKind::Aggregate(b)) = (l.kind.clone(), r.kind.clone()) else {
                    return self.one_to_other(op, l, r);
                };
                let mut left = Vec::new();
                let mut right = Vec::new();
                for (a, b) in a.into_iter().zip(b) {
                    let (a, b) = self.same_type(op, a, b)?;
                    left.push(a);
                    right.push(b);
                }
                let types = left.iter().map(|e| e.ty).collect();
                let ty = self.intern(Type::Tuple(types));
                let (ls, rs) = (l.span, r.span);
                Some((self.make(ty, ExprKind::Aggregate(left), ls), self.make(ty, ExprKind::Aggregate(right), rs)))
            }
            (Type::Enum(_), Type::Enum(_)) => {
                let (l, r) = (self.underlying(l), self.underlying(r));
                self.one_to_other(op, l, r)
            }
            (Type::Enum(_), Type::Int) => {
                let l = self.underlying(l);
                self.one_to_other(op, l, r)
            }
            (Type::Int, Type::Enum(_)) => {
                let r = self.underlying(r);
                self.one_to_other(op, l, r)
            }
            _ => self.one_to_other(op, l, r),
        }
    }

    fn one_to_other(&mut self, op: ast::BinaryOp, l: Expr, r: Expr) -> Option<(Expr, Expr)> {
        if l.ty == r.ty {
            return Some((l, r));
        }
        let (lt, rt) = (l.ty, r.ty);
        if lt == self.basic.any {
            // `{#} == h`: the left side takes the type of the right.
            let l = self.coerce(l, rt);
            return (!self.is_poison(&l)).then_some((l, r));
        }
        let r = match self.convert(r, lt) {
            Ok(r) => return Some((l, r)),
            Err(r) => r,
        };
        let l = match self.convert(l, rt) {
            Ok(l) => return Some((l, r)),
            Err(l) => l,
        };
        let help =
            self.can_cast(rt, lt).then(|| format!("convert one side with a cast, as in `({}) ...`", self.name(lt)));
        self.undefined(op, &l, &r, help);
        None
    }

    fn arithmetic(&mut self, op: ast::BinaryOp, l: Expr, r: Expr) -> Option<(Expr, Expr, TypeId)> {
        let (l, r) = (self.underlying(l), self.underlying(r));
        if !self.is_number(l.ty) || !self.is_number(r.ty) {
            let strings = l.ty == self.basic.string && r.ty == self.basic.string;
            let help = (strings && op == ast::BinaryOp::Add).then(|| "`++` joins strings".to_owned());
            self.undefined(op, &l, &r, help);
            return None;
        }
        use ast::BinaryOp as Op;
        if matches!(op, Op::Div | Op::Mod) {
            let negative = [&l, &r].into_iter().find(|e| matches!(&e.kind, ExprKind::Int(n) if n.is_negative()));
            if let Some(negative) = negative {
                let span = negative.span;
                self.error(span, format!("`{}` is not defined on negative numbers", op.symbol()));
                return None;
            }
        }
        let (l, r) = self.one_to_other(op, l, r)?;
        let ty = l.ty;
        match (op, self.ty(ty)) {
            (Op::Div | Op::Mod, Type::Signed(_)) => {
                self.undefined(op, &l, &r, Some("it is defined on bit<W> and on positive constants".into()));
                return None;
            }
            (Op::Div | Op::Mod, _) if matches!(&r.kind, ExprKind::Int(n) if *n == 0.into()) => {
                self.error(r.span, "division by zero");
                return None;
            }
            (Op::Div | Op::Mod, _) if !self.divides_at_compile_time(&l, &r) => {
                let help = "a power of two can be shifted by, or masked with, instead";
                self.undefined(op, &l, &r, Some(format!("both must be known when the program is compiled; {help}")));
                return None;
            }
            (Op::AddSat | Op::SubSat, Type::Int) => {
                self.undefined(op, &l, &r, Some("give the numbers a width, as in `8w1`".into()));
                return None;
            }
            _ => {}
        }
        Some((l, r, ty))
    }

    /// Division is for constants (P4_16, "Operations on arbitrary-precision integers"). By a power of two it is no more
    /// than a shift or a mask, and 0 stays 0.
    fn divides_at_compile_time(&self, l: &Expr, r: &Expr) -> bool {
        let power_of_two = matches!(&r.kind, ExprKind::Int(n) if n.magnitude().count_ones() == 1);
        let zero = matches!(&l.kind, ExprKind::Int(n) if n.sign() == num_bigint::Sign::NoSign);
        power_of_two || zero || (self.known_at_compile_time(l) && self.known_at_compile_time(r))
    }

    fn shift(&mut self, op: ast::BinaryOp, l: Expr, r: Expr) -> Option<(Expr, Expr, TypeId)> {
        let (l, mut r) = (self.underlying(l), self.underlying(r));
        if !self.is_number(l.ty) || !self.is_number(r.ty) {
            self.undefined(op, &l, &r, None);
            return None;
        }
        if let ExprKind::Int(by) = &r.kind {
            if by.is_negative() {
                let message = format!("shift by the negative amount {by}");
                self.error(r.span, message);
                return None;
            }
            if let Some(width) = fold::width(self.ty(l.ty))
                && *by >= width.into()
            {
                // A signed value shifted right is filled with its sign.
                let sign = op == ast::BinaryOp::Shr && matches!(self.ty(l.ty), Type::Signed(_));
                let left = if sign { "nothing but the sign" } else { "nothing" };
                let message = format!("a shift by {by} leaves {left} of a value of {width} bits");
                self.warn(r.span, message);
            }
            // A positive constant is as good unsigned, and the run time shifts by unsigned amounts alone.
            if let Type::Signed(width) = *self.ty(r.ty) {
                r.ty = self.intern(Type::Bit(width));
            }
        } else if !matches!(self.ty(r.ty), Type::Bit(_)) {
            let found = self.describe(&r);
            let message = format!("the amount of a shift must be unsigned or a constant, found {found}");
            self.error(r.span, message);
            return None;
        } else if matches!(self.ty(l.ty), Type::Int) {
            self.error_help(
                l.span,
                "the width of the shifted number is unknown".to_owned(),
                "give it one, as in `8w1 << ...`".into(),
            );
            return None;
        }
        let ty = l.ty;
        Some((l, r, ty))
    }

    fn concat(&mut self, l: Expr, r: Expr) -> Option<(Expr, Expr, TypeId)> {
        let string = self.basic.string;
        if l.ty == string && r.ty == string {
            if fold::is_const(&l) && fold::is_const(&r) {
                return Some((l, r, string));
            }
            self.undefined(ast::BinaryOp::Concat, &l, &r, Some("only constant strings can be joined".into()));
            return None;
        }
        let (l, r) = (self.underlying(l), self.underlying(r));
        let (lt, rt) = (self.ty(l.ty).clone(), self.ty(r.ty).clone());
        let (Some(lw), Some(rw)) = (fold::width(&lt), fold::width(&rt)) else {
            let unknown = matches!(lt, Type::Int) || matches!(rt, Type::Int);
            let help = unknown.then(|| "give the numbers a width, as in `8w1`".to_owned());
            self.undefined(ast::BinaryOp::Concat, &l, &r, help);
            return None;
        };
        let width = lw.saturating_add(rw);
        if width > crate::types::MAX_WIDTH {
            self.error(
                l.span,
                format!("the result has {width} bits; at most {} are possible", crate::types::MAX_WIDTH),
            );
            return None;
        }
        let ty = self.intern(if matches!(lt, Type::Signed(_)) { Type::Signed(width) } else { Type::Bit(width) });
        Some((l, r, ty))
    }

    pub fn ternary(&mut self, cond: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr {
        let cond = self.condition(cond);
        if self.is_poison(&cond) || self.is_poison(&then) || self.is_poison(&otherwise) {
            return self.poison(span);
        }
        let Some((then, otherwise)) = self.branches(then, otherwise, span) else { return self.poison(span) };
        if let ExprKind::Bool(b) = cond.kind {
            return if b { then } else { otherwise };
        }
        if self.has_int(then.ty) {
            self.error_help(
                span,
                "the width of the result is unknown".to_owned(),
                "give the numbers a width, as in `8w1`".into(),
            );
            return self.poison(span);
        }
        let ty = then.ty;
        self.make(ty, ExprKind::Ternary(Box::new(cond), Box::new(then), Box::new(otherwise)), span)
    }

    fn branches(&mut self, then: Expr, otherwise: Expr, span: Span) -> Option<(Expr, Expr)> {
        let (a, b) = (then.ty, otherwise.ty);
        let otherwise = match self.convert(otherwise, a) {
            Ok(otherwise) => return Some((then, otherwise)),
            Err(otherwise) => otherwise,
        };
        match self.convert(then, b) {
            Ok(then) => Some((then, otherwise)),
            Err(then) => {
                let (a, b) = (self.describe(&then), self.describe(&otherwise));
                self.error(span, format!("the branches of `?:` must have one type, found {a} and {b}"));
                None
            }
        }
    }

    /// The condition of `if`, `for`, `?:`.
    pub fn condition(&mut self, cond: Expr) -> Expr {
        if self.is_poison(&cond) || cond.ty == self.basic.bool {
            return cond;
        }
        let found = self.describe(&cond);
        let message = format!("a condition must be `bool`, found {found}");
        match self.ty(cond.ty) {
            Type::Bit(_) | Type::Signed(_) => self.error_help(cond.span, message, "compare it: `... != 0`".into()),
            Type::TableResult(_) => self.error_help(cond.span, message, "ask for `.hit` or `.miss`".into()),
            _ => self.error(cond.span, message),
        }
        self.poison(cond.span)
    }
}
