//! Marks for a profile; nothing where nobody asked for them.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, types::*};
use ir::{NoteId, NoteKind};

use super::Translator;

impl Translator<'_> {
    /// The code of this function begins, or goes on behind a table or an action.
    pub(super) fn mark_block(&mut self) {
        let block = self.shared.stages.as_ref().map(|stages| stages.of_function(self.id));
        self.mark(block);
    }

    /// The function ends.
    pub(super) fn mark_around(&mut self) {
        self.mark(Some(0));
    }

    pub(super) fn mark_note(&mut self, note: NoteId) {
        match self.program.notes[note].kind {
            NoteKind::ActionEnd => self.mark_block(),
            _ => {
                let stage = self.shared.stages.as_ref().and_then(|stages| stages.of_note(note));
                self.mark(stage);
            }
        }
    }

    fn mark(&mut self, stage: Option<u32>) {
        let (Some(stages), Some(stage)) = (&self.shared.stages, stage) else { return };
        let address = self.builder.ins().iconst(I64, stages.address() as i64);
        let stage = self.builder.ins().iconst(I32, i64::from(stage));
        self.builder.ins().store(MemFlagsData::new().with_notrap(), stage, address, 0);
    }
}
