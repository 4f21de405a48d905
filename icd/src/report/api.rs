//! What the API's calls, and not a shader's accesses alone, do wrong: what such findings have in common.

use super::context::Object;
use super::groups::FixPlace;
use super::json;
use super::note::{FixKind, Note, NoteKind, Notes};
use super::suppress::Subject;
use super::text::{Shown, as_above, diagnostic, level, snippets};
use super::words;
use pellucid_memory::finding::FindingId;
use serde_json::Value;

/// A finding about commands, calls of the host and objects, with what names them.
pub trait ApiFinding {
    /// What was found.
    fn id(&self) -> FindingId;

    /// What makes findings equal, apart from the id.
    fn key(&self) -> String;

    /// What suppressions are matched against.
    fn subject(&self) -> Subject;

    /// The objects that it is about.
    fn objects(&self) -> Vec<Object>;

    /// The source lines that it is about, the most important one first.
    fn shown(&self) -> Vec<Shown> {
        Vec::new()
    }

    /// True for what was said when it happened: it is counted and reported, and not shown again.
    fn is_said(&self) -> bool {
        false
    }

    /// What happened and what is missing, in the order in which it is shown.
    fn notes(&self) -> Vec<Note>;

    /// The smallest fix.
    fn help(&self) -> Note<FixKind>;

    /// Where that is made, if other findings may need the same change.
    fn fix_place(&self) -> Option<FixPlace> {
        None
    }

    /// What its line of the report file has beside the members of every finding: a JSON object.
    fn members(&self) -> Value;

    /// The diagnostic, ending in a line feed.
    fn render(&self, replay: &str) -> String {
        let notes = Notes { notes: self.notes(), help: vec![self.help()] };
        whole_or_short(self, notes, Some(replay))
    }

    /// The diagnostic of a finding that a fix which was told already mends, too: its accesses and their
    /// place.
    fn render_short(&self) -> String {
        let mut notes = Notes { notes: self.notes(), help: vec![as_above(self.help())] };
        notes.notes.retain(|note| matches!(note.kind, NoteKind::Access | NoteKind::Place));
        whole_or_short(self, notes, None)
    }

    /// One line of the report file.
    fn json(&self, number: u64, seed: u64, replay: &str, rendered: &str) -> Value {
        let id = self.id();
        let told = json::FindingLine {
            id: id.name(),
            family: words::family(id),
            title: words::title(id),
            severity: id.severity(),
            notes: Notes { notes: self.notes(), help: vec![self.help()] },
        };
        let mut line = told.line(number, seed, replay, rendered);
        if let (Some(line), Value::Object(mut members)) = (line.as_object_mut(), self.members()) {
            line.append(&mut members);
        }
        line
    }
}

fn whole_or_short(finding: &(impl ApiFinding + ?Sized), notes: Notes, replay: Option<&str>) -> String {
    let (id, shown) = (finding.id(), finding.shown());
    diagnostic(level(id.severity()), (id.name(), words::title(id)), snippets(&shown), notes, replay)
}
