//! What a package brings beside the program, made of the command line itself: its manual page and its completion.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::args::Args;

/// Writes the completion of one shell.
pub fn completion(shell: Shell) -> Result<ExitCode> {
    let mut script = vec![];
    clap_complete::generate(shell, &mut Args::command(), "wayname-switch", &mut script);
    stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the manual page, with the subcommands' options on the same one.
pub fn page() -> Result<ExitCode> {
    let mut command = Args::command();
    command.build();
    let man = Man::new(command.clone()).section("8").manual("Wayname");
    let mut page = vec![];
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    for each in command.get_subcommands().filter(|each| each.get_name() != "help") {
        roff.control("SS", [each.get_name()]);
        let mut text = each.get_about().map(ToString::to_string).unwrap_or_default();
        for argument in each.get_arguments().filter(|argument| argument.get_id() != "help") {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = write!(text, "\n{argument}  {help}");
        }
        for line in text.lines() {
            roff.control("PP", []).text([roman(line)]);
        }
    }
    roff.control("SH", ["SEE ALSO"]).text([roman("wayname(1), wayname.toml(5)")]);
    roff.to_writer(&mut page)?;
    stdout().write_all(&page)?;
    Ok(ExitCode::SUCCESS)
}
