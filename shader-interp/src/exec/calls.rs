//! What the loop calls by an entry of the program's tables: accesses to memory, and image operations.

use super::apart::Apart;
use super::context::Context;
use super::target::{Target, Work};
use crate::code::{ImageEntry, MemoryEntry};
use crate::ops::{image, memory as table};
use pellucid_memory::system::{LaneAccesses, Lanes, Mask, Trap};

macro_rules! table_work {
    ($($name:ident: $entry:ty => $output:ty, $function:path;)*) => {
        $(
            pub(super) struct $name;

            impl<M: LaneAccesses> Work<$entry, M> for $name {
                type Output = $output;

                #[inline(always)]
                fn run<T: Target>(
                    context: &Context<'_>,
                    entry: &$entry,
                    vectors: &mut [Lanes],
                    mask: Mask,
                    memory: &mut M,
                ) -> Result<$output, Box<Trap>> {
                    $function(context, entry, vectors, mask, memory).map_err(Box::new)
                }
            }
        )*
    };
}
table_work! {
    Load: MemoryEntry => (), table::load;
    Store: MemoryEntry => (), table::store;
    AtomicOf: MemoryEntry => bool, table::atomic;
}

/// Image operations.
pub(super) struct ImageOf;

impl<M: LaneAccesses> Work<ImageEntry, M> for ImageOf {
    type Output = bool;

    #[inline(always)]
    fn run<T: Target>(
        context: &Context<'_>,
        entry: &ImageEntry,
        vectors: &mut [Lanes],
        mask: Mask,
        memory: &mut M,
    ) -> Result<bool, Box<Trap>> {
        let done = if M::MODELLED {
            let mut apart = Apart::<T, M>::new(context, memory);
            image::entry::execute(context, entry, vectors, mask, &mut apart)
        } else if T::FOR_SPEED {
            image::entry::execute(context, entry, vectors, mask, memory)
        } else {
            image::entry::general(context, entry, vectors, mask, memory)
        };
        done.map_err(Box::new)
    }
}
