//! What was seen of the application, until somebody asks for it.

use super::mapping::{pages, pages_of};
use super::spans::Spans;
use crate::device::HostAccesses;
use std::ops::Range;

/// What the application did and nobody has asked for yet.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// Runs that it changed, by the look that found them.
    pub written: Vec<Vec<Range<u64>>>,
    /// Pages that it read.
    pub read: Spans,
    /// Pages among these where the host seems to have nothing but unseen bytes.
    pub alone: Spans,
}

impl Noted {
    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.read.is_empty()
    }

    /// The same of memory of `size` bytes, of which these are `unseen` now; `alone` says of pages whether the
    /// host has still nothing else there.
    pub fn accesses(self, unseen: &Spans, size: u64, alone: impl Fn(&Range<u64>) -> bool) -> HostAccesses {
        let Noted { written: mut looks, mut read, alone: pages_alone } = self;
        let writes = if looks.len() > 1 {
            let mut all = Spans::default();
            looks.iter().flatten().for_each(|run| all.insert(run));
            all.iter().collect()
        } else {
            looks.pop().unwrap_or_default()
        };
        for run in &writes {
            read.remove(&pages(run));
        }
        let pages = read.iter().flat_map(pages_of).map(|page| page.start..page.end.min(size));
        let is_unseen = |page: &Range<u64>| unseen.first_within(page).as_ref() == Some(page);
        let reads = pages.map(|page| (page.clone(), is_unseen(&page))).collect();
        let parts = pages_alone.iter().flat_map(pages_of).filter(alone).filter_map(|page| {
            let parts = unseen.within(&page);
            Some(parts.first()?.start..parts.last()?.end)
        });
        HostAccesses { writes, reads, unseen: parts.collect() }
    }
}
