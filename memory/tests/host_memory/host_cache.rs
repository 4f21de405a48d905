//! Memory behind the host's cache of a machine.

use super::*;

impl Mapped {
    /// What the host's cache holds and memory does not.
    fn differing(&self) -> Vec<(u64, Vec<u8>, bool)> {
        let lines = self.memory.host_lines(0, u64::MAX).expect("a cache");
        let told = |run: &HostBytes| (run.address - self.memory.address(), run.bytes.clone(), run.dirty);
        lines.differing().iter().map(told).collect()
    }
}

#[test]
fn a_host_cache_that_writes_back_keeps_what_is_not_flushed_by_lines() {
    let m = Mapped::new(cached(WritePolicy::Back, 128));
    m.put(70, 1);
    m.put(130, 2);
    assert_eq!(m.writes(), [70..71, 130..131]);
    assert_eq!((m.device(70), m.device(130)), (0, 0));
    assert_eq!(m.differing(), [(70, vec![1], true), (130, vec![2], true)]);
    assert!(m.memory.flush(0, 64).moved.is_empty(), "another atom");
    assert_eq!((m.device(70), m.device(130)), (1, 0), "of the same line, and of another one");
    assert_eq!(m.differing(), [(130, vec![2], true)]);
    assert_eq!(m.memory.flush(0, 128).moved, [70..71], "it was not flushed before");
    m.memory.evict(7, 1);
    assert_eq!(m.device(130), 2, "the line is evicted");
    assert_eq!(m.memory.flush(128, 128).moved, [130..131]);
}

#[test]
fn a_host_cache_holds_what_it_accessed_and_fetches_the_rest() {
    if pellucid_memory::host::refusal().is_some() {
        eprintln!("skipped: the kernel does not track reads");
        return;
    }
    for line in [64, 128] {
        let m = Mapped::new(cached(WritePolicy::Back, line));
        m.put(4, 3);
        m.memory.flush(0, u64::MAX);
        m.device_writes(0, &[9; 8]);
        m.device_writes(8192, &[9; 8]);
        assert!(![0, 3, 9].contains(&m.get(4)), "what nobody may read is neither");
        assert_eq!(m.get(8192), 9, "nothing old is in the cache");
        assert_eq!(m.differing(), [(0, vec![0, 0, 0, 0, 3, 0, 0, 0], false)]);
        // The atoms beside it go along with the line.
        assert_eq!(m.invalidate(64, 64).seen, []);
        assert_eq!(m.get(0) == 9, line == 128);
        m.memory.evict(7, 1);
        assert_eq!(m.get(0), 9, "the line is evicted");
        assert_eq!((m.differing(), m.invalidate(0, 64).seen), (vec![], vec![0..8]));
    }
}

#[test]
fn a_host_cache_that_writes_through_or_is_coherent_shows_no_missing_flush() {
    for (writes, coherent) in [(WritePolicy::Through, false), (WritePolicy::Coherent, true)] {
        let m = Mapped::new(cached(writes, 64));
        m.put(70, 1);
        assert_eq!(m.writes(), [70..71]);
        assert_eq!(m.device(70), 1);
        m.device_writes(70, &[2, 2, 2, 2]);
        assert_eq!(m.get(70) == 2, coherent, "{writes:?}");
        let old = if coherent { vec![] } else { vec![(70, vec![1, 0, 0, 0], false)] };
        assert_eq!(m.differing(), old, "{writes:?}");
        assert_eq!(m.invalidate(64, 64).seen, [70..74]);
        assert_eq!(m.get(70), 2);
    }
}

#[test]
fn what_was_there_before_is_written_again_behind_a_host_cache() {
    for writes in [WritePolicy::Back, WritePolicy::Through, WritePolicy::Coherent] {
        for touched in [false, true] {
            let m = Mapped::new(cached(writes, 64));
            if touched {
                m.get(0);
                m.writes();
            }
            for _ in 0..3 {
                m.device_writes(0, &64u32.to_le_bytes());
                (0..4).for_each(|i| m.put(i, 0));
                assert!(m.memory.flush(0, u64::MAX).lost.is_empty());
                assert_eq!((0..4).map(|i| m.device(i)).collect::<Vec<_>>(), [0; 4], "{writes:?}");
            }
        }
    }
}
