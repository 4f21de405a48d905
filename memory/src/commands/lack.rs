//! What the access scopes of a barrier lack to hold an access.

use super::dependency::{AccessScope, Accesses, Stages};
use super::range::Range;

/// What access scopes lack to hold an access.
pub(super) struct Lack {
    pub stage: bool,
    pub accesses: Accesses,
    pub range: bool,
}

impl Lack {
    /// Whether the masks hold the access, perhaps for other memory.
    pub fn holds(&self) -> bool {
        !self.stage && self.accesses.is_empty()
    }
}

/// What the best of some access scopes lacks to hold an access to these bytes; `None` if all of them are of
/// other memory. Where there are none, one with the barrier's `stages` could be.
pub(super) fn lack(
    scopes: &[AccessScope],
    stages: Stages,
    (stage, access): (Stages, Accesses),
    bytes: Range,
) -> Option<Lack> {
    let lacks = |stages: Stages, accesses: Accesses, range: bool| Lack {
        stage: !stages.contains(stage),
        accesses: access - accesses,
        range,
    };
    let there = scopes.iter().filter_map(|s| {
        let (holds, could) = s.holds(bytes);
        (holds || could).then(|| lacks(s.stages, s.accesses, !holds))
    });
    let missing =
        |lack: &Lack| u8::from(lack.stage) + u8::from(!lack.accesses.is_empty()) + u8::from(lack.range);
    let best = there.min_by_key(missing);
    best.or_else(|| scopes.is_empty().then(|| lacks(stages, Accesses::empty(), false)))
}
