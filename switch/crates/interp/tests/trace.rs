//! What a traced run tells.

use std::sync::Arc;
use std::sync::mpsc::channel;

use interp::Interpreter;
use ir::{FunctionId, Handle, Program};
use runtime::{Backend, Context, Device, Event, Recorder};

const PROGRAM: &str = "
frame 128 persistent 64 {
    16 hdr.eth.$valid: bool
    18 hdr.eth.type: bits 16
    20 meta.port: bits 9
    22 meta.copy: bits 16
}
errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument)
header eth_t size 4 {
    2 type: 16
}
action In.forward (port: 9 @ 0)
table In.routes size 4 {
    key hdr.eth.type: 16 exact
    action In.forward
    entry (0x86dd) priority 0 -> 0 (5)
}
register In.seen size 4 width 16
note state start main.p4 10
note statement \"packet.extract(hdr.eth);\" main.p4 11
note holds \"hdr.eth.isValid()\" main.p4 20
note table In.routes main.p4 21
note action In.forward main.p4 15
local first @ 64 {
    0 \"\": bits 8
}
local second in #0 @ 66 {
    0 \".$valid\": bool
    2 \".a\": bits 16
}
function parser {
b0:
    note start
    note \"packet.extract(hdr.eth);\"
    %0:32 = extract eth_t hdr.eth
    %1:32 = advance 800
    return
}
function ingress {
b0:
    %0:1 = load hdr.eth.$valid
    branch %0, b1, b2
b1:
    note \"hdr.eth.isValid()\"
    note In.routes
    %1:16 = load hdr.eth.type
    %2:1, %3:32 = lookup In.routes (%1:16)
    branch %2, b3, b2
b2:
    return
b3:
    note In.forward
    %4:9 = load_arg 0
    store meta.port:9, %4
    register_write In.seen, 2, %1:16
    %5:16 = register_read In.seen, 2
    copy meta.copy, hdr.eth.type, 2
    store @64:8, 1
    locals #1
    store @64:8, 2
    store @68:16, 3
    copy @68, meta.copy, 2
    locals
    store @68:16, 4
    return
}
function deparser {
b0:
    emit eth_t hdr.eth
    zero hdr.eth, 4
    emit eth_t hdr.eth
    return
}
blocks parser parser ingress ingress parser deparser
";

fn trace() -> Vec<Event> {
    let program: Arc<Program> = Arc::new(PROGRAM.parse().expect("a program"));
    assert_eq!(ir::verify(&program), []);
    let device = Device::new(program.clone()).unwrap();
    let interpreter = Interpreter::new(program);
    let mut context = Context::new(&device, 1);
    let (sender, events) = channel();
    context.trace = Some(Box::new(Recorder::new(move |steps, left_out| {
        assert_eq!(left_out, 0);
        sender.send(steps).expect("the test waits");
    })));
    context.packet.refill(0, &[0x86, 0xdd, 1]);
    context.start(0);
    for function in 0..3 {
        interpreter.run(FunctionId::new(function), &mut context);
    }
    drop(context);
    events.recv().expect("all steps").into_iter().map(|step| step.event).collect()
}

#[test]
fn steps_are_told_in_order() {
    let lines: Vec<String> = trace().iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "parser:",
            "state start  (main.p4:10)",
            "packet.extract(hdr.eth);  (main.p4:11)",
            "extract hdr.eth: type=0x86dd",
            "advance 800 bits: PacketTooShort",
            "ingress:",
            "(hdr.eth.isValid()) is true  (main.p4:20)",
            "table In.routes  (main.p4:21)",
            "key hdr.eth.type=0x86dd: hit, In.forward(port=0x5)",
            "action In.forward  (main.p4:15)",
            "meta.port = 0x5",
            "In.seen: register.write(0x2, 0x86dd)",
            "In.seen: register.read(0x2) -> 0x86dd",
            "meta.copy = 0x86dd",
            "first = 0x2",
            "second.a = 0x3",
            "second.a = 0x86dd",
            "deparser:",
            "emit hdr.eth: type=0x86dd",
            "hdr.eth.$valid = 0x0",
            "hdr.eth.type = 0x0",
            "skip hdr.eth, which is not valid",
        ]
    );
}

#[test]
fn events_are_json() {
    let lookup = trace().into_iter().find(|event| matches!(event, Event::Lookup { .. })).expect("a lookup");
    assert_eq!(
        serde_json::to_value(&lookup).expect("JSON"),
        serde_json::json!({
            "event": "lookup",
            "table": "In.routes",
            "keys": [{ "name": "hdr.eth.type", "value": "0x86dd" }],
            "hit": true,
            "entry": { "keys": [{ "name": "hdr.eth.type", "match": "0x86dd" }] },
            "action": "In.forward",
            "args": [{ "name": "port", "value": "0x5" }],
        })
    );
}
