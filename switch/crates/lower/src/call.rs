//! Calls: arguments in and out, and writing a callee's body where it is called.

use hir::{Call, Callee, Direction, Expr, Type, TypeId, VarId, VarKind};
use ir::{BinaryOp, CompareOp, Inst, Operand, Place};

use crate::context::{Active, Binding, Body, Lower, R, fail, offset};
use crate::effects::{Extent, has_effects, overlap};
use crate::layout::Shape;
use crate::lvalue::LValue;
use crate::value::{FALSE, NARROW, TRUE, Value, Values};

/// A parameter whose final value goes back to its argument.
pub struct CopyOut {
    target: LValue,
    place: Place,
    ty: TypeId,
}

/// A parameter that has been evaluated but not yet bound.
enum Pending {
    Bind(Binding),
    /// An `out` parameter with memory of its own, or with the argument's.
    Fresh(Place, TypeId),
    Shared(Place, TypeId),
}

impl Lower<'_> {
    /// Writes out a call; the result is its value if it has one.
    pub fn call(&mut self, call: &Call, expr: &Expr) -> R<Option<Value>> {
        match &call.callee {
            Callee::Function(id) => self.call_function(*id, &call.args, expr).map(Some),
            Callee::Action(id) => {
                let action = &self.hir.actions[*id];
                self.enter_once(Active::Action(*id), &action.name, expr)?;
                let copies = self.bind(&action.params, &call.args, false)?;
                let result = self.inlined(copies, None, |lower| {
                    lower.statements(&action.body);
                    Ok(())
                });
                self.active.pop();
                result.map(|()| None)
            }
            Callee::ExternFn { function, type_args } => self.call_extern(*function, type_args, &call.args, expr),
            Callee::ExternMethod { object, method, type_args } => {
                self.call_method(object, *method, type_args, &call.args, expr)
            }
            Callee::ParserApply(object) => self.apply_parser(object, &call.args, expr.span).map(|()| None),
            Callee::ControlApply(object) => self.apply_control(object, &call.args, expr).map(|()| None),
            Callee::TableApply(table) => self.apply_table(*table, expr.span).map(|_| None),
            Callee::SetValid(header) => {
                let spot = self.spot(header)?;
                self.b.store(spot.place, 1, TRUE);
                self.oust_siblings(&spot);
                Ok(None)
            }
            Callee::SetInvalid(header) => {
                let spot = self.spot(header)?;
                self.invalidate(spot.place, header.ty);
                Ok(None)
            }
            Callee::PushFront(stack, by) => self.move_stack(stack, *by, true).map(|()| None),
            Callee::PopFront(stack, by) => self.move_stack(stack, *by, false).map(|()| None),
        }
    }

    /// Notes that a body is being written out; P4 has no recursion.
    fn enter_once(&mut self, what: Active, name: &str, call: &Expr) -> R<()> {
        if self.active.contains(&what) {
            return fail(call.span, format!("`{name}` calls itself: P4 has no recursion"));
        }
        self.active.push(what);
        Ok(())
    }

    fn call_function(&mut self, id: hir::FunctionId, args: &[Option<Expr>], call: &Expr) -> R<Value> {
        let function = &self.hir.functions[id];
        let ret = function.ret;
        let slot = (!matches!(self.hir.types.get(ret), Type::Void)).then(|| (self.alloc(ret), ret));
        let copies = self.bind(&function.params, args, true)?;
        self.enter_once(Active::Function(id), &function.name, call)?;
        let result = self.inlined(copies, slot, |lower| {
            lower.statements(&function.body);
            Ok(())
        });
        self.active.pop();
        result?;
        Ok(match slot {
            Some((place, ty)) => match self.scalar_type(ty) {
                Some((width, _)) => self.load(place, width),
                None => Value::Frame(place),
            },
            None => Value::Scalar(FALSE),
        })
    }

    fn apply_control(&mut self, object: &Expr, args: &[Option<Expr>], call: &Expr) -> R<()> {
        let id = self.instance_of(object)?;
        let hir::instances::InstanceKind::Control(control) = self.instances.get(id).kind else {
            return fail(object.span, "only a control can be applied here");
        };
        if self.reject.is_some() {
            return fail(call.span, "a control cannot be applied in a parser");
        }
        let decl = &self.hir.controls[control];
        let copies = self.bind(&decl.params, args, true)?;
        let caller = std::mem::replace(&mut self.instance, id);
        let result = self.inlined(copies, None, |lower| lower.control_body(control));
        self.instance = caller;
        result
    }

    /// Writes out `body` with its own `return`, and copies the parameters out however the body is left.
    pub fn inlined(
        &mut self,
        copies: Vec<CopyOut>,
        slot: Option<(Place, TypeId)>,
        body: impl FnOnce(&mut Self) -> R<()>,
    ) -> R<()> {
        let (ret, landing) = (self.b.block(), self.b.block());
        let caller = std::mem::replace(&mut self.body, Body { ret, slot, loops: Vec::new() });
        let (exit, reject) = (self.exit, self.reject);
        if !copies.is_empty() {
            self.exit = landing;
            self.reject = reject.map(|_| landing);
        }
        let result = body(self);
        self.b.jump(ret);
        self.body = caller;
        (self.exit, self.reject) = (exit, reject);
        if !copies.is_empty() {
            self.b.enter(landing);
            self.copy_out(&copies);
            self.b.jump(reject.unwrap_or(exit));
        }
        self.b.enter(ret);
        self.copy_out(&copies);
        result
    }

    fn copy_out(&mut self, copies: &[CopyOut]) {
        for copy in copies {
            let value = match self.scalar_type(copy.ty) {
                Some((width, _)) => self.load(copy.place, width),
                None => Value::Frame(copy.place),
            };
            self.assign(&copy.target, copy.ty, &value);
        }
    }

    /// Evaluates arguments in order and binds the parameters to them (P4_16, section 6.8).
    ///
    /// With `share`, a parameter stands for its argument's own memory where nobody can tell: the callee reaches its
    /// caller's variables through parameters alone, no two arguments overlap, and no argument has effects.
    pub fn bind(&mut self, params: &[VarId], args: &[Option<Expr>], share: bool) -> R<Vec<CopyOut>> {
        let program = self.hir;
        let args: Vec<Option<&Expr>> = params
            .iter()
            .enumerate()
            .map(|(index, param)| args.get(index).and_then(Option::as_ref).or(program.vars[*param].default.as_ref()))
            .collect();
        let share = share && !args.iter().flatten().any(|arg| has_effects(arg));
        let extents: Vec<Option<Extent>> =
            args.iter().map(|arg| arg.and_then(|arg| if share { self.extent_of(arg) } else { None })).collect();
        let mut pending = Vec::with_capacity(params.len());
        let mut copies = Vec::new();
        for (index, (&param, arg)) in params.iter().zip(&args).enumerate() {
            let Some(arg) = *arg else {
                continue;
            };
            let alone = extents[index].is_some_and(|own| {
                let clash = |other: usize| {
                    let writes = |at: usize| direction(program, params[at]).is_some_and(|d| d != Direction::In);
                    other != index
                        && (writes(other) || writes(index))
                        && extents[other].is_some_and(|other| overlap(own, other))
                };
                !(0..params.len()).any(clash)
            });
            pending.push((param, self.evaluate_argument(param, arg, share && alone, &mut copies)?));
        }
        for (param, what) in pending {
            let binding = match what {
                Pending::Bind(binding) => binding,
                Pending::Fresh(place, ty) => {
                    let bytes = self.layout(ty).size;
                    self.zero(place, bytes);
                    self.name(place, param);
                    Binding::Place(place)
                }
                Pending::Shared(place, ty) => {
                    self.invalidate(place, ty);
                    Binding::Place(place)
                }
            };
            self.env.insert(param, binding);
        }
        Ok(copies)
    }

    fn evaluate_argument(&mut self, param: VarId, arg: &Expr, share: bool, copies: &mut Vec<CopyOut>) -> R<Pending> {
        let decl = &self.hir.vars[param];
        let ty = decl.ty;
        if matches!(self.layout(ty).shape, Shape::Nothing)
            && matches!(self.hir.types.get(ty), Type::Extern(..))
            && let hir::ExprKind::Var(var) = &arg.kind
            && let Some(object @ (Binding::Instance(_) | Binding::Packet)) = self.binding(*var)
        {
            return Ok(Pending::Bind(object));
        }
        let direction = direction(self.hir, param);
        if !matches!(direction, Some(Direction::Out | Direction::InOut)) {
            let written = self.written.contains(&param);
            if let Some((0..=NARROW, _)) = self.scalar_type(ty)
                && !written
            {
                let value = self.converted(arg, ty)?;
                if let Value::Scalar(operand) = value {
                    return Ok(Pending::Bind(Binding::Value(operand)));
                }
            }
            if share && !written && self.same_storage(arg.ty, ty) {
                return Ok(Pending::Bind(Binding::Place(self.spot(arg)?.place)));
            }
            let place = self.alloc(ty);
            self.name(place, param);
            self.fill(arg, place, ty)?;
            return Ok(Pending::Bind(Binding::Place(place)));
        }
        let target = self.lvalue(arg)?;
        let out = direction == Some(Direction::Out);
        if let LValue::Spot(spot) = &target
            && share
            && spot.union.is_none()
        {
            return Ok(if out { Pending::Shared(spot.place, ty) } else { Pending::Bind(Binding::Place(spot.place)) });
        }
        let place = self.alloc(ty);
        let pending = if out {
            Pending::Fresh(place, ty)
        } else {
            self.name(place, param);
            let value = self.read(&target, ty);
            self.write(place, ty, &value);
            Pending::Bind(Binding::Place(place))
        };
        if !matches!(target, LValue::Nowhere) {
            copies.push(CopyOut { target, place, ty });
        }
        Ok(pending)
    }

    /// The value of an expression as one of a scalar type.
    fn converted(&mut self, expr: &Expr, ty: TypeId) -> R<Value> {
        let value = self.expr(expr)?;
        Ok(match (self.scalar_type(expr.ty), self.scalar_type(ty)) {
            (Some((from, signed)), Some((to, _))) => self.resize(&value, from, to, signed),
            _ => value,
        })
    }

    fn move_stack(&mut self, stack: &Expr, by: u32, push: bool) -> R<()> {
        let spot = self.spot(stack)?;
        let Shape::Stack { count, stride, first, .. } = self.layout(stack.ty).shape else {
            return fail(stack.span, "only a stack of headers can be pushed and popped");
        };
        if by == 0 {
            return Ok(());
        }
        let place = offset(spot.place, first);
        self.b.push(Inst::StackShift { place, stride, count, by: by.min(count), push });
        let next = self.b.load(spot.place, 32);
        let amount = Operand::Imm(by.min(count).into());
        let (moved, limit) = if push {
            let moved = self.b.binary(BinaryOp::Add, 32, next, amount);
            (self.b.compare(CompareOp::LtU, 32, Operand::Imm(count.into()), moved), Operand::Imm(count.into()))
        } else {
            (self.b.compare(CompareOp::LtU, 32, next, amount), FALSE)
        };
        let op = if push { BinaryOp::Add } else { BinaryOp::Sub };
        let result = self.b.binary(op, 32, next, amount);
        let result = self.b.select(32, moved, limit, result);
        self.b.store(spot.place, 32, result);
        Ok(())
    }
}

pub fn direction(program: &hir::Program, param: VarId) -> Option<Direction> {
    match &program.vars[param].kind {
        VarKind::Param(direction) => *direction,
        _ => None,
    }
}
