//! The functions that compiled code calls.
//!
//! A panic must not unwind into compiled code, which has no landing pads: every helper that runs code which could
//! panic catches it, and the packet is given up.
#![allow(unsafe_code, reason = "compiled code passes pointers")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use cranelift_codegen::ir::{AbiParam, Signature, Type, types::*};
use cranelift_codegen::isa::CallConv;
use ir::{CounterId, Handle, HashAlgorithm, RegisterId, TableId};
use runtime::{BitString, Context};

use crate::raw::{RawContext, data_pointer};
use crate::slow::SlowCall;

/// A helper: what compiled code needs to call it.
#[derive(Clone, Copy)]
pub(crate) struct Helper {
    pub address: usize,
    pub params: &'static [Type],
    pub result: Option<Type>,
}

impl Helper {
    pub fn signature(self, call_conv: CallConv) -> Signature {
        let mut signature = Signature::new(call_conv);
        signature.params.extend(self.params.iter().copied().map(AbiParam::new));
        signature.returns.extend(self.result.map(AbiParam::new));
        signature
    }

    /// `(raw, call, slots)`: runs an instruction that has no code of its own.
    pub fn slow() -> Self {
        Self { address: slow as *const () as usize, params: &[I64, I64, I64], result: None }
    }
    /// `(raw, table, key, key bytes, selector, selector bits)` gives the action below bit 32 and the hit above.
    pub fn lookup() -> Self {
        Self { address: lookup as *const () as usize, params: &[I64, I32, I64, I64, I64, I64], result: Some(I64) }
    }
    /// `(raw, table, slot)`: an entry was hit that compiled code found itself.
    pub fn note_hit() -> Self {
        Self { address: note_hit as *const () as usize, params: &[I64, I32, I32], result: None }
    }
    /// `(raw, counter, index)`.
    pub fn count() -> Self {
        Self { address: count as *const () as usize, params: &[I64, I32, I64], result: None }
    }
    /// `(raw, register, index, value)`: a cell of at most 128 bits comes to where the value is to be.
    pub fn register_read() -> Self {
        Self { address: register_read as *const () as usize, params: &[I64, I32, I32, I64], result: None }
    }
    /// `(raw, register, index, lower half of the value, upper half)`.
    pub fn register_write() -> Self {
        Self { address: register_write as *const () as usize, params: &[I64, I32, I32, I64, I64], result: None }
    }
    /// `(raw, register, index, to, bytes)`: a cell of any width.
    pub fn register_load() -> Self {
        Self { address: register_load as *const () as usize, params: &[I64, I32, I32, I64, I64], result: None }
    }
    /// `(raw, register, index, from, bytes)`, the same.
    pub fn register_store() -> Self {
        Self { address: register_store as *const () as usize, params: &[I64, I32, I32, I64, I64], result: None }
    }
    /// `(raw, register)`: no other packet may use registers that packets write.
    pub fn take_turn() -> Self {
        Self { address: take_turn as *const () as usize, params: &[I64, I32], result: None }
    }
    /// `(raw, algorithm, bits, number of bits)`, the last byte filled up with zeros.
    pub fn hash() -> Self {
        Self { address: hash as *const () as usize, params: &[I64, I32, I64, I64], result: Some(I64) }
    }
    /// `(raw, algorithm, bits, number of bits, payload)`, the same.
    pub fn checksum() -> Self {
        Self { address: checksum as *const () as usize, params: &[I64, I32, I64, I64, I32], result: Some(I64) }
    }
    /// `(raw, bytes)`: makes room for more output; `raw.out` is up to date before and after.
    pub fn reserve() -> Self {
        Self { address: reserve as *const () as usize, params: &[I64, I64], result: None }
    }
    /// `(pair)`: two 128-bit numbers become quotient and remainder, zero both when the divisor is.
    pub fn divide() -> Self {
        Self { address: divide as *const () as usize, params: &[I64], result: None }
    }
    /// `(to, from, bytes)`; the two may overlap.
    pub fn copy() -> Self {
        Self { address: copy as *const () as usize, params: &[I64, I64, I64], result: None }
    }
    /// `(to, bytes)`.
    pub fn zero() -> Self {
        Self { address: zero as *const () as usize, params: &[I64, I64], result: None }
    }
}

/// Runs `body` on the context behind `raw`, with its cursor, fuel and output up to date before and after.
///
/// # Safety
/// `raw` is the view that the running compiled function was started with.
unsafe fn synced(raw: *mut RawContext, output: usize, body: impl FnOnce(&mut Context<'static>)) {
    // SAFETY: the view and its context outlive the compiled function, which is suspended in this call, so nothing
    // else uses them.
    let (raw, context) = unsafe { (&mut *raw, &mut *(*raw).context) };
    // SAFETY: `raw` was made from this context.
    unsafe { raw.write_back(context) };
    guarded(context, body);
    raw.refresh(context, output);
}

/// Runs `body`; when it panics, the packet is given up and the result is a default.
fn guarded<T: Default>(context: &mut Context<'static>, body: impl FnOnce(&mut Context<'static>) -> T) -> T {
    catch_unwind(AssertUnwindSafe(|| body(context))).unwrap_or_else(|_| {
        context.effects.fault = true;
        T::default()
    })
}

/// # Safety
/// As for [`synced`].
unsafe fn context<'a>(raw: *mut RawContext) -> &'a mut Context<'static> {
    // SAFETY: see `synced`.
    unsafe { &mut *(*raw).context }
}

unsafe extern "C" fn slow(raw: *mut RawContext, call: *const SlowCall, slots: *mut u128) {
    // SAFETY: the call is owned by the `Jit` whose code runs, and the code reserves as many slots as the call has.
    let (call, slots) = unsafe { (&*call, std::slice::from_raw_parts_mut(slots, (*call).slots())) };
    // SAFETY: `raw` comes from compiled code as it was given to it.
    unsafe { synced(raw, 0, |context| call.run(context, slots)) };
}

unsafe extern "C" fn lookup(
    raw: *mut RawContext,
    table: u32,
    key: *const u8,
    key_len: u64,
    selector: *const u8,
    selector_bits: u64,
) -> u64 {
    // SAFETY: compiled code packed that many bytes and bits at these places of its stack.
    let (key, selector) = unsafe {
        let selector = std::slice::from_raw_parts(selector, selector_bits.div_ceil(8) as usize);
        (std::slice::from_raw_parts(key, key_len as usize), selector)
    };
    // SAFETY: `raw` comes from compiled code as it was given to it.
    let context = unsafe { context(raw) };
    let (hit, action) = guarded(context, |context| {
        if selector_bits == 0 {
            return context.lookup(TableId::new(table as usize), key, &BitString::new());
        }
        let mut bits = BitString::new();
        bits.push_wire(selector, selector_bits as usize);
        context.lookup(TableId::new(table as usize), key, &bits)
    });
    // SAFETY: as above; the context is another object than its view.
    unsafe { (*raw).data = data_pointer(context, (*raw).zeros) };
    u64::from(hit) << 32 | u64::from(action)
}

unsafe extern "C" fn note_hit(raw: *mut RawContext, table: u32, slot: u32) {
    // SAFETY: `raw` comes from compiled code as it was given to it.
    guarded(unsafe { context(raw) }, |context| context.note_hit(TableId::new(table as usize), slot));
}

unsafe extern "C" fn count(raw: *mut RawContext, counter: u32, index: u64) {
    // SAFETY: `raw` comes from compiled code as it was given to it.
    guarded(unsafe { context(raw) }, |context| context.count(CounterId::new(counter as usize), index));
}

unsafe extern "C" fn register_read(raw: *mut RawContext, register: u32, index: u32, value: *mut u128) {
    // SAFETY: `raw` comes from compiled code as it was given to it.
    let context = unsafe { context(raw) };
    let found = guarded(context, |context| context.registers.read(RegisterId::new(register as usize), index));
    // SAFETY: compiled code passes a slot of its stack, which is aligned and nobody else's.
    unsafe { *value = found };
}

unsafe extern "C" fn register_write(raw: *mut RawContext, register: u32, index: u32, lower: u64, upper: u64) {
    let value = u128::from(upper) << 64 | u128::from(lower);
    // SAFETY: `raw` comes from compiled code as it was given to it.
    guarded(unsafe { context(raw) }, |context| {
        context.registers.write(RegisterId::new(register as usize), index, value);
    });
}

unsafe extern "C" fn register_load(raw: *mut RawContext, register: u32, index: u32, to: *mut u8, bytes: u64) {
    // SAFETY: compiled code passes so many bytes of the frame, of which the context hands nothing out meanwhile.
    let to = unsafe { std::slice::from_raw_parts_mut(to, bytes as usize) };
    // SAFETY: `raw` comes from compiled code as it was given to it.
    guarded(unsafe { context(raw) }, |context| {
        context.registers.read_wide(RegisterId::new(register as usize), index, to);
    });
}

unsafe extern "C" fn register_store(raw: *mut RawContext, register: u32, index: u32, from: *const u8, bytes: u64) {
    // SAFETY: compiled code passes so many bytes of the frame, or zeros; nobody writes to them meanwhile.
    let from = unsafe { std::slice::from_raw_parts(from, bytes as usize) };
    // SAFETY: `raw` comes from compiled code as it was given to it.
    guarded(unsafe { context(raw) }, |context| {
        context.registers.write_wide(RegisterId::new(register as usize), index, from);
    });
}

unsafe extern "C" fn take_turn(raw: *mut RawContext, register: u32) {
    // SAFETY: `raw` comes from compiled code as it was given to it.
    guarded(unsafe { context(raw) }, |context| context.registers.take_turn(RegisterId::new(register as usize)));
    // SAFETY: as above; the context is another object than its view.
    unsafe { (*raw).needs_turn = 0 };
}

unsafe extern "C" fn hash(raw: *mut RawContext, algorithm: u32, bits: *const u8, count: u64) -> u64 {
    // SAFETY: compiled code packed that many bits on its stack.
    let bytes = unsafe { std::slice::from_raw_parts(bits, count.div_ceil(8) as usize) };
    // SAFETY: `raw` comes from compiled code as it was given to it.
    guarded(unsafe { context(raw) }, |context| context.hash(ALGORITHMS[algorithm as usize], bytes))
}

unsafe extern "C" fn checksum(raw: *mut RawContext, algorithm: u32, bits: *const u8, count: u64, payload: u32) -> u64 {
    // SAFETY: compiled code packed that many bits on its stack.
    let bytes = unsafe { std::slice::from_raw_parts(bits, count.div_ceil(8) as usize) };
    // SAFETY: `raw` comes from compiled code as it was given to it.
    guarded(unsafe { context(raw) }, |context| context.checksum(ALGORITHMS[algorithm as usize], bytes, payload != 0))
}

/// Algorithms by the number that compiled code names them with.
const ALGORITHMS: [HashAlgorithm; 8] = [
    HashAlgorithm::Crc32,
    HashAlgorithm::Crc32Custom,
    HashAlgorithm::Crc16,
    HashAlgorithm::Crc16Custom,
    HashAlgorithm::Random,
    HashAlgorithm::Identity,
    HashAlgorithm::Csum16,
    HashAlgorithm::Xor16,
];

/// The number of an algorithm.
pub(crate) fn algorithm_number(algorithm: HashAlgorithm) -> usize {
    ALGORITHMS.iter().position(|known| *known == algorithm).expect("all algorithms are listed")
}

unsafe extern "C" fn reserve(raw: *mut RawContext, bytes: u64) {
    // SAFETY: `raw` comes from compiled code as it was given to it.
    unsafe { synced(raw, bytes as usize, |_| ()) };
}

unsafe extern "C" fn divide(pair: *mut [u128; 2]) {
    // SAFETY: compiled code passes two aligned slots of its stack.
    let [a, b] = unsafe { *pair };
    // SAFETY: as above.
    unsafe { *pair = [a.checked_div(b).unwrap_or(0), a.checked_rem(b).unwrap_or(0)] };
}

unsafe extern "C" fn copy(to: *mut u8, from: *const u8, bytes: u64) {
    // SAFETY: the verifier keeps places within the frame, and an indexed place was bounds-checked. A varbit's length was
    // compared with the room of its field, and with what is left of the packet when it is copied from there.
    unsafe { std::ptr::copy(from, to, bytes as usize) };
}

unsafe extern "C" fn zero(to: *mut u8, bytes: u64) {
    // SAFETY: as for `copy`.
    unsafe { std::ptr::write_bytes(to, 0, bytes as usize) };
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use runtime::Device;

    #[test]
    fn a_panic_gives_the_packet_up() {
        let device = Device::new(Arc::default()).unwrap();
        let mut context = Context::new(&device, 0);
        // SAFETY: the lifetime is only made longer for the calls below.
        let view = unsafe { &mut *(&raw mut context).cast::<Context<'static>>() };
        assert_eq!(guarded(view, |_| 5), 5);
        assert!(!view.effects.fault);
        assert_eq!(guarded(view, |_| -> u32 { panic!("as a broken helper would") }), 0);
        assert!(view.effects.fault);
    }
}
