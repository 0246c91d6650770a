//! Extern functions and objects of one's own: what a program calls and Rust code answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use ir::{Extern, ExternId, Handle, Program};
use num_bigint::BigUint;

/// What an extern is told.
#[derive(Debug)]
pub struct Call<'c> {
    /// The `in` and `inout` parameters in order, structures and headers as their fields.
    pub args: &'c [BigUint],
    /// Widths of the results in bits: `out` and `inout` parameters in order, then what the extern returns.
    pub results: &'c [u32],
    /// The packet as it came to this block.
    pub packet: &'c [u8],
    /// Nanoseconds.
    pub now: u64,
}

/// An extern object: one for each instance in the program. Packets of several threads may call it at once.
pub trait ExternObject: Send + Sync {
    /// Answers a call of a method with its results. What does not fit is cut.
    fn call(&self, method: &str, call: &Call<'_>) -> Vec<BigUint>;
}

/// Answers a call of an extern function.
pub type Function = dyn Fn(&Call<'_>) -> Vec<BigUint> + Send + Sync;
/// Makes an object of its name for the control plane and the arguments of its constructor; an error says what is wrong
/// with these.
pub type Maker = dyn Fn(&str, &[BigUint]) -> Result<Arc<dyn ExternObject>, String> + Send + Sync;

/// The externs that a switch has beside those of the architectures.
#[derive(Default)]
pub struct Externs {
    functions: BTreeMap<String, Arc<Function>>,
    makers: BTreeMap<String, Box<Maker>>,
}

impl Externs {
    /// Adds `extern ... name(...)`.
    pub fn function(mut self, name: &str, answer: impl Fn(&Call<'_>) -> Vec<BigUint> + Send + Sync + 'static) -> Self {
        self.functions.insert(name.to_owned(), Arc::new(answer));
        self
    }

    /// Adds `extern name { ... }`.
    pub fn object(
        mut self,
        name: &str,
        make: impl Fn(&str, &[BigUint]) -> Result<Arc<dyn ExternObject>, String> + Send + Sync + 'static,
    ) -> Self {
        self.makers.insert(name.to_owned(), Box::new(make));
        self
    }
}

/// The externs of one program, ready to be called.
pub(crate) struct Bound {
    calls: Vec<Answer>,
}

enum Answer {
    Function(Arc<Function>),
    Method(Arc<dyn ExternObject>),
}

impl Bound {
    /// Finds what the program calls, and makes its objects.
    pub fn new(program: &Program, externs: &Externs) -> Result<Self, String> {
        let mut objects: BTreeMap<&str, Arc<dyn ExternObject>> = BTreeMap::new();
        let mut calls = Vec::new();
        for (_, called) in program.externs.iter() {
            let Extern { name, object, .. } = called;
            let Some(object) = object else {
                let function = externs.functions.get(name);
                let missing =
                    || format!("the program calls the extern function `{name}`, which this switch does not have");
                calls.push(Answer::Function(function.ok_or_else(missing)?.clone()));
                continue;
            };
            let made = match objects.get(&*object.name) {
                Some(made) => made.clone(),
                None => {
                    let missing = || {
                        let kind = &object.kind;
                        format!("{} is an object of the extern `{kind}`, which this switch does not have", object.name)
                    };
                    let make = externs.makers.get(&object.kind).ok_or_else(missing)?;
                    let made = make(&object.name, &object.args);
                    let made = made.map_err(|error| format!("{} {}: {error}", object.kind, object.name))?;
                    objects.insert(&object.name, made.clone());
                    made
                }
            };
            calls.push(Answer::Method(made));
        }
        Ok(Self { calls })
    }

    pub fn call(&self, id: ExternId, called: &Extern, call: &Call<'_>) -> Vec<BigUint> {
        let mut results = match &self.calls[id.index()] {
            Answer::Function(function) => function(call),
            Answer::Method(object) => object.call(&called.name, call),
        };
        results.resize(call.results.len(), BigUint::ZERO);
        for (result, width) in results.iter_mut().zip(call.results) {
            if result.bits() > u64::from(*width) {
                *result %= BigUint::from(1u8) << *width;
            }
        }
        results
    }
}
