//! Executable memory and what stands in it.
#![allow(unsafe_code, reason = "machine code is called by its address")]

use std::mem::ManuallyDrop;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Function, Signature, UserFuncName, types::I64};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};

use crate::raw::RawContext;

/// A compiled function.
pub(crate) type Entry = unsafe extern "C" fn(*mut RawContext);

/// Functions being compiled for this processor.
pub(crate) struct Compiler {
    module: JITModule,
    context: Context,
}

impl Compiler {
    pub fn new() -> Result<Self, String> {
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            // Nothing unwinds through compiled code.
            ("unwind_info", "false"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ] {
            flags.set(name, value).map_err(|error| format!("Cranelift refuses {name}={value}: {error}"))?;
        }
        let isa = cranelift_native::builder()
            .map_err(|error| format!("no code can be generated for this processor: {error}"))?
            .finish(settings::Flags::new(flags))
            .map_err(|error| format!("no code can be generated for this processor: {error}"))?;
        let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let context = module.make_context();
        Ok(Self { module, context })
    }

    /// What every function takes and gives.
    pub fn signature(&self) -> Signature {
        let mut signature = self.module.make_signature();
        signature.params.push(AbiParam::new(I64));
        signature
    }

    /// A function to be filled in.
    pub fn start(&mut self, index: usize) -> Function {
        Function::with_name_signature(UserFuncName::user(0, index as u32), self.signature())
    }

    pub fn module(&self) -> &JITModule {
        &self.module
    }

    /// Compiles a function. With `listing`, gives its machine code as text.
    pub fn define(&mut self, name: &str, function: Function, listing: bool) -> Result<(FuncId, String), String> {
        let describe = |error: ModuleError| format!("{name}: {error}");
        let signature = function.signature.clone();
        let id = self.module.declare_function(name, Linkage::Local, &signature).map_err(describe)?;
        self.context.func = function;
        self.context.set_disasm(listing);
        self.module.define_function(id, &mut self.context).map_err(describe)?;
        let text = self.context.compiled_code().and_then(|code| code.vcode.clone()).unwrap_or_default();
        self.module.clear_context(&mut self.context);
        Ok((id, text))
    }

    /// Makes the functions executable.
    pub fn finish(mut self) -> Result<Code, String> {
        self.module.finalize_definitions().map_err(|error| error.to_string())?;
        Ok(Code { module: ManuallyDrop::new(self.module) })
    }
}

/// Executable functions; their memory is never writable again, and freed with this.
pub(crate) struct Code {
    module: ManuallyDrop<JITModule>,
}

// SAFETY: after `Compiler::finish` the module is only asked for addresses and dropped; the code itself is constant.
unsafe impl Send for Code {}
// SAFETY: as above; no method that takes `&self` touches the module's interior mutability.
unsafe impl Sync for Code {}

impl Code {
    /// The address of a function, valid as long as this lives.
    pub fn entry(&self, function: FuncId) -> Entry {
        let address = self.module.get_finalized_function(function);
        // SAFETY: every function of the module was compiled with `Compiler::signature`, which is that of `Entry`.
        unsafe { std::mem::transmute::<*const u8, Entry>(address) }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here; whoever could call its functions borrows this.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() };
    }
}
