//! Cost of the modelled memory system beside the plain one, without an interpreter around them: `cargo bench
//! -p pellucid-memory`.

#![allow(missing_docs)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pellucid_memory::access::{Access, AtomicOp, Reference, Site};
use pellucid_memory::agent::{Placement, SubgroupIdentity};
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_memory::plain::PlainMemory;
use pellucid_memory::scope::{Scope, Semantics, StorageClasses};
use pellucid_memory::system::{LANES, Lanes, Mask, MemorySystem, MemoryView, Pointers};

const GROUP: u32 = 256;

fn barrier() -> Semantics {
    Semantics {
        acquire: true,
        release: true,
        classes: StorageClasses::WORKGROUP,
        make_available: true,
        make_visible: true,
        volatile: false,
    }
}

fn shared() -> Access {
    Access { non_private: true, ..Access::plain(StorageClasses::WORKGROUP, 4, 1) }
}

fn lanes(f: impl Fn(u32) -> u32) -> Lanes {
    Lanes(std::array::from_fn(|i| f(i as u32)))
}

/// Calls `each` for every subgroup of every workgroup.
fn subgroups<M: MemorySystem>(memory: &mut M, group: u32, mut each: impl FnMut(&mut M, u32)) {
    for subgroup in 0..GROUP / 32 {
        memory.enter_subgroup(&SubgroupIdentity {
            workgroup: group,
            workgroup_id: [group, 0, 0],
            subgroup,
            lanes: 32,
            placement: Placement::in_order(32),
        });
        each(memory, subgroup * 32);
    }
}

fn view(data: &mut [u32], reference: u32) -> MemoryView<'_> {
    let address = 0x10_0000 * u64::from(reference + 1) * 64;
    MemoryView::of_words(data).at(address).through(Reference(reference))
}

fn saxpy<M: MemorySystem>(memory: &mut M, x: &MemoryView<'_>, y: &MemoryView<'_>, groups: u32) {
    let access = Access::plain(StorageClasses::UNIFORM, 4, 1);
    for group in 0..groups {
        memory.workgroup_begin(group, 0, false);
        subgroups(memory, group, |memory, local| {
            let offset = lanes(|lane| 4 * (group * GROUP + local + lane));
            let at = |view| Pointers::View { view, offset: &offset, immediate: 0 };
            let mut a = [Lanes::ZERO];
            let mut b = [Lanes::ZERO];
            memory.load(Site(1), at(x), Mask::MAX, &access, &mut a).expect("in bounds");
            memory.load(Site(2), at(y), Mask::MAX, &access, &mut b).expect("in bounds");
            for lane in 0..LANES {
                b[0].0[lane] = b[0].0[lane].wrapping_add(a[0].0[lane].wrapping_mul(3));
            }
            memory.store(Site(3), at(y), Mask::MAX, &access, &b).expect("in bounds");
        });
        memory.workgroup_end(group);
    }
}

/// A tiled product's traffic: 16 x 16 tiles, each invocation loads two words, then reads 32 of workgroup
/// memory; `tiles` times.
fn tiles<M: MemorySystem>(memory: &mut M, x: &MemoryView<'_>, groups: u32, tiles: u32) {
    let access = Access::plain(StorageClasses::UNIFORM, 4, 1);
    let words = x.size() as u32 / 4;
    for group in 0..groups {
        memory.workgroup_begin(group, 2048, false);
        for tile in 0..tiles {
            subgroups(memory, group, |memory, local| {
                for part in 0..2 {
                    let offset = lanes(|lane| 4 * ((tile * 512 + part * 256 + local + lane) % words));
                    let mut a = [Lanes::ZERO];
                    let from = Pointers::View { view: x, offset: &offset, immediate: 0 };
                    memory.load(Site(1 + part), from, Mask::MAX, &access, &mut a).expect("in bounds");
                    let offset = lanes(|lane| 4 * (part * 256 + local + lane));
                    let to =
                        Pointers::Workgroup { offset: &offset, immediate: 0, reference: Reference(9 + part) };
                    memory.store(Site(3 + part), to, Mask::MAX, &shared(), &a).expect("in bounds");
                }
                memory.barrier_arrive(Site(5), Mask::MAX, Scope::Workgroup, Scope::Workgroup, &barrier());
            });
            memory.barrier_complete(group);
            subgroups(memory, group, |memory, local| {
                let mut a = [Lanes::ZERO];
                for k in 0..16 {
                    let offset = lanes(|lane| 4 * ((local + lane) / 16 * 16 + k));
                    let from = Pointers::Workgroup { offset: &offset, immediate: 0, reference: Reference(9) };
                    memory.load(Site(6), from, Mask::MAX, &shared(), &mut a).expect("in bounds");
                    let offset = lanes(|lane| 4 * (256 + k * 16 + (local + lane) % 16));
                    let from =
                        Pointers::Workgroup { offset: &offset, immediate: 0, reference: Reference(10) };
                    memory.load(Site(7), from, Mask::MAX, &shared(), &mut a).expect("in bounds");
                }
                memory.barrier_arrive(Site(8), Mask::MAX, Scope::Workgroup, Scope::Workgroup, &barrier());
            });
            memory.barrier_complete(group);
        }
        memory.workgroup_end(group);
    }
}

fn histogram<M: MemorySystem>(memory: &mut M, bins: &MemoryView<'_>, groups: u32) {
    let access = Access {
        atomic: Some(Scope::Device),
        non_private: true,
        ..Access::plain(StorageClasses::UNIFORM, 4, 1)
    };
    let one = [Lanes([1; LANES])];
    for group in 0..groups {
        memory.workgroup_begin(group, 0, false);
        subgroups(memory, group, |memory, local| {
            let offset = lanes(|lane| 4 * ((group * GROUP + local + lane).wrapping_mul(0x9e37_79b9) >> 24));
            let to = Pointers::View { view: bins, offset: &offset, immediate: 0 };
            let mut old = [Lanes::ZERO];
            memory
                .read_modify_write(Site(1), AtomicOp::IAdd, to, Mask::MAX, &access, &one, None, &mut old)
                .expect("in bounds");
        });
        memory.workgroup_end(group);
    }
}

fn begin(groups: u32) -> CheckedMemory {
    let mut memory = CheckedMemory::new(CheckOptions::default());
    memory.begin_dispatch(DispatchInfo {
        groups: [groups, 1, 1],
        workgroup_size: GROUP,
        placement: Placement::in_order(32),
        ..DispatchInfo::default()
    });
    memory
}

fn compare(c: &mut Criterion) {
    let (mut x, mut y, mut bins) = (vec![1u32; 1 << 18], vec![2u32; 1 << 18], vec![0u32; 256]);
    let (x, y, bins) = (view(&mut x, 0), view(&mut y, 1), view(&mut bins, 2));
    macro_rules! both {
        ($name:literal, $elements:expr, $groups:expr, $run:expr) => {
            let mut group = c.benchmark_group($name);
            group.sample_size(10).throughput(Throughput::Elements($elements));
            group.bench_function("plain", |b| {
                b.iter_batched_ref(|| PlainMemory::new(&[]), |memory| $run(memory), BatchSize::PerIteration)
            });
            group.bench_function("checked", |b| {
                b.iter_batched_ref(
                    || begin($groups),
                    |memory| {
                        $run(memory);
                        assert_eq!(memory.end_dispatch(), []);
                    },
                    BatchSize::PerIteration,
                )
            });
            group.finish();
        };
    }
    both!("saxpy", 3 << 18, 1024, |memory| saxpy(memory, &x, &y, 1024));
    both!("tiles", 64 * 256 * 8 * 36, 64, |memory| tiles(memory, &x, 64, 8));
    both!("histogram", 1 << 18, 1024, |memory| histogram(memory, &bins, 1024));
}

criterion_group!(benches, compare);
criterion_main!(benches);
