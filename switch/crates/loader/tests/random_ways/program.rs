//! Programs for v1model that are made at random: they read and write registers, compute with what stands there, the time and fields
//! of the packet, compare all of it, and look into tables.

use std::fmt::{self, Display, Write};

use fastrand::Rng;

use crate::v1model::V1model;

const WIDTHS: [u32; 16] = [1, 3, 7, 8, 8, 9, 16, 16, 17, 32, 32, 33, 48, 48, 63, 64];
const WIDE: [u32; 4] = [65, 80, 128, 200];
const METADATA: usize = 3;
const TABLES: usize = 3;

/// What a program declares.
pub struct Registers(pub Vec<Declared>);

pub struct Declared {
    pub width: u32,
    pub size: u64,
    signed: bool,
}

#[derive(Clone, Copy, PartialEq)]
struct Type {
    width: u32,
    signed: bool,
}

#[derive(Clone)]
struct Variable {
    name: String,
    of: Type,
}

impl Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<{}>", if self.signed { "int" } else { "bit" }, self.width)
    }
}

impl Declared {
    fn of(&self) -> Type {
        Type { width: self.width, signed: self.signed }
    }
}

fn bits(width: u32) -> Type {
    Type { width, signed: false }
}

/// The text of a program, and its registers.
pub fn random(numbers: &mut Rng) -> (String, Registers) {
    let registers: Vec<Declared> = (0..numbers.usize(1..5)).map(|_| declared(numbers)).collect();
    let mut program = Program { numbers, registers, variables: vec![], text: String::new(), statements_left: 0 };
    let metadata: Vec<Variable> =
        (0..METADATA).map(|number| Variable { name: format!("meta.m{number}"), of: bits(program.width()) }).collect();
    let tables: String = metadata.iter().enumerate().map(|(number, key)| program.table(number, key)).collect();
    let ingress = program.block(&metadata, true);
    let egress = program.block(&metadata, false);
    let fields: String =
        metadata.iter().map(|field| format!("{} {};", field.of, &field.name["meta.".len()..])).collect();
    let declarations: String = (0..)
        .zip(&program.registers)
        .map(|(number, register)| format!("register<{}>({}) r{number};\n", register.of(), register.size))
        .collect();
    let declared = format!(
        "counter(8, CounterType.packets_and_bytes) cells;
    action to(bit<9> port) {{ standard.egress_spec = port; }}
    action mark(bit<16> more) {{ hdr.name.mark = hdr.name.mark + more; }}
{tables}"
    );
    let text = V1model {
        header: "bit<8> who; bit<16> first; bit<48> second; bit<64> third; bit<16> mark;",
        metadata: &fields,
        declarations: &declarations,
        ingress_declarations: &declared,
        ingress: &format!("standard.egress_spec = 1;\n{ingress}"),
        egress: &egress,
        ..V1model::default()
    }
    .text();
    (text, Registers(program.registers))
}

fn declared(numbers: &mut Rng) -> Declared {
    let widths: &[u32] = if numbers.u8(..12) == 0 { &WIDE } else { &WIDTHS };
    let width = widths[numbers.usize(..widths.len())];
    Declared { width, size: numbers.u64(1..4), signed: width > 1 && numbers.u8(..6) == 0 }
}

struct Program<'r> {
    numbers: &'r mut Rng,
    registers: Vec<Declared>,
    /// Those that statements may use.
    variables: Vec<Variable>,
    text: String,
    statements_left: u32,
}

impl Program<'_> {
    /// The statements of a block, and before them its variables: two for each register, of its type, and those that all have.
    fn block(&mut self, metadata: &[Variable], is_ingress: bool) -> String {
        self.text.clear();
        self.variables.clear();
        for number in 0..2 * self.registers.len() {
            let of = self.registers[number / 2].of();
            writeln!(self.text, "        {of} v{number} = 0;").expect("a text takes it");
            self.variables.push(Variable { name: format!("v{number}"), of });
        }
        for register in 0..self.registers.len() {
            let index = self.index(register);
            self.line(2, format!("r{register}.read(v{}, {index});", 2 * register));
        }
        let fields = [("who", 8), ("first", 16), ("second", 48), ("third", 64)];
        let fields = fields.map(|(name, width)| Variable { name: format!("hdr.name.{name}"), of: bits(width) });
        let time = Variable { name: "standard.ingress_global_timestamp".into(), of: bits(48) };
        self.variables.extend(metadata.iter().cloned().chain(fields).chain([time.clone(), time]));
        self.statements_left = if is_ingress { 16 } else { 6 };
        self.statements(8, 2, is_ingress);
        std::mem::take(&mut self.text)
    }

    fn statements(&mut self, most: usize, depth: usize, is_ingress: bool) {
        for _ in 0..self.numbers.usize(..=most) {
            if self.statements_left == 0 {
                return;
            }
            self.statements_left -= 1;
            let register = self.numbers.usize(..self.registers.len());
            match self.numbers.u8(..20) {
                0..4 => {
                    let index = self.index(register);
                    let into = 2 * register + self.numbers.usize(..2);
                    self.line(depth, format!("r{register}.read(v{into}, {index});"));
                }
                4..8 => {
                    let (index, value) = (self.index(register), self.value(self.registers[register].of(), 2));
                    self.line(depth, format!("r{register}.write({index}, {value});"));
                }
                8..10 => {
                    let to = self.any(|variable| variable.name.starts_with('v') || variable.name.starts_with("meta"));
                    let value = self.value(to.of, 3);
                    self.line(depth, format!("{} = {value};", to.name));
                }
                10 => {
                    let condition = self.condition(1);
                    self.line(depth, format!("if ({condition}) {{ mark_to_drop(standard); }}"));
                }
                11..13 if is_ingress => {
                    let table = self.numbers.usize(..TABLES);
                    self.line(depth, format!("if (t{table}.apply().hit) {{ hdr.name.mark = hdr.name.mark + 3; }}"));
                }
                13 if is_ingress => {
                    let index = self.value(bits(32), 1);
                    self.line(depth, format!("cells.count({index} & 7);"));
                }
                14 if is_ingress => {
                    let port = self.numbers.u8(1..8);
                    self.line(depth, format!("standard.egress_spec = {port};"));
                }
                _ if depth < 5 => {
                    let (condition, more) = (self.condition(2), self.numbers.u8(1..100));
                    self.line(depth, format!("if ({condition}) {{"));
                    self.line(depth + 1, format!("hdr.name.mark = hdr.name.mark + {more};"));
                    self.statements(2, depth + 1, is_ingress);
                    self.line(depth, "} else {".into());
                    self.statements(2, depth + 1, is_ingress);
                    self.line(depth, "}".into());
                }
                _ => {}
            }
        }
    }

    fn line(&mut self, depth: usize, line: String) {
        writeln!(self.text, "{}{line}", "    ".repeat(depth)).expect("a text takes it");
    }

    /// A table with a few entries for small values of its key.
    fn table(&mut self, number: usize, key: &Variable) -> String {
        let mut entries = String::new();
        for value in 0..self.numbers.u32(1..=4).min(1 << key.of.width.min(2)) {
            let action = match self.numbers.bool() {
                true => format!("to({})", self.numbers.u8(1..8)),
                false => format!("mark({})", self.numbers.u8(..)),
            };
            write!(entries, "{value} : {action}; ").expect("a text takes it");
        }
        format!(
            "    direct_counter(CounterType.packets_and_bytes) of_{number};
    table t{number} {{
        key = {{ {} : exact; }}
        actions = {{ to; mark; NoAction; }}
        default_action = NoAction();
        counters = of_{number};
        const entries = {{ {entries}}}
    }}
",
            key.name
        )
    }

    fn width(&mut self) -> u32 {
        let widths: &[u32] = if self.numbers.u8(..12) == 0 { &WIDE } else { &WIDTHS };
        widths[self.numbers.usize(..widths.len())]
    }

    fn any(&mut self, which: impl Fn(&Variable) -> bool) -> Variable {
        let fitting: Vec<&Variable> = self.variables.iter().filter(|variable| which(variable)).collect();
        fitting[self.numbers.usize(..fitting.len())].clone()
    }

    /// The index of a cell: mostly one that there is, sometimes one beyond the end, or as the packet says.
    fn index(&mut self, register: usize) -> String {
        let size = self.registers[register].size;
        match self.numbers.u8(..10) {
            0 => "(bit<32>)hdr.name.who".into(),
            1 => self.numbers.u64(..=size).to_string(),
            _ => self.numbers.u64(..size).to_string(),
        }
    }

    fn constant(&mut self, of: Type) -> String {
        let most = (1u128 << (of.width - u32::from(of.signed)).min(100)) - 1;
        let value = match self.numbers.u8(..6) {
            0..3 => self.numbers.u128(..8),
            3 => self.numbers.u128(..1 << 32),
            4 => most - self.numbers.u128(..4).min(most),
            _ => most / 2 + self.numbers.u128(..3),
        };
        format!("{}{}{}", of.width, if of.signed { 's' } else { 'w' }, value.min(most))
    }

    /// A variable as a value of another type.
    fn cast(&mut self, variable: &Variable, of: Type) -> String {
        match variable.of.signed == of.signed {
            true if variable.of.width == of.width => variable.name.clone(),
            true => format!("({of}){}", variable.name),
            false => format!("({of})({}){}", Type { signed: variable.of.signed, ..of }, variable.name),
        }
    }

    fn value(&mut self, of: Type, depth: u32) -> String {
        if depth == 0 || self.numbers.u8(..4) == 0 {
            if self.numbers.u8(..5) == 0 {
                return self.constant(of);
            }
            let has_its_type = self.variables.iter().any(|variable| variable.of == of) && self.numbers.u8(..4) > 0;
            let variable = self.any(|variable| !has_its_type || variable.of == of);
            return self.cast(&variable, of);
        }
        let (less, width) = (depth - 1, of.width);
        match self.numbers.u8(..24) {
            0..8 => format!("({} + {})", self.value(of, less), self.value(of, less)),
            8..14 => format!("({} - {})", self.value(of, less), self.value(of, less)),
            14 => format!("({} + {})", self.value(of, less), self.constant(of)),
            15 => {
                let op = ["&", "|", "^", "|+|", "|-|"][self.numbers.usize(..5)];
                format!("({} {op} {})", self.value(of, less), self.value(of, less))
            }
            16 => format!("({}{})", ["~", "-"][self.numbers.usize(..2)], self.value(of, less)),
            17 => {
                let op = ["<<", ">>"][self.numbers.usize(..2)];
                format!("({} {op} {})", self.value(of, less), self.numbers.u32(..width + 2))
            }
            18 if !of.signed => {
                let (more, low) = (self.numbers.u32(..20), self.numbers.u32(..8));
                let (high, whole) = (low + width - 1, bits(width + low + more));
                format!("({})[{high}:{low}]", self.value(whole, less))
            }
            19 if !of.signed && width > 1 => {
                let low = self.numbers.u32(1..width);
                let high = match self.numbers.bool() {
                    true => format!("{}w0", width - low),
                    false => self.value(bits(width - low), less),
                };
                format!("({high} ++ {})", self.value(bits(low), less))
            }
            20 => format!("({} ? {} : {})", self.condition(less), self.value(of, less), self.value(of, less)),
            21 if width > 1 => format!("({of})({})", self.value(Type { signed: !of.signed, width }, less)),
            _ => {
                let other = Type { width: self.width().max(2), ..of };
                format!("({of})({})", self.value(other, less))
            }
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        match self.numbers.u8(..12) {
            0 if depth > 0 => format!("({} && {})", self.condition(depth - 1), self.condition(depth - 1)),
            1 if depth > 0 => format!("({} || {})", self.condition(depth - 1), self.condition(depth - 1)),
            2 if depth > 0 => format!("(!{})", self.condition(depth - 1)),
            _ => {
                let variable = self.any(|_| true);
                let op = ["<", "<=", ">", ">=", "==", "!="][self.numbers.usize(..6)];
                let one = self.value(variable.of, depth.min(2));
                let other = if self.numbers.bool() { self.constant(variable.of) } else { variable.name };
                format!("({one} {op} {other})")
            }
        }
    }
}
