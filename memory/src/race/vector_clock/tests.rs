//! Vector clocks against tables with a time for each agent.

use super::super::span_tree::{FAN, LEAF};
use super::*;
use crate::random::Random;

#[test]
fn spans_behave_like_a_table_of_maxima() {
    let (leaf, branch) = (1 << LEAF, 1 << (LEAF + FAN));
    for base in [0, leaf - 20, leaf - 7, branch - 20, (branch << FAN) - 3] {
        for apart in [1, 30, 1000] {
            compare_with_a_table(base, apart);
        }
    }
}

/// Of 40 groups of `apart` agents from `base`.
fn compare_with_a_table(base: AgentId, apart: AgentId) {
    let mut random = Random::new(7);
    let group = |n: u32| base + apart * n;
    for _ in 0..700 {
        let mut table = [[0u32; 40]; 2];
        let mut clocks = [VectorClock::default(), VectorClock::default()];
        for _ in 0..random.below(8) {
            let which = random.below(2);
            let first = random.below(38);
            let end = first + 1 + random.below(39 - first);
            let time = random.below(4);
            clocks[which].join_range(group(first)..group(end), time);
            for slot in &mut table[which][first as usize..end as usize] {
                *slot = time.max(*slot);
            }
        }
        let [a, b] = &clocks;
        let includes = (0..40).all(|i| table[0][i] >= table[1][i]);
        assert_eq!(a.includes(b), includes);
        assert_eq!(a == b, table[0] == table[1]);
        let mut joined = a.clone();
        joined.join(b);
        let mut other_way = b.clone();
        other_way.join(a);
        assert!(joined.includes(a) && joined.includes(b) && joined == other_way);
        let cut = joined.within(&(group(5)..group(20)));
        assert!(joined.includes(&cut));
        for i in 0..40 {
            let agent = group(i as u32);
            assert_eq!(a.get(agent), table[0][i]);
            let both = table[0][i].max(table[1][i]);
            assert_eq!(joined.get(agent), both);
            assert_eq!(joined.get(agent + apart - 1), both);
            assert_eq!(cut.get(agent), if (5..20).contains(&i) { both } else { 0 });
        }
    }
}

#[test]
fn neighbours_with_equal_times_are_one_span() {
    let mut clock = VectorClock::default();
    for agent in 0..64 {
        clock.join_range(agent..agent + 1, 3);
    }
    assert!(matches!(clock.0, Known::One(Span { first: 0, end: 64, time: 3 })));
}
