//! Registers and the time: what a run asked of them, and what it wrote. Where it only adds, subtracts and compares, a way holds for
//! other values too; a cell of which anything else is made has to have its value.

use flow_cache::{FIRST_CELL, Form, MOST_CELLS, Relation, Replay, Step};
use ir::{CompareOp, Register, RegisterId};
use smallvec::SmallVec;

use super::Watcher;
use super::shadow::Shadow;

/// The value of a cell, its lowest word first.
pub type Words = SmallVec<[u64; 8]>;

/// Comparisons of a run at most.
const MOST_COMPARISONS: usize = 48;

/// What is watched of registers in one run.
#[derive(Default)]
pub struct Registers {
    /// By number.
    cells: Vec<Cell>,
    comparisons: Vec<(Relation, [Form; 2], bool)>,
    /// Cells that must have their values: a bit for each, by number.
    fixed: u32,
}

struct Cell {
    register: RegisterId,
    index: u32,
    /// What stood there, if the run read it before it wrote.
    before: Option<Words>,
    /// What stands there now.
    shadow: Shadow,
    written: Option<Written>,
}

/// What a run wrote last.
enum Written {
    Form(Form),
    /// The same for all packets of the way.
    Words(Words),
}

/// The number of the value of a cell.
fn number(cell: usize) -> u8 {
    FIRST_CELL + cell as u8
}

impl Registers {
    /// Whether anything was asked of registers.
    pub fn decided(&self) -> bool {
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
    pub fn replay(&self) -> Replay {
        let folded = |form: Form| {
            let fixed = self.cells.iter().enumerate().filter(|(cell, _)| self.is_fixed(*cell));
            fixed.fold(form, |form, (at, cell)| match cell.before.as_deref() {
                Some([word]) => form.with(number(at), *word),
                _ => form,
            })
        };
        let mut comparisons: Vec<(Relation, [Form; 2], bool)> = vec![];
        for (relation, forms, holds) in &self.comparisons {
            let comparison = (*relation, forms.map(folded), *holds);
            if !comparison.1.iter().all(|form| form.fixed().is_some()) && !comparisons.contains(&comparison) {
                comparisons.push(comparison);
            }
        }
        let cells = self.cells.iter().enumerate();
        let writes: Vec<Step> = cells.filter_map(|(at, cell)| self.write(at, cell, folded)).collect();
        let written = writes.iter().filter_map(|step| match step {
            Step::Write { form, .. } => Some(*form),
            _ => None,
        });
        let forms = comparisons.iter().flat_map(|(_, forms, _)| *forms).chain(written);
        let mut needed: Vec<u8> = forms.flat_map(Form::numbers).filter(|number| *number >= FIRST_CELL).collect();
        needed.sort_unstable();
        needed.dedup();
        let renumbered = |form: Form| {
            form.renumbered(|number| match needed.binary_search(&number) {
                Ok(place) => self::number(place),
                Err(_) => number,
            })
        };
        let mut steps = vec![];
        for number in &needed {
            let Cell { register, index, .. } = self.cells[usize::from(number - FIRST_CELL)];
            steps.push(Step::Read { register, index });
        }
        for (_, cell) in self.cells.iter().enumerate().filter(|(at, _)| self.is_fixed(*at)) {
            let (register, index) = (cell.register, cell.index);
            steps.push(match cell.before.as_deref() {
                Some([value]) => Step::Is { register, index, value: *value },
                Some(words) => Step::IsWide { register, index, words: words.into() },
                None => continue,
            });
        }
        for (relation, forms, holds) in comparisons {
            steps.push(Step::Compares { relation, forms: forms.map(renumbered), holds });
        }
        steps.extend(writes.into_iter().map(|step| match step {
            Step::Write { register, index, form } => Step::Write { register, index, form: renumbered(form) },
            step => step,
        }));
        Replay(steps.into())
    }

    /// What is written to a cell; none if that is what it has anyway.
    fn write(&self, at: usize, cell: &Cell, folded: impl Fn(Form) -> Form) -> Option<Step> {
        let (register, index) = (cell.register, cell.index);
        let form = match cell.written.as_ref()? {
            Written::Form(form) => folded(*form),
            Written::Words(words) if words.len() == 1 => Form::constant(words[0]),
            Written::Words(words) => {
                let is_there = self.is_fixed(at) && cell.before.as_ref() == Some(words);
                let words = words[..].into();
                return (!is_there).then_some(Step::WriteWide { register, index, words });
            }
        };
        let is_there = self.is_fixed(at) && form.fixed().is_some_and(|value| cell.before.as_deref() == Some(&[value]));
        (!is_there).then_some(Step::Write { register, index, form })
    }
}

impl Watcher {
    /// The run read a cell, and what stood there; answers of what that is made.
    pub fn register_read(&mut self, register: RegisterId, info: &Register, index: u32, value: Words) -> Shadow {
        if let Some(known) = self.registers.find(register, index) {
            return self.registers.cells[known].shadow;
        }
        let Some(at) = self.new_cell(register, info, index) else { return Shadow::UNSTABLE };
        let shadow = self.sets.cell(at, Form::value(number(at), info.width), info.width);
        let cell = &mut self.registers.cells[at];
        (cell.before, cell.shadow) = (Some(value), shadow);
        shadow
    }

    /// The run wrote a value to a cell; `words` are what it is now.
    pub fn register_written(
        &mut self,
        register: RegisterId,
        info: &Register,
        index: u32,
        shadow: Shadow,
        words: impl FnOnce() -> Words,
    ) {
        let known = self.registers.find(register, index);
        let Some(at) = known.or_else(|| self.new_cell(register, info, index)) else { return };
        let (written, shadow) = match self.sets.form(shadow) {
            Some(form) => (Written::Form(form), shadow),
            None => {
                self.demand(shadow);
                (Written::Words(words()), Shadow::default())
            }
        };
        let cell = &mut self.registers.cells[at];
        (cell.written, cell.shadow) = (Some(written), shadow);
    }

    /// The number of another cell; none if there are too many, or beyond the register's end.
    fn new_cell(&mut self, register: RegisterId, info: &Register, index: u32) -> Option<usize> {
        let cells = &mut self.registers.cells;
        if cells.len() == MOST_CELLS || u64::from(index) >= info.size {
            self.gave_up = true;
            return None;
        }
        cells.push(Cell { register, index, before: None, shadow: Shadow::default(), written: None });
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
                self.registers.comparisons.push((relation, [a, b], relation.holds(first, second)));
                Shadow::default()
            }
            _ => self.sets.join(shadows),
        }
    }
}
