//! Code for what the tables hold: when it is compiled.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use ir::FunctionId;
use runtime::{Backend, Context, Device, Holdings, Stop};

use crate::Jit;

/// Compiles a program for what its tables hold, and has the packets of the `general` code run by that; false if the
/// tables hold something else meanwhile. Where all have to be looked up, the general code does it as well.
pub fn specialise(general: &Arc<Jit>, device: &Device, holdings: &Holdings) -> Result<bool, String> {
    if holdings.tables.iter().all(Option::is_none) {
        return Ok(true);
    }
    let code = Jit::specialise(general, &holdings.tables)?;
    Ok(device.install(holdings, Arc::new(code)))
}

/// Compiles before each packet that follows a change, which shows that such code does the same as any other.
pub struct AtOnce {
    code: Arc<Jit>,
    /// The device's changes that the code was compiled after.
    changes: AtomicU64,
}

impl AtOnce {
    /// For packets of one device; `code` is that of its program.
    pub fn new(code: Arc<Jit>) -> Self {
        Self { code, changes: AtomicU64::new(u64::MAX) }
    }
}

impl AtOnce {
    fn compile(&self, context: &Context<'_>) {
        let device = context.device;
        let changes = device.program().tables.keys().map(|table| device.changes(table)).sum();
        if self.changes.swap(changes, Relaxed) != changes || !device.is_special() {
            let installed =
                specialise(&self.code, device, &device.holdings(&|_| true)).expect("a program compiles again");
            assert!(installed, "nobody writes while a packet runs");
        }
    }
}

impl Backend for AtOnce {
    fn run(&self, function: FunctionId, context: &mut Context<'_>) {
        self.compile(context);
        self.code.run(function, context);
    }

    fn run_some(&self, functions: &[FunctionId], context: &mut Context<'_>, stop: &mut Stop<'_>) -> usize {
        self.compile(context);
        self.code.run_some(functions, context, stop)
    }
}
