//! The tree of instances: which parsers, controls and extern objects `main` holds, with their control-plane names.
//!
//! A name is the name of the block's type and then the names of the instances down to the object, joined by dots.
//! `@name("x")` takes the place of an object's own name; with a dot in front it takes the place of the whole.

use std::collections::HashMap;

use num_bigint::BigInt;
use syntax::source::Span;

use crate::architecture::{self, Architecture, ObjectKind, V1MODEL};
use crate::*;

/// Entries of a table that does not say how many it is for, as p4c has it.
const DEFAULT_TABLE_SIZE: u64 = 1024;

/// An instance in [`Instances::list`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(pub usize);

/// All instances of a program.
#[derive(Debug, Default)]
pub struct Instances {
    /// Extern objects of the top level first, then each block of `main` with all below it, in source order.
    pub list: Vec<Instance>,
    /// The package's name and its blocks by parameter, those of packages in it in their place; `None` where an argument
    /// is not a parser or control.
    pub package: String,
    pub blocks: Vec<Option<InstanceId>>,
    /// Objects declared outside any parser or control.
    pub globals: HashMap<VarId, InstanceId>,
}

/// A parser, control or extern object.
#[derive(Debug, Clone)]
pub struct Instance {
    /// The full control-plane name.
    pub name: String,
    pub kind: InstanceKind,
    /// The type of the object; of an extern with its type arguments.
    pub ty: TypeId,
    /// The variable that declares it; an object without one stands where it is used.
    pub var: Option<VarId>,
    /// Annotations of the declaration, or of the table property that makes the object.
    pub annotations: Vec<Annotation>,
    pub parent: Option<InstanceId>,
    /// Constructor arguments.
    pub args: Vec<Option<Value>>,
    pub span: Span,
    /// Constructor parameters and the instances among the locals of a parser or control.
    pub bindings: HashMap<VarId, Value>,
    /// Tables of a control, with their full names.
    pub tables: Vec<TableInstance>,
    /// Actions of a control, with their full names.
    pub actions: Vec<(ActionId, String)>,
    /// Value sets of a parser, with their full names.
    pub value_sets: Vec<(ValueSetId, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceKind {
    Parser(ParserId),
    Control(ControlId),
    Extern(ExternId),
}

/// A table of one control instance.
#[derive(Debug, Clone)]
pub struct TableInstance {
    pub table: TableId,
    pub name: String,
    /// Objects that the table's properties name or make, by index into [`Table::properties`].
    pub objects: Vec<(usize, InstanceId)>,
}

/// What a constructor is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Bool(bool),
    Int(BigInt),
    Str(String),
    /// A member of an enum without underlying type.
    EnumMember(TypeId, usize),
    Error(usize),
    Instance(InstanceId),
    /// A constant list or structure.
    Expr(Expr),
}

/// Why a program's instances cannot be made.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceError {
    pub span: Span,
    pub message: String,
}

impl Instances {
    /// Makes the instances of `program`.
    pub fn new(program: &Program) -> Result<Self, InstanceError> {
        let mut walk = Walk { program, out: Instances::default(), open: Vec::new() };
        walk.program()?;
        Ok(walk.out)
    }

    /// Whose words the program uses; v1model's if none is known for its package.
    pub fn architecture(&self) -> &'static Architecture {
        architecture::of_package(&self.package).unwrap_or(&V1MODEL)
    }

    /// What an instance is to the control plane.
    pub fn object_kind(&self, program: &Program, id: InstanceId) -> Option<ObjectKind> {
        match self.get(id).kind {
            InstanceKind::Extern(decl) => self.architecture().object(&program.types.externs[decl].name),
            _ => None,
        }
    }

    /// Whether the value of the property for idle timeouts asks for them.
    pub fn wants_idle_timeout(&self, program: &Program, value: &Value) -> bool {
        match value {
            Value::Bool(wanted) => *wanted,
            Value::EnumMember(ty, index) => match program.types.get(*ty) {
                Type::Enum(id) => program.types.enums[*id].members[*index].name == "NOTIFY_CONTROL",
                _ => false,
            },
            _ => false,
        }
    }

    pub fn get(&self, id: InstanceId) -> &Instance {
        &self.list[id.0]
    }

    pub fn iter(&self) -> impl Iterator<Item = (InstanceId, &Instance)> {
        self.list.iter().enumerate().map(|(index, instance)| (InstanceId(index), instance))
    }

    /// How many entries a table of a control is for; none, or 0, is p4c's default.
    pub fn table_size(&self, program: &Program, control: InstanceId, table: &Table) -> u64 {
        let property = || {
            let property = table.properties.iter().find(|property| property.name == "size")?;
            match self.evaluate(program, Some(control), &property.value)? {
                Value::Int(size) => u64::try_from(size).ok(),
                _ => None,
            }
        };
        table.size.or_else(property).filter(|size| *size != 0).unwrap_or(DEFAULT_TABLE_SIZE)
    }

    /// The value of a constant expression inside `scope`, where constructor parameters have values.
    pub fn evaluate(&self, program: &Program, scope: Option<InstanceId>, expr: &Expr) -> Option<Value> {
        Some(match &expr.kind {
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::Int(value) => Value::Int(value.clone()),
            ExprKind::Str(text) => Value::Str(text.clone()),
            ExprKind::Error(index) => Value::Error(*index),
            ExprKind::EnumMember(index) => Value::EnumMember(expr.ty, *index),
            ExprKind::Var(var) => self.lookup(scope, *var)?,
            ExprKind::Cast(inner) => match self.evaluate(program, scope, inner)? {
                Value::Int(value) => wrap(program, expr.ty, value),
                Value::Bool(value) if !matches!(program.types.get(program.types.stored(expr.ty)), Type::Bool) => {
                    wrap(program, expr.ty, BigInt::from(u8::from(value)))
                }
                other => other,
            },
            ExprKind::Unary(op, inner) => match (op, self.evaluate(program, scope, inner)?) {
                (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
                (UnaryOp::Neg, Value::Int(value)) => wrap(program, expr.ty, -value),
                (UnaryOp::Complement, Value::Int(value)) => wrap(program, expr.ty, -value - 1),
                _ => return None,
            },
            ExprKind::Binary(op, left, right) => {
                let left = self.evaluate(program, scope, left)?;
                let right = self.evaluate(program, scope, right)?;
                binary(program, expr.ty, *op, left, right)?
            }
            ExprKind::Ternary(cond, yes, no) => match self.evaluate(program, scope, cond)? {
                Value::Bool(true) => self.evaluate(program, scope, yes)?,
                Value::Bool(false) => self.evaluate(program, scope, no)?,
                _ => return None,
            },
            ExprKind::Aggregate(_) => Value::Expr(expr.clone()),
            _ => return None,
        })
    }

    fn lookup(&self, scope: Option<InstanceId>, var: VarId) -> Option<Value> {
        let local = scope.and_then(|scope| self.get(scope).bindings.get(&var).cloned());
        local.or_else(|| self.globals.get(&var).map(|id| Value::Instance(*id)))
    }
}

/// `value` as a number of type `ty`, cut to its width.
fn wrap(program: &Program, ty: TypeId, value: BigInt) -> Value {
    let one = BigInt::from(1);
    match program.types.get(program.types.stored(ty)) {
        Type::Bit(width) => {
            let modulus = one << *width;
            Value::Int(((value % &modulus) + &modulus) % &modulus)
        }
        Type::Signed(width) if *width > 0 => {
            let modulus = BigInt::from(1) << *width;
            let half = one << (*width - 1);
            Value::Int(((value + &half) % &modulus + &modulus) % &modulus - half)
        }
        Type::Bool => Value::Bool(value != BigInt::from(0)),
        _ => Value::Int(value),
    }
}

fn binary(program: &Program, ty: TypeId, op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    let zero = BigInt::from(0);
    Some(match (left, right) {
        (Value::Int(a), Value::Int(b)) => match op {
            BinaryOp::Add => wrap(program, ty, a + b),
            BinaryOp::Sub => wrap(program, ty, a - b),
            BinaryOp::Mul => wrap(program, ty, a * b),
            BinaryOp::Div if b != zero => wrap(program, ty, a / b),
            BinaryOp::Mod if b != zero => wrap(program, ty, a % b),
            BinaryOp::Shl => wrap(program, ty, a << u32::try_from(b).ok().filter(|by| *by <= 1 << 16)?),
            BinaryOp::Shr => wrap(program, ty, a >> u32::try_from(b).ok()?),
            BinaryOp::BitAnd => wrap(program, ty, a & b),
            BinaryOp::BitOr => wrap(program, ty, a | b),
            BinaryOp::BitXor => wrap(program, ty, a ^ b),
            BinaryOp::Eq => Value::Bool(a == b),
            BinaryOp::Ne => Value::Bool(a != b),
            BinaryOp::Lt => Value::Bool(a < b),
            BinaryOp::Le => Value::Bool(a <= b),
            BinaryOp::Gt => Value::Bool(a > b),
            BinaryOp::Ge => Value::Bool(a >= b),
            _ => return None,
        },
        (Value::Bool(a), Value::Bool(b)) => Value::Bool(match op {
            BinaryOp::And => a && b,
            BinaryOp::Or => a || b,
            BinaryOp::Eq => a == b,
            BinaryOp::Ne => a != b,
            _ => return None,
        }),
        (a @ (Value::EnumMember(..) | Value::Error(_)), b) => match op {
            BinaryOp::Eq => Value::Bool(a == b),
            BinaryOp::Ne => Value::Bool(a != b),
            _ => return None,
        },
        _ => return None,
    })
}

/// The text of `@name("...")`, if it stands among `annotations`.
pub fn name_annotation(annotations: &[Annotation]) -> Option<&str> {
    annotations.iter().filter(|annotation| annotation.name == "name").find_map(|annotation| match &annotation.body {
        AnnotationBody::Exprs(values) => match values.first() {
            Some(AnnotationValue::Str(text)) => Some(text.as_str()),
            _ => None,
        },
        AnnotationBody::Text(text) => Some(text.trim_matches('"')),
        _ => None,
    })
}

/// The control-plane name of an object called `name` inside `prefix`, which is empty at the top level.
pub fn full_name(prefix: &str, name: &str, annotations: &[Annotation]) -> String {
    let own = name_annotation(annotations).unwrap_or(name);
    match own.strip_prefix('.') {
        Some(absolute) => absolute.to_string(),
        None if prefix.is_empty() => own.to_string(),
        None => format!("{prefix}.{own}"),
    }
}

/// Packages in packages.
const MAX_PACKAGES: usize = 8;

/// More than any sensible program holds: types that hold two of the next, level by level, double each time.
const MAX_INSTANCES: usize = 1 << 14;

struct Walk<'p> {
    program: &'p Program,
    out: Instances,
    /// Parsers and controls that are being walked, to find one that holds itself.
    open: Vec<InstanceKind>,
}

impl<'p> Walk<'p> {
    fn program(&mut self) -> Result<(), InstanceError> {
        let program = self.program;
        let Some(main) = program.main else {
            return Err(InstanceError {
                span: Span::default(),
                message: "the program has no package instance named `main`".to_string(),
            });
        };
        for &var in &program.instances {
            if var != main && matches!(program.types.get(program.vars[var].ty), Type::Extern(..)) {
                let id = self.declared(None, "", var)?;
                self.out.globals.insert(var, id);
            }
        }
        let decl = &program.vars[main];
        if let Type::Package(package) = program.types.get(decl.ty) {
            self.out.package = program.types.packages[*package].name.clone();
        }
        let VarKind::Instance(instance) = &decl.kind else {
            return Err(InstanceError { span: decl.span, message: "`main` is not an instance".to_string() });
        };
        self.blocks(&instance.args, 0)
    }

    fn blocks(&mut self, args: &'p [Option<Expr>], depth: usize) -> Result<(), InstanceError> {
        for arg in args {
            if let Some((decl, ty)) = arg.as_ref().and_then(|arg| self.instantiated(arg))
                && matches!(self.program.types.get(ty), Type::Package(_))
                && depth < MAX_PACKAGES
            {
                self.blocks(&decl.args, depth + 1)?;
                continue;
            }
            let block = match arg {
                Some(arg) => self.block(arg)?,
                None => None,
            };
            self.out.blocks.push(block);
        }
        Ok(())
    }

    /// The declaration and type of an instance that is made in place or named.
    fn instantiated(&self, arg: &'p Expr) -> Option<(&'p InstanceDecl, TypeId)> {
        match &arg.kind {
            ExprKind::New(decl) => Some((decl, arg.ty)),
            ExprKind::Var(var) => match &self.program.vars[*var].kind {
                VarKind::Instance(decl) => Some((decl, self.program.vars[*var].ty)),
                _ => None,
            },
            _ => None,
        }
    }

    /// An argument of the package: a block is named after its type, even if an instance of it is declared. `@name` on
    /// the type does not count.
    fn block(&mut self, arg: &'p Expr) -> Result<Option<InstanceId>, InstanceError> {
        let Some((decl, ty)) = self.instantiated(arg) else { return Ok(None) };
        let name = match self.program.types.get(ty) {
            Type::Parser(id) => &self.program.parsers[*id].name,
            Type::Control(id) => &self.program.controls[*id].name,
            _ => return Ok(None),
        };
        self.instance(None, name.clone(), ty, None, Vec::new(), decl, arg.span).map(Some)
    }

    fn declared(&mut self, parent: Option<InstanceId>, prefix: &str, var: VarId) -> Result<InstanceId, InstanceError> {
        let decl = &self.program.vars[var];
        let VarKind::Instance(instance) = &decl.kind else {
            return Err(InstanceError { span: decl.span, message: format!("`{}` is not an instance", decl.name) });
        };
        let name = full_name(prefix, &decl.name, &decl.annotations);
        self.instance(parent, name, decl.ty, Some(var), decl.annotations.clone(), instance, decl.span)
    }

    #[allow(clippy::too_many_arguments)]
    fn instance(
        &mut self,
        parent: Option<InstanceId>,
        name: String,
        ty: TypeId,
        var: Option<VarId>,
        annotations: Vec<Annotation>,
        decl: &InstanceDecl,
        span: Span,
    ) -> Result<InstanceId, InstanceError> {
        let program = self.program;
        let kind = match program.types.get(ty) {
            Type::Parser(id) => InstanceKind::Parser(*id),
            Type::Control(id) => InstanceKind::Control(*id),
            Type::Extern(id, _) => InstanceKind::Extern(*id),
            _ => {
                return Err(InstanceError {
                    span,
                    message: format!("`{name}` is not a parser, a control or an extern object"),
                });
            }
        };
        if !matches!(kind, InstanceKind::Extern(_)) && self.open.contains(&kind) {
            return Err(InstanceError {
                span,
                message: format!("`{name}` is an instance of a type that holds itself"),
            });
        }
        if self.out.list.len() >= MAX_INSTANCES {
            return Err(InstanceError {
                span,
                message: format!("the program has more than {MAX_INSTANCES} instances"),
            });
        }
        let params: Vec<String> = match kind {
            InstanceKind::Parser(id) => self.var_names(&program.parsers[id].ctor_params),
            InstanceKind::Control(id) => self.var_names(&program.controls[id].ctor_params),
            InstanceKind::Extern(_) => Vec::new(),
        };
        let mut args = Vec::new();
        for (index, arg) in decl.args.iter().enumerate() {
            let param = params.get(index).map_or("arg", String::as_str);
            args.push(match arg {
                Some(arg) => Some(self.argument(parent, &name, param, arg)?),
                None => None,
            });
        }
        let id = InstanceId(self.out.list.len());
        self.out.list.push(Instance {
            name: name.clone(),
            kind,
            ty,
            var,
            annotations,
            parent,
            args: args.clone(),
            span,
            bindings: HashMap::new(),
            tables: Vec::new(),
            actions: Vec::new(),
            value_sets: Vec::new(),
        });
        self.open.push(kind);
        match kind {
            InstanceKind::Parser(parser) => self.parser(id, &name, parser, args)?,
            InstanceKind::Control(control) => self.control(id, &name, control, args)?,
            InstanceKind::Extern(_) => {}
        }
        self.open.pop();
        Ok(id)
    }

    fn var_names(&self, vars: &[VarId]) -> Vec<String> {
        vars.iter().map(|var| self.program.vars[*var].name.clone()).collect()
    }

    /// A constructor argument; an object made in place is named after the parameter, inside the instance it is given to.
    fn argument(
        &mut self,
        scope: Option<InstanceId>,
        instance: &str,
        param: &str,
        arg: &Expr,
    ) -> Result<Value, InstanceError> {
        if let ExprKind::New(decl) = &arg.kind {
            let name = full_name(instance, param, &[]);
            return self.instance(scope, name, arg.ty, None, Vec::new(), decl, arg.span).map(Value::Instance);
        }
        self.out.evaluate(self.program, scope, arg).ok_or_else(|| InstanceError {
            span: arg.span,
            message: "a constructor argument must be known when the program is compiled".to_string(),
        })
    }

    fn bind_params(&mut self, id: InstanceId, params: &[VarId], args: Vec<Option<Value>>) -> Result<(), InstanceError> {
        let mut args = args.into_iter();
        for &param in params {
            let value = match args.next().flatten() {
                Some(value) => value,
                None => {
                    let decl = &self.program.vars[param];
                    let default = decl.default.as_ref();
                    match default.and_then(|default| self.out.evaluate(self.program, Some(id), default)) {
                        Some(value) => value,
                        None => continue,
                    }
                }
            };
            self.out.list[id.0].bindings.insert(param, value);
        }
        Ok(())
    }

    fn bind_locals(&mut self, id: InstanceId, prefix: &str, vars: &[VarId]) -> Result<(), InstanceError> {
        for &var in vars {
            if matches!(self.program.vars[var].kind, VarKind::Instance(_)) {
                let inner = self.declared(Some(id), prefix, var)?;
                self.out.list[id.0].bindings.insert(var, Value::Instance(inner));
            }
        }
        Ok(())
    }

    fn parser(
        &mut self,
        id: InstanceId,
        name: &str,
        parser: ParserId,
        args: Vec<Option<Value>>,
    ) -> Result<(), InstanceError> {
        let decl = &self.program.parsers[parser];
        self.bind_params(id, &decl.ctor_params, args)?;
        let mut vars: Vec<VarId> = decl.locals.iter().map(|local| local.var).collect();
        decl.states.iter().for_each(|state| declared_in(&state.body, &mut vars));
        self.bind_locals(id, name, &vars)?;
        for &set in &decl.value_sets {
            let set_decl = &self.program.value_sets[set];
            let full = full_name(name, &set_decl.name, &set_decl.annotations);
            self.out.list[id.0].value_sets.push((set, full));
        }
        Ok(())
    }

    fn control(
        &mut self,
        id: InstanceId,
        name: &str,
        control: ControlId,
        args: Vec<Option<Value>>,
    ) -> Result<(), InstanceError> {
        let decl = &self.program.controls[control];
        self.bind_params(id, &decl.ctor_params, args)?;
        let mut vars: Vec<VarId> = decl.locals.iter().map(|local| local.var).collect();
        declared_in(&decl.apply, &mut vars);
        self.bind_locals(id, name, &vars)?;
        for &action in &decl.actions {
            let action_decl = &self.program.actions[action];
            let full = full_name(name, &action_decl.name, &action_decl.annotations);
            self.out.list[id.0].actions.push((action, full));
        }
        for &table in &decl.tables {
            let table_decl = &self.program.tables[table];
            let full = full_name(name, &table_decl.name, &table_decl.annotations);
            let mut objects = Vec::new();
            for (index, property) in table_decl.properties.iter().enumerate() {
                let object = match &property.value.kind {
                    // An object made in a property bears the name given there, outside any block's.
                    ExprKind::New(object) => {
                        let name = match name_annotation(&property.annotations) {
                            Some(_) => full_name("", &property.name, &property.annotations),
                            None => format!("{full}.{}", property.name),
                        };
                        let annotations = property.annotations.clone();
                        Some(self.instance(
                            Some(id),
                            name,
                            property.value.ty,
                            None,
                            annotations,
                            object,
                            property.span,
                        )?)
                    }
                    ExprKind::Var(var) => match self.out.lookup(Some(id), *var) {
                        Some(Value::Instance(object)) => Some(object),
                        _ => None,
                    },
                    _ => None,
                };
                objects.extend(object.map(|object| (index, object)));
            }
            self.out.list[id.0].tables.push(TableInstance { table, name: full, objects });
        }
        Ok(())
    }
}

/// Variables declared in statements, nested ones too.
fn declared_in(body: &[Stmt], vars: &mut Vec<VarId>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Declare(var, _) => vars.push(*var),
            StmtKind::If { then, otherwise, .. } => {
                declared_in(then, vars);
                declared_in(otherwise, vars);
            }
            StmtKind::Block(body) | StmtKind::ForRange { body, .. } | StmtKind::ForEach { body, .. } => {
                declared_in(body, vars);
            }
            StmtKind::For { init, update, body, .. } => {
                declared_in(init, vars);
                declared_in(update, vars);
                declared_in(body, vars);
            }
            StmtKind::SwitchAction { cases, .. } => cases.iter().for_each(|case| declared_in(&case.body, vars)),
            StmtKind::SwitchValue { cases, .. } => cases.iter().for_each(|case| declared_in(&case.body, vars)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Annotation {
        let body = AnnotationBody::Exprs(vec![AnnotationValue::Str(text.to_string())]);
        Annotation { name: "name".to_string(), body, text: Some(format!("\"{text}\"")), span: Span::default() }
    }

    /// A control `C` with a counter `c` of a size given by constructor parameter, held twice by control `Main`.
    fn program() -> Program {
        let mut program = Program::default();
        let span = Span::default();
        let counter = program.types.externs.push(ExternDecl {
            name: "counter".to_string(),
            constructors: Vec::new(),
            methods: Vec::new(),
            annotations: Vec::new(),
            span,
        });
        let counter = program.types.intern(Type::Extern(counter, Vec::new()));
        let bit32 = program.types.intern(Type::Bit(32));
        let var = |program: &mut Program, name: &str, ty, kind, annotations| {
            let name = name.to_string();
            program.vars.push(Var { name, ty, kind, default: None, annotations, span })
        };
        let size = var(&mut program, "size", bit32, VarKind::CtorParam, Vec::new());
        let size_expr = Expr { ty: bit32, kind: ExprKind::Var(size), span };
        let twice =
            Expr { ty: bit32, kind: ExprKind::Binary(BinaryOp::Add, size_expr.clone().into(), size_expr.into()), span };
        let decl = VarKind::Instance(InstanceDecl { args: vec![Some(twice)] });
        let c = var(&mut program, "c", counter, decl, Vec::new());
        let control = |name: &str, ctor_params, locals: Vec<VarId>| Control {
            name: name.to_string(),
            params: Vec::new(),
            ctor_params,
            locals: locals.into_iter().map(|var| Local { var, init: None }).collect(),
            actions: Vec::new(),
            tables: Vec::new(),
            apply: Vec::new(),
            annotations: Vec::new(),
            span,
        };
        let inner = program.controls.push(control("C", vec![size], vec![c]));
        let inner = program.types.intern(Type::Control(inner));
        let five = Expr { ty: bit32, kind: ExprKind::Int(BigInt::from(5)), span };
        let decl = VarKind::Instance(InstanceDecl { args: vec![Some(five)] });
        let a = var(&mut program, "a", inner, decl.clone(), Vec::new());
        let b = var(&mut program, "b", inner, decl, vec![name(".elsewhere")]);
        let outer = program.controls.push(control("Main", Vec::new(), vec![a, b]));
        let outer = program.types.intern(Type::Control(outer));
        let package = PackageDecl { name: "P".to_string(), params: Vec::new(), annotations: Vec::new(), span };
        let package = program.types.packages.push(package);
        let package = program.types.intern(Type::Package(package));
        let block = Expr { ty: outer, kind: ExprKind::New(InstanceDecl { args: Vec::new() }), span };
        let decl = VarKind::Instance(InstanceDecl { args: vec![Some(block)] });
        program.main = Some(var(&mut program, "main", package, decl, Vec::new()));
        program
    }

    #[test]
    fn names_join_the_instances_on_the_way() {
        let instances = Instances::new(&program()).unwrap();
        let names: Vec<&str> = instances.list.iter().map(|instance| instance.name.as_str()).collect();
        assert_eq!(names, ["Main", "Main.a", "Main.a.c", "elsewhere", "elsewhere.c"]);
        assert_eq!(instances.blocks, [Some(InstanceId(0))]);
    }

    #[test]
    fn constructor_arguments_are_evaluated() {
        let instances = Instances::new(&program()).unwrap();
        let counters: Vec<&Instance> =
            instances.list.iter().filter(|i| matches!(i.kind, InstanceKind::Extern(_))).collect();
        assert_eq!(counters.len(), 2);
        for counter in counters {
            assert_eq!(counter.args, [Some(Value::Int(BigInt::from(10)))]);
        }
    }

    #[test]
    fn a_control_that_holds_itself_is_an_error() {
        let mut program = program();
        let inner = program.types.intern(Type::Control(ControlId::new(0)));
        let span = Span::default();
        let kind = VarKind::Instance(InstanceDecl { args: vec![None] });
        let again = Var { name: "again".into(), ty: inner, kind, default: None, annotations: Vec::new(), span };
        let again = program.vars.push(again);
        program.controls[ControlId::new(0)].locals.push(Local { var: again, init: None });
        let error = Instances::new(&program).unwrap_err();
        assert!(error.message.contains("holds itself"), "{}", error.message);
    }
}
