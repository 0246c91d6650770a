//! A small program for the tests: tables of every kind over one action with two parameters and one without.

use std::sync::Arc;

use ir::*;
use num_bigint::BigUint;
use runtime::{ActionCall, BitString, Context, Device, EntryAction, NewEntry};

pub fn big(value: u128) -> BigUint {
    BigUint::from(value)
}

pub fn key(name: &str, width: u32, kind: MatchKind) -> Key {
    Key { name: name.into(), width, kind }
}

/// Actions 0 `forward(port: 9, mac: 48)`, 1 `drop()`.
pub fn program() -> Program {
    let errors = [
        "NoError",
        "PacketTooShort",
        "NoMatch",
        "StackOutOfBounds",
        "HeaderTooShort",
        "ParserTimeout",
        "ParserInvalidArgument",
    ];
    let mut program = Program {
        frame: Frame { size: 256, persistent: 128, ..Frame::default() },
        errors: errors.map(str::to_owned).to_vec(),
        max_growth: 64,
        ..Program::default()
    };
    program.actions.push(Action::new("forward".into(), [("port".to_owned(), 9), ("mac".to_owned(), 48)]));
    program.actions.push(Action::new("drop".into(), []));
    program
}

pub fn actions() -> Vec<TableAction> {
    [0, 1].map(|i| TableAction { action: ActionId::new(i), default_only: false, table_only: false }).to_vec()
}

/// A table of both actions, `drop` by default.
pub fn table(name: &str, keys: Vec<Key>, size: u64) -> Table {
    Table {
        name: name.into(),
        keys,
        actions: actions(),
        default_action: Some(DefaultAction { action: 1, args: Vec::new(), is_const: false }),
        size,
        ..Table::default()
    }
}

pub fn device(program: Program) -> Device {
    Device::new(Arc::new(program)).unwrap()
}

pub fn forward(port: u128) -> ActionCall {
    ActionCall { action: ActionId::new(0), args: vec![big(port), big(0x0200_0000_0000 + port)] }
}

pub fn drop_call() -> ActionCall {
    ActionCall { action: ActionId::new(1), args: Vec::new() }
}

pub fn entry(keys: Vec<Match>, priority: u32, action: EntryAction) -> NewEntry {
    NewEntry { keys, priority, action, idle_timeout: 0, metadata: Vec::new(), counter: None, meter: None }
}

pub fn forward_entry(keys: Vec<Match>, priority: u32, port: u128) -> NewEntry {
    entry(keys, priority, EntryAction::Action(forward(port)))
}

pub fn exact(value: u128) -> Match {
    Match::Exact(big(value))
}

pub fn lpm(value: u128, prefix: u32) -> Match {
    Match::Lpm { value: big(value), prefix }
}

/// What a lookup came to: hit, and the port of `forward` or none of `drop`.
pub fn look(context: &mut Context<'_>, table: TableId, key: &[u8]) -> (bool, Option<u16>) {
    look_with(context, table, key, &BitString::new())
}

pub fn look_with(context: &mut Context<'_>, table: TableId, key: &[u8], selector: &BitString) -> (bool, Option<u16>) {
    let (hit, action) = context.lookup(table, key, selector);
    match action {
        0 => {
            let data = context.action_data();
            let port = u16::from_le_bytes([data[0], data[1]]);
            let mac = u64::from_le_bytes(data[8..16].try_into().unwrap());
            assert_eq!(mac, 0x0200_0000_0000 + u64::from(port), "the arguments belong together");
            (hit, Some(port))
        }
        1 => {
            assert!(context.action_data().is_empty());
            (hit, None)
        }
        NO_ACTION => (hit, Some(u16::MAX)),
        other => panic!("no action {other}"),
    }
}
