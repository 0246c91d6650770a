//! How traces are shown: text, JSON, a picture.

use std::io::{IsTerminal, Write, stdout};

use anyhow::{Context, Result};
use trace::{Colour, Trace};

use crate::args;

/// Shows traces as they come.
pub struct Output<'a> {
    args: &'a args::Trace,
    colour: Colour,
    pub shown: u64,
}

impl<'a> Output<'a> {
    pub fn new(args: &'a args::Trace) -> Self {
        let colour = if stdout().is_terminal() { Colour::Always } else { Colour::Never };
        Self { args, colour, shown: 0 }
    }

    pub fn show(&mut self, trace: &Trace) -> Result<()> {
        let text = match self.args.json {
            true => serde_json::to_string(trace)? + "\n",
            false => trace::text(trace, self.colour) + "\n",
        };
        // A reader that has seen enough, as `head`, ends it.
        stdout().write_all(text.as_bytes())?;
        stdout().flush()?;
        if let Some(path) = &self.args.svg {
            std::fs::write(path, trace::picture(trace)).with_context(|| path.display().to_string())?;
        }
        self.shown += 1;
        Ok(())
    }
}
