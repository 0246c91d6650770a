//! The JIT: a program's functions as machine code.
//!
//! [`Jit`] does what the interpreter does, only faster: it translates each function of the flat form with Cranelift
//! ([`translate`]) into one that takes a view of the packet's context ([`raw`]). Everything on the way of an ordinary
//! packet is code of its own; tables and the rarer externs are calls of helpers ([`helper`], [`slow`]).

mod code;
mod helper;
mod raw;
mod slow;
mod special;
mod stages;
mod translate;

use std::sync::Arc;

use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::Module;
use ir::flow::Flow;
use ir::{Function, FunctionId, Handle, Inst, Program, Terminator};
use runtime::frame::Erased;
use runtime::{Backend, Context, Held, PageTable, Stop};

use code::{Code, Compiler, Entry};
use raw::RawContext;
use slow::SlowCalls;
pub use special::{AtOnce, specialise};
pub use stages::{Stage, StageKind, Stages};
use translate::Shared;

/// A compiled program.
pub struct Jit {
    program: Arc<Program>,
    /// By index; `None` of those that do nothing.
    functions: Vec<Option<Entry>>,
    /// Bytes of output to reserve before any of them runs.
    output: u32,
    /// Owns the memory that the entries point into.
    _code: Code,
    /// For what the tables hold, the code for any content: that of the functions that are no others here.
    general: Option<Arc<Jit>>,
    /// Compiled code holds their addresses.
    _slow_calls: SlowCalls,
    /// And those of the data of actions.
    _held: Vec<Option<Held>>,
    /// Compiled code holds its address too.
    zeros: Box<[u64]>,
    /// Marked code writes into them.
    _stages: Option<Arc<Stages>>,
}

impl Jit {
    /// Compiles a program. The error says which rule of the flat form it breaks, or what could not be compiled.
    pub fn compile(program: Arc<Program>) -> Result<Self, String> {
        Self::build(program, None, None, None)
    }

    /// Compiles the functions that look tables up for what the tables hold; the others are those of `general`.
    /// [`runtime::Device::install`] has packets run by it.
    pub fn specialise(general: &Arc<Self>, tables: &[Option<Held>]) -> Result<Self, String> {
        Self::build(general.program.clone(), None, None, Some((general, tables)))
    }

    /// [`Self::compile`] with marks in the code that say which stage it is in.
    pub fn compile_marked(program: Arc<Program>) -> Result<(Self, Arc<Stages>), String> {
        let stages = Arc::new(Stages::new(&program));
        Ok((Self::build(program, None, Some(stages.clone()), None)?, stages))
    }

    /// The program's machine code as Cranelift lists it, for people.
    pub fn listing(program: Arc<Program>) -> Result<String, String> {
        let mut listing = String::new();
        Self::build(program, Some(&mut listing), None, None)?;
        Ok(listing)
    }

    fn build(
        program: Arc<Program>,
        mut listing: Option<&mut String>,
        stages: Option<Arc<Stages>>,
        special: Option<(&Arc<Self>, &[Option<Held>])>,
    ) -> Result<Self, String> {
        // What is generated here touches memory as the program says, so the program must be well-formed.
        if let Some(error) = ir::verify(&program).first() {
            return Err(error.to_string());
        }
        let mut compiler = Compiler::new()?;
        let most = program.actions.iter().map(|(_, action)| action.data_size()).chain([program.frame.size]).max();
        let zeros = vec![0; most.unwrap_or(0) as usize / 8 + 16].into_boxed_slice();
        let mut shared = Shared {
            call_conv: compiler.module().isa().default_call_conv(),
            slow_calls: SlowCalls::new(),
            zeros: zeros.as_ptr() as usize,
            erased: Erased::new(&program.frame),
            held: special.map_or_else(|| vec![None; program.tables.len()], |(_, tables)| padded(tables, zeros.len())),
            register_pages: PageTable::places(&program).0,
            registers_written: registers_written(&program),
            stages: stages.clone(),
            packet_too_short: error_index(&program, "PacketTooShort"),
            invalid_argument: error_index(&program, "ParserInvalidArgument"),
            header_too_short: error_index(&program, "HeaderTooShort"),
        };
        let mut builder_context = FunctionBuilderContext::new();
        let mut functions = Vec::new();
        let mut output = special.map_or(0, |(general, _)| general.output);
        for (id, function) in program.functions.iter() {
            if is_empty(function) || (special.is_some() && !looks_up_tables(function)) {
                functions.push(None);
                continue;
            }
            let mut target = compiler.start(id.index());
            let builder = FunctionBuilder::new(&mut target, &mut builder_context);
            let (builder, reserved) = translate::translate(&program, id, builder, &mut shared);
            builder.finalize(compiler.module().target_config());
            let name = format!("{}.{}", id.index(), function.name);
            let before = listing.is_some().then(|| target.display().to_string());
            let (compiled, text) = compiler.define(&name, target, listing.is_some())?;
            if let (Some(listing), Some(before)) = (&mut listing, before) {
                listing.push_str(&format!("{name}:\n{before}\n{text}\n"));
            }
            output += reserved;
            functions.push(Some(compiled));
        }
        let code = compiler.finish()?;
        let functions = functions.into_iter().enumerate().map(|(at, compiled)| match (compiled, special) {
            (Some(function), _) => Some(code.entry(function)),
            (None, Some((general, _))) => general.functions[at],
            (None, None) => None,
        });
        let functions = functions.collect();
        let Shared { slow_calls, held, .. } = shared;
        Ok(Self {
            program,
            functions,
            output,
            _code: code,
            general: special.map(|(general, _)| general.clone()),
            _slow_calls: slow_calls,
            _held: held,
            zeros,
            _stages: stages,
        })
    }
}

impl Backend for Jit {
    fn run(&self, function: FunctionId, context: &mut Context<'_>) {
        self.run_some(&[function], context, &mut Stop { behind: 0, asked: &mut |_, _| true });
    }

    fn run_some(&self, functions: &[FunctionId], context: &mut Context<'_>, stop: &mut Stop<'_>) -> usize {
        if self.general.is_none()
            && let Some(ran) = context.run_special(functions, stop)
        {
            return ran;
        }
        self.run_these(functions, context, stop)
    }
}

impl Jit {
    #[inline(never)]
    #[allow(unsafe_code, reason = "this calls machine code")]
    fn run_these(&self, functions: &[FunctionId], context: &mut Context<'_>, stop: &mut Stop<'_>) -> usize {
        assert!(
            context.frame.all().len() >= self.program.frame.size as usize,
            "the context's frame is that of another program"
        );
        let mut raw = RawContext::new(context, &self.zeros, self.output as usize);
        let mut ran = 0;
        for function in functions {
            ran += 1;
            if let Some(entry) = self.functions[function.index()] {
                // SAFETY: `raw` views `context`, which is borrowed until this function ends; `entry` was compiled from a
                // function that keeps within the frame, whose size was just checked.
                unsafe { entry(&mut raw) };
            }
            if context.registers.has_turn() {
                break;
            }
            if ran < functions.len() && stop.behind >> (ran - 1) & 1 == 1 {
                // SAFETY: as below.
                unsafe { raw.write_back(context) };
                if (stop.asked)(context, ran) {
                    return ran;
                }
                raw.see_frame(context);
            }
        }
        // SAFETY: as above; compiled code wrote the output.
        unsafe { raw.write_back(context) };
        ran
    }
}

fn looks_up_tables(function: &Function) -> bool {
    function.blocks.iter().flat_map(|(_, block)| &block.insts).any(|inst| matches!(inst, Inst::Lookup { .. }))
}

fn registers_written(program: &Program) -> Vec<bool> {
    let written = runtime::registers_written_by_packets(program);
    program.registers.keys().map(|register| written.contains(&register)).collect()
}

/// What the tables hold, each with so many words of data, as much as the code of any action may read.
fn padded(tables: &[Option<Held>], words: usize) -> Vec<Option<Held>> {
    let mut tables = tables.to_vec();
    for held in tables.iter_mut().flatten() {
        let outcomes = held.entries.iter_mut().map(|entry| &mut entry.outcome).chain([&mut held.default]);
        outcomes.for_each(|outcome| outcome.data.resize(words, 0));
    }
    tables
}

/// The number of an error; programs without it never meet it.
fn error_index(program: &Program, name: &str) -> u32 {
    program.errors.iter().position(|error| error == name).unwrap_or(0) as u32
}

/// Whether a function comes to its end without doing anything.
fn is_empty(function: &Function) -> bool {
    Flow::new(function).order.iter().all(|block| {
        let block = &function.blocks[*block];
        block.insts.iter().all(Inst::is_note) && matches!(block.end, Terminator::Return)
    })
}
