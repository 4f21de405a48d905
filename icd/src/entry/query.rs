//! VkQueryPool: timestamps, and occlusion queries (which count nothing, because nothing is drawn).

use crate::boundary::{Error, Outcome, entries};
use crate::command::query;
use crate::entry::destroy::destroy;
use crate::entry::device::Device;
use crate::entry::kind;
use crate::ffi;
use crate::handle::{self, object};
use crate::queue::completion::Told;
use ash::vk;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One query.
#[derive(Default)]
pub struct Query {
    available: AtomicBool,
    value: AtomicU64,
}

impl Query {
    /// Makes a result available.
    pub fn put(&self, value: u64) {
        self.value.store(value, Ordering::Relaxed);
        self.available.store(true, Ordering::Release);
    }

    /// The result, if available.
    pub fn get(&self) -> Option<u64> {
        self.available.load(Ordering::Acquire).then(|| self.value.load(Ordering::Relaxed))
    }

    /// Makes it unavailable.
    pub fn reset(&self) {
        self.available.store(false, Ordering::Release);
    }
}

/// A query pool.
pub struct QueryPool {
    queries: Vec<Query>,
    /// What it tells a host that sees a result.
    pub told: Told,
}

object!(QueryPool, vk::QueryPool, kind::QUERY_POOL);

impl QueryPool {
    /// The queries `first .. first + count`.
    ///
    /// # Errors
    /// The pool does not have them.
    pub fn queries(&self, first: u32, count: u32) -> Outcome<&[Query]> {
        let (first, count) = (first as usize, count as usize);
        self.queries.get(first..first.saturating_add(count)).ok_or_else(|| {
            Error::usage(format!(
                "queries {first}..{} of a pool of {}",
                first.saturating_add(count),
                self.queries.len()
            ))
        })
    }
}

entries! {
    /// vkCreateQueryPool.
    fn create_query_pool(
        device: vk::Device,
        info: *const vk::QueryPoolCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::QueryPool,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        if !matches!(info.query_type, vk::QueryType::TIMESTAMP | vk::QueryType::OCCLUSION) {
            return Err(Error::not_implemented(&format!("queries of type {:?}", info.query_type)));
        }
        let queries = (0..info.query_count).map(|_| Query::default()).collect();
        ffi::write(out, handle::insert(Arc::new(QueryPool { queries, told: Told::default() })))
    }

    /// vkDestroyQueryPool.
    fn destroy_query_pool(
        device: vk::Device,
        pool: vk::QueryPool,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<QueryPool>(device, pool, "vkDestroyQueryPool")?;
        Ok(())
    }

    /// vkResetQueryPool.
    fn reset_query_pool(device: vk::Device, pool: vk::QueryPool, first: u32, count: u32) {
        handle::dispatchable::<Device>(device)?;
        handle::get::<QueryPool>(pool)?.queries(first, count)?.iter().for_each(Query::reset);
        Ok(())
    }

    /// vkGetQueryPoolResults.
    fn get_query_pool_results(
        device: vk::Device,
        pool: vk::QueryPool,
        first: u32,
        count: u32,
        size: usize,
        data: *mut c_void,
        stride: vk::DeviceSize,
        flags: vk::QueryResultFlags,
    ) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let pool = handle::get::<QueryPool>(pool)?;
        let queries = pool.queries(first, count)?;
        if flags.contains(vk::QueryResultFlags::WAIT) {
            device.progress.wait(None, || device.is_lost() || queries.iter().all(|q| q.get().is_some()));
        }
        device.alive()?;
        let out = ffi::slice_mut(data.cast::<u8>(), size);
        let mut complete = true;
        for (index, query) in queries.iter().enumerate() {
            let bytes = query::encode(query, flags);
            complete &= query.get().is_some();
            let start = index * stride as usize;
            for (offset, part) in bytes {
                let at = start + offset;
                let Some(target) = out.get_mut(at..at + part.len()) else {
                    return Err(Error::usage("the results do not fit into dataSize"));
                };
                target.copy_from_slice(&part);
            }
        }
        if complete {
            device.completion.host_saw(pool.told.get());
        }
        Ok(if complete { vk::Result::SUCCESS } else { vk::Result::NOT_READY })
    }
}
