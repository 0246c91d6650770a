//! One packet's run through the program.

use ir::*;
use num_bigint::BigUint;

use crate::bits::BitString;
use crate::device::Device;
use crate::effects::Effects;
use crate::frame::FrameMemory;
use crate::packet::Packet;
use crate::trace::Trace;

/// Everything a backend needs to run one packet. One context serves many packets, one after the other.
pub struct Context<'d> {
    pub device: &'d Device,
    pub frame: FrameMemory,
    pub packet: Packet,
    /// Bytes of the packet taken off by the parser.
    pub cursor: usize,
    /// Headers written by the deparser.
    pub out: Vec<u8>,
    pub effects: Effects,
    /// Nanoseconds.
    pub now: u64,
    /// Loop turns left.
    pub fuel: u32,
    pub trace: Option<Box<dyn Trace>>,
}

impl<'d> Context<'d> {
    pub fn new(_device: &'d Device, _seed: u64) -> Self {
        todo!()
    }
    /// Makes the context ready for another packet, whose bytes are in `packet`: zeroes the persistent frame, the
    /// cursor and the output, clears the effects, refills the fuel.
    pub fn start(&mut self, _now: u64) {
        todo!()
    }
    /// Tells the tables that this context stands still; call when no packet is waiting.
    pub fn idle(&mut self) {
        todo!()
    }
    /// Puts the deparser's output in front of the payload: the packet as it leaves.
    pub fn finish(&mut self) {
        todo!()
    }

    /// Looks a packed key up: fields in order, each big-endian in whole bytes. `selector` holds the selector's inputs.
    /// Answers whether an entry was hit and the index of the action in the table's actions, or `NO_ACTION`.
    pub fn lookup(&mut self, _table: TableId, _key: &[u8], _selector: &BitString) -> (bool, u32) {
        todo!()
    }
    /// The data of the action that the last lookup found, laid out as [`ir::Action`] says; 8-byte aligned.
    pub fn action_data(&self) -> &[u8] {
        todo!()
    }

    /// `offset` is the header's place in the frame. Answers 0 or the index of the error.
    pub fn extract(&mut self, _header: HeaderTypeId, _offset: u32, _varbit_bits: Option<u32>, _peek: bool) -> u32 {
        todo!()
    }
    /// The next `bits` bits as a little-endian integer in `out`, which is zeroed beyond them.
    pub fn lookahead_bytes(&mut self, _bits: u32, _out: &mut [u8]) -> u32 {
        todo!()
    }
    /// The next `bits` bits, at most 128.
    pub fn lookahead(&mut self, _bits: u32) -> Result<u128, u32> {
        todo!()
    }
    pub fn advance(&mut self, _bits: u32) -> u32 {
        todo!()
    }
    pub fn packet_length(&self) -> u32 {
        todo!()
    }
    /// `key` is packed as for a table.
    pub fn in_value_set(&mut self, _set: ValueSetId, _key: &[u8]) -> bool {
        todo!()
    }
    /// Whether the budget is used up.
    pub fn take_fuel(&mut self) -> bool {
        todo!()
    }
    pub fn emit(&mut self, _header: HeaderTypeId, _offset: u32) {
        todo!()
    }

    pub fn count(&mut self, _counter: CounterId, _index: u64) {
        todo!()
    }
    /// 0 green, 1 yellow, 2 red.
    pub fn meter(&mut self, _meter: MeterId, _index: u64) -> u32 {
        todo!()
    }
    pub fn direct_meter(&mut self, _table: TableId) -> u32 {
        todo!()
    }
    pub fn register_read(&mut self, _register: RegisterId, _index: u32) -> u128 {
        todo!()
    }
    pub fn register_write(&mut self, _register: RegisterId, _index: u32, _value: u128) {
        todo!()
    }
    /// Little-endian.
    pub fn register_read_wide(&mut self, _register: RegisterId, _index: u32, _out: &mut [u8]) {
        todo!()
    }
    /// Little-endian.
    pub fn register_write_wide(&mut self, _register: RegisterId, _index: u32, _value: &[u8]) {
        todo!()
    }
    pub fn hash(&mut self, _algorithm: HashAlgorithm, _data: &BitString) -> u64 {
        todo!()
    }
    /// With `payload`, over the bytes after the cursor too.
    pub fn checksum(&mut self, _algorithm: HashAlgorithm, _data: &BitString, _payload: bool) -> u64 {
        todo!()
    }
    pub fn random(&mut self, _lo: u128, _hi: u128) -> u128 {
        todo!()
    }
    pub fn random_wide(&mut self, _lo: &BigUint, _hi: &BigUint) -> BigUint {
        todo!()
    }
    pub fn digest(&mut self, _digest: DigestId, _values: Vec<BigUint>) {
        todo!()
    }
    pub fn clone_packet(&mut self, _kind: CloneKind, _session: u32, _fields: Option<FieldListId>) {
        todo!()
    }
    pub fn resubmit(&mut self, _fields: Option<FieldListId>) {
        todo!()
    }
    pub fn recirculate(&mut self, _fields: Option<FieldListId>) {
        todo!()
    }
    pub fn truncate(&mut self, _bytes: u32) {
        todo!()
    }
    pub fn log_message(&mut self, _format: StringId, _args: &[BigUint]) {
        todo!()
    }
    pub fn assert_failed(&mut self, _text: StringId) {
        todo!()
    }
}
