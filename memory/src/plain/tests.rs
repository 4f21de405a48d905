//! Lanes served together against lanes served one at a time.

use super::*;
use crate::access::Reference;
use crate::component::get;
use crate::raw;
use crate::scope::StorageClasses;

fn view(words: &mut [u32]) -> MemoryView<'_> {
    MemoryView::of_words(words).at(0x10000).through(Reference(0))
}

fn access(size: u8, components: u8) -> Access {
    Access::plain(StorageClasses::UNIFORM, size, components)
}

fn offsets(f: impl Fn(u32) -> u32) -> Lanes {
    Lanes(std::array::from_fn(|i| f(i as u32)))
}

fn load_all(data: &mut [u32], offset: &Lanes, immediate: u32, mask: Mask, access: &Access) -> Vec<Lanes> {
    let view = view(data);
    let mut memory = PlainMemory::new(&[]);
    let mut out = vec![Lanes([0xdead; LANES]); 32];
    let pointers = Pointers::View { view: &view, offset, immediate };
    memory.load(Site(1), pointers, mask, access, &mut out).expect("views do not trap");
    out
}

/// One component, one byte at a time.
fn expected(data: &[u32], at: u64, size: u8) -> u64 {
    let bytes: Vec<u8> = data.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut value = 0;
    if at + u64::from(size) <= bytes.len() as u64 {
        for i in 0..u64::from(size) {
            value |= u64::from(bytes[(at + i) as usize]) << (8 * i);
        }
    }
    value
}

#[test]
fn all_shapes_of_loads_agree_with_bytes() {
    let mut data: Vec<u32> = (0..600u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let shapes: [fn(u32) -> u32; 8] = [
        |i| 4 * i,
        |i| 16 * i,
        |_| 64,
        |i| 4 * (31 - i),
        |i| 8 * i + 1,
        |i| 2304 + 4 * i,
        |i| 0xffff_ff80u32.wrapping_add(4 * i),
        |i| 12 * i,
    ];
    for shape in shapes {
        let masks = [Mask::MAX, 0x0f0f_1234, 1, 0x8000_0000];
        for mask in &masks[..if cfg!(miri) { 2 } else { 4 }] {
            let mask = *mask;
            for size in [1u8, 2, 4, 8] {
                for components in [1u8, 2, 3, 4] {
                    for immediate in [0, 4, 0x40] {
                        if cfg!(miri) && (components == 2 || immediate == 4) {
                            continue;
                        }
                        let offset = offsets(shape);
                        let out = load_all(&mut data, &offset, immediate, mask, &access(size, components));
                        each(mask, |lane| {
                            for k in 0..usize::from(components) {
                                let at = u64::from(offset.0[lane].wrapping_add(immediate))
                                    + k as u64 * u64::from(size);
                                let got = get(&out, k, usize::from(size), lane);
                                assert_eq!(got, expected(&data, at, size), "lane {lane} at {at} size {size}");
                            }
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn stores_write_what_loads_read_and_nothing_else() {
    for (stride, mask) in [(4u32, Mask::MAX), (16, Mask::MAX), (4, 0x1234_5678), (20, 0xffff_0000)] {
        for (size, components) in [(4u8, 1u8), (4, 4), (8, 2), (2, 1), (1, 3)] {
            if u32::from(size) * u32::from(components) > stride {
                continue;
            }
            let mut data = vec![0x5555_5555u32; 200];
            let view = view(&mut data);
            let offset = offsets(|i| stride * i);
            let value: Vec<Lanes> =
                (0..8).map(|k| Lanes(std::array::from_fn(|i| (k * 1000 + i as u32) & 0xff))).collect();
            let mut memory = PlainMemory::new(&[]);
            let pointers = Pointers::View { view: &view, offset: &offset, immediate: 0 };
            memory.store(Site(1), pointers, mask, &access(size, components), &value).expect("no trap");
            let mut bytes = vec![0x55u8; 800];
            each(mask, |lane| {
                for k in 0..usize::from(components) {
                    let v = get(&value, k, usize::from(size), lane);
                    for b in 0..usize::from(size) {
                        let at = stride as usize * lane + k * usize::from(size) + b;
                        if at < bytes.len() {
                            bytes[at] = (v >> (8 * b)) as u8;
                        }
                    }
                }
            });
            let got: Vec<u8> = data.iter().flat_map(|w| w.to_le_bytes()).collect();
            assert_eq!(got, bytes, "stride {stride} size {size} components {components}");
        }
    }
}

#[test]
fn additions_to_one_word_are_as_if_lane_by_lane() {
    let mut data = vec![100u32; 4];
    let view = view(&mut data);
    let mut memory = PlainMemory::new(&[]);
    let mut out = [Lanes::ZERO; 1];
    let mut a = access(4, 1);
    a.atomic = Some(Scope::Device);
    let pointers = Pointers::View { view: &view, offset: &Lanes([4; LANES]), immediate: 0 };
    let value = [Lanes(std::array::from_fn(|i| i as u32))];
    memory
        .read_modify_write(Site(1), AtomicOp::IAdd, pointers, 0b1011, &a, &value, None, &mut out)
        .expect("no trap");
    assert_eq!((out[0].0[0], out[0].0[1], out[0].0[3]), (100, 100, 101));
    assert_eq!(data, [100, 104, 100, 100]);
}

#[test]
fn addresses_reach_their_buffers_and_trap_elsewhere() {
    let [a, b] =
        [(7, 1), (9, 2)].map(|(word, high)| MemoryRange::of_words(&[word; 8], high << 32, Reference(0)));
    let ranges = [a.unwrap(), b.unwrap()];
    let mut memory = PlainMemory::new(&ranges);
    let low = offsets(|i| 4 * (i % 8));
    let high = offsets(|i| 1 + i % 2);
    let mut out = [Lanes::ZERO; 1];
    let pointers = Pointers::Physical { low: &low, high: &high, immediate: 0 };
    memory.load(Site(3), pointers, Mask::MAX, &access(4, 1), &mut out).expect("both are live");
    assert_eq!(out[0], offsets(|i| if i % 2 == 0 { 7 } else { 9 }));
    let pointers = Pointers::Physical { low: &low, high: &high, immediate: 0x20 };
    let trap = memory.load(Site(3), pointers, 1, &access(4, 1), &mut out);
    assert_eq!(trap, Err(Trap::InvalidAddress { site: Site(3), address: 0x1_0000_0020, size: 4 }));
}

#[test]
fn every_operation_matches_its_meaning() {
    use AtomicOp::*;
    let f = |x: f32| u64::from(x.to_bits());
    for (op, old, value, new) in [
        (Exchange, 1, 2, 2),
        (IAdd, u64::from(u32::MAX), 2, 1),
        (ISub, 1, 2, 0xffff_ffff),
        (SMin, 0xffff_fffe, 1, 0xffff_fffe),
        (SMax, 0xffff_fffe, 1, 1),
        (UMin, 0xffff_fffe, 1, 1),
        (UMax, 0xffff_fffe, 1, 0xffff_fffe),
        (And, 6, 3, 2),
        (Or, 6, 3, 7),
        (Xor, 6, 3, 5),
        (FAdd, f(1.5), f(2.25), f(3.75)),
        (FMin, f(1.5), f(-2.0), f(-2.0)),
        (FMax, f(1.5), f(-2.0), f(1.5)),
    ] {
        let mut data = vec![old as u32];
        let view = view(&mut data);
        assert_eq!(raw::read_modify_write(&view, 0, 4, op, value, 0), Some(old), "{op:?}");
        assert_eq!(u64::from(data[0]), new, "{op:?}");
        assert_eq!(apply_again(op, old, value), new);
    }
}

fn apply_again(op: AtomicOp, old: u64, value: u64) -> u64 {
    raw::apply(op, 4, old, value, 0)
}
