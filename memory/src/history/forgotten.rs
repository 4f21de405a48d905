//! What a history does not know: values that it has forgotten.

use super::{History, Load, Loaded, Position};

impl History {
    /// There were writes of these bytes before this history began: bit `b` for byte `b`.
    pub fn forget_older(&mut self, bytes: u8) {
        self.forgotten |= bytes;
    }

    /// Whether the memory model may allow a load more than [`History::candidates`], whose values `found` are:
    /// something older that is forgotten, or something that is excluded only because others who read have
    /// been forgotten. Parameters as there.
    pub fn may_be_forgotten(
        &self,
        load: &Load,
        newest: u32,
        found: &[Loaded],
        floors: &mut dyn FnMut(&History, Option<usize>) -> [Position; 4],
    ) -> bool {
        // Who is forgotten has raised this, and may have nothing to do with the load.
        let free = History { floor: 0, ..self.clone() };
        let allowed = free.candidates(load, newest, &mut |index| floors(&free, index));
        let oldest = |b: usize, one: &Loaded| {
            let remembered = self.entries.iter().any(|entry| entry.bytes >> b & 1 != 0);
            !remembered || one.seen[b] == self.before_position
        };
        let forgotten = |b: &usize| load.bytes & self.forgotten & 1 << b != 0;
        allowed.len() != found.len()
            || (0..4).filter(forgotten).any(|b| allowed.iter().any(|one| oldest(b, one)))
    }
}
