//! Barriers of the API in the tracker's terms: dependencies on byte ranges.

use super::hazards::{ImageBarrier, Translated};
use super::ownership::{Owned, ResourcePart};
use super::stages::{accesses, destination, source, stages};
use crate::caps::queues;
use crate::command::{Barrier, BarrierOf, Dependency, Half};
use crate::entry::image::{Image, MipLevel};
use ash::vk;
use pellucid_memory::commands::{AccessScope, Dependency as Told, Range, Stages, Transition};

/// Bytes of the subresources of an image barrier; whole layers with what lies between their levels.
fn image_ranges(image: &Image, range: &vk::ImageSubresourceRange) -> Vec<Range> {
    image.parts(range.aspect_mask).flat_map(|part| part_ranges(part, range)).collect()
}

/// The same of an image without planes, or of one plane.
pub fn part_ranges(image: &Image, range: &vk::ImageSubresourceRange) -> Vec<Range> {
    let Ok((memory, base)) = image.memory() else { return Vec::new() };
    let start = memory.bytes().address() + base;
    if image.slices {
        return slice_ranges(image, start, range);
    }
    let Ok((levels, layers)) = image.range(range) else { return Vec::new() };
    if levels.len() == image.layout.levels.len() {
        let first = start + u64::from(layers.start) * image.layout.layer;
        return vec![Range::new(first, layers.len() as u64 * image.layout.layer)];
    }
    image.layout.levels[levels.start as usize..levels.end as usize]
        .iter()
        .flat_map(|level| {
            let first = start + level.offset;
            layers.clone().map(move |l| Range::new(first + u64::from(l) * image.layout.layer, level.size()))
        })
        .collect()
}

/// Bytes of the depth slices that the layers of a range stand for, in an image at address `start`.
fn slice_ranges(image: &Image, start: u64, range: &vk::ImageSubresourceRange) -> Vec<Range> {
    let whole = vk::ImageSubresourceRange { base_array_layer: 0, layer_count: 1, ..*range };
    let Ok((levels, _)) = image.range(&whole) else { return Vec::new() };
    let of = |level: &MipLevel| {
        let first = range.base_array_layer.min(level.extent[2]);
        let count = range.layer_count.min(level.extent[2] - first);
        Range::new(start + level.offset + u64::from(first) * level.slice, u64::from(count) * level.slice)
    };
    image.layout.levels[levels.start as usize..levels.end as usize].iter().map(of).collect()
}

/// All bytes of the buffer or image that a barrier is for.
fn resource(of: &BarrierOf) -> Option<Range> {
    let (bound, size) = match of {
        BarrierOf::Memory => return None,
        BarrierOf::Buffer(buffer, ..) => (buffer.memory(), buffer.size),
        BarrierOf::Image(image, ..) => {
            let bytes: Vec<Range> = image.bounds().map(|part| part.bytes).collect();
            let (first, last) = (bytes.first()?, bytes.last()?);
            // The planes of a disjoint image are no range.
            let disjoint = image.flags.contains(vk::ImageCreateFlags::DISJOINT);
            return (!disjoint).then_some(Range { start: first.start, end: last.end });
        }
    };
    let (memory, base) = bound.ok()?;
    Some(Range::new(memory.bytes().address() + base, size))
}

fn ranges(of: &BarrierOf) -> Option<Vec<Range>> {
    match of {
        BarrierOf::Memory => None,
        BarrierOf::Buffer(buffer, offset, size) => {
            let Ok((memory, base)) = buffer.memory() else { return Some(Vec::new()) };
            let offset = (*offset).min(buffer.size);
            let size = (*size).min(buffer.size - offset);
            Some(vec![Range::new(memory.bytes().address() + base + offset, size)])
        }
        BarrierOf::Image(image, range, ..) => Some(image_ranges(image, range)),
    }
}

/// The dependencies of a command: one for all barriers of a 1.0 command but its ownership transfers, to which
/// one of its scopes does not apply, and one for each other barrier. A transition's tag is the index of its
/// barrier.
fn dependencies(dependency: &Dependency) -> Vec<Told> {
    let scope = |half: &Half, stages, barrier: &Barrier| AccessScope {
        stages,
        accesses: accesses(half.accesses),
        ranges: ranges(&barrier.of),
        resource: resource(&barrier.of),
    };
    let transition = |(index, barrier): (usize, &Barrier)| {
        let ranges = barrier.transition().and_then(|_| ranges(&barrier.of))?;
        let acquires = barrier.transfers.is_some_and(|t| t.acquires) && barrier.from.stages.is_empty();
        Some(Transition { tag: index as u64, ranges, acquires })
    };
    let own = |(index, b): (usize, &Barrier)| Told {
        source: source(b.from.stages),
        destination: destination(b.to.stages),
        available: vec![scope(&b.from, stages(b.from.stages), b)],
        visible: vec![scope(&b.to, stages(b.to.stages), b)],
        transitions: transition((index, b)).into_iter().collect(),
    };
    let barriers = dependency.barriers.iter().enumerate();
    let Some((from, to)) = dependency.stages else { return barriers.map(own).collect() };
    // Access scopes hold the stages named; a pseudo stage names none.
    let (s, d) = (stages(from), stages(to));
    let (transfers, shared): (Vec<_>, Vec<_>) = barriers.partition(|(_, b)| b.transfers.is_some());
    let shared = Told {
        source: source(from),
        destination: destination(to),
        available: shared.iter().map(|(_, b)| scope(&b.from, s, b)).collect(),
        visible: shared.iter().map(|(_, b)| scope(&b.to, d, b)).collect(),
        transitions: shared.into_iter().filter_map(transition).collect(),
    };
    std::iter::once(shared).chain(transfers.into_iter().map(own)).collect()
}

/// The first scopes of an event that a command sets: one of vkCmdSetEvent; one for each stage of
/// vkCmdSetEvent2, as each barrier of its wait takes those that it names.
pub fn signaled(dependency: &Dependency) -> Vec<Stages> {
    match dependency.stages {
        Some((from, _)) => vec![source(from)],
        None => {
            let all = dependency.barriers.iter().map(|b| source(b.from.stages));
            all.fold(Stages::empty(), |all, one| all | one).iter().collect()
        }
    }
}

/// A barrier that changes layouts or owners, as far as owners go.
fn owned(barrier: &Barrier) -> Option<Owned> {
    barrier.transition()?;
    let (resource, part, layouts) = match &barrier.of {
        BarrierOf::Memory => return None,
        BarrierOf::Buffer(buffer, offset, size) => {
            let size = (*size).min(buffer.size.saturating_sub(*offset));
            (buffer.place()?.resource, ResourcePart::Buffer(*offset, size), None)
        }
        BarrierOf::Image(image, range, from, to) => {
            let (levels, layers) = image.range(range).ok()?;
            let part = ResourcePart::Image(range.aspect_mask, levels, layers);
            let bound = image.bounds().next()?;
            let from = if bound.is_whole(range.aspect_mask) { *from } else { vk::ImageLayout::UNDEFINED };
            (bound.place().resource, part, Some((from, *to)))
        }
    };
    // Of aspects whose bytes lie among each other nobody knows who owns which.
    let parted = matches!(&barrier.of, BarrierOf::Image(image, range, ..)
        if image.bounds().any(|bound| !bound.is_whole(range.aspect_mask)));
    let transfers = barrier.transfers.filter(|_| !parted);
    let ranges = ranges(&barrier.of)?;
    Some(Owned { resource, ranges, part, layouts, transfers })
}

/// The dependencies of a command, and what each of its barriers does to the memory that it is for.
pub fn translate(dependency: &Dependency) -> Translated {
    let changes = dependency.barriers.iter().map(Barrier::transition).collect();
    let image = |b: &Barrier| match &b.of {
        BarrierOf::Image(image, range, _, to) => {
            let Some((levels, layers)) = image.range(range).ok().filter(|_| !image.slices) else {
                return Vec::new();
            };
            let acquired = b.transfers.filter(|t| t.acquires).map(|t| queues::is_external(t.from));
            let of = |image: &Image| {
                let parts = (range.aspect_mask, levels.clone(), layers.clone());
                Some(ImageBarrier { image: image.bound()?.clone(), parts, to: *to, acquired })
            };
            image.parts(range.aspect_mask).filter_map(of).collect()
        }
        _ => Vec::new(),
    };
    let images = dependency.barriers.iter().map(image).collect();
    let owned = dependency.barriers.iter().map(owned).collect();
    Translated { list: dependencies(dependency), changes, images, owned }
}
