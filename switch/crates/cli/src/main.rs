//! `wayname-switch`: a P4Runtime switch that compiles P4 itself, and the tools around it.

mod admin;
mod args;
mod carriers;
mod check;
mod clock;
mod forward;
mod handle;
mod handoff;
mod hot_restart;
mod kernel_flows;
mod listeners;
mod manual;
mod metrics;
mod open_ports;
mod outputs;
mod profile;
mod run;
mod seldom;
mod service_manager;
mod simple_switch;
mod specialise;
mod stop;
mod target;
mod test;
mod trace;
mod usage;

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use args::{Args, Command};

fn main() -> ExitCode {
    let words = std::env::args_os();
    let args: Args = if simple_switch::is_asked(std::env::args_os().next().as_ref()) {
        usage::parse("wayname-switch", simple_switch::translate(words).into_iter())
    } else {
        // simple_switch_grpc wants `--` before its gRPC flags; here they are flags like the others.
        usage::parse("wayname-switch", words.filter(|word| word != "--"))
    };
    let result = match args.command {
        Some(Command::Check(args)) => check::check(&args),
        Some(Command::Compile(args)) => check::compile(&args),
        Some(Command::Trace(args)) => trace::trace(&args),
        Some(Command::Test(args)) => test::test(&args),
        Some(Command::Profile(args)) => profile::profile(&args),
        Some(Command::Completion { shell }) => manual::completion(shell),
        Some(Command::Man) => manual::page(),
        None => run::run(args.run),
    };
    match result {
        Ok(code) => code,
        // Whoever reads has enough (`| head`).
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wayname-switch: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
