//! Work on many pages, by several threads.

use std::ops::Range;
use std::sync::OnceLock;
use std::thread::{self, ScopedJoinHandle};

/// Bytes that are worth a thread.
const PART: u64 = 4 << 20;

fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// What `each` makes of the runs, cut into parts of whole pages; in order, on however many threads.
pub(super) fn map<T: Send>(
    runs: impl Iterator<Item = Range<u64>>,
    each: impl Fn(Range<u64>) -> T + Sync,
) -> Vec<T> {
    let cut = |run: Range<u64>| {
        let end = run.end;
        run.step_by(PART as usize).map(move |at| at..(at + PART).min(end))
    };
    let parts: Vec<Range<u64>> = runs.flat_map(cut).collect();
    let bytes: u64 = parts.iter().map(|part| part.end - part.start).sum();
    let all = |parts: &[Range<u64>]| parts.iter().cloned().map(&each).collect::<Vec<T>>();
    let threads = if bytes < 2 * PART { 1 } else { threads().min((bytes / PART) as usize) };
    let mut shares = parts.chunks(parts.len().div_ceil(threads).max(1));
    let first = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        let begin = |share| match thread::Builder::new().spawn_scoped(scope, move || all(share)) {
            Ok(thread) => (share, Some(thread)),
            Err(_) => (share, None),
        };
        let others: Vec<(_, Option<ScopedJoinHandle<'_, Vec<T>>>)> = shares.map(begin).collect();
        let mut out = all(first);
        for (share, thread) in others {
            // Without a thread, or where it has panicked, this one does the work.
            out.extend(thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| all(share)));
        }
        out
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn parts_are_in_order_and_cover_the_runs() {
        let runs = [0..4096, 8192..(40 << 20), (48 << 20)..(49 << 20)];
        let parts = super::map(runs.iter().cloned(), |part| part);
        let mut at = 0;
        for part in &parts {
            assert!(part.start >= at && part.end > part.start && part.end - part.start <= super::PART);
            at = part.end;
        }
        let sum: u64 = parts.iter().map(|part| part.end - part.start).sum();
        assert_eq!(sum, runs.iter().map(|run| run.end - run.start).sum());
        assert!(super::map(std::iter::empty(), |part| part).is_empty());
    }
}
