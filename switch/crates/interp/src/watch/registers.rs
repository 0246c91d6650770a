//! Registers and the time: what a run asked of them, and what it wrote. Where it only adds, subtracts and compares, a way holds for
//! other values too; a cell of which anything else is made has to have its value.

use std::collections::BTreeSet;

use flow_cache::{FIRST_CELL, Form, MOST_CELLS, Relation, Replay, Step};
use ir::{CompareOp, Register, RegisterId};
use smallvec::SmallVec;

use super::Watcher;
use super::shadow::{Sets, Shadow};

/// The value of a cell, its lowest word first.
pub type Words = SmallVec<[u64; 8]>;

/// Comparisons of a run at most.
const MOST_COMPARISONS: usize = 48;

/// What is watched of registers in one run.
#[derive(Default)]
pub struct Registers {
    /// By number.
    cells: Vec<Cell>,
    comparisons: Vec<Step>,
    /// Cells that must have their values: a bit for each, by number.
    fixed: u32,
}

struct Cell {
    register: RegisterId,
    index: u32,
    /// What stood there, if the run read it before it wrote.
    before: Option<Words>,
    /// What stands there now, as the run knows it.
    now: Words,
    /// Of what that is made. What the run wrote is a form, or else the same for all packets of the way.
    shadow: Shadow,
    is_written: bool,
}

/// The number of the value of a cell.
fn number(cell: usize) -> u8 {
    FIRST_CELL + cell as u8
}

impl Registers {
    /// Whether any were used.
    pub fn are_used(&self) -> bool {
        !self.cells.is_empty()
    }

    /// Something is decided by these cells.
    pub fn fix(&mut self, cells: u32) {
        self.fixed |= cells;
    }

    /// The cell's number, if it is known.
    fn find(&self, register: RegisterId, index: u32) -> Option<usize> {
        self.cells.iter().position(|cell| (cell.register, cell.index) == (register, index))
    }

    fn is_fixed(&self, cell: usize) -> bool {
        self.fixed >> cell & 1 == 1
    }

    /// What it all comes to.
    pub fn replay(&self, sets: &Sets) -> Replay {
        let mut steps: Vec<Step> = vec![];
        for comparison in &self.comparisons {
            let step = comparison.clone().with_forms(|form| self.folded(form));
            let is_certain = step.forms().iter().all(|form| form.fixed().is_some());
            if !is_certain && !steps.contains(&step) {
                steps.push(step);
            }
        }
        let written = self.cells.iter().enumerate().filter(|(_, cell)| cell.is_written);
        steps.extend(written.filter_map(|(at, cell)| self.write(at, cell, sets.form(cell.shadow))));
        let numbers = steps.iter().flat_map(|step| step.forms()).flat_map(|form| form.numbers());
        let read: BTreeSet<u8> = numbers.filter(|number| *number >= FIRST_CELL).collect();
        // They have the numbers of those that are read.
        let renumbered = |form: Form| {
            form.renumbered(|number| match read.iter().position(|read| *read == number) {
                Some(place) => self::number(place),
                None => number,
            })
        };
        let reads = read.iter().map(|number| {
            let Cell { register, index, .. } = self.cells[usize::from(number - FIRST_CELL)];
            Step::Read { register, index }
        });
        let fixed = self.cells.iter().enumerate().filter(|(at, _)| self.is_fixed(*at));
        let asked = fixed.filter_map(|(_, cell)| cell.has_its_value());
        let steps = steps.into_iter().map(|step| step.with_forms(renumbered));
        Replay(reads.chain(asked).chain(steps).collect())
    }

    /// The form, where cells that must have their values have them.
    fn folded(&self, form: Form) -> Form {
        let fixed = self.cells.iter().enumerate().filter(|(at, _)| self.is_fixed(*at));
        fixed.fold(form, |form, (at, cell)| match cell.before.as_deref() {
            Some([word]) => form.with(number(at), *word),
            _ => form,
        })
    }

    /// What is written to a cell; none if that is what it has anyway.
    fn write(&self, at: usize, cell: &Cell, form: Option<Form>) -> Option<Step> {
        let (register, index) = (cell.register, cell.index);
        let form = match (form, &cell.now[..]) {
            (Some(form), _) => self.folded(form),
            (None, [word]) => Form::constant(*word),
            (None, words) => {
                let is_there = self.is_fixed(at) && cell.before.as_deref() == Some(words);
                return (!is_there).then(|| Step::WriteWide { register, index, words: words.into() });
            }
        };
        let is_there = self.is_fixed(at) && form.fixed().is_some_and(|value| cell.before.as_deref() == Some(&[value]));
        (!is_there).then_some(Step::Write { register, index, form })
    }
}

impl Cell {
    /// Asks whether it has the value that it had.
    fn has_its_value(&self) -> Option<Step> {
        let (register, index) = (self.register, self.index);
        Some(match self.before.as_deref()? {
            [value] => Step::Is { register, index, value: *value },
            words => Step::IsWide { register, index, words: words.into() },
        })
    }
}

impl Watcher {
    /// The run read a cell, and what stood there; answers of what that is made.
    pub fn register_read(&mut self, register: RegisterId, info: &Register, index: u32, value: Words) -> Shadow {
        if let Some(known) = self.registers.find(register, index) {
            let cell = &self.registers.cells[known];
            // Another thread, or the control plane, wrote it meanwhile.
            self.gave_up |= cell.now != value;
            return cell.shadow;
        }
        let Some(at) = self.new_cell(register, info, index) else { return Shadow::UNSTABLE };
        let shadow = self.sets.cell(at, Form::value(number(at), info.width), info.width);
        let cell = &mut self.registers.cells[at];
        (cell.before, cell.now, cell.shadow) = (Some(value.clone()), value, shadow);
        shadow
    }

    /// The run wrote a value to a cell.
    pub fn register_written(
        &mut self,
        register: RegisterId,
        info: &Register,
        index: u32,
        shadow: Shadow,
        value: Words,
    ) {
        let known = self.registers.find(register, index);
        let Some(at) = known.or_else(|| self.new_cell(register, info, index)) else { return };
        let is_form = self.sets.form(shadow).is_some();
        if !is_form {
            self.demand(shadow);
        }
        let cell = &mut self.registers.cells[at];
        (cell.now, cell.shadow, cell.is_written) = (value, if is_form { shadow } else { Shadow::default() }, true);
    }

    /// The number of another cell; none if there are too many, or beyond the register's end.
    fn new_cell(&mut self, register: RegisterId, info: &Register, index: u32) -> Option<usize> {
        let cells = &mut self.registers.cells;
        if cells.len() == MOST_CELLS || u64::from(index) >= info.size {
            self.gave_up = true;
            return None;
        }
        cells.push(Cell {
            register,
            index,
            before: None,
            now: Words::new(),
            shadow: Shadow::default(),
            is_written: false,
        });
        Some(cells.len() - 1)
    }

    /// Whether one of the values is a form.
    pub fn has_form(&self, shadows: [Shadow; 2]) -> bool {
        shadows.iter().any(|shadow| self.sets.form(*shadow).is_some())
    }

    /// Two values as forms, if both are, or are the same for all packets.
    fn forms(&self, shadows: [Shadow; 2], values: [u128; 2]) -> [Option<Form>; 2] {
        [0, 1].map(|side| match shadows[side].is_fixed() {
            true => u64::try_from(values[side]).ok().map(Form::constant),
            false => self.sets.form(shadows[side]),
        })
    }

    /// The shadow of a sum or a difference of so many bits, of which one side is a form.
    pub fn combined(&mut self, subtract: bool, shadows: [Shadow; 2], values: [u128; 2], width: u32) -> Shadow {
        let forms = self.forms(shadows, values);
        self.sets.combined(shadows, forms, subtract, width)
    }

    /// The cell that has its value if the two are equal, as they are.
    fn fixes(&self, shadows: [Shadow; 2], values: [u128; 2]) -> Option<u8> {
        let cell = match self.forms(shadows, values) {
            [Some(cell), Some(fixed)] | [Some(fixed), Some(cell)] if fixed.fixed().is_some() => cell.bare()?,
            _ => return None,
        };
        (values[0] == values[1]).then(|| cell.checked_sub(FIRST_CELL)).flatten()
    }

    /// The shadow of what a comparison came to, of which one side is a form.
    pub fn compared_forms(&mut self, op: CompareOp, shadows: [Shadow; 2], values: [u128; 2]) -> Shadow {
        let relation = match op {
            CompareOp::Eq | CompareOp::Ne => Some(Relation::Equal),
            CompareOp::LtU => Some(Relation::Less),
            CompareOp::LeU => Some(Relation::LessOrEqual),
            CompareOp::LtS | CompareOp::LeS => None,
        };
        if let (CompareOp::Eq | CompareOp::Ne, Some(cell)) = (op, self.fixes(shadows, values)) {
            self.registers.fix(1 << cell);
            return Shadow::default();
        }
        let comparisons = &self.registers.comparisons;
        match (self.forms(shadows, values), relation) {
            ([Some(a), Some(b)], Some(relation)) if comparisons.len() < MOST_COMPARISONS => {
                let [first, second] = values.map(|value| value as u64);
                let holds = relation.holds(first, second);
                self.registers.comparisons.push(Step::Compares { relation, forms: [a, b], holds });
                Shadow::default()
            }
            _ => self.sets.join(shadows),
        }
    }
}
