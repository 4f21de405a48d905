//! Resources that share memory, beside accesses to that memory itself.

use super::*;
use crate::aliases::SparseAliases;
use crate::commands::{Accesses, Range};
use crate::device::{Allocation, HostMemory, MemoryRange};
use crate::heap::{self, Heap};
use crate::host::PAGE;
use crate::random::Random;
use crate::system::LaneAccesses;
use std::sync::Arc;

/// Two resources of four pages, and the memory of four that they share.
struct Shared {
    memory: Arc<Allocation>,
    resources: [Arc<Allocation>; 2],
    aliases: Arc<SparseAliases>,
}

/// Of each resource which page of memory is bound to its pages; 9: none.
const BOUND: [[u64; 4]; 2] = [[1, 0, 3, 9], [0, 1, 2, 1]];

fn shared() -> Shared {
    let heap = Arc::new(Heap::new(0x1_0000_0000, 1 << 22).unwrap());
    let addresses = Arc::new(Heap::new(0x2_0000_0000, 1 << 22).unwrap());
    let memory = Allocation::new(&heap, 4 * PAGE, HostMemory::Flat).unwrap();
    let mut aliases = SparseAliases::default();
    let resources = BOUND.map(|bound| {
        let resource = Allocation::sparse(&addresses, heap::Placement::Anywhere, 4 * PAGE).unwrap();
        for (n, page) in (0u64..).zip(bound).filter(|(_, page)| *page < 4) {
            let part = n * PAGE..(n + 1) * PAGE;
            assert!(resource.bind(&part, Some((&memory, page * PAGE))).unwrap());
            let bytes = Range::new(resource.address() + part.start, PAGE);
            aliases.bind(bytes, Some((&memory, page * PAGE)));
        }
        resource
    });
    Shared { memory, resources, aliases: Arc::new(aliases) }
}

impl Shared {
    /// A resource, through its own reference.
    fn resource(&self, n: usize) -> MemoryRange {
        MemoryRange::new(&self.resources[n], 0, 4 * PAGE, Reference(n as u32))
    }

    fn machine(&self, options: CheckOptions, aliases: bool) -> Machine {
        let mut m = Machine::new(options);
        if aliases {
            m.memory.begin_dispatch(DispatchInfo {
                number: 7,
                groups: [2, 1, 1],
                workgroup_size: 64,
                placement: Placement::in_order(32),
                partly_bound: true,
                aliases: Some(self.aliases.clone()),
                ..DispatchInfo::default()
            });
            (0..2).for_each(|group| m.memory.workgroup_begin(group, 256, false));
        }
        m
    }
}

/// What is done by some lanes of a subgroup.
struct Step {
    site: u32,
    lane: u32,
    resource: usize,
    offsets: [u32; LANES],
    mask: Mask,
    access: Access,
    kind: u32,
}

fn random_step(random: &mut Random, site: u32, values: ValuePolicy) -> Step {
    let resource = random.below(2) as usize;
    let (size, components) = match random.below(5) {
        0 => (4, 1),
        1 => (4, 4),
        2 => (2, 1),
        // How many writes of a word are remembered, and with them the oldest value that is left, hangs on
        // whether parts of it that were written together are kept as one: as groups of lanes have it here.
        3 => (1, if values == ValuePolicy::Latest { 2 } else { 1 }),
        _ => (8, 1),
    };
    let bytes = size as u32 * components as u32;
    // Few places, so that many meet; they follow one another, or lie in several pages.
    let base = random.below(4) as u32 * PAGE as u32 + 64 * random.below(2) as u32;
    let apart = random.below(3) == 0;
    let offsets = std::array::from_fn(|lane| match apart {
        // Page 3 of the first resource has no memory.
        true => random.below(4) as u32 * PAGE as u32 + bytes * random.below(4) as u32,
        false => base + bytes * lane as u32,
    });
    let kind = random.below(4) as u32;
    let non_private = random.below(4) > 0;
    let access = match kind {
        0 => Access { atomic: Some(Scope::Device), non_private: true, ..Access::plain(U, 4, 1) },
        _ => Access { non_private, ..Access::plain(U, size, components) },
    };
    let mask = if random.below(2) == 0 { Mask::MAX } else { random.bits() as Mask | 1 };
    Step { site, lane: 32 * random.below(4) as u32, resource, offsets, mask, access, kind }
}

/// Does it, and returns what it loaded.
fn step(m: &mut Machine, step: &Step, view: &MemoryView<'_>, offsets: &Lanes) -> Vec<Lanes> {
    m.enter(step.lane);
    let pointers = Pointers::View { view, offset: offsets, immediate: 0 };
    let registers = usize::from(step.access.components) * if step.access.size == 8 { 2 } else { 1 };
    let mut out = vec![Lanes::ZERO; registers];
    let value: Vec<Lanes> = (0..registers)
        .map(|k| Lanes(std::array::from_fn(|lane| step.site * 0x0101_0101 + (k * LANES + lane) as u32)))
        .collect();
    let (site, mask, access) = (Site(step.site), step.mask, &step.access);
    let done = match step.kind {
        0 => m.memory.read_modify_write(site, AtomicOp::IAdd, pointers, mask, access, &value, None, &mut out),
        1 => m.memory.store(site, pointers, mask, access, &value),
        _ => m.memory.load(site, pointers, mask, access, &mut out),
    };
    done.unwrap();
    for lanes in &mut out {
        (0..LANES).filter(|lane| mask >> lane & 1 == 0).for_each(|lane| lanes.0[lane] = 0);
    }
    out
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn resources_that_share_memory_are_as_that_memory_is() {
    let mut kinds = BTreeSet::new();
    for seed in 0..400 {
        let mut random = Random::new(seed);
        // What is drawn depends on how many were drawn before, in which order.
        let values = if seed % 2 == 0 { ValuePolicy::Latest } else { ValuePolicy::Stale };
        let options = CheckOptions { values, seed, ..CheckOptions::default() };
        let (one, other) = (shared(), shared());
        let [mut through, mut itself] = [one.machine(options, true), other.machine(options, false)];
        // The same memory with 64 pages behind it, which stand for those without any.
        let all = Allocation::private(other.memory.address(), 64 * PAGE).unwrap();
        for site in 1..12 {
            let mut of = random_step(&mut random, site, values);
            let place = |offset: u32| {
                let (page, rest) = (u64::from(offset) / PAGE, u64::from(offset) % PAGE);
                (BOUND[of.resource][page as usize] * PAGE + rest) as u32
            };
            let mapped = Lanes(of.offsets.map(place));
            // What has no memory keeps no value: elsewhere it would.
            let nowhere = (0..LANES).filter(|lane| u64::from(mapped.0[*lane]) / PAGE == 9);
            of.mask = nowhere.fold(of.mask, |mask, lane| mask & !(1 << lane));
            if of.mask == 0 {
                continue;
            }
            let resource = one.resource(of.resource);
            let got = step(&mut through, &of, &resource.view(), &Lanes(of.offsets));
            let view = MemoryRange::new(&all, 0, 64 * PAGE, Reference(of.resource as u32));
            let expected = step(&mut itself, &of, &view.view(), &mapped);
            assert_eq!(got, expected, "seed {seed}, step {site}");
        }
        let footprint: Vec<Range> = through.memory.footprint().iter().map(|(range, _)| range).collect();
        assert!(footprint.iter().all(|range| range.start >= one.resources[0].address()), "in the resources");
        let mut found = one.aliases.in_memory(&footprint);
        let mut expected: Vec<Range> = itself.memory.footprint().iter().map(|(range, _)| range).collect();
        expected = SparseAliases::default().in_memory(&expected);
        found.sort_unstable();
        assert_eq!(found, crate::aliases::shown(&[], &expected), "seed {seed}");
        let findings = [through.end(), itself.end()];
        // Lanes of several pages go one page after the other: which of them is told first may differ.
        let told = |finding: &Finding| {
            let accesses = finding.accesses.iter().map(|access| (access.site, access.place.reference));
            (finding.id, accesses.collect::<Vec<_>>())
        };
        let [mut through, mut itself] =
            [&findings[0], &findings[1]].map(|of| of.iter().map(told).collect::<Vec<_>>());
        through.sort_unstable();
        itself.sort_unstable();
        assert!(through == itself, "seed {seed}: {through:?}, {itself:?}");
        // Every place is told by the resource that its access went through.
        for access in findings[0].iter().flat_map(|finding| &finding.accesses) {
            let resource = &one.resources[access.place.reference.0 as usize];
            assert_eq!(access.place.address, resource.address() + access.place.offset, "seed {seed}");
            assert!(access.place.offset < 4 * PAGE);
        }
        kinds.extend(findings[0].iter().map(|finding| finding.id));
    }
    assert!(kinds.len() >= 4, "{kinds:?}");
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no memory files")]
fn vectors_may_lie_in_two_parts_and_behind_the_end() {
    let one = shared();
    let mut m = one.machine(CheckOptions::default(), true);
    m.enter(0);
    let [first, second] =
        [0, 1].map(|n: usize| MemoryRange::new(&one.resources[n], 0, 4 * PAGE, Reference(0)));
    let vector = Access { non_private: true, ..Access::plain(U, 4, 4) };
    let word = Access { non_private: true, ..Access::plain(U, 4, 1) };
    let at = |offset: u64| Lanes([offset as u32; LANES]);
    let load = |m: &mut Machine, site: u32, of: &MemoryRange, offset: u64, access: &Access| {
        let mut out = vec![Lanes([77; LANES]); access.components.into()];
        let (view, offset) = (of.view(), at(offset));
        let from = Pointers::View { view: &view, offset: &offset, immediate: 0 };
        m.memory.load(Site(site), from, 1, access, &mut out).unwrap();
        out.iter().map(|lanes| lanes.0[0]).collect::<Vec<_>>()
    };
    let store =
        |m: &mut Machine, site: u32, of: &MemoryRange, offset: u64, access: &Access, value: &[u32]| {
            let (view, offset) = (of.view(), at(offset));
            let to = Pointers::View { view: &view, offset: &offset, immediate: 0 };
            let value: Vec<Lanes> = value.iter().map(|value| Lanes([*value; LANES])).collect();
            m.memory.store(Site(site), to, 1, access, &value).unwrap();
        };
    // The last words of page 1 of the memory and the first of page 0.
    store(&mut m, 1, &first, PAGE - 8, &vector, &[1, 2, 3, 4]);
    assert_eq!(load(&mut m, 2, &second, 2 * PAGE - 8, &word), [1]);
    assert_eq!(load(&mut m, 3, &second, 4, &word), [4]);
    assert_eq!(load(&mut m, 4, &first, PAGE - 8, &vector), [1, 2, 3, 4]);
    // Half of it has no memory.
    store(&mut m, 5, &first, 3 * PAGE - 8, &vector, &[5, 6, 7, 8]);
    assert_eq!(load(&mut m, 6, &first, 3 * PAGE - 8, &vector), [5, 6, 0, 0]);
    assert!(m.memory.found().is_empty());
    // And half of it is behind the end; the other half is where the first vector began.
    store(&mut m, 7, &second, 4 * PAGE - 8, &vector, &[9, 10, 11, 12]);
    assert_eq!(load(&mut m, 8, &second, PAGE + PAGE - 8, &word), [9]);
    assert_eq!(load(&mut m, 9, &second, 4 * PAGE - 8, &vector), [9, 10, 0, 0]);
    let found: Vec<_> = m.memory.found().iter().map(|finding| finding.id).collect();
    assert!(!found.is_empty() && found.iter().all(|id| *id == FindingId::OutOfBounds), "{found:?}");
    let written: Vec<u64> = m
        .memory
        .footprint()
        .iter()
        .filter(|(_, operand)| operand.write == Accesses::SHADER_STORAGE_WRITE)
        .map(|(range, _)| range.start)
        .collect();
    let [of_first, of_second] = [0, 1].map(|n: usize| one.resources[n].address());
    assert_eq!(written, [of_first + PAGE, of_first + 3 * PAGE - 8, of_second + 4 * PAGE - 8]);
}
