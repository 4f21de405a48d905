//! What the invocations of a dispatch print by DebugPrintf, in an order that depends on no host thread.

use super::context::Context;
use crate::code::PrintEntry;
use parking_lot::Mutex;
use pellucid_memory::access::Site;
use pellucid_memory::system::{LANES, Lanes, Mask};
use std::collections::BTreeMap;

/// A subgroup by `WorkgroupId.z`, `.y` and `.x`, then `SubgroupId`.
type Subgroup = [u32; 4];

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The instruction.
    pub site: Site,
    /// What it prints.
    pub text: String,
}

/// The messages of a dispatch: by workgroup (x changes fastest), then subgroup; within a subgroup in the
/// order in which its instructions were executed, each lane by lane.
#[derive(Debug)]
pub struct PrintLog {
    most: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    messages: BTreeMap<Subgroup, Vec<Printed>>,
    kept: u64,
    left_out: u64,
}

impl PrintLog {
    /// A log that keeps the first `most` messages of the order; 0 for all.
    pub fn new(most: u64) -> PrintLog {
        PrintLog { most: if most == 0 { u64::MAX } else { most }, state: Mutex::default() }
    }

    /// A lane of a subgroup prints.
    fn add(&self, subgroup: Subgroup, site: Site, text: impl FnOnce() -> String) {
        let mut state = self.state.lock();
        if state.kept >= self.most {
            state.left_out += 1;
            let Some(mut last) = state.messages.last_entry().filter(|last| *last.key() > subgroup) else {
                return;
            };
            // It has as many before it as are kept, now and from now on.
            last.get_mut().pop();
            if last.get().is_empty() {
                last.remove();
            }
        } else {
            state.kept += 1;
        }
        state.messages.entry(subgroup).or_default().push(Printed { site, text: text() });
    }

    /// Forgets all messages: the dispatch begins again.
    pub fn clear(&self) {
        *self.state.lock() = State::default();
    }

    /// The messages, and how many more there were.
    pub fn finish(self) -> (Vec<Printed>, u64) {
        let state = self.state.into_inner();
        (state.messages.into_values().flatten().collect(), state.left_out)
    }
}

/// DebugPrintf by the lanes of `mask`.
#[cold]
pub(super) fn print(context: &Context<'_>, entry: &PrintEntry, vectors: &[Lanes], mask: Mask) {
    let Some(log) = context.prints else { return };
    let Some(format) = context.program.shader.prints.get(entry.format as usize) else { return };
    for lane in (0..LANES).filter(|lane| mask & 1 << lane != 0) {
        let word = |k: usize| vectors[entry.registers[k] as usize].0[lane];
        log.add(std::array::from_fn(word), entry.site, || format.print(|k| word(4 + k)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_messages_of_the_order_are_kept_whatever_came_first() {
        let subgroups: [Subgroup; 5] = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]];
        for first in 0..subgroups.len() {
            let log = PrintLog::new(3);
            for k in 0..subgroups.len() {
                let subgroup = subgroups[(first + k) % subgroups.len()];
                log.add(subgroup, Site(0), || format!("{subgroup:?}"));
            }
            let (printed, left_out) = log.finish();
            let texts: Vec<&str> = printed.iter().map(|p| p.text.as_str()).collect();
            assert_eq!(texts, ["[0, 0, 0, 0]", "[0, 0, 0, 1]", "[0, 0, 1, 0]"]);
            assert_eq!(left_out, 2);
        }
    }
}
