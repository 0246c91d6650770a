//! Files of a program and places in them.

use std::sync::Arc;

/// A place in the program: bytes `start..end` of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

/// A file of the program, by its index in the source map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct FileId(pub u32);

impl Span {
    /// From the start of `self` to the end of `other`. A span lies in one file, so of two files the first one wins.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty place just behind `self`.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }
}

/// The largest file that is read; spans have 32 bits.
pub const MAX_FILE_BYTES: usize = 64 << 20;

/// All files of one program: their names and texts, and where a span lies for a human.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

#[derive(Debug, Clone)]
struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    /// Byte offset of the start of each line.
    line_starts: Vec<u32>,
    /// Line markers, by the line they stand on.
    markers: Vec<Marker>,
}

/// `# 12 "file"` on some line: the next line is line 12 of `file`.
#[derive(Debug, Clone)]
struct Marker {
    /// Index of the line the marker stands on.
    at: usize,
    /// Number of the line after it.
    line: u32,
    name: Arc<str>,
}

/// Where something stands, for a human. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
}

impl SourceMap {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file. The name is what diagnostics show and what `#include "..."` is relative to.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        let text: Arc<str> = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        self.files.push(SourceFile { name: name.into(), text, line_starts, markers: Vec::new() });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file with exactly this name.
    pub fn find(&self, name: &str) -> Option<FileId> {
        self.files.iter().position(|f| &*f.name == name).map(|i| FileId(i as u32))
    }

    pub fn name(&self, file: FileId) -> Arc<str> {
        self.files[file.0 as usize].name.clone()
    }

    pub fn text(&self, file: FileId) -> Arc<str> {
        self.files[file.0 as usize].text.clone()
    }

    /// The source text under a span.
    pub fn snippet(&self, span: Span) -> &str {
        let text = &self.files[span.file.0 as usize].text;
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Where the span starts, line markers obeyed.
    pub fn location(&self, span: Span) -> Location {
        let file = &self.files[span.file.0 as usize];
        let index = file.line_index(span.start);
        let (name, line) = file.shown_line(index);
        let before = &file.text[file.line_starts[index] as usize..file.floor(span.start)];
        Location { file: name, line, column: before.chars().count() as u32 + 1 }
    }

    /// The whole line on which the span starts, without its end, and the byte offset where it starts.
    pub(crate) fn line_of(&self, span: Span) -> (&str, usize) {
        let file = &self.files[span.file.0 as usize];
        let index = file.line_index(span.start);
        let start = file.line_starts[index] as usize;
        let end = file.line_starts.get(index + 1).map_or(file.text.len(), |e| *e as usize);
        (file.text[start..end].trim_end_matches(['\n', '\r']), start)
    }

    /// Name and number that a line marker, if any, gives the line of `span`.
    pub(crate) fn shown_line(&self, span: Span) -> (Arc<str>, u32) {
        let file = &self.files[span.file.0 as usize];
        file.shown_line(file.line_index(span.start))
    }

    /// Notes that the line after the one of `at` is line `line` of the file `name` (`None`: the file as before).
    pub(crate) fn add_marker(&mut self, at: Span, line: u32, name: Option<&str>) {
        let file = &mut self.files[at.file.0 as usize];
        let index = file.line_index(at.start);
        let name = match name {
            Some(name) => name.into(),
            None => file.shown_line(index).0,
        };
        if let Err(place) = file.markers.binary_search_by_key(&index, |m| m.at) {
            file.markers.insert(place, Marker { at: index, line, name });
        }
    }
}

impl SourceFile {
    fn line_index(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) - 1
    }

    /// The offset, moved down to the start of a character.
    fn floor(&self, offset: u32) -> usize {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    fn shown_line(&self, index: usize) -> (Arc<str>, u32) {
        let before = self.markers.partition_point(|m| m.at < index);
        match before.checked_sub(1).map(|i| &self.markers[i]) {
            Some(m) => (m.name.clone(), m.line.saturating_add((index - m.at - 1) as u32)),
            None => (self.name.clone(), index as u32 + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    #[test]
    fn location_counts_lines_and_characters_from_one() {
        let mut map = SourceMap::new();
        let file = map.add("a.p4", "one\nzwölf drei\n");
        let at = map.location(span(file, 11, 15));
        assert_eq!((&*at.file, at.line, at.column), ("a.p4", 2, 7));
        assert_eq!(map.snippet(span(file, 11, 15)), "drei");
    }

    #[test]
    fn marker_renames_the_lines_after_it() {
        let mut map = SourceMap::new();
        let file = map.add("all.p4", "a\n# 12 \"b.p4\"\nc\nd\n");
        map.add_marker(span(file, 2, 3), 12, Some("b.p4"));
        let at = map.location(span(file, 16, 17));
        assert_eq!((&*at.file, at.line), ("b.p4", 13));
        let first = map.location(span(file, 0, 1));
        assert_eq!((&*first.file, first.line), ("all.p4", 1));
    }

    #[test]
    fn spans_of_two_files_do_not_mix() {
        let a = span(FileId(0), 3, 5);
        let b = span(FileId(1), 1, 9);
        assert_eq!(a.to(b), a);
        assert_eq!(a.to(span(FileId(0), 8, 9)), span(FileId(0), 3, 9));
    }
}
