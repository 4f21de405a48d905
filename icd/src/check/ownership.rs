//! Which queue family owns what buffers and images hold (Vulkan 1.3, 7.7.4 *Queue Family Ownership Transfer*,
//! 12.7 *Resource Sharing Mode*).
//!
//! Bytes of a resource with VK_SHARING_MODE_EXCLUSIVE that a queue wrote are its family's. To queues of other
//! families they are undefined, until a release and an acquire operation have transferred them. Bytes count
//! where they were written through the resource: what an alias wrote is nobody's, and reading alone makes
//! nobody an owner. Memory that the host or another process may write is left out, and so are transfers of
//! one aspect of an image that has depth and stencil. So some mistakes are missed, and none is invented.

use super::named::OwnershipTransfer;
use crate::caps::queues;
use ash::vk;
use pellucid_memory::commands::{Range, RangeMap};
use std::ops;
use std::sync::Arc;

/// The queue families that may access a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// VK_SHARING_MODE_EXCLUSIVE: one after the other, by transfers.
    Exclusive,
    /// The same, of a resource that keeps its contents without transfers (VK_KHR_maintenance9).
    Preserved,
    /// VK_SHARING_MODE_CONCURRENT: these.
    Concurrent(Arc<[u32]>),
}

impl Sharing {
    /// That of a resource that several families share, or one of them; what is wrong with the list, if it is.
    pub fn concurrent(families: &[u32]) -> (Sharing, Option<String>) {
        let distinct =
            |(k, family): (usize, &u32)| queues::count(*family) > 0 && !families[..k].contains(family);
        let right = families.len() >= 2 && families.iter().enumerate().all(distinct);
        let wrong = || {
            format!("VK_SHARING_MODE_CONCURRENT takes two or more different queue families, not {families:?}")
        };
        (Sharing::Concurrent(families.into()), (!right).then(wrong))
    }

    /// The same where others than queues may write, whom nobody sees: then who owns it is not known.
    pub fn seen(&self, seen: bool) -> Sharing {
        match self {
            Sharing::Exclusive if !seen => Sharing::Preserved,
            other => other.clone(),
        }
    }
}

/// A buffer or image, as far as its owners go.
#[derive(Clone, Debug)]
pub struct Resource {
    pub kind: vk::ObjectType,
    pub handle: u64,
    pub sharing: Sharing,
}

/// Where a buffer or image is that a command uses.
pub struct Place {
    /// Device addresses.
    pub bytes: Range,
    pub resource: Resource,
}

/// The resource among these that bytes are of, if it is one.
pub fn only(places: &[Place], range: Range) -> Option<&Resource> {
    let holds = |place: &&Place| place.bytes.start <= range.start && range.end <= place.bytes.end;
    let mut all = places.iter().filter(holds).map(|place| &place.resource);
    let first = all.next()?;
    all.all(|other| name(other) == name(first)).then_some(first)
}

/// The part of a resource that a barrier is for: release and acquire operation name the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourcePart {
    /// Offset and size in bytes.
    Buffer(u64, u64),
    /// Aspects, mip levels and array layers.
    Image(vk::ImageAspectFlags, ops::Range<u32>, ops::Range<u32>),
}

/// A barrier, as far as owners go.
#[derive(Clone)]
pub struct Owned {
    pub resource: Resource,
    /// Device addresses.
    pub ranges: Vec<Range>,
    pub part: ResourcePart,
    /// The layouts of an image before and after.
    pub layouts: Option<(vk::ImageLayout, vk::ImageLayout)>,
    /// The half of a transfer that it is, if it is one.
    pub transfers: Option<OwnershipTransfer>,
}

/// In what an acquire operation differs from a release operation of the same resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// Source and destination queue family of the release.
    Families(u32, u32),
    /// The layouts of the release.
    Layouts(vk::ImageLayout, vk::ImageLayout),
    /// The range of bytes or subresources.
    Part,
}

/// What is wrong with the use of a resource. Tags name commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongOwner {
    /// The family reads what another one owns, which the command wrote.
    NotReleased(u32, u64),
    /// The family reads what the command released to another one, and nobody has acquired.
    NotAcquired(u32, u64),
    /// An acquire operation without a release operation; the command released something like it.
    NoRelease(Option<(Differs, u64)>),
    /// An acquire operation of what the command has written since the release operation.
    Modified(u64),
    /// The family is not among those that share the resource.
    NotShared,
}

impl WrongOwner {
    /// The command before, which it is about, too.
    pub fn before(self) -> Option<u64> {
        match self {
            WrongOwner::NotReleased(_, by) | WrongOwner::NotAcquired(_, by) | WrongOwner::Modified(by) => {
                Some(by)
            }
            WrongOwner::NoRelease(near) => near.map(|(_, by)| by),
            WrongOwner::NotShared => None,
        }
    }
}

type Name = (i32, u64);

/// Who owns some bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Held {
    resource: Name,
    family: u32,
    /// The number of the release operation that gave them away.
    released: Option<u64>,
    /// The command that wrote or transferred them.
    by: u64,
}

struct Release {
    number: u64,
    resource: Name,
    transfer: OwnershipTransfer,
    part: ResourcePart,
    layouts: Option<(vk::ImageLayout, vk::ImageLayout)>,
    by: u64,
}

/// How many release operations wait for an acquire operation.
const PENDING: usize = 1 << 12;

/// The owners of a device's buffers and images.
#[derive(Default)]
pub struct Ownership {
    /// Who owns which bytes.
    held: RangeMap<Held>,
    pending: Vec<Release>,
    next: u64,
    /// The oldest of them were forgotten.
    forgot: bool,
}

fn name(resource: &Resource) -> Name {
    (resource.kind.as_raw(), resource.handle)
}

impl Ownership {
    fn set(&mut self, range: Range, held: Held) {
        if range.start < range.end {
            self.held.take(range);
            self.held.insert(range, held);
        }
    }

    fn overlapping(&self, range: Range) -> impl Iterator<Item = &Held> {
        self.held.within(range).map(|(_, held)| held)
    }

    /// Bytes are nobody's any more: the host, an alias or nobody wrote them.
    pub fn forget(&mut self, range: Range) {
        self.held.take(range);
    }

    /// A buffer or image was destroyed: nobody acquires it any more.
    pub fn destroyed(&mut self, kind: vk::ObjectType, handle: u64) {
        self.pending.retain(|release| release.resource != (kind.as_raw(), handle));
    }

    /// Command `by` on a queue of `family` reads or writes bytes through a resource.
    pub fn access(
        &mut self,
        resource: &Resource,
        family: u32,
        range: Range,
        (reads, writes): (bool, bool),
        by: u64,
    ) -> Option<WrongOwner> {
        match &resource.sharing {
            Sharing::Exclusive => {}
            shared => {
                if writes {
                    self.forget(range);
                }
                let outside = matches!(shared, Sharing::Concurrent(list) if !list.contains(&family));
                return outside.then_some(WrongOwner::NotShared);
            }
        }
        let resource = name(resource);
        let judge = |held: &Held| match held.released {
            Some(_) => Some(WrongOwner::NotAcquired(held.family, held.by)),
            None => (held.family != family).then_some(WrongOwner::NotReleased(held.family, held.by)),
        };
        let wrong = match reads {
            true => self.overlapping(range).filter(|held| held.resource == resource).find_map(judge),
            false => None,
        };
        if writes || wrong.is_some() {
            self.set(range, Held { resource, family, released: None, by });
        }
        wrong
    }

    /// A barrier that changes layouts or owners executes on a queue of `family`.
    pub fn barrier(&mut self, owned: &Owned, family: u32, by: u64) -> Option<WrongOwner> {
        match owned.transfers {
            Some(transfer) if owned.resource.sharing == Sharing::Exclusive => {
                if transfer.acquires {
                    self.acquire(owned, transfer, by)
                } else {
                    self.release(owned, transfer, by);
                    None
                }
            }
            // What is shared needs no transfers.
            Some(_) => None,
            None if owned.layouts.is_some_and(|(from, _)| from == vk::ImageLayout::UNDEFINED) => {
                owned.ranges.iter().for_each(|range| self.forget(*range));
                None
            }
            None => {
                let does = (true, true);
                let access = |range: &Range| self.access(&owned.resource, family, *range, does, by);
                owned.ranges.iter().filter_map(access).next()
            }
        }
    }

    fn release(&mut self, owned: &Owned, transfer: OwnershipTransfer, by: u64) {
        let (resource, number) = (name(&owned.resource), self.next);
        self.next += 1;
        let same = |r: &Release| {
            r.resource == resource
                && r.part == owned.part
                && (r.transfer.from, r.transfer.to) == (transfer.from, transfer.to)
        };
        self.pending.retain(|r| !same(r));
        if self.pending.len() == PENDING {
            self.pending.remove(0);
            self.forgot = true;
        }
        let (part, layouts) = (owned.part.clone(), owned.layouts);
        self.pending.push(Release { number, resource, transfer, part, layouts, by });
        for range in &owned.ranges {
            let held = Held { resource, family: transfer.to, released: Some(number), by };
            self.set(*range, held);
        }
    }

    fn acquire(&mut self, owned: &Owned, transfer: OwnershipTransfer, by: u64) -> Option<WrongOwner> {
        let resource = name(&owned.resource);
        let inside = !queues::is_external(transfer.from);
        let of = |r: &&Release| r.resource == resource && (r.part == owned.part);
        let families = |r: &Release| (r.transfer.from, r.transfer.to) == (transfer.from, transfer.to);
        let found = self.pending.iter().find(|r| of(r) && families(r) && r.layouts == owned.layouts);
        let found = found.map(|release| release.number);
        let wrong = match found {
            _ if !inside => None,
            Some(number) => {
                let mut held = owned.ranges.iter().flat_map(|range| self.overlapping(*range));
                let changed = held.find(|h| h.resource == resource && h.released != Some(number));
                changed.map(|held| WrongOwner::Modified(held.by))
            }
            None if self.forgot => None,
            None => {
                let mut others = self.pending.iter().rev().filter(|r| r.resource == resource);
                let near = others.clone().find(|r| families(r)).or_else(|| others.next());
                Some(WrongOwner::NoRelease(near.map(|r| (differs(r, owned, families(r)), r.by))))
            }
        };
        self.pending.retain(|release| Some(release.number) != found);
        for range in &owned.ranges {
            self.set(*range, Held { resource, family: transfer.to, released: None, by });
        }
        wrong
    }
}

fn differs(release: &Release, acquire: &Owned, same_families: bool) -> Differs {
    match release.layouts {
        _ if !same_families => Differs::Families(release.transfer.from, release.transfer.to),
        Some((from, to)) if release.part == acquire.part => Differs::Layouts(from, to),
        _ => Differs::Part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_end_with_their_resource() {
        let mut ownership = Ownership::default();
        for handle in 1..=2 * PENDING as u64 {
            let bytes = Range::new(handle * 256, 256);
            let resource = Resource { kind: vk::ObjectType::BUFFER, handle, sharing: Sharing::Exclusive };
            let transfers = Some(OwnershipTransfer { acquires: false, from: 0, to: 1 });
            let part = ResourcePart::Buffer(0, 256);
            let owned = Owned { resource, ranges: vec![bytes], part, layouts: None, transfers };
            assert_eq!(ownership.barrier(&owned, 0, 1), None);
            ownership.destroyed(vk::ObjectType::BUFFER, handle);
        }
        assert!(ownership.pending.is_empty() && !ownership.forgot);
    }
}
