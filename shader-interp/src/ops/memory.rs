//! Memory operations by table entry, private memory and push constants.

use crate::code::{BarrierEntry, Beside, MemoryEntry, Space};
use crate::exec::context::Context;
use crate::ir::{Origin, Origins};
use crate::pass::defined;
use pellucid_memory::access::{Access, AtomicOp, Site};
use pellucid_memory::finding::FindingId;
use pellucid_memory::raw;
use pellucid_memory::scope::Scope;
use pellucid_memory::system::{
    LANES, LaneAccesses, Lanes, Mask, MemorySystem, MemoryView, Notice, Pointers, Trap,
};
use smallvec::SmallVec;

/// The vector registers of a strand.
pub(crate) type Vectors<'a> = &'a mut [Lanes];

/// Most words of one access: 16 components of 8 bytes.
const WORDS: usize = 32;
/// Words of most accesses.
const FEW: usize = 4;

/// Offsets times a power of two.
#[inline(always)]
pub(crate) fn shifted(offset: &Lanes, shift: u32) -> Lanes {
    let mut out = *offset;
    for x in &mut out.0 {
        *x <<= shift & 31;
    }
    out
}

fn words(access: &Access) -> usize {
    usize::from(access.components) * if access.size == 8 { 2 } else { 1 }
}

/// Where an access of the active lanes goes: to one place for all of them, or to the memory of one descriptor
/// of an array after the other. One loop for every kind of place, so that the memory system's part is inlined
/// once.
struct Reach<'a> {
    context: &'a Context<'a>,
    entry: &'a MemoryEntry,
    offset: Lanes,
    /// High words of addresses; descriptors that lanes name.
    of_lanes: Lanes,
    /// The memory of the descriptor whose turn it is.
    view: MemoryView<'a>,
    /// Lanes whose turn has not come.
    left: Mask,
}

impl<'a> Reach<'a> {
    #[inline(always)]
    fn new(context: &'a Context<'a>, entry: &'a MemoryEntry, vectors: &[Lanes], mask: Mask) -> Reach<'a> {
        let offset = shifted(&vectors[entry.offset as usize], entry.shift);
        let of_lanes = match entry.space {
            Space::Physical => vectors[entry.offset as usize + 1],
            Space::Element { element, .. } => vectors[element as usize],
            _ => Lanes::ZERO,
        };
        Reach { context, entry, offset, of_lanes, view: MemoryView::NULL, left: mask }
    }

    /// The next place, with the lanes that go there; `None` after the last one.
    ///
    /// # Errors
    /// Push constants and private memory are not in the memory system.
    #[inline(always)]
    fn next(&mut self) -> Result<Option<(Pointers<'_>, Mask)>, Trap> {
        let here = match self.entry.space {
            _ if self.left == 0 => return Ok(None),
            Space::Element { binding, .. } => self.next_element(binding),
            _ => self.left,
        };
        self.left &= !here;
        let (offset, immediate) = (&self.offset, self.entry.immediate);
        let pointers = match self.entry.space {
            Space::View(slot) => {
                Pointers::View { view: &self.context.views[slot as usize], offset, immediate }
            }
            Space::Element { .. } => Pointers::View { view: &self.view, offset, immediate },
            Space::Workgroup(reference) => Pointers::Workgroup { offset, immediate, reference },
            Space::Physical => Pointers::Physical { low: offset, high: &self.of_lanes, immediate },
            Space::Push | Space::Private { .. } => {
                return Err(Trap::NotImplemented(
                    "push constants or private memory in the memory table".into(),
                ));
            }
        };
        Ok(Some((pointers, here)))
    }

    /// The lanes that name the same descriptor as the first one that is left.
    fn next_element(&mut self, binding: u32) -> Mask {
        let chosen = self.of_lanes.0[self.left.trailing_zeros() as usize % LANES];
        self.view = self.context.resources.view(binding, chosen);
        (0..LANES).fold(0, |m, j| m | Mask::from(self.of_lanes.0[j] == chosen) << j) & self.left
    }
}

#[inline(always)]
pub(crate) fn load<M: LaneAccesses>(
    context: &Context<'_>,
    entry: &MemoryEntry,
    vectors: Vectors<'_>,
    mask: Mask,
    memory: &mut M,
) -> Result<(), Trap> {
    let (start, count) = (entry.result as usize, words(&entry.access));
    if let Space::Push = entry.space {
        load_push_constants(context, entry, vectors, mask);
        return Ok(());
    }
    let mut reach = Reach::new(context, entry, vectors, mask);
    let mut part: SmallVec<[Lanes; FEW]> = SmallVec::new();
    while let Some((from, here)) = reach.next()? {
        let whole = here == mask;
        let out = if whole {
            &mut vectors[start..start + count]
        } else {
            part.resize(count, Lanes::ZERO);
            &mut part[..]
        };
        memory.load(entry.site, from, here, &entry.access, out)?;
        if !whole {
            merge(&mut vectors[start..start + count], &part, here);
        }
    }
    Ok(())
}

fn load_push_constants(context: &Context<'_>, entry: &MemoryEntry, vectors: Vectors<'_>, mask: Mask) {
    let offset = shifted(&vectors[entry.offset as usize], entry.shift);
    let (start, step) = (entry.result as usize, u32::from(entry.access.size).min(4));
    let registers = &mut vectors[start..start + words(&entry.access)];
    for (k, out) in registers.iter_mut().enumerate() {
        for j in lanes(mask) {
            let at = offset.0[j].wrapping_add(entry.immediate).wrapping_add(k as u32 * step);
            out.0[j] = context.push_constant(at, step);
        }
    }
}

fn merge(to: &mut [Lanes], from: &[Lanes], mask: Mask) {
    for (to, from) in to.iter_mut().zip(from) {
        lanes(mask).for_each(|j| to.0[j] = from.0[j]);
    }
}

/// Gives all lanes what the first active one has loaded.
#[inline(always)]
pub(crate) fn spread(entry: &MemoryEntry, vectors: Vectors<'_>, mask: Mask) {
    let (start, first) = (entry.result as usize, mask.trailing_zeros() as usize % LANES);
    for register in &mut vectors[start..start + words(&entry.access)] {
        register.0 = [register.0[first]; LANES];
    }
}

/// The one or two words of an atomic's operand.
#[inline(always)]
fn gather(vectors: &[Lanes], registers: &[u32]) -> [Lanes; 2] {
    let word = |k: usize| registers.get(k).map_or(Lanes::ZERO, |register| vectors[*register as usize]);
    [word(0), word(1)]
}

#[inline(always)]
pub(crate) fn store<M: LaneAccesses>(
    context: &Context<'_>,
    entry: &MemoryEntry,
    vectors: Vectors<'_>,
    mask: Mask,
    memory: &mut M,
) -> Result<(), Trap> {
    let mut staging = std::mem::MaybeUninit::<[Lanes; WORDS]>::uninit();
    let count = entry.values.len().min(WORDS);
    // SAFETY: the first `count` elements are written before they are read, and no others are read.
    let value = unsafe {
        let first = staging.as_mut_ptr().cast::<Lanes>();
        for (k, register) in entry.values.iter().take(count).enumerate() {
            first.add(k).write(vectors[*register as usize]);
        }
        std::slice::from_raw_parts(first, count)
    };
    let mut reach = Reach::new(context, entry, vectors, mask);
    while let Some((to, here)) = reach.next()? {
        memory.store(entry.site, to, here, &entry.access, value)?;
    }
    Ok(())
}

/// Returns whether any lane changed memory.
#[inline(always)]
pub(crate) fn atomic<M: LaneAccesses>(
    context: &Context<'_>,
    entry: &MemoryEntry,
    vectors: Vectors<'_>,
    mask: Mask,
    memory: &mut M,
) -> Result<bool, Trap> {
    let op = entry.atomic.unwrap_or(AtomicOp::Exchange);
    let access = &entry.access;
    let count = words(access);
    let value = &gather(vectors, &entry.values);
    let comparator = (op == AtomicOp::CompareExchange).then(|| gather(vectors, &entry.comparator));
    let comparator = comparator.as_ref().map(|words| words.as_slice());
    let (mut out, mut part) = ([Lanes::ZERO; 2], [Lanes::ZERO; 2]);
    let (site, mut reach) = (entry.site, Reach::new(context, entry, vectors, mask));
    while let Some((to, here)) = reach.next()? {
        memory.read_modify_write(site, op, to, here, access, value, comparator, &mut part[..count])?;
        if here == mask {
            out = part;
        } else {
            merge(&mut out, &part, here);
        }
    }
    let start = entry.result as usize;
    vectors[start..start + count].copy_from_slice(&out[..count]);
    if !M::MODELLED {
        return Ok(true);
    }
    let get = |words: &[Lanes], j: usize| {
        u64::from(words[0].0[j]) | if access.size == 8 { u64::from(words[1].0[j]) << 32 } else { 0 }
    };
    Ok(lanes(mask).any(|j| {
        let old = get(&out, j);
        raw::apply(op, access.size, old, get(value, j), comparator.map_or(0, |c| get(c, j))) != old
    }))
}

/// OpArrayLength's byte count: the size of the descriptor.
pub(crate) fn buffer_size(context: &Context<'_>, entry: &MemoryEntry, vectors: Vectors<'_>, mask: Mask) {
    let clamp = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
    let size = match entry.space {
        Space::View(slot) => Lanes([clamp(context.views[slot as usize].size()); LANES]),
        Space::Element { binding, element } => {
            let element = vectors[element as usize];
            let mut sizes = Lanes::ZERO;
            lanes(mask)
                .for_each(|j| sizes.0[j] = clamp(context.resources.view(binding, element.0[j]).size()));
            sizes
        }
        _ => Lanes::ZERO,
    };
    vectors[entry.result as usize] = size;
}

/// Says which active lanes access private memory outside of their variable. Those lanes load 0, and store
/// nothing.
#[inline(always)]
pub(crate) fn check_private<M: LaneAccesses>(
    entry: &MemoryEntry,
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    write: bool,
    memory: &mut M,
) {
    let Space::Private { start, end } = entry.space else { return };
    if entry.site == Site(0) {
        return;
    }
    let (size, bytes) = (end - start, entry.access.size.min(4));
    let by = immediate.wrapping_sub(start);
    let outside = outside(offset, by, size, u32::from(bytes)) & mask;
    if outside != 0 {
        let offset = Lanes(offset.0.map(|x| x.wrapping_add(by)));
        memory.notice(entry.site, outside, &Notice::OutOfBounds { offset: &offset, bytes, size, write });
    }
}

/// The lanes that access private memory outside of the object of `size` bytes, `by` behind their offsets.
#[inline(always)]
fn outside(offset: &Lanes, by: u32, size: u32, bytes: u32) -> Mask {
    // The last offset that is inside; variables are no smaller than their components.
    let last = size.saturating_sub(bytes);
    let mut farthest = 0;
    for x in &offset.0 {
        farthest = x.wrapping_add(by).max(farthest);
    }
    if farthest <= last {
        return 0;
    }
    (0..LANES).fold(0, |m, j| m | Mask::from(offset.0[j].wrapping_add(by) > last) << j)
}

/// A shadow that was loaded for an access outside of its variable: such an access is a finding of its own.
#[inline(always)]
pub(crate) fn defined_outside(entry: &MemoryEntry, offset: &Lanes, immediate: u32, shadow: &mut Lanes) {
    let Space::Private { start, end } = entry.space else { return };
    let by = immediate.wrapping_sub(start);
    for j in lanes(outside(offset, by, end - start, u32::from(entry.access.size.min(4)))) {
        shadow.0[j] = 1;
    }
}

/// Says which active lanes use values that nothing has written, by their shadows. `whole`: even if they were
/// loaded along with others.
#[inline(always)]
pub(crate) fn check_defined<M: LaneAccesses>(
    origins: &Origins,
    shadow: &Lanes,
    whole: bool,
    mask: Mask,
    memory: &mut M,
) {
    let counts = |word: u32| word != 0 && (whole || word & defined::PARTLY == 0);
    let undefined = (0..LANES).fold(0, |m, j| m | Mask::from(counts(shadow.0[j])) << j) & mask;
    if undefined != 0 {
        tell_undefined(origins, shadow, undefined, memory);
    }
}

/// A memory barrier by the lanes of a mask.
#[inline(always)]
pub(crate) fn fence<M: MemorySystem>(barrier: &BarrierEntry, mask: Mask, memory: &mut M) {
    let (at, scope, semantics) = (barrier.site, barrier.memory, &barrier.semantics);
    match barrier.beside {
        Beside::Covered => {}
        Beside::Before => memory.fence_before_barrier(at, mask, scope, semantics),
        Beside::Behind => memory.fence_behind_barrier(at, mask, scope, semantics),
        Beside::Apart => memory.fence(at, mask, scope, semantics),
    }
}

/// Lanes of a mask arrive at a control barrier of this execution scope.
#[inline(always)]
pub(crate) fn arrive<M: MemorySystem>(
    (barrier, execution): (&BarrierEntry, Scope),
    all: &[BarrierEntry],
    mask: Mask,
    memory: &mut M,
) {
    for fence in barrier.behind.iter().filter_map(|&fence| all.get(fence as usize)) {
        memory.announce_fence(fence.site, mask, fence.memory, &fence.semantics);
    }
    memory.barrier_arrive(barrier.site, mask, execution, barrier.memory, &barrier.semantics);
}

/// Tells memory which lanes' next store has for this component what nothing has written, and which loads read
/// it.
#[cold]
pub(crate) fn store_undefined<M: MemorySystem>(
    origins: &Origins,
    shadow: &Lanes,
    component: u32,
    mask: Mask,
    memory: &mut M,
) {
    let load = |word: u32| origins.get(defined::number(word)).map_or(0, |origin| origin.site.0);
    memory.store_undefined(mask, component, &Lanes(shadow.0.map(load)));
}

#[cold]
fn tell_undefined<M: LaneAccesses>(origins: &Origins, shadow: &Lanes, mut left: Mask, memory: &mut M) {
    let of = |lane: usize| origins.get(defined::number(shadow.0[lane]));
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        let Some(origin) = of(lane) else {
            left &= left - 1;
            continue;
        };
        let (mut here, mut offset) = (0, Lanes::ZERO);
        for j in lanes(left) {
            let other = of(j).filter(|other| other.site == origin.site && other.variable == origin.variable);
            if let Some(other) = other {
                here |= 1 << j;
                offset.0[j] = other.offset;
            }
        }
        let Origin { site, variable, bytes, .. } = origin;
        memory.notice(site, here, &Notice::Undefined { variable, offset: &offset, bytes });
        left &= !here;
    }
}

/// Tells about the lanes of `here`, if there are any.
#[inline(always)]
pub(crate) fn note<M: LaneAccesses>(site: Site, here: Mask, id: FindingId, memory: &mut M) {
    if here != 0 {
        memory.notice(site, here, &Notice::Noted(id));
    }
}

/// The active lanes that hold another word than the first of them.
pub(crate) fn diverging(words: &Lanes, mask: Mask) -> Mask {
    let first = words.0[mask.trailing_zeros() as usize % LANES];
    lanes(mask).filter(|j| words.0[*j] != first).fold(0, |m, j| m | 1 << j)
}

/// The place of every lane, if all have the same.
#[inline(always)]
fn one_place(offset: &Lanes, immediate: u32) -> Option<u32> {
    let differ = offset.0.iter().fold(0, |differ, x| differ | (x ^ offset.0[0]));
    (differ == 0).then(|| offset.0[0].wrapping_add(immediate))
}

/// A component of private memory at `offset + immediate`, which holds a word of all lanes in each register of
/// `private`.
#[inline(always)]
pub(crate) fn load_private(entry: &MemoryEntry, private: &[Lanes], offset: &Lanes, immediate: u32) -> Lanes {
    let Space::Private { start, end } = entry.space else { return Lanes::ZERO };
    let size = u32::from(entry.access.size);
    let cut = u32::MAX >> (32 - 8 * size.min(4));
    let word = |at: u32| {
        let inside = at >= start && at < end && end - at >= size;
        private.get(at as usize / 4).filter(|_| inside)
    };
    let mut out = Lanes::ZERO;
    if let Some(at) = one_place(offset, immediate) {
        if let Some(word) = word(at) {
            for j in 0..LANES {
                out.0[j] = word.0[j] >> (8 * (at & 3)) & cut;
            }
        }
        return out;
    }
    for j in 0..LANES {
        let at = offset.0[j].wrapping_add(immediate);
        out.0[j] = word(at).map_or(0, |word| word.0[j] >> (8 * (at & 3)) & cut);
    }
    out
}

/// The inverse of [`load_private`], for the active lanes.
#[inline(always)]
pub(crate) fn store_private(
    entry: &MemoryEntry,
    private: &mut [Lanes],
    offset: &Lanes,
    immediate: u32,
    mask: Mask,
    value: &Lanes,
) {
    let Space::Private { start, end } = entry.space else { return };
    let size = u32::from(entry.access.size);
    let cut = u32::MAX >> (32 - 8 * size.min(4));
    let inside = |at: u32| at >= start && at < end && end - at >= size;
    if let Some(at) = one_place(offset, immediate) {
        if let Some(word) = private.get_mut(at as usize / 4).filter(|_| inside(at)) {
            let shift = 8 * (at & 3);
            for j in 0..LANES {
                let bits = cut << shift & 0u32.wrapping_sub(mask >> j & 1);
                word.0[j] = word.0[j] & !bits | value.0[j] << shift & bits;
            }
        }
        return;
    }
    for j in lanes(mask) {
        let at = offset.0[j].wrapping_add(immediate);
        if let Some(word) = private.get_mut(at as usize / 4).filter(|_| inside(at)) {
            let shift = 8 * (at & 3);
            word.0[j] = (word.0[j] & !(cut << shift)) | (value.0[j] & cut) << shift;
        }
    }
}

/// The lanes of a mask, ascending.
#[inline(always)]
pub(crate) fn lanes(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        let found = mask != 0;
        mask &= mask.wrapping_sub(1);
        found.then_some(lane)
    })
}
