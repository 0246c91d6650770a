//! Where compiled code is just now, for a profile that looks at it again and again.
//!
//! Marked code stores a number at the beginning and the end of each stage: one store, so that the marks hardly change
//! what is measured.

use std::collections::HashMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use ir::{Arena, FunctionId, Handle, Note, NoteId, NoteKind, Program};

/// What a stage does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StageKind {
    /// Everything around the program: queues, counters, what the ports do.
    Around,
    /// The code of one of the architecture's blocks, without that of its tables.
    Block,
    /// A table's key and look-up.
    Table,
    Action,
}

/// A part of the way of a packet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stage {
    pub kind: StageKind,
    /// As in the source.
    pub name: String,
    /// Where it stands there; two actions of one name are two stages.
    line: (String, u32),
}

/// The stages of a program, and the one that its code is in.
#[derive(Debug)]
pub struct Stages {
    stages: Vec<Stage>,
    by_function: Vec<u32>,
    by_note: HashMap<NoteId, u32>,
    here: AtomicU32,
}

impl Stages {
    pub(crate) fn new(program: &Program) -> Self {
        let mut stages =
            vec![Stage { kind: StageKind::Around, name: "around the program".into(), line: <_>::default() }];
        let mut numbers = HashMap::new();
        let mut number = |stage: Stage| {
            *numbers.entry(stage).or_insert_with_key(|stage| {
                stages.push(stage.clone());
                stages.len() as u32 - 1
            })
        };
        let block = |name: &str| Stage { kind: StageKind::Block, name: name.into(), line: <_>::default() };
        let by_function = program.functions.iter().map(|(_, function)| number(block(&function.name))).collect();
        let by_note = notes(&program.notes).map(|(id, stage)| (id, number(stage))).collect();
        Self { stages, by_function, by_note, here: AtomicU32::new(0) }
    }

    /// All stages; that around the program is the first.
    pub fn all(&self) -> &[Stage] {
        &self.stages
    }

    /// The number of the stage that the code is in.
    pub fn here(&self) -> usize {
        self.here.load(Relaxed) as usize
    }

    /// Where the code writes that number.
    pub(crate) fn address(&self) -> usize {
        self.here.as_ptr() as usize
    }

    pub(crate) fn of_function(&self, function: FunctionId) -> u32 {
        self.by_function[function.index()]
    }

    /// The stage that begins at a note.
    pub(crate) fn of_note(&self, note: NoteId) -> Option<u32> {
        self.by_note.get(&note).copied()
    }
}

fn notes(notes: &Arena<NoteId, Note>) -> impl Iterator<Item = (NoteId, Stage)> {
    notes.iter().filter_map(|(id, note)| {
        let kind = match note.kind {
            NoteKind::Table => StageKind::Table,
            NoteKind::Action => StageKind::Action,
            _ => return None,
        };
        Some((id, Stage { kind, name: note.text.clone(), line: (note.file.clone(), note.line) }))
    })
}
