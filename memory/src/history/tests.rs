use super::*;
use crate::random::Random;

/// The values that a load may read need not be listed to know the oldest or the newest of them.
#[test]
fn the_oldest_and_the_newest_are_those_of_all_candidates() {
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let mut history = History::default();
        let halves = random.below(3u32) == 0;
        let agent = |random: &mut Random| random.below(6u32);
        for time in 0..random.below(40u32) {
            let record = Record { agent: agent(&mut random), time, kind: 1 };
            let bytes = if halves { random.pick(&[3, 12, 15]) } else { 15 };
            if random.below(3u32) == 0 {
                let saw = history.last().saturating_sub(random.below(5u32));
                history.read(record, bytes, saw, random.below(2u32) == 0);
            } else {
                let (value, none) = (random.bits() as u32, ReleaseSequence::default());
                history.write(record, bytes, value, random.below(9u32), none, time.into());
            }
        }
        // What is ordered before a load lets it read something.
        let record = Record { agent: agent(&mut random), time: 99, kind: 1 };
        history.write(record, 15, random.bits() as u32, 0, ReleaseSequence::default(), 99);
        let newest = random.bits() as u32;
        let known: u32 = random.bits() as u32 & random.bits() as u32;
        for policy in [ValuePolicy::Latest, ValuePolicy::Stale, ValuePolicy::Varied] {
            let load = Load {
                policy,
                stale_budget: random.below(4u32),
                floor: history.last().saturating_sub(random.below(20u32)),
                fresh: random.below(20u32).into(),
                ..Load::explored(agent(&mut random), random.pick(&[15, 3, 12]), true, false)
            };
            let of = |load: &Load| {
                let ordered = |record: &Record| known >> (record.time % 32) & 1 != 0;
                let mut floors = |_: Option<usize>| history.floors(load, ordered);
                let loaded = history.load(load, newest, &mut floors, &mut |_| 0);
                (loaded.value, loaded.saw, loaded.seen, loaded.from)
            };
            assert_eq!(of(&load), of(&Load { tells: false, ..load }), "seed {seed}, {policy:?}");
        }
    }
}
