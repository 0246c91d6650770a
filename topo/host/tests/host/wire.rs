//! The binary, on a real wire.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(wire: &PathBuf, number: u8) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_wayname-host"))
            .args(["--mac", &format!("02:00:00:00:00:0{number}"), "--address", &format!("2001:db8::{number}/64")])
            .args(["--control", "-", "--wire"])
            .arg(wire)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn command(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Reads events up to one of this kind; fails at the end of the output.
    fn event(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "no {kind} before the end");
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == kind {
                return event;
            }
        }
    }

    /// Ends its input; whether it ended well.
    fn end(mut self) -> bool {
        drop(self.input.take());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already, unless the test fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wire(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("wayname-host-{name}-{}", std::process::id()))
}

#[test]
fn two_hosts_on_a_wire_ping_and_send() {
    let path = wire("pair");
    let (mut first, mut second) = (Process::start(&path, 1), Process::start(&path, 2));
    second.command(r#"{"command":"tcp_serve"}"#);
    second.event("started");
    first.event("link_up");
    first.command(r#"{"command":"ping","to":"2001:db8::2","count":2,"interval":0.01}"#);
    assert_eq!(first.event("ping_done")["received"], 2);
    first.command(r#"{"command":"tcp_send","to":"2001:db8::2","bytes":3000000}"#);
    assert_eq!(first.event("tcp_done")["outcome"], "finished");
    let sink = second.event("tcp_done");
    assert_eq!((&sink["bytes"], &sink["intact"]), (&Value::from(3_000_000), &Value::from(true)));
    first.command("nonsense");
    assert!(first.event("refused")["text"].as_str().unwrap().starts_with("not a command"));
    assert!(first.end() && second.end());
}

#[test]
fn a_host_finds_another_that_comes_back() {
    let path = wire("again");
    let (mut first, mut second) = (Process::start(&path, 1), Process::start(&path, 2));
    first.event("link_up");
    second.event("link_up");
    assert!(second.end());
    first.event("link_down");
    let mut second = Process::start(&path, 2);
    first.event("link_up");
    second.event("link_up");
    second.command(r#"{"command":"ping","to":"2001:db8::1","count":1}"#);
    assert_eq!(second.event("ping_done")["received"], 1);
    assert!(first.end() && second.end());
}

#[test]
fn a_signal_ends_it_well() {
    let path = wire("signal");
    let mut process = Process::start(&path, 1);
    process.event("address_added");
    let pid = rustix::process::Pid::from_child(&process.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(process.child.wait().unwrap().success());
    assert!(!path.exists(), "the wire's socket is left behind");
}

#[test]
fn what_cannot_be_is_one_line() {
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_wayname-host")).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let mac = "02:00:00:00:00:01";
    for (args, text) in [
        (&["--wire", "/nowhere/wire", "--mac", mac][..], "/nowhere/wire"),
        (&["--wire", "/tmp/wire", "--mac", "02-00"][..], "no MAC address"),
        (&["--wire", "/tmp/wire", "--mac", mac, "--address", "::1"][..], "prefix length"),
        (&["--wire", "/tmp/wire", "--mac", mac, "--gateway", "2001:db8::1"][..], "not on the link"),
        (&["--wire", "/tmp/wire", "--mac", mac, "--mtu", "100"][..], "1280"),
        (&["--wire", "/tmp/wire", "--mac", mac, "--control", "/tmp/x"][..], "standard input"),
    ] {
        let error = run(args);
        assert!(error.contains(text) && error.trim_end().lines().count() == 1, "{args:?}: {error}");
    }
}
