//! Decorations, with groups resolved.

use super::words::Instruction;
use crate::CompileError;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{Decoration, Op};

/// A decoration's number and its first literal (0 if it has none).
type Applied = SmallVec<[(u32, u32); 4]>;

/// Decorations of ids and of structure members.
#[derive(Default)]
pub(crate) struct Decorations {
    ids: FxHashMap<u32, Applied>,
    members: FxHashMap<(u32, u32), Applied>,
}

impl Decorations {
    /// Takes up one annotation instruction. Groups are complete before they are applied (SPIR-V 2.4:
    /// decorations of a group come first).
    pub fn read(&mut self, instruction: &Instruction<'_>) -> Result<(), CompileError> {
        let i = instruction;
        match i.op {
            Op::Decorate | Op::DecorateId | Op::DecorateString => {
                let literal = i.rest(3).first().copied().unwrap_or(0);
                self.ids.entry(i.id(1)?).or_default().push((i.word(2)?, literal));
            }
            Op::MemberDecorate | Op::MemberDecorateString => {
                let literal = i.rest(4).first().copied().unwrap_or(0);
                self.members.entry((i.id(1)?, i.word(2)?)).or_default().push((i.word(3)?, literal));
            }
            Op::GroupDecorate => {
                let group = self.ids.get(&i.id(1)?).cloned().unwrap_or_default();
                for &target in i.rest(2) {
                    self.ids.entry(target).or_default().extend(group.iter().copied());
                }
            }
            Op::GroupMemberDecorate => {
                let group = self.ids.get(&i.id(1)?).cloned().unwrap_or_default();
                for pair in i.rest(2).chunks_exact(2) {
                    self.members.entry((pair[0], pair[1])).or_default().extend(group.iter().copied());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The literal of a decoration of an id.
    pub fn of(&self, id: u32, decoration: Decoration) -> Option<u32> {
        find(self.ids.get(&id)?, decoration)
    }

    /// The literal of a decoration of a structure member.
    pub fn of_member(&self, structure: u32, member: u32, decoration: Decoration) -> Option<u32> {
        find(self.members.get(&(structure, member))?, decoration)
    }

    /// True if the id has the decoration of this number, which the `spirv` crate does not name.
    pub fn has_number(&self, id: u32, number: u32) -> bool {
        self.ids.get(&id).is_some_and(|applied| applied.iter().any(|(other, _)| *other == number))
    }

    /// True if the id has the decoration.
    pub fn has(&self, id: u32, decoration: Decoration) -> bool {
        self.of(id, decoration).is_some()
    }
}

fn find(applied: &Applied, decoration: Decoration) -> Option<u32> {
    applied.iter().find(|(number, _)| *number == decoration as u32).map(|&(_, literal)| literal)
}

/// True for the instructions that [`Decorations::read`] takes.
pub(crate) fn is_annotation(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Decorate
            | DecorateId
            | DecorateString
            | MemberDecorate
            | MemberDecorateString
            | DecorationGroup
            | GroupDecorate
            | GroupMemberDecorate
    )
}
