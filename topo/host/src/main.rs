//! `wayname-host`: an IPv6 host on a wire, in real time.

mod args;
mod control;
mod run;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match run::run(&args::Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wayname-host: {error:#}");
            ExitCode::FAILURE
        }
    }
}
