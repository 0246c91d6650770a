//! The tree of instances: which parsers, controls and extern objects `main` holds, with their control-plane names.
//!
//! A name is the name of the block's type and then the names of the instances down to the object, joined by dots.
//! `@name("x")` takes the place of an object's own name; with a dot in front it takes the place of the whole.

mod walk;

use std::collections::HashMap;

use num_bigint::BigInt;
use syntax::source::Span;

use crate::architecture::{self, Architecture, ObjectKind, V1MODEL};
use crate::*;
use walk::Walk;

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
