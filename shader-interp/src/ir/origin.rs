//! Numbers for the components that loads may find undefined, so that a value can carry along where it comes
//! from.

use pellucid_memory::access::Site;

/// Most numbers.
const MOST: u32 = 1 << 29;

/// A component of a variable, and the load that read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The load.
    pub site: Site,
    /// Index into `Shader::variables`.
    pub variable: u32,
    /// First byte, from the variable's first.
    pub offset: u32,
    /// Bytes; 0 if which component it is was not kept.
    pub bytes: u8,
}

/// Origins by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// The first number of a run, and its origin. Each number that follows is one component further.
    runs: Vec<(u32, Origin)>,
    end: u32,
}

impl Origins {
    /// The first of `count` numbers in a row, for components side by side from `first` on. Where no numbers
    /// are left, all are one that does not say which: the step from one to the next is returned, too.
    pub fn add(&mut self, first: Origin, count: u32) -> (u32, u32) {
        let number = self.end;
        let (origin, count, step) = match number.checked_add(count).filter(|end| *end < MOST) {
            Some(_) => (first, count, 1),
            None => (Origin { offset: 0, bytes: 0, ..first }, 1, 0),
        };
        self.runs.push((number, origin));
        self.end = number.saturating_add(count);
        (number, step)
    }

    /// The origin with a number.
    pub fn get(&self, number: u32) -> Option<Origin> {
        let after = self.runs.partition_point(|(first, _)| *first <= number);
        let (first, origin) = *self.runs.get(after.checked_sub(1)?)?;
        let further = (number - first).wrapping_mul(u32::from(origin.bytes));
        (number < self.end).then_some(Origin { offset: origin.offset.wrapping_add(further), ..origin })
    }

    /// The loads, some of them more than once.
    pub fn sites(&self) -> impl Iterator<Item = Site> + '_ {
        self.runs.iter().map(|(_, origin)| origin.site)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_components() {
        let mut origins = Origins::default();
        let origin = |site, offset, bytes| Origin { site: Site(site), variable: 7, offset, bytes };
        assert_eq!(origins.add(origin(1, 8, 4), 3), (0, 1));
        assert_eq!(origins.add(origin(2, 0, 8), 2), (3, 1));
        assert_eq!(origins.get(0), Some(origin(1, 8, 4)));
        assert_eq!(origins.get(2), Some(origin(1, 16, 4)));
        assert_eq!(origins.get(4), Some(origin(2, 8, 8)));
        assert_eq!(origins.get(5), None);
        assert_eq!(origins.add(origin(3, 12, 4), MOST), (5, 0));
        assert_eq!(origins.get(5), Some(origin(3, 0, 0)));
        assert_eq!(origins.get(6), None);
    }
}
