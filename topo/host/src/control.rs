//! Commands from standard input, events to standard output; a JSON object a line.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use host::{Event, Host};

/// A longer line is no command.
const MAX_LINE: usize = 64 * 1024;

/// Lines as they come in.
pub struct Lines {
    input: io::Stdin,
    unfinished: Vec<u8>,
}

impl Lines {
    pub fn new() -> Self {
        Self { input: io::stdin(), unfinished: vec![] }
    }

    /// Reads what is there and carries it out; false at the end of the input.
    pub fn carry_out(&mut self, host: &mut Host, now: u64) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        let length = match rustix::io::read(&self.input, &mut buffer) {
            Ok(0) => return Ok(false),
            Ok(length) => length,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        self.unfinished.extend_from_slice(&buffer[..length]);
        while let Some(end) = self.unfinished.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unfinished.drain(..=end).collect();
            if !line.trim_ascii().is_empty() {
                host.carry_out(&String::from_utf8_lossy(&line), now);
            }
        }
        if self.unfinished.len() > MAX_LINE {
            host.refuse(format!("a line of more than {MAX_LINE} bytes is no command"), now);
            self.unfinished.clear();
        }
        Ok(true)
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }
}

/// Writes events; false when nobody reads them any more.
pub fn write_events(events: &[Event]) -> io::Result<bool> {
    let mut text = vec![];
    for event in events {
        serde_json::to_writer(&mut text, event)?;
        text.push(b'\n');
    }
    let mut output = io::stdout().lock();
    match output.write_all(&text).and_then(|()| output.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}
