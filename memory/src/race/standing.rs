//! How far a write is available and visible: what a debugger shows of it.

use super::agents::class_index;
use super::clocks::Key;
use super::order::{Later, Order, Record, StaticAccess};
use super::topology::Level;

/// How a write stands to an access that its reader could make now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// It happens before the access.
    pub happens_before: bool,
    /// It is available in the reader's instance of this level, by what happens before the access.
    pub available: Option<Level>,
    /// It is visible to the reader.
    pub visible: bool,
    /// It is location-ordered before the access.
    pub ordered: bool,
}

impl Order<'_> {
    /// How a write stands to a later access.
    pub fn standing(&self, write: &Record, kind: &StaticAccess, later: &Later<'_>) -> Standing {
        let own = write.agent == later.agent;
        let shared = |level: &Level| self.agents.topology().same(write.agent, later.agent, *level);
        let available = (0..4).rev().filter(shared).find(|l| self.available_at(write, kind, later, *l));
        Standing {
            happens_before: own || self.before(write, kind, later),
            available,
            visible: own || self.write_before_read(write, kind, later),
            ordered: self.ordered(write, kind, later),
        }
    }

    /// The widest level at which the writer, or the write itself, has made it available. Of a writer that has
    /// ended only what the write itself does is known.
    pub fn made_available(&self, write: &Record, kind: &StaticAccess) -> Option<Level> {
        let clocks = self.agents.clocks(write.agent);
        let class = class_index(kind.class);
        let made = |level: &Level| {
            kind.own() >= *level as i8
                || (kind.non_private && clocks.own_available.get(Key::any(class, *level)) >= write.time)
        };
        (0..4).rev().find(made)
    }
}
