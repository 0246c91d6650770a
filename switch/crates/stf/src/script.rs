//! The commands of an STF file ("simple test framework", the format of p4c's cases).
//!
//! ```text
//!   packet 0 00000000 00000001          a packet enters port 0 (hexadecimal, blanks ignored)
//!   expect 1 0000**** $                 one leaves port 1; * is any digit, $ says that nothing follows
//!   expect 1                            any packet leaves port 1
//!   add t 10 key:0x0a** act(a:1)        an entry, with a priority where the table needs one
//!   setdefault t act(a:1)
//!   mc_mgrp_create 1                    multicast: group, then nodes (rid, ports), then which node is in which group
//!   mc_node_create 400 6 7
//!   mc_node_associate 1 0
//!   mirroring_add 5 4                   clone session 5 to port 4
//!   mirroring_add_mc 5 1                clone session 5 to multicast group 1
//!   register_write r 5 100
//!   check_counter c(3) packets == 2     what a counter has counted so far
//! ```

use std::fmt;

/// One command and the line it stands on.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub number: usize,
    pub command: Command,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Packet {
        port: u32,
        bytes: Vec<u8>,
    },
    Expect {
        port: u32,
        pattern: Option<Pattern>,
    },
    Add {
        table: String,
        priority: Option<i32>,
        keys: Vec<(String, String)>,
        action: ActionCall,
    },
    SetDefault {
        table: String,
        action: ActionCall,
    },
    GroupCreate {
        group: u16,
    },
    NodeCreate {
        rid: u16,
        ports: Vec<u32>,
    },
    NodeAssociate {
        group: u16,
        node: usize,
    },
    MirrorAdd {
        session: u16,
        port: u32,
    },
    MirrorAddGroup {
        session: u16,
        group: u16,
    },
    RegisterWrite {
        register: String,
        index: u64,
        value: u64,
    },
    RegisterReset {
        register: String,
    },
    MeterRates {
        meter: String,
        index: Option<u64>,
        rates: Vec<Rate>,
    },
    CheckCounter {
        counter: String,
        index: u64,
        bytes: bool,
        count: u64,
    },
    /// Commands that only print, or wait for what is immediate here.
    Nothing,
}

/// A rate in packets or bytes per microsecond, and its burst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub per_microsecond: f64,
    pub burst: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ActionCall {
    pub name: String,
    pub args: Vec<(String, String)>,
}

/// What a packet must look like.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// Hexadecimal digits; `None` is any.
    pub nibbles: Vec<Option<u8>>,
    /// Nothing may follow.
    pub exact: bool,
}

impl Pattern {
    pub fn matches(&self, bytes: &[u8]) -> bool {
        let nibbles: Vec<u8> = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
        if nibbles.len() < self.nibbles.len() || (self.exact && nibbles.len() != self.nibbles.len()) {
            return false;
        }
        self.nibbles.iter().zip(nibbles).all(|(want, have)| want.is_none_or(|want| want == have))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for nibble in &self.nibbles {
            match nibble {
                Some(nibble) => write!(f, "{nibble:x}")?,
                None => f.write_str("*")?,
            }
        }
        f.write_str(if self.exact { " $" } else { "" })
    }
}

/// Reads a whole file; an error names the line.
pub fn parse(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = vec![];
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let number = index + 1;
        let command = command(line).map_err(|error| format!("line {number}: {error}"))?;
        lines.push(Line { number, command });
    }
    Ok(lines)
}

fn command(line: &str) -> Result<Command, String> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let words: Vec<&str> = rest.split_whitespace().collect();
    let arg = |index: usize| words.get(index).copied().ok_or_else(|| format!("{word}: too few arguments"));
    Ok(match word {
        "packet" => Command::Packet { port: number(arg(0)?)?, bytes: bytes(&words[1..].concat())? },
        "expect" => {
            let port = number(arg(0)?)?;
            let digits = words[1..].concat();
            Command::Expect { port, pattern: if digits.is_empty() { None } else { Some(pattern(&digits)?) } }
        }
        "add" => add(rest)?,
        "setdefault" => {
            let (table, call) = rest.trim().split_once(char::is_whitespace).ok_or("setdefault: no action")?;
            Command::SetDefault { table: table.into(), action: action_call(call)? }
        }
        "mc_mgrp_create" => Command::GroupCreate { group: number(arg(0)?)? },
        "mc_node_create" => Command::NodeCreate {
            rid: number(arg(0)?)?,
            ports: words[1..].iter().map(|port| number(port)).collect::<Result<_, _>>()?,
        },
        "mc_node_associate" => Command::NodeAssociate { group: number(arg(0)?)?, node: number(arg(1)?)? },
        "mirroring_add" => Command::MirrorAdd { session: number(arg(0)?)?, port: number(arg(1)?)? },
        "mirroring_add_mc" => Command::MirrorAddGroup { session: number(arg(0)?)?, group: number(arg(1)?)? },
        "register_write" => {
            Command::RegisterWrite { register: arg(0)?.into(), index: number(arg(1)?)?, value: number(arg(2)?)? }
        }
        "register_reset" => Command::RegisterReset { register: arg(0)?.into() },
        "meter_set_rates" => {
            Command::MeterRates { meter: arg(0)?.into(), index: Some(number(arg(1)?)?), rates: rates(&words[2..])? }
        }
        "meter_array_set_rates" => {
            Command::MeterRates { meter: arg(0)?.into(), index: None, rates: rates(&words[1..])? }
        }
        "check_counter" => check_counter(rest)?,
        "wait" | "register_read" | "counter_read" | "meter_get_rates" | "mirroring_get" => Command::Nothing,
        _ => {
            let elsewhere = "members, groups and direct counters have none: use P4Runtime";
            return Err(format!("unknown command '{word}'; docs/stf.md lists all; {elsewhere}"));
        }
    })
}

fn check_counter(rest: &str) -> Result<Command, String> {
    let bad = || "check_counter is written name(index) packets == count, or bytes".to_string();
    let (counter, rest) = rest.trim().split_once('(').ok_or_else(bad)?;
    let (index, rest) = rest.split_once(')').ok_or_else(bad)?;
    let [unit @ ("packets" | "bytes"), "==", count] = rest.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(bad());
    };
    let (counter, index) = (counter.trim().into(), number(index.trim())?);
    Ok(Command::CheckCounter { counter, index, bytes: unit == "bytes", count: number(count)? })
}

fn add(rest: &str) -> Result<Command, String> {
    let open = rest.find('(').ok_or("add: no action, which is written name(arg:value, ...)")?;
    let before = rest[..open].trim_end();
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let action = action_call(&rest[start..])?;
    let mut words = before[..start].split_whitespace().peekable();
    let table = words.next().ok_or("add: no table")?.to_string();
    let priority = words.next_if(|word| !word.contains(':')).map(number).transpose()?;
    let keys = words.map(pair).collect::<Result<_, _>>()?;
    Ok(Command::Add { table, priority, keys, action })
}

fn action_call(text: &str) -> Result<ActionCall, String> {
    let (name, rest) = text.trim().split_once('(').ok_or_else(|| format!("'{text}' is not an action call"))?;
    let inside = rest.split(')').next().unwrap_or_default();
    let args = inside.split(',').map(str::trim).filter(|arg| !arg.is_empty()).map(pair).collect::<Result<_, _>>()?;
    Ok(ActionCall { name: name.trim().into(), args })
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or_else(|| format!("'{text}' is not name:value"))?;
    Ok((name.trim().into(), value.trim().into()))
}

fn rates(words: &[&str]) -> Result<Vec<Rate>, String> {
    words
        .iter()
        .map(|word| {
            let bad = || format!("'{word}' is not rate:burst");
            let (rate, burst) = word.split_once(':').ok_or_else(bad)?;
            Ok(Rate { per_microsecond: rate.parse().map_err(|_| bad())?, burst: burst.parse().map_err(|_| bad())? })
        })
        .collect()
}

fn number<T: TryFrom<i64>>(text: &str) -> Result<T, String> {
    let value = match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value.ok().and_then(|value| T::try_from(value).ok()).ok_or_else(|| format!("'{text}' is not a number in range"))
}

fn bytes(digits: &str) -> Result<Vec<u8>, String> {
    let pattern = pattern(digits)?;
    let whole: Option<Vec<u8>> = pattern.nibbles.into_iter().collect();
    match whole {
        Some(nibbles) if nibbles.len() % 2 == 0 => Ok(nibbles.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()),
        _ => Err("a packet is whole bytes in hexadecimal".into()),
    }
}

fn pattern(digits: &str) -> Result<Pattern, String> {
    let (digits, exact) = digits.strip_suffix('$').map_or((digits, false), |digits| (digits, true));
    let nibbles = digits
        .chars()
        .map(|digit| match digit {
            '*' => Ok(None),
            _ => digit.to_digit(16).map(|digit| Some(digit as u8)).ok_or_else(|| format!("'{digit}' is not a digit")),
        })
        .collect::<Result<_, _>>()?;
    Ok(Pattern { nibbles, exact })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Command {
        parse(text).unwrap().remove(0).command
    }

    #[test]
    fn an_entry_has_an_optional_priority() {
        let Command::Add { table, priority, keys, action } = one("add c.t 10 h.a:0x0a** h.b:1 c.act(x:1, y:0x2)")
        else {
            panic!("not an entry")
        };
        assert_eq!((table.as_str(), priority), ("c.t", Some(10)));
        assert_eq!(keys, [("h.a".into(), "0x0a**".into()), ("h.b".into(), "1".into())]);
        assert_eq!(
            action,
            ActionCall { name: "c.act".into(), args: vec![("x".into(), "1".into()), ("y".into(), "0x2".into())] }
        );
    }

    #[test]
    fn a_pattern_may_be_open_or_exact() {
        let Command::Expect { pattern: Some(open), .. } = one("expect 0 0a ** # more") else { panic!("no pattern") };
        assert!(open.matches(&[0x0a, 0xff]) && open.matches(&[0x0a, 0xff, 1]) && !open.matches(&[0x0a]));
        let Command::Expect { pattern: Some(exact), .. } = one("expect 0 0a**$") else { panic!("no pattern") };
        assert!(exact.matches(&[0x0a, 0xff]) && !exact.matches(&[0x0a, 0xff, 1]));
    }

    #[test]
    fn a_counter_is_checked_by_packets_or_bytes() {
        let check = |bytes, count| Command::CheckCounter { counter: "c.drops".into(), index: 3, bytes, count };
        assert_eq!(one("check_counter c.drops(3) packets == 2"), check(false, 2));
        assert_eq!(one("check_counter c.drops(0x3) bytes == 128"), check(true, 128));
        assert!(parse("check_counter c.drops(3) packets > 2").unwrap_err().contains("packets == count"));
    }

    #[test]
    fn an_error_names_the_line() {
        assert_eq!(parse("wait\npacket 0 0").unwrap_err(), "line 2: a packet is whole bytes in hexadecimal");
        let told = parse("fly 1").unwrap_err();
        assert!(told.starts_with("line 1: unknown command 'fly'; docs/stf.md lists all"), "{told}");
        assert!(told.ends_with("use P4Runtime"), "{told}");
    }
}
