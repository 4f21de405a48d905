//! The caches of the order against the order: random programs of whole subgroups, once with the paths that
//! serve lanes by a few comparisons, once with vector clocks alone.

use super::machine::{Machine, U, W, access, both, coherent, semantics};
use super::*;
use crate::access::AtomicOp;
use crate::agent::Placement;
use crate::commands::Range;
use crate::random::Random;
use std::collections::BTreeSet;

const WORDS: u32 = 64;

/// Which word each lane of a subgroup accesses.
#[derive(Clone, Copy)]
enum Pattern {
    /// One after the other, from this one.
    Consecutive(u32),
    /// All the same.
    One(u32),
    /// The lanes from the last to the first.
    Reversed,
    /// Every third.
    Scattered,
    /// So many neighbours the same.
    Groups(u32),
    /// Every fifth, and again from the beginning.
    Turns,
    /// As the bits of the lane's number are from the last to the first.
    Turned,
}

impl Pattern {
    /// Byte offsets of values of so many bytes.
    fn offsets(self, bytes: u32) -> Lanes {
        let places = 4 * WORDS / bytes;
        Lanes(std::array::from_fn(|lane| {
            let lane = lane as u32;
            let place = match self {
                Pattern::Consecutive(first) => first + lane,
                Pattern::One(place) => place,
                Pattern::Reversed => 31 - lane,
                Pattern::Scattered => 3 * lane,
                Pattern::Groups(size) => lane / size,
                Pattern::Turns => 5 * lane + 1,
                Pattern::Turned => lane.reverse_bits() >> 27,
            };
            bytes * (place % places)
        }))
    }
}

/// A finding: what it is, and the instructions, the earlier one first.
type Told = (&'static str, Vec<Site>);

/// What a program shows.
#[derive(Debug, PartialEq)]
struct Shown {
    /// What loads got.
    got: Vec<u32>,
    told: BTreeSet<Told>,
    /// Which bytes of buffers were read, and which written, if nothing raced: racing words remember more on
    /// the slow path.
    touched: BTreeSet<(u64, bool)>,
}

#[derive(Clone, Copy)]
enum Step {
    Load(machine::How),
    Store(machine::How),
    Add(Scope),
    Barrier,
    /// Of the lanes of a subgroup.
    Near(Scope),
    Fence(Scope),
}

/// How a memory barrier is executed.
type Fence = fn(&mut CheckedMemory, Site, Mask, Scope, &Semantics);

fn races(told: &BTreeSet<Told>) -> bool {
    told.iter().any(|(id, _)| id.starts_with("race"))
}

/// Everything that a program shows: what loads got, and the findings; and whether accesses of parts of words
/// were among its: what is remembered of parts of words, which those have on the slow path, is more than of
/// whole ones.
///
/// `shared`: most accesses are of whole words of memory of this class, many of them of neighbours' words.
/// `alone`: only this subgroup accesses memory.
fn run(seed: u64, only_order: bool, shared: Option<StorageClasses>, alone: Option<u32>) -> (Shown, bool) {
    let mut random = Random::new(seed);
    // Its words are on one page of what is remembered, or on two; the memory of a workgroup has a few before.
    let (address, before) = if shared.is_some() { (0x1380, 0x4c0) } else { (0x1000, 0) };
    let near = shared.is_none() || seed.is_multiple_of(2);
    // In some barriers alone order: they have fences or atomics. The order is not told.
    let by_barriers = shared == Some(W) && seed % 4 == 1;
    let (adds, fences) = (!by_barriers || seed % 8 == 1, !by_barriers || seed % 8 == 5);
    let mut machine =
        Machine::of(CheckOptions::default(), before + 4 * WORDS, (near, by_barriers && !only_order));
    machine.memory.core.only_order = only_order;
    // Two buffers that are reached by address.
    let buffer =
        |address| MemoryRange::of_words(&[0; WORDS as usize / 2], address, Reference::PHYSICAL).unwrap();
    machine.memory.addresses = Arc::new(vec![buffer(0x9000), buffer(0x9080)]);
    let (mut got, mut parts) = (Vec::new(), false);
    for number in 0..6 + random.below(30) {
        // A few instructions, executed again and again by all subgroups.
        let site = 1 + random.below(6);
        let mut choices = Random::new(u64::from(site) * 77 + seed * 1013 + 5);
        let how = choices.pick(&[
            if by_barriers { machine::SHARED } else { machine::PRIVATE },
            machine::SHARED,
            machine::SHARED,
            coherent(Scope::Workgroup),
            coherent(Scope::Device),
        ]);
        let step = match choices.below(11) {
            0..=2 => Step::Load(how),
            3..=5 => Step::Store(how),
            6 if adds => Step::Add(choices.pick(&[Scope::Workgroup, Scope::Device])),
            7 if fences => Step::Fence(choices.pick(&[Scope::Workgroup, Scope::Device])),
            8 if near => Step::Near(choices.pick(&[Scope::Subgroup, Scope::Workgroup])),
            _ => Step::Barrier,
        };
        let (size, components) = match step {
            Step::Load(_) | Step::Store(_) if shared.is_some() => {
                choices.pick(&[(4, 1), (4, 1), (4, 2), (4, 4), (8, 1)])
            }
            Step::Load(_) | Step::Store(_) => choices.pick(&[
                (4, 1),
                (4, 1),
                (4, 2),
                (4, 3),
                (4, 4),
                (2, 1),
                (2, 1),
                (2, 2),
                (2, 2),
                (2, 3),
                (2, 4),
                (8, 1),
                (8, 2),
                (1, 1),
                (1, 1),
                (1, 3),
                (1, 4),
            ]),
            Step::Add(_) => choices.pick(&[(4, 1), (4, 1), (8, 1)]),
            _ => (4, 1),
        };
        parts |= size <= 2;
        let shape = |access: Access| Access { size, components, ..access };
        let class = shared.filter(|_| choices.below(8) != 0).unwrap_or_else(|| choices.pick(&[U, W]));
        // No access is in both buffers.
        let whole = (2 * WORDS).is_multiple_of(u32::from(size) * u32::from(components));
        let physical = class == U && whole && choices.below(3) == 0;
        let pattern = choices.pick(&[
            Pattern::Consecutive(0),
            Pattern::Consecutive(16),
            Pattern::Consecutive(32),
            Pattern::One(5),
            Pattern::Reversed,
            Pattern::Scattered,
            Pattern::Groups(2),
            Pattern::Groups(16),
        ]);
        let pattern = match shared.is_some() && choices.below(2) == 0 {
            true => choices.pick(&[
                Pattern::Consecutive(0),
                Pattern::Consecutive(1),
                Pattern::Consecutive(31),
                Pattern::Turns,
                Pattern::Turned,
            ]),
            false => pattern,
        };
        let mask = choices.pick(&[Mask::MAX, Mask::MAX, 0x0000_ffff, 0x0ff0_0001]);
        let subgroup = random.below(4);
        if let Step::Barrier = step {
            // By itself, or only with the availability and visibility operations of accesses; some directly
            // between memory barriers, which one way executes at once, the other with the barrier.
            let orders = semantics(true, true, U | W, choices.below(2) == 0);
            let beside: &[&[(Scope, StorageClasses)]] = &[
                &[],
                &[],
                &[(Scope::Workgroup, U | W)],
                &[(Scope::Device, U)],
                &[(Scope::Device, U | W), (Scope::Workgroup, W)],
            ];
            let mut some = || if fences { choices.pick(beside) } else { &[] };
            let (before, behind) = (some(), some());
            let [fence_before, fence_behind]: [Fence; 2] = match only_order {
                true => [CheckedMemory::fence; 2],
                false => [CheckedMemory::fence_before_barrier, CheckedMemory::fence_behind_barrier],
            };
            let one_way = choices.below(4) == 0;
            let (releases, acquires) =
                (|of| semantics(!one_way, true, of, true), |of| semantics(true, !one_way, of, true));
            for _ in 0..choices.pick(&[1, 1, 3, 6]) {
                for first in [subgroup / 2 * 64, subgroup / 2 * 64 + 32] {
                    machine.enter(first);
                    for (scope, classes) in before {
                        let orders = releases(*classes);
                        fence_before(&mut machine.memory, Site(7), Mask::MAX, *scope, &orders);
                    }
                    for (scope, classes) in behind.iter().filter(|_| !only_order) {
                        let orders = acquires(*classes);
                        machine.memory.announce_fence(Site(8), Mask::MAX, *scope, &orders);
                    }
                    let scope = Scope::Workgroup;
                    machine.memory.barrier_arrive(Site(site), Mask::MAX, scope, scope, &orders);
                }
                machine.memory.barrier_complete(subgroup / 2);
                for first in [subgroup / 2 * 64, subgroup / 2 * 64 + 32] {
                    machine.enter(first);
                    for (scope, classes) in behind {
                        let orders = acquires(*classes);
                        fence_behind(&mut machine.memory, Site(8), Mask::MAX, *scope, &orders);
                    }
                }
            }
            continue;
        }
        if alone.is_some_and(|one| one != subgroup) {
            continue;
        }
        machine.enter(32 * subgroup);
        // The buffer is bound twice.
        let through = Reference(choices.pick(&[0, 0, 1]));
        let view = MemoryView::of_words(&mut machine.words).at(address).through(through);
        let offset = pattern.offsets(u32::from(size) * u32::from(components));
        let pointers = match class {
            W => Pointers::Workgroup { offset: &offset, immediate: before, reference: Reference(0) },
            _ if physical => Pointers::Physical { low: &offset, high: &Lanes::ZERO, immediate: 0x9000 },
            _ => Pointers::View { view: &view, offset: &offset, immediate: 0 },
        };
        let (memory, at) = (&mut machine.memory, Site(site));
        let cut = u32::MAX >> (32 - 8 * u32::from(size.min(4)));
        let value: [Lanes; 4] = std::array::from_fn(|k| {
            Lanes(std::array::from_fn(|lane| (1000 * number + 100 * k as u32 + lane as u32) & cut))
        });
        let mut out = [Lanes::ZERO; 4];
        let registers = usize::from(components) * if size == 8 { 2 } else { 1 };
        match step {
            Step::Load(how) => {
                let access = shape(access(how, class, false));
                memory.load(at, pointers, mask, &access, &mut out[..registers]).unwrap();
            }
            Step::Store(how) => {
                let access = shape(access(how, class, true));
                memory.store(at, pointers, mask, &access, &value[..registers]).unwrap();
            }
            Step::Add(scope) => {
                let access =
                    Access { atomic: Some(scope), non_private: true, ..Access::plain(class, size, 1) };
                let (op, value) = (AtomicOp::IAdd, &value[..registers]);
                let out = &mut out[..registers];
                memory.read_modify_write(at, op, pointers, mask, &access, value, None, out).unwrap();
            }
            Step::Fence(scope) => memory.fence(at, mask, scope, &both(U | W)),
            Step::Near(scope) => {
                let orders = semantics(true, true, U | W, choices.below(2) == 0);
                memory.barrier_arrive(at, mask, Scope::Subgroup, scope, &orders);
            }
            Step::Barrier => {}
        }
        crate::component::each(mask, |lane| got.extend(out.map(|register| register.0[lane])));
    }
    let told =
        |finding: Finding| (finding.id.name(), finding.accesses.iter().map(|access| access.site).collect());
    let mut touched = BTreeSet::new();
    for (range, operand) in machine.memory.footprint().iter() {
        let does = [(false, operand.read), (true, operand.write)];
        for (write, _) in does.into_iter().filter(|(_, accesses)| !accesses.is_empty()) {
            touched.extend((range.start..range.end).map(|at| (at, write)));
        }
    }
    let told: BTreeSet<Told> = machine.end().into_iter().map(told).collect();
    if races(&told) {
        touched.clear();
    }
    (Shown { got, told, touched }, parts)
}

/// Words of which an invocation read one byte each, beside others that are whole.
#[test]
fn bytes_that_were_not_read_are_not_told() {
    let byte = machine::How { size: 1, ..machine::SHARED };
    let mut machine = Machine::stale();
    for word in 0..4 {
        machine.load(1, 0, U, 4 * word, byte);
    }
    machine.load(2, 1, U, 32, machine::SHARED);
    machine.store(3, 2, U, 48, machine::SHARED, 7);
    let touched = machine.memory.footprint();
    let starts = [0x1000, 0x1004, 0x1008, 0x100c].map(|start| Range::new(start, 1));
    let rest = [0x1020, 0x1030].map(|start| Range::new(start, 4));
    assert!(touched.iter().map(|(range, _)| range).eq(starts.into_iter().chain(rest)), "{touched:?}");
}

#[test]
fn the_fast_paths_say_what_the_order_says() {
    let (mut racy, mut clean) = (0, 0);
    for seed in 1..1700 {
        let ((fast, parts), (slow, _)) = (run(seed, false, None, None), run(seed, true, None, None));
        let racing = races(&slow.told);
        if racing && parts {
            // Of the accesses that race with a later one another may be told, and of two instructions that
            // race in several words the other one as the later.
            let pairs = |findings: &BTreeSet<Told>| -> BTreeSet<Told> {
                let mut pairs: Vec<Told> = findings.iter().cloned().collect();
                pairs.iter_mut().for_each(|(_, sites)| sites.sort_unstable());
                pairs.into_iter().collect()
            };
            let (some, all) = (pairs(&fast.told), pairs(&slow.told));
            assert!(races(&fast.told) && some.is_subset(&all), "seed {seed}: {some:?}, {all:?}");
        } else {
            assert_eq!(fast, slow, "seed {seed}");
        }
        *if racing { &mut racy } else { &mut clean } += 1;
    }
    assert!(racy > 200 && clean > 100, "{racy} {clean}");
}

/// Programs of whole words of one class, as seen from both sides.
fn words_that_neighbours_share(class: StorageClasses) {
    let (mut racy, mut clean) = (0, 0);
    for seed in 1..1000 {
        let one = |only_order, alone| run(seed, only_order, Some(class), alone).0;
        let (fast, mut slow) = (one(false, None), one(true, None));
        let racing = races(&slow.told);
        if racing && class == U {
            // Two readers are remembered of a word, and which ones depends on whether lanes are served one
            // by one. A race of an invocation with itself is told at the latest when nobody else is there.
            let own = |(id, _): &Told| *id == "race-same-invocation";
            let alone: BTreeSet<Told> = (0..4).flat_map(|subgroup| one(true, Some(subgroup)).told).collect();
            slow.told.extend(fast.told.intersection(&alone).filter(|told| own(told)).cloned());
        }
        if class == W && seed % 4 == 1 && racing {
            // Of several instructions that read alike the first one is told.
            assert!(races(&fast.told), "seed {seed}");
            continue;
        }
        assert_eq!(fast.told, slow.told, "seed {seed}");
        // Of words that race between workgroups the histories that loads choose from may begin elsewhere.
        let same = fast == slow || (racing && class == U);
        assert!(same, "seed {seed}: other values, or other bytes touched");
        *if racing { &mut racy } else { &mut clean } += 1;
    }
    assert!(racy > 200 && clean > 100, "{racy} {clean}");
}

#[test]
fn words_of_workgroups_that_neighbours_share_are_what_the_order_says() {
    words_that_neighbours_share(W);
}

#[test]
fn words_of_buffers_that_neighbours_share_are_what_the_order_says() {
    words_that_neighbours_share(U);
}

/// What is read of a buffer by one instruction, and what the checks between commands are told.
fn read(seed: u64, written: Option<Vec<(u64, u64)>>) -> (Vec<u32>, String) {
    let mut random = Random::new(seed);
    let mut machine = Machine::stale();
    machine.memory.begin_dispatch(DispatchInfo {
        groups: [2, 1, 1],
        workgroup_size: 64,
        placement: Placement::in_order(32),
        written,
        ..DispatchInfo::default()
    });
    machine.words.iter_mut().enumerate().for_each(|(k, word)| *word = 0x0001_0203 * k as u32);
    // Of parts of words, cells remember fewer readers.
    let (size, components) = random.pick(&[(4, 1), (4, 2), (4, 4), (8, 1), (2, 2), (2, 1)]);
    let access = Access { size, components, ..Access::plain(U, 4, 1) };
    let registers = usize::from(components) * if size == 8 { 2 } else { 1 };
    let mut got = Vec::new();
    for _ in 0..random.below(12) {
        machine.enter(32 * random.below(4));
        let view = MemoryView::of_words(&mut machine.words).at(0x1000).through(Reference(0));
        let pattern = random.pick(&[Pattern::Consecutive(0), Pattern::Consecutive(9), Pattern::Scattered]);
        let offset = pattern.offsets(u32::from(size) * u32::from(components));
        // Some lanes read behind the end.
        let immediate = random.pick(&[0, 0, 16, 208]);
        let from = Pointers::View { view: &view, offset: &offset, immediate };
        let mut out = [Lanes::ZERO; 4];
        let mask = random.pick(&[Mask::MAX, 0x0000_ffff, 0x0ff0_0001]);
        machine.memory.load(Site(1), from, mask, &access, &mut out[..registers]).unwrap();
        crate::component::each(mask, |lane| got.extend(out[..registers].iter().map(|lanes| lanes.0[lane])));
    }
    let touched = machine.memory.footprint();
    (got, format!("{touched:?} {:?}", machine.memory.end_dispatch()))
}

#[test]
fn what_the_dispatch_does_not_write_is_read_and_told_in_the_same_way() {
    for seed in 1..400 {
        let slow = read(seed, None);
        assert_eq!(read(seed, Some(vec![(0x2000, 0x3000)])), slow, "seed {seed}");
        assert_eq!(read(seed, Some(vec![(0x10f0, 0x1100)])), slow, "seed {seed}");
    }
}

/// 16-bit values that are stored by themselves or in pairs, and read by others behind a barrier: no word gets
/// a history, which would be a hundred times as slow, in buffers and in workgroup memory.
#[test]
fn single_16_bit_values_stay_on_the_fast_path() {
    let shapes = [(1, 1), (2, 1), (3, 1), (1, 2), (3, 2), (2, 3)];
    for (class, (stored, loaded)) in [U, W].into_iter().flat_map(|class| shapes.map(|shape| (class, shape))) {
        let how = if stored == 2 { coherent(Scope::Workgroup) } else { machine::SHARED };
        let mut machine = Machine::stale();
        let mut turn = |site: u32, subgroup: u32, components: u8, store: Option<u32>| {
            machine.enter(32 * subgroup);
            let view = MemoryView::of_words(&mut machine.words).at(0x1000).through(Reference(0));
            // All that is loaded was stored.
            let bytes = if stored == loaded { 64 } else { 60 };
            let places = bytes / 2 / u32::from(components);
            let offset =
                Lanes(std::array::from_fn(|lane| 2 * u32::from(components) * (lane as u32 % places)));
            let mask = Mask::MAX >> (32 - places);
            let pointers = match class {
                W => Pointers::Workgroup { offset: &offset, immediate: 0, reference: Reference(0) },
                _ => Pointers::View { view: &view, offset: &offset, immediate: 0 },
            };
            let shape = |write| Access { size: 2, components, ..access(how, class, write) };
            let mut values = [Lanes::ZERO; 3];
            let registers = &mut values[..usize::from(components)];
            match store {
                Some(value) => {
                    registers.fill(Lanes([value; LANES]));
                    machine.memory.store(Site(site), pointers, mask, &shape(true), registers).unwrap();
                }
                None => {
                    let (memory, at) = (&mut machine.memory, Site(site));
                    memory.load(at, pointers, mask, &shape(false), registers).unwrap();
                }
            }
            (0..2).for_each(|subgroup| {
                machine.enter(32 * subgroup);
                let everything = semantics(true, true, U | W, stored != 2);
                machine.memory.barrier_arrive(
                    Site(9),
                    Mask::MAX,
                    Scope::Workgroup,
                    Scope::Workgroup,
                    &everything,
                );
            });
            machine.memory.barrier_complete(0);
            assert_eq!(machine.memory.core.histories.len(), 0, "{class:?} {stored} {loaded} {site}");
            values[0].0
        };
        for round in 1..4 {
            turn(1, 0, stored, Some(round));
            assert_eq!(turn(2, 1, loaded, None)[..4], [round; 4]);
            turn(3, 0, loaded, None);
        }
        assert!(machine.end().is_empty());
    }
}

/// A word that was split is one again for who accesses all of it, and what was read of its halves is told
/// once it is written in another way.
#[test]
fn words_that_were_split_tell_what_they_knew() {
    let half = machine::How { size: 2, ..machine::SHARED };
    let byte = machine::How { size: 1, ..machine::SHARED };
    let mut machine = Machine::stale();
    machine.store(1, 0, U, 0, machine::SHARED, 0xbbbb_aaaa);
    machine.barrier(2, 0, Scope::Workgroup, both(U | W));
    assert_eq!(machine.load(3, 1, U, 0, half), 0xaaaa);
    assert!([0, 0xbbbb_aaaa].contains(&machine.load(4, 64, U, 0, machine::SHARED)), "no half of a store");
    let found = machine.end();
    let told: Vec<_> = found.iter().map(|finding| (finding.accesses.len(), finding.count)).collect();
    assert_eq!(told, [(2, 1)], "one race: {found:?}");

    let mut machine = Machine::stale();
    machine.load(1, 0, U, 2, half);
    machine.store(2, 0, U, 3, byte, 7);
    let read = machine.memory.footprint().bytes(|operand| operand.write.is_empty());
    assert!(read.ranges().eq([Range { start: 0x1002, end: 0x1004 }]));
}
