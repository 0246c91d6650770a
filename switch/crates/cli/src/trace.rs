//! `trace`: the way of packets through a program, or of live ones through a switch.

mod file;
mod live;
mod output;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Trace;

pub fn trace(args: &Trace) -> Result<ExitCode> {
    match &args.target {
        Some(target) => live::trace(args, target),
        None => file::trace(args),
    }
}
