//! Does the steps of a case and compares.

use ir::eval::Wide;
use ir::*;
use num_bigint::BigUint;
use runtime::{Backend, Context, MeterConfig};

use crate::script::{Words, number};

/// Where a case plays.
pub struct Stage<'a> {
    pub program: &'a Program,
    pub backend: &'a dyn Backend,
    pub context: Context<'a>,
    pub now: u64,
}

type Done = Result<(), String>;

impl<'a> Stage<'a> {
    pub fn step(&mut self, mut words: Words<'_>) -> Done {
        match words.word() {
            "now" => self.now = words.int()?,
            "packet" => {
                let bytes = words.bytes()?;
                self.context.packet.refill(self.program.max_growth as usize, &bytes);
                self.context.start(self.now);
            }
            "set" => {
                let symbol = self.symbol(words.word())?;
                self.set(symbol, words)?;
            }
            "register" => {
                let register = find(&self.program.registers, words.word(), |register| &register.name)?;
                let (index, value) = (words.int()?, words.number()?);
                self.context.device.set_register(register, index, &value).map_err(|error| error.to_string())?;
            }
            "meter" => {
                let meter = find(&self.program.meters, words.word(), |meter| &meter.name)?;
                let index = words.int()?;
                let config =
                    MeterConfig { cir: words.int()?, cburst: words.int()?, pir: words.int()?, pburst: words.int()? };
                self.context.device.set_meter(meter, index, Some(config)).map_err(|error| error.to_string())?;
            }
            "value_set" => {
                let set = find(&self.program.value_sets, words.word(), |set| &set.name)?;
                let mut members = Vec::new();
                while !words.is_empty() {
                    members.push(words.word().split(',').map(parse_match).collect::<Result<_, _>>()?);
                }
                self.context.device.set_value_set(set, &members).map_err(|error| error.to_string())?;
            }
            "run" => {
                let name = words.word();
                let function = find(&self.program.functions, name, |function| &function.name)
                    .map_err(|_| format!("there is no function `{name}`"))?;
                self.backend.run(function, &mut self.context);
            }
            "finish" => self.context.finish(),
            "expect" => return self.expect(words),
            other => return Err(format!("`{other}` is no step")),
        }
        Ok(())
    }

    fn symbol(&self, name: &str) -> Result<&'a Symbol, String> {
        let found = self.program.frame.symbols.iter().find(|symbol| symbol.name == name);
        found.ok_or_else(|| format!("there is no variable `{name}`"))
    }

    fn set(&mut self, symbol: &Symbol, mut words: Words<'_>) -> Done {
        let width = match symbol.kind {
            SymbolKind::Varbit(most) => {
                let bytes = words.bytes()?;
                let bits = bytes.len() as u32 * 8;
                if bits > most {
                    return Err(format!("{bits} bits are more than {most}"));
                }
                self.context.frame.write(symbol.offset, 32, bits.into());
                self.context.frame.bytes_mut(symbol.offset + 4, bits / 8).copy_from_slice(&bytes);
                return Ok(());
            }
            kind => width(kind),
        };
        let value = self.value(words.word(), symbol)?;
        let place = self.context.frame.bytes_mut(symbol.offset, storage_size(width));
        Wide::from_biguint(&value, width).write_le_bytes(place);
        Ok(())
    }

    /// A number, or the name of an error.
    fn value(&self, word: &str, symbol: &Symbol) -> Result<BigUint, String> {
        if symbol.kind == SymbolKind::Error
            && let Some(index) = self.program.errors.iter().position(|error| error == word)
        {
            return Ok(index.into());
        }
        let (value, width) = (number(word)?, width(symbol.kind));
        if value.bits() > width.into() {
            return Err(format!("{value} does not fit {width} bits"));
        }
        Ok(value)
    }

    fn expect(&mut self, mut words: Words<'_>) -> Done {
        match words.word() {
            "cursor" => same("the cursor", self.context.cursor, words.int()?),
            "out" => same("the output", hex(&self.context.out), hex(&words.bytes()?)),
            "packet" => same("the packet", hex(self.context.packet.bytes()), hex(&words.bytes()?)),
            "effects" => same("effects", self.effects(), words.rest().to_owned()),
            "counter" => {
                let counter = find(&self.program.counters, words.word(), |counter| &counter.name)?;
                self.context.idle();
                let data = self.context.device.counter(counter, words.int()?).map_err(|error| error.to_string())?;
                same("the counter", (data.packets, data.bytes), (words.int()?, words.int()?))
            }
            "register" => {
                let register = find(&self.program.registers, words.word(), |register| &register.name)?;
                let cell = self.context.device.register(register, words.int()?).map_err(|error| error.to_string())?;
                same("the register", cell, words.number()?)
            }
            "within" => {
                let symbol = self.symbol(words.word())?;
                let (value, lo, hi) = (self.variable(symbol), words.number()?, words.number()?);
                let holds = lo <= value && value <= hi;
                if holds { Ok(()) } else { Err(format!("{} is {value}, not {lo} to {hi}", symbol.name)) }
            }
            name => {
                let symbol = self.symbol(name)?;
                if let SymbolKind::Varbit(most) = symbol.kind {
                    let bits = self.context.frame.read(symbol.offset, 32) as u32;
                    let bytes = self.context.frame.bytes(symbol.offset + 4, bits.min(most).div_ceil(8));
                    let wanted = words.bytes()?;
                    return same(name, (bits, hex(bytes)), (wanted.len() as u32 * 8, hex(&wanted)));
                }
                let (found, wanted) = (self.variable(symbol), self.value(words.word(), symbol)?);
                if found == wanted { Ok(()) } else { Err(format!("{name} is {found:#x} instead of {wanted:#x}")) }
            }
        }
    }

    fn variable(&self, symbol: &Symbol) -> BigUint {
        // Whole memory: bits that stray above the width are a fault.
        BigUint::from_bytes_le(self.context.frame.bytes(symbol.offset, storage_size(width(symbol.kind))))
    }

    /// What the packet asked for, each with a `;` behind; `none` for nothing.
    fn effects(&self) -> String {
        let effects = &self.context.effects;
        let list = |fields: Option<FieldListId>| {
            fields.map_or_else(String::new, |fields| format!(" fields {}", fields.index()))
        };
        let mut told = Vec::new();
        for (name, clone) in [("clone_i2e", effects.clone_i2e), ("clone_e2e", effects.clone_e2e)] {
            told.extend(clone.map(|(session, fields)| format!("{name} {session}{}", list(fields))));
        }
        for (name, again) in [("resubmit", effects.resubmit), ("recirculate", effects.recirculate)] {
            told.extend(again.map(|fields| format!("{name}{}", list(fields))));
        }
        told.extend(effects.truncate.map(|bytes| format!("truncate {bytes}")));
        for (digest, values) in &effects.digests {
            let values: Vec<_> = values.iter().map(|value| format!(" {value:#x}")).collect();
            told.push(format!("digest {}{}", self.program.digests[*digest].name, values.concat()));
        }
        told.extend(effects.log.iter().map(|line| format!("log {line}")));
        told.extend(effects.assertion_failed.map(|text| format!("assert {}", self.program.strings[text])));
        if told.is_empty() { "none".to_owned() } else { told.join("; ") }
    }
}

fn width(kind: SymbolKind) -> u32 {
    match kind {
        SymbolKind::Bits(width) | SymbolKind::Varbit(width) => width,
        SymbolKind::Bool => 1,
        SymbolKind::Error => 32,
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, wanted: T) -> Done {
    if found == wanted { Ok(()) } else { Err(format!("{what} is {found:?} instead of {wanted:?}")) }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn find<H: Handle, T>(arena: &Arena<H, T>, name: &str, of: impl Fn(&T) -> &str) -> Result<H, String> {
    let found = arena.iter().find(|(_, item)| of(item) == name);
    found.map(|(handle, _)| handle).ok_or_else(|| format!("there is no `{name}`"))
}

fn parse_match(word: &str) -> Result<Match, String> {
    if let Some((value, mask)) = word.split_once("&&&") {
        return Ok(Match::Ternary { value: number(value)?, mask: number(mask)? });
    }
    if let Some((low, high)) = word.split_once("..") {
        return Ok(Match::Range { low: number(low)?, high: number(high)? });
    }
    if let Some((value, prefix)) = word.split_once('/') {
        let prefix = prefix.parse().map_err(|_| format!("`{prefix}` is no length"))?;
        return Ok(Match::Lpm { value: number(value)?, prefix });
    }
    Ok(Match::Exact(number(word)?))
}
