//! Whether the application writes the pages again that it has changed.

use super::spans::Spans;

/// Whether the application writes the pages again that it has changed.
#[derive(Debug, Default)]
pub(super) struct Forecast {
    /// Pages that were expected to be written.
    pub(super) expected: Spans,
    /// Forecasts that are left out before the next one, and after the next one that fails.
    pub(super) left_out: u32,
    next: u32,
}

/// The most forecasts that are left out after one that has failed.
const LEFT_OUT: u32 = 63;

impl Forecast {
    /// `pages` of those that were expected have been changed.
    pub(super) fn judge(&mut self, changed: &Spans) {
        let expected = bytes(&std::mem::take(&mut self.expected));
        if expected == 0 {
            return;
        }
        if 2 * bytes(changed) >= expected {
            self.next = 0;
        } else {
            self.next = (2 * self.next + 1).min(LEFT_OUT);
            self.left_out = self.next;
        }
    }
}

/// Bytes of all of them.
pub(super) fn bytes(spans: &Spans) -> u64 {
    spans.iter().map(|run| run.end - run.start).sum()
}
