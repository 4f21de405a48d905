//! The layout that each image subresource is in, and who may interpret its bytes (Vulkan 1.3, 12.4 *Image
//! Layouts*, 12.8 *Memory Aliasing*).
//!
//! Layouts change where transitions execute, in the order in which the device works. A subresource of an
//! image with optimal tiling, or of one with linear tiling in a layout other than GENERAL and PREINITIALIZED,
//! is opaque: what it holds means nothing to buffers, other images and the host, and what those write to its
//! bytes makes it undefined. Images are known from the first command on that uses them.

use super::hazards::Subresources;
use super::ownership::{Place, Resource, Sharing};
use crate::caps::later::ZERO_INITIALIZED;
use ash::vk;
use pellucid_memory::commands::Range;
use pellucid_shader_interp::math::format::Aspect;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// An image that is bound to memory, as far as its layouts go.
pub struct Bound {
    pub handle: u64,
    /// Which plane of the image it is, if that has several.
    pub plane: Option<u32>,
    /// Which queue families may access it.
    pub sharing: Sharing,
    /// What its format has.
    pub aspect: Aspect,
    pub tiling: vk::ImageTiling,
    /// The layout of all subresources at first.
    pub initial_layout: vk::ImageLayout,
    /// What two images that were created as aliases of each other have in common; `None` for all others.
    pub alias: Option<(vk::Format, vk::ImageType, vk::ImageUsageFlags, u32)>,
    /// Array layers.
    pub layers: u32,
    /// Its depth slices have layouts of their own ([`Image::slices`]), which are not followed.
    ///
    /// [`Image::slices`]: crate::entry::image::Image::slices
    pub slices: bool,
    /// Bytes from one layer to the next.
    pub layer: u64,
    /// Of each mip level: its first byte in a layer, and its bytes.
    pub levels: Vec<(u64, u64)>,
    /// Device addresses.
    pub bytes: Range,
    /// vkDestroyImage has ended it.
    pub ended: AtomicBool,
}

/// An image, or one of its planes, by its handle.
type Key = (u64, Option<u32>);

impl Bound {
    fn key(&self) -> Key {
        (self.handle, self.plane)
    }

    /// Device addresses of a subresource; `None` where there is no such level.
    fn part(&self, level: u32, layer: u32) -> Option<Range> {
        let (offset, size) = *self.levels.get(level as usize)?;
        Some(Range::new(self.bytes.start + u64::from(layer) * self.layer + offset, size))
    }

    /// The aspects that have layouts of their own, in the order in which these are kept.
    fn planes(&self) -> &'static [Aspect] {
        match self.aspect {
            Aspect::DepthStencil => &[Aspect::Depth, Aspect::Stencil],
            Aspect::Depth => &[Aspect::Depth],
            Aspect::Stencil => &[Aspect::Stencil],
            Aspect::Color => &[Aspect::Color],
        }
    }

    /// Whether these are all aspects of its format.
    pub fn is_whole(&self, aspects: vk::ImageAspectFlags) -> bool {
        let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        self.aspect != Aspect::DepthStencil || aspects.contains(both)
    }

    /// The image's device addresses and its handle.
    pub fn place(&self) -> Place {
        let resource =
            Resource { kind: vk::ObjectType::IMAGE, handle: self.handle, sharing: self.sharing.clone() };
        Place { bytes: self.bytes, resource }
    }

    /// Whether these device addresses are all its own.
    pub fn holds(&self, range: Range) -> bool {
        self.bytes.start <= range.start && range.end <= self.bytes.end
    }

    /// Whether both interpret the same bytes alike: created alike, as aliases, and bound alike.
    fn shares(&self, other: &Bound) -> bool {
        let alike = |b: &Bound| (b.alias, b.layers, b.layer, b.bytes);
        self.alias.is_some() && alike(self) == alike(other) && self.levels == other.levels
    }

    /// Whether it is there still, and interprets its bytes otherwise than the image that they are accessed
    /// through does.
    fn is_other_than(&self, through: Option<&Bound>) -> bool {
        let alike = |through: &Bound| through.key() == self.key() || through.shares(self);
        !self.ended.load(Ordering::Relaxed) && !through.is_some_and(alike)
    }

    /// The subresources that bytes belong to: level, layer, and the bytes of each.
    pub fn subresources(&self, range: Range) -> Vec<(u32, u32, Range)> {
        let part = overlap(self.bytes, range);
        if part.start >= part.end || self.layer == 0 {
            return Vec::new();
        }
        let layer = |address: u64| ((address - self.bytes.start) / self.layer) as u32;
        let levels = 0..self.levels.len() as u32;
        let each = (layer(part.start)..=layer(part.end - 1))
            .flat_map(|l| levels.clone().map(move |level| (level, l)));
        each.filter_map(|(level, layer)| {
            let bytes = self.part(level, layer)?;
            let part = overlap(bytes, range);
            (part.start < part.end).then_some((level, layer, bytes))
        })
        .collect()
    }
}

/// Subresources of an image, as a command uses them.
pub struct ImageUse {
    pub image: Arc<Bound>,
    /// Aspects; none stands for all that it has.
    pub aspects: vk::ImageAspectFlags,
    /// Mip levels.
    pub levels: ops::Range<u32>,
    /// Array layers.
    pub layers: ops::Range<u32>,
    /// The layout that the command or the descriptor names.
    pub layout: vk::ImageLayout,
    /// The command writes them.
    pub writes: bool,
}

/// Who did something: a command by its tag, or the host by the tag of the call before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Command(u64),
    Host(u64),
}

/// Since when a subresource is in its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// vkCreateImage.
    Creation,
    /// A transition, by who made it.
    Transition(Who),
    /// A write of its bytes through something else.
    Overwritten(Who),
}

/// What is wrong with the use of a subresource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongLayout {
    /// It is in another layout than the access names.
    Access(vk::ImageLayout),
    /// A transition names another old layout.
    OldLayout(vk::ImageLayout, vk::ImageLayout),
    /// Its bytes are read through something else.
    Read,
}

/// A use of a subresource that is not right.
pub struct Mismatch {
    pub image: Arc<Bound>,
    /// Mip level.
    pub level: u32,
    /// Array layer.
    pub layer: u32,
    /// Why the use is not right by the layout.
    pub wrong: WrongLayout,
    /// The command that used the subresource.
    pub by: Who,
    /// The layout that the subresource is in when it is used.
    pub layout: vk::ImageLayout,
    /// Since when.
    pub since: Since,
}

#[derive(Clone, Copy)]
struct Held {
    layout: vk::ImageLayout,
    since: Since,
    /// It holds something that was written through the image.
    written: bool,
}

struct Known {
    image: Weak<Bound>,
    /// Aspect after aspect, in each layer after layer, in each the levels.
    held: Vec<Held>,
}

impl Known {
    /// The first subresource among these that is not right, if one is; all are changed by `then`.
    fn first(
        &mut self,
        image: &Bound,
        (aspects, levels, layers): &Subresources,
        wrong: impl Fn(&Held, Aspect) -> bool,
        then: impl Fn(&mut Held),
    ) -> Option<(u32, u32, Held)> {
        if image.slices {
            return None;
        }
        let count = image.levels.len() as u32;
        let named = |aspect: Aspect| match (image.aspect, aspect) {
            (Aspect::DepthStencil, Aspect::Depth) => *aspects != vk::ImageAspectFlags::STENCIL,
            (Aspect::DepthStencil, _) => *aspects != vk::ImageAspectFlags::DEPTH,
            _ => true,
        };
        let mut found = None;
        for (plane, aspect) in (0..).zip(image.planes()).filter(|(_, aspect)| named(**aspect)) {
            for layer in layers.clone().map(|layer| plane * image.layers + layer) {
                for level in levels.clone() {
                    let Some(held) = self.held.get_mut((layer * count + level) as usize) else { continue };
                    if found.is_none() && wrong(held, *aspect) {
                        found = Some((level, layer % image.layers, *held));
                    }
                    then(held);
                }
            }
        }
        found
    }
}

/// The layout of one aspect that this one means for it.
fn of_aspect(layout: vk::ImageLayout, aspect: Aspect) -> vk::ImageLayout {
    use vk::ImageLayout as L;
    match (aspect, layout) {
        (Aspect::Depth, L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL | L::ATTACHMENT_OPTIMAL)
        | (Aspect::Depth, L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL) => L::DEPTH_ATTACHMENT_OPTIMAL,
        (Aspect::Depth, L::DEPTH_STENCIL_READ_ONLY_OPTIMAL | L::READ_ONLY_OPTIMAL)
        | (Aspect::Depth, L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL) => L::DEPTH_READ_ONLY_OPTIMAL,
        (Aspect::Stencil, L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL | L::ATTACHMENT_OPTIMAL)
        | (Aspect::Stencil, L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL) => L::STENCIL_ATTACHMENT_OPTIMAL,
        (Aspect::Stencil, L::DEPTH_STENCIL_READ_ONLY_OPTIMAL | L::READ_ONLY_OPTIMAL)
        | (Aspect::Stencil, L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL) => L::STENCIL_READ_ONLY_OPTIMAL,
        (Aspect::Color, L::ATTACHMENT_OPTIMAL) => L::COLOR_ATTACHMENT_OPTIMAL,
        (Aspect::Color, L::READ_ONLY_OPTIMAL) => L::SHADER_READ_ONLY_OPTIMAL,
        _ => layout,
    }
}

fn opaque(image: &Bound, layout: vk::ImageLayout) -> bool {
    let shared = [vk::ImageLayout::GENERAL, vk::ImageLayout::PREINITIALIZED, vk::ImageLayout::UNDEFINED];
    image.tiling != vk::ImageTiling::LINEAR || !shared.contains(&layout)
}

fn overlap(a: Range, b: Range) -> Range {
    Range { start: a.start.max(b.start), end: a.end.min(b.end).max(a.start.max(b.start)) }
}

/// The layouts of a device's images.
#[derive(Default)]
pub struct Layouts {
    known: BTreeMap<Key, Known>,
    /// Address and key of each known image, and where it ends.
    extents: BTreeMap<(u64, Key), u64>,
    /// Bytes of the largest one.
    largest: u64,
}

impl Layouts {
    fn of(&mut self, image: &Arc<Bound>) -> &mut Known {
        let handle = image.key();
        if !self.known.contains_key(&handle) {
            let ended: Vec<Key> =
                self.known.iter().filter(|(_, k)| k.image.strong_count() == 0).map(|(h, _)| *h).collect();
            self.known.retain(|handle, _| !ended.contains(handle));
            self.extents.retain(|(_, handle), _| !ended.contains(handle));
            let Range { start, end } = image.bytes;
            self.extents.insert((start, handle), end);
            self.largest = self.largest.max(end - start);
        }
        self.known.entry(handle).or_insert_with(|| {
            let held = Held { layout: image.initial_layout, since: Since::Creation, written: false };
            let count = image.planes().len() * image.levels.len() * image.layers as usize;
            Known { image: Arc::downgrade(image), held: vec![held; count] }
        })
    }

    /// A command uses subresources in a layout.
    pub fn access(&mut self, wanted: &ImageUse, by: Who) -> Option<Mismatch> {
        let ImageUse { image, aspects, levels, layers, layout, writes } = wanted;
        let known = self.of(image);
        let parts = (*aspects, levels.clone(), layers.clone());
        let wrong = |h: &Held, aspect| of_aspect(h.layout, aspect) != of_aspect(*layout, aspect);
        let found = known.first(image, &parts, wrong, |h| h.written |= writes)?;
        Some(mismatch(image, found, WrongLayout::Access(*layout), by))
    }

    /// A transition executes. That of an acquire operation may have been performed already, by the other half
    /// of the ownership transfer; `acquired` is true of one from an external queue family, whose layout
    /// nobody knows here.
    pub fn transition(
        &mut self,
        image: &Arc<Bound>,
        parts: &Subresources,
        (from, to): (vk::ImageLayout, vk::ImageLayout),
        acquired: Option<bool>,
        by: Who,
    ) -> Option<Mismatch> {
        let discards = from == vk::ImageLayout::UNDEFINED;
        let wrong = |h: &Held, aspect| {
            let is = |layout| of_aspect(h.layout, aspect) == of_aspect(layout, aspect);
            // What overwrote it may have written zeros.
            let zeroed = from == ZERO_INITIALIZED && matches!(h.since, Since::Overwritten(_));
            !(discards || is(from) || zeroed || acquired.is_some() && is(to) || acquired == Some(true))
        };
        let then = |h: &mut Held| {
            let written = (h.written || acquired == Some(true)) && !discards;
            *h = Held { layout: to, since: Since::Transition(by), written };
        };
        let found = self.of(image).first(image, parts, wrong, then)?;
        Some(mismatch(image, found, WrongLayout::OldLayout(from, to), by))
    }

    /// The known images that reach into a range.
    fn near(&self, range: Range) -> impl Iterator<Item = Key> {
        let from = range.start.saturating_sub(self.largest);
        let near = self.extents.range((from, (0, None))..(range.end, (0, None)));
        near.filter(move |(_, end)| **end > range.start).map(|((_, handle), _)| *handle)
    }

    /// Whether no other image is known that reaches into a range of this one.
    pub fn is_alone(&self, image: &Bound, range: Range) -> bool {
        let known = |handle| self.known.get(&handle).and_then(|known| known.image.upgrade());
        !self.near(range).filter_map(known).any(|known| known.is_other_than(Some(image)))
    }

    /// Whether no image is known yet.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// The bytes of the known images that reach into a range.
    pub fn images_in(&self, range: Range) -> impl Iterator<Item = Range> {
        self.near(range).filter_map(|handle| self.known.get(&handle)?.image.upgrade().map(|i| i.bytes))
    }

    /// Bytes are read or written, not through the image `through`.
    pub fn bytes(
        &mut self,
        range: Range,
        (reads, writes): (bool, bool),
        through: Option<&Bound>,
        by: Who,
    ) -> Vec<Mismatch> {
        let near: SmallVec<[Key; 4]> = self.near(range).collect();
        let mut found = Vec::new();
        for handle in near {
            let Some(known) = self.known.get_mut(&handle) else { continue };
            let Some(image) = known.image.upgrade() else { continue };
            if !image.is_other_than(through) {
                continue;
            }
            let levels = image.levels.len() as u32;
            if reads {
                let parts = image.subresources(range).into_iter();
                let mut planes =
                    parts.flat_map(|part| (0..image.planes().len() as u32).map(move |p| (part, p)));
                let seen = planes.find_map(|((level, layer, bytes), plane)| {
                    let held = known.held.get(((plane * image.layers + layer) * levels + level) as usize)?;
                    let whole = matches!(by, Who::Command(_)) || seen_by_host(bytes, range);
                    (whole && held.written && opaque(&image, held.layout)).then_some((level, layer, *held))
                });
                found.extend(seen.map(|held| mismatch(&image, held, WrongLayout::Read, by)));
            }
            if writes {
                // Of an image with optimal tiling all subresources overlap the bytes.
                let reached = |level, layer| {
                    let part = image.part(level, layer).unwrap_or(Range { start: 0, end: 0 });
                    let part = overlap(part, range);
                    image.tiling != vk::ImageTiling::LINEAR || part.start < part.end
                };
                for (at, held) in known.held.iter_mut().enumerate() {
                    let (layer, level) = (at as u32 / levels % image.layers, at as u32 % levels);
                    let defined = held.layout != vk::ImageLayout::UNDEFINED;
                    if defined && opaque(&image, held.layout) && reached(level, layer) {
                        let since = Since::Overwritten(by);
                        *held = Held { layout: vk::ImageLayout::UNDEFINED, since, written: false };
                    }
                }
            }
        }
        found
    }
}

/// Reads of the host are known by the page: whether this one is of these bytes for sure.
fn seen_by_host(bytes: Range, read: Range) -> bool {
    const PAGES: u64 = 2 * 4096;
    let part = overlap(bytes, read);
    part.end - part.start == read.end - read.start || part.end - part.start >= PAGES
}

fn mismatch(
    image: &Arc<Bound>,
    (level, layer, held): (u32, u32, Held),
    wrong: WrongLayout,
    by: Who,
) -> Mismatch {
    Mismatch { image: image.clone(), level, layer, wrong, by, layout: held.layout, since: held.since }
}
