//! What a dispatch touched, as few runs of bytes.

use super::range::Range;
use super::shadow::Operand;
use std::collections::BTreeMap;

/// Collects accesses to words and joins neighbours that differ in nothing but the invocation: the first one
/// stands for the run.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    /// By the access apart from its invocation: which of the open runs.
    slots: BTreeMap<Key, usize>,
    open: Vec<(Range, Operand)>,
    done: Vec<(Range, Operand)>,
}

type Key = (u32, u32, u32, Option<u32>, bool, [u8; 3]);

fn key(operand: &Operand) -> Key {
    let scope = |s: Option<crate::scope::Scope>| s.map_or(0, |s| 1 + s as u8);
    (
        operand.read.bits(),
        operand.write.bits(),
        operand.shader.map_or(0, |(site, _)| site.0),
        operand.reference.map(|r| r.0),
        operand.non_private,
        [scope(operand.available), scope(operand.visible), scope(operand.atomic)],
    )
}

impl Footprint {
    /// Nothing touched.
    pub fn new() -> Footprint {
        Footprint::default()
    }

    /// An access. Cheapest when addresses ascend.
    pub fn add(&mut self, range: Range, operand: Operand) {
        let mut slot = None;
        self.add_to(&mut slot, range, || operand);
    }

    /// The same for an access whose like differ in nothing but the invocation: `slot` is theirs, `None`
    /// before the first.
    #[inline]
    pub fn add_to(&mut self, slot: &mut Option<usize>, range: Range, operand: impl FnOnce() -> Operand) {
        let Some(slot) = *slot else {
            let operand = operand();
            let next = self.open.len();
            let known = *self.slots.entry(key(&operand)).or_insert(next);
            *slot = Some(known);
            if known == next {
                self.open.push((range, operand));
            } else {
                self.join(known, range, || operand);
            }
            return;
        };
        self.join(slot, range, operand);
    }

    #[inline]
    fn join(&mut self, slot: usize, range: Range, operand: impl FnOnce() -> Operand) {
        let open = &mut self.open[slot];
        if range.start <= open.0.end && range.end >= open.0.start {
            open.0 = Range { start: open.0.start.min(range.start), end: open.0.end.max(range.end) };
        } else {
            self.done.push(std::mem::replace(open, (range, operand())));
        }
    }

    /// The runs, by address; of runs that start together, reads come first.
    pub fn runs(mut self) -> Vec<(Range, Operand)> {
        self.done.extend(self.open);
        self.done.sort_by_key(|(range, operand)| (range.start, range.end, key(operand)));
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Site;
    use crate::agent::Invocation;
    use crate::commands::Accesses;

    #[test]
    fn neighbours_join_and_keep_the_first_invocation() {
        let by = |local_index| Invocation { dispatch: 0, workgroup: [0; 3], subgroup: 0, local_index };
        let access = |site, i| Operand {
            shader: Some((Site(site), by(i))),
            ..Operand::fixed(Accesses::empty(), Accesses::SHADER_STORAGE_WRITE)
        };
        let mut f = Footprint::new();
        for i in 0..64 {
            f.add(Range::new(0x1000 + 4 * u64::from(i), 4), access(1 + i / 32, i));
        }
        f.add(Range::new(0x2000, 4), access(1, 64));
        let runs = f.runs();
        let told: Vec<_> =
            runs.iter().map(|(r, o)| (r.start, r.end, o.shader.map(|s| s.1.local_index))).collect();
        assert_eq!(told, [(0x1000, 0x1080, Some(0)), (0x1080, 0x1100, Some(32)), (0x2000, 0x2004, Some(64))]);
    }
}
