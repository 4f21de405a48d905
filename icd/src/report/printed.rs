//! Which diagnostics are printed: so many findings and so many others as `max-reports` allows, so that notes
//! and warnings hide no finding.

use pellucid_memory::finding::Severity;
use std::collections::BTreeSet;

/// What happens to one diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is printed.
    Shown,
    /// It is the first one that is not.
    FirstLeftOut,
    /// It is not printed.
    LeftOut,
}

/// What was printed so far.
#[derive(Debug, Default)]
pub struct Printed {
    /// Findings, and others, that were to be printed.
    asked: [u64; 2],
    numbers: BTreeSet<u64>,
}

impl Printed {
    /// The diagnostic of this number is to be printed; `most` of its sort are, or all if that is 0.
    pub fn take(&mut self, number: u64, severity: Severity, most: u32) -> Turn {
        let asked = &mut self.asked[usize::from(severity != Severity::Error)];
        *asked += 1;
        match *asked {
            count if most == 0 || count <= u64::from(most) => {
                self.numbers.insert(number);
                Turn::Shown
            }
            count if count == u64::from(most) + 1 => Turn::FirstLeftOut,
            _ => Turn::LeftOut,
        }
    }

    /// Whether the diagnostic of this number was printed.
    pub fn contains(&self, number: u64) -> bool {
        self.numbers.contains(&number)
    }
}

/// What is said of those that are not printed.
pub fn left_out(severity: Severity, most: u32) -> String {
    let what = if severity == Severity::Error { "findings" } else { "notes" };
    format!("{most} {what} shown; the others are counted only (max-reports)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_leave_room_for_findings() {
        let mut printed = Printed::default();
        let warnings: Vec<Turn> = (1..5).map(|n| printed.take(n, Severity::Warning, 2)).collect();
        assert_eq!(warnings, [Turn::Shown, Turn::Shown, Turn::FirstLeftOut, Turn::LeftOut]);
        assert_eq!(printed.take(5, Severity::Error, 2), Turn::Shown);
        assert_eq!((printed.contains(5), printed.contains(3)), (true, false));
        assert_eq!(printed.take(6, Severity::Note, 0), Turn::Shown);
    }
}
