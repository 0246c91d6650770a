//! The view of a packet's [`Context`] that compiled code works on.

use std::mem::offset_of;
use std::sync::atomic::{AtomicPtr, AtomicU64};

use runtime::Context;
use runtime::uncounted::Hits;

/// What compiled code reads and writes directly. Filled when a function starts; what may have changed goes back into
/// the context when it ends, and around the calls of those helpers that need it.
#[repr(C)]
pub(crate) struct RawContext {
    pub frame: *mut u8,
    /// The packet's bytes, from its first.
    pub packet: *const u8,
    pub packet_len: u64,
    /// Bytes taken off by the parser.
    pub cursor: u64,
    /// Where the deparser writes next, and the first byte it must not write.
    pub out: *mut u8,
    pub out_end: *mut u8,
    /// Data of the action that the last lookup found.
    pub data: *const u8,
    /// By table: a 1 while it has entries.
    pub occupied: *const u8,
    /// By table: what found no entry.
    pub missed: *mut u64,
    /// By table and low bits of slots: hits that entries' counters do not have, and a bit for each of these places that
    /// has some.
    pub hits: *mut Hits,
    pub some_hits: *mut u8,
    /// Where cells of registers are.
    pub register_pages: *const AtomicPtr<AtomicU64>,
    /// Zeros enough for a frame or the data of an action.
    pub zeros: *const u8,
    pub fuel: u32,
    /// 1 while the packet has to take the turn before it uses a register that packets write.
    pub needs_turn: u8,
    /// Which headers of the frame were written, as the frame says it.
    pub written: u64,
    pub context: *mut Context<'static>,
}

/// Offsets of the fields, for loads and stores.
pub(crate) mod at {
    use super::{RawContext, offset_of};

    pub const FRAME: i32 = offset_of!(RawContext, frame) as i32;
    pub const PACKET: i32 = offset_of!(RawContext, packet) as i32;
    pub const PACKET_LEN: i32 = offset_of!(RawContext, packet_len) as i32;
    pub const CURSOR: i32 = offset_of!(RawContext, cursor) as i32;
    pub const OUT: i32 = offset_of!(RawContext, out) as i32;
    pub const OUT_END: i32 = offset_of!(RawContext, out_end) as i32;
    pub const DATA: i32 = offset_of!(RawContext, data) as i32;
    pub const OCCUPIED: i32 = offset_of!(RawContext, occupied) as i32;
    pub const MISSED: i32 = offset_of!(RawContext, missed) as i32;
    pub const HITS: i32 = offset_of!(RawContext, hits) as i32;
    pub const SOME_HITS: i32 = offset_of!(RawContext, some_hits) as i32;
    pub const REGISTER_PAGES: i32 = offset_of!(RawContext, register_pages) as i32;
    pub const NEEDS_TURN: i32 = offset_of!(RawContext, needs_turn) as i32;
    pub const WRITTEN: i32 = offset_of!(RawContext, written) as i32;
    pub const FUEL: i32 = offset_of!(RawContext, fuel) as i32;
}

/// Bytes beyond the end of what is written to the output that a store of a whole word may touch.
pub(crate) const OUT_SLACK: usize = 8;

impl RawContext {
    /// The view of `context`, with room for `output` more bytes of headers.
    pub fn new(context: &mut Context<'_>, zeros: &[u64], output: usize) -> Self {
        let (hits, some_hits) = context.uncounted();
        let (hits, some_hits) = (hits.as_mut_ptr().cast(), some_hits.as_mut_ptr());
        let packet = context.packet.bytes();
        let mut raw = Self {
            packet: packet.as_ptr(),
            packet_len: packet.len() as u64,
            cursor: 0,
            out: std::ptr::null_mut(),
            out_end: std::ptr::null_mut(),
            data: data_pointer(context, zeros.as_ptr().cast()),
            occupied: context.device.occupied().as_ptr().cast(),
            missed: context.missed.as_mut_ptr(),
            hits,
            some_hits,
            register_pages: context.device.register_pages().pages().as_ptr(),
            zeros: zeros.as_ptr().cast(),
            fuel: 0,
            needs_turn: 0,
            written: 0,
            frame: context.frame.as_mut_ptr(),
            context: (&raw mut *context).cast(),
        };
        raw.refresh(context, output);
        raw
    }

    /// Puts back into the context what compiled code changed in this view.
    ///
    /// # Safety
    /// `self` was made from `context`, whose output has not been reallocated behind its back.
    #[allow(unsafe_code, reason = "the bytes before `out` were written by compiled code")]
    pub unsafe fn write_back(&self, context: &mut Context<'_>) {
        context.cursor = self.cursor as usize;
        context.fuel = self.fuel;
        context.frame.set_written(self.written);
        let len = self.out as usize - context.out.as_ptr() as usize;
        // SAFETY: compiled code writes the output from its end on without gaps and keeps `out` below `out_end`, which
        // stands before the end of the capacity.
        unsafe { context.out.set_len(len) };
    }

    /// Takes over what a helper changed in the context, with room for `output` more bytes of headers.
    pub fn refresh(&mut self, context: &mut Context<'_>, output: usize) {
        context.out.reserve(output + OUT_SLACK);
        self.cursor = context.cursor as u64;
        self.fuel = context.fuel;
        self.written = context.frame.written();
        self.needs_turn = context.registers.needs_turn().into();
        self.set_output(context);
    }

    /// Takes over what somebody else changed in the frame.
    pub fn see_frame(&mut self, context: &mut Context<'_>) {
        self.written = context.frame.written();
        self.frame = context.frame.as_mut_ptr();
    }

    fn set_output(&mut self, context: &mut Context<'_>) {
        let start = context.out.as_mut_ptr();
        self.out = start.wrapping_add(context.out.len());
        self.out_end = start.wrapping_add(context.out.capacity() - OUT_SLACK);
    }
}

/// Where the data of the last found action stands; `zeros` stand for the data of none.
pub(crate) fn data_pointer(context: &Context<'_>, zeros: *const u8) -> *const u8 {
    let data = context.action_data();
    if data.is_empty() { zeros } else { data.as_ptr() }
}
