//! Finds the instances: from `main` down.

use super::*;

/// Packages in packages.
const MAX_PACKAGES: usize = 8;

/// More than any sensible program holds: types that hold two of the next, level by level, double each time.
const MAX_INSTANCES: usize = 1 << 14;

pub(super) struct Walk<'p> {
    pub program: &'p Program,
    pub out: Instances,
    /// Parsers and controls that are being walked, to find one that holds itself.
    pub open: Vec<InstanceKind>,
}

impl<'p> Walk<'p> {
    pub fn program(&mut self) -> Result<(), InstanceError> {
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
