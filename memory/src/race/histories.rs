//! The histories of words of which a cell cannot hold what is to be remembered.

use crate::history::History;

/// Histories by the number that cells hold.
#[derive(Clone, Default)]
pub struct Histories {
    slots: Vec<Option<Box<History>>>,
    free: Vec<u32>,
}

impl Histories {
    /// Forgets every history; numbers that cells hold are invalid then.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.free.clear();
    }

    /// Keeps a history; returns what its cell holds.
    pub fn insert(&mut self, history: History) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.slots[number as usize - 1] = Some(Box::new(history));
                number
            }
            None => {
                self.slots.push(Some(Box::new(history)));
                self.slots.len() as u32
            }
        }
    }

    /// The history of a cell that has one.
    pub fn get(&mut self, number: u32) -> Option<&mut History> {
        self.slots.get_mut((number as usize).checked_sub(1)?)?.as_deref_mut()
    }

    /// The history of a cell that has one.
    pub fn peek(&self, number: u32) -> Option<&History> {
        self.slots.get((number as usize).checked_sub(1)?)?.as_deref()
    }

    /// Forgets a cell's history.
    pub fn remove(&mut self, number: u32) {
        if let Some(slot) = (number as usize).checked_sub(1).and_then(|index| self.slots.get_mut(index))
            && slot.take().is_some()
        {
            self.free.push(number);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// About how many bytes a copy of them takes.
    pub fn weight(&self) -> usize {
        let entries = |history: &History| history.entries().len() + history.reads().len();
        let all = self.slots.iter().flatten();
        all.map(|history| size_of::<History>() + 64 * entries(history)).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
