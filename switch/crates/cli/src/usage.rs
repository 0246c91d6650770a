//! What is wrong with a command line, in one line.

use clap::Parser;
use clap::error::{ContextKind, ErrorKind};

/// The command line; ends the process with one line if it is wrong, and after what `--help` and `--version` ask for.
pub fn parse<T: Parser>(name: &str, words: impl Iterator<Item = std::ffi::OsString>) -> T {
    T::try_parse_from(words).unwrap_or_else(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        eprintln!("{name}: {}", one_line(name, &error));
        std::process::exit(2)
    })
}

/// What, where, and how to mend it: clap says it in paragraphs, with the usage at the end.
fn one_line(name: &str, error: &clap::Error) -> String {
    let text = error.to_string();
    let said =
        text.split("\n\nUsage:").next().unwrap_or(&text).split("\n\nFor more information").next().unwrap_or_default();
    let mut paragraphs = said.trim_start_matches("error: ").split("\n\n").map(joined).filter(|text| !text.is_empty());
    let mut line = paragraphs.next().unwrap_or_default();
    if error.kind() == ErrorKind::ArgumentConflict && error.get(ContextKind::InvalidSubcommand).is_some() {
        line += ": it takes one program, or a command and nothing before it";
    }
    // `--` counts for nothing here, so that a hint to write it leads nowhere.
    paragraphs.filter(|tip| !tip.contains("'-- ")).for_each(|tip| line += &format!("; {tip}"));
    format!("{line}; `{} --help` tells all", asked(name, error))
}

fn joined(paragraph: &str) -> String {
    let lines: Vec<&str> = paragraph.lines().map(str::trim).collect();
    lines.join(" ").trim().trim_start_matches("tip: ").to_owned()
}

/// The command whose help says more.
fn asked(name: &str, error: &clap::Error) -> String {
    let usage = error.get(ContextKind::Usage).map(|usage| usage.to_string()).unwrap_or_default();
    let command = usage.split_whitespace().skip_while(|word| *word != name).nth(1);
    match command.filter(|word| word.chars().all(|letter| letter.is_ascii_lowercase())) {
        Some(command) => format!("{name} {command}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;

    /// Wrong words, and what the one line about them has.
    const WRONG: [(&str, &[&str]); 17] = [
        ("-i 1 a.p4", &["--interface <PORT>", "NUMBER@DEVICE, such as 1@veth0"]),
        ("-i x@eth0 a.p4", &["'x' is not a port number from 0 to 510"]),
        ("-i 1@wire:/tmp/a?delay=fast a.p4", &["'fast' has none of the units ns, us, ms, s"]),
        ("-i 1@wire: a.p4", &["names no device"]),
        ("--bogus a.p4", &["unexpected argument '--bogus' found", "`wayname-switch --help`"]),
        ("--grpc-server-add 127.0.0.1:1 a.p4", &["a similar argument exists: '--grpc-server-addr'"]),
        ("--grpc-server-addr nonsense a.p4", &["write ADDR:PORT or unix:PATH"]),
        ("--threads 0 a.p4", &["0 is not in 1..=64"]),
        ("--backend gpu", &["'gpu' for '--backend <BACKEND>' [possible values: jit, interpreter]"]),
        ("--log-level shout a.p4", &["'shout' names no level; write error, warn"]),
        ("--grpc-server-ssl a.p4", &["--grpc-server-cert <PEM> --grpc-server-key <PEM>"]),
        ("--no-p4 a.p4", &["'--no-p4' cannot be used with '[PROGRAM]'"]),
        ("a.p4 b.p4", &["'b.p4' cannot be used with '[PROGRAM]'", "one program, or a command"]),
        ("chek a.p4", &["'a.p4' cannot be used", "one program, or a command"]),
        ("check", &["were not provided: <PROGRAM>", "`wayname-switch check --help`"]),
        ("check a.p4 -D", &["a value is required for '-D <MACRO>'"]),
        ("profile a.p4 a.stf --seconds -1", &["unexpected argument '-1'", "`wayname-switch profile --help`"]),
    ];

    #[test]
    fn each_mistake_is_one_line() {
        for (words, parts) in WRONG {
            let Err(error) = Args::try_parse_from(format!("wayname-switch {words}").split(' ')) else {
                panic!("{words}: is taken")
            };
            let line = one_line("wayname-switch", &error);
            let cut = ["\n", "Usage", "For more", "'-- "].iter().all(|part| !line.contains(part));
            assert!(cut, "{words}: {line}");
            parts.iter().for_each(|part| assert!(line.contains(part), "{words}: {line}"));
        }
    }
}
