//! Entries that come and go while packets pass: an empty table is passed without a lookup.

use std::sync::Arc;

use interp::Interpreter;
use ir::{ActionId, FunctionId, Handle, Match, Program, TableId};
use jit::{AtOnce, Jit};
use runtime::{ActionCall, Backend, Context, Device, EntryAction, NewEntry};

const PROGRAM: &str = "
frame 16 persistent 16 {
    0 key: bits 16
    2 hit: bool
    4 action: bits 32
    8 port: bits 9
}
errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument)
action out (port: 9 @ 0)
action none ()
table ports size 16 {
    key key: 16 exact
    action out
    action none
    default 1 () const
}
function main {
b0:
    %0:16 = load key
    %1:1, %2:32 = lookup ports (%0:16)
    store hit:1, %1
    store action:32, %2
    switch %2:32 { 0: b1, default: b2 }
b1:
    %3:9 = load_arg 0
    store port:9, %3
    return
b2:
    return
}
blocks main main main main main main
";

#[test]
fn a_table_is_looked_up_while_it_has_entries() {
    let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
    let compile = || Jit::compile(program.clone()).unwrap();
    let backends: [Box<dyn Backend>; 3] =
        [Box::new(AtOnce::new(Arc::new(compile()))), Box::new(compile()), Box::new(Interpreter::new(program.clone()))];
    for backend in backends {
        let device = Device::new(program.clone()).unwrap();
        let packet = || {
            let mut context = Context::new(&device, 0);
            context.start(0);
            backend.run(FunctionId::new(0), &mut context);
            let frame = context.frame.persistent();
            (frame[2], frame[4], u16::from_ne_bytes([frame[8], frame[9]]))
        };
        let key = |value: u32| vec![Match::Exact(value.into())];
        let entry = |value, port: u32| NewEntry {
            keys: key(value),
            priority: 0,
            action: EntryAction::Action(ActionCall { action: ActionId::new(0), args: vec![port.into()] }),
            idle_timeout: 0,
            metadata: Vec::new(),
            counter: None,
            meter: None,
        };
        let table = TableId::new(0);
        assert_eq!(packet(), (0, 1, 0), "empty");
        device.insert_entry(table, &entry(5, 6), 0).unwrap();
        assert_eq!(packet(), (0, 1, 0), "another's entry");
        device.insert_entry(table, &entry(0, 7), 0).unwrap();
        assert_eq!(packet(), (1, 0, 7));
        device.delete_entry(table, &key(5), 0).unwrap();
        assert_eq!(packet(), (1, 0, 7), "one of two is gone");
        device.delete_entry(table, &key(0), 0).unwrap();
        assert_eq!(packet(), (0, 1, 0), "empty again");
    }
}
