//! VkQueryPool: timestamps, and occlusion queries (which count nothing, because nothing is drawn).

use crate::boundary::{creates, destroys, entries};
use crate::check::calls;
use crate::device::Device;
use crate::error::{Error, Outcome, room_for};
use crate::ffi;
use crate::handle::{self, kind, object};
use crate::queue::status::settle_all;
use crate::queue::told::Told;
use ash::vk;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::sync::Arc;

#[derive(Clone)]
pub struct QueryResult {
    /// Nanoseconds, or samples.
    pub value: u64,
    /// What it tells a host that sees it.
    pub told: Told,
}

/// One query: its result, if it is available.
#[derive(Default)]
pub struct Query(Mutex<Option<QueryResult>>);

impl Query {
    /// Makes a result available.
    pub fn put(&self, value: u64, told: Told) {
        *self.0.lock() = Some(QueryResult { value, told });
    }

    /// The result, if available.
    pub fn get(&self) -> Option<QueryResult> {
        self.0.lock().clone()
    }

    /// Makes it unavailable.
    pub fn reset(&self) {
        *self.0.lock() = None;
    }
}

/// What VkQueryResultFlags make of a query's result: byte offsets and bytes to be written there. An
/// unavailable result is not written, except the availability word.
pub fn encode(result: Option<&QueryResult>, flags: vk::QueryResultFlags) -> Vec<(usize, Vec<u8>)> {
    let wide = flags.contains(vk::QueryResultFlags::TYPE_64);
    let word =
        |value: u64| if wide { value.to_le_bytes().to_vec() } else { (value as u32).to_le_bytes().to_vec() };
    let mut out = Vec::new();
    match result {
        Some(result) => out.push((0, word(result.value))),
        None if flags.contains(vk::QueryResultFlags::PARTIAL) => out.push((0, word(0))),
        None => {}
    }
    if flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) {
        out.push((if wide { 8 } else { 4 }, word(u64::from(result.is_some()))));
    }
    out
}

pub struct QueryPool {
    queries: Vec<Query>,
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

creates! {
    fn create_query_pool(_device, info: vk::QueryPoolCreateInfo<'_>) -> vk::QueryPool {
        if !matches!(info.query_type, vk::QueryType::TIMESTAMP | vk::QueryType::OCCLUSION) {
            return Err(Error::not_implemented(&format!("queries of type {:?}", info.query_type)));
        }
        let mut queries = room_for(info.query_count as usize)?;
        queries.resize_with(info.query_count as usize, Query::default);
        Ok(handle::insert(Arc::new(QueryPool { queries })))
    }
}

destroys! {
    fn destroy_query_pool(QueryPool) as "vkDestroyQueryPool";
}

entries! {
    fn reset_query_pool(_device: Arc<Device>, pool: Arc<QueryPool>, first: u32, count: u32) {
        pool.queries(first, count)?.iter().for_each(Query::reset);
        Ok(())
    }

    fn get_query_pool_results(
        device: Arc<Device>,
        pool: vk::QueryPool,
        first: u32,
        count: u32,
        size: usize,
        data: *mut c_void,
        stride: vk::DeviceSize,
        flags: vk::QueryResultFlags,
    ) -> vk::Result {
        device.alive()?;
        let pool = handle::get::<QueryPool>(pool)?;
        let queries = pool.queries(first, count)?;
        // What is read here once is what the application is told, and no more.
        let mut results: Vec<Option<QueryResult>> = Vec::new();
        let mut read = || {
            results = queries.iter().map(Query::get).collect();
            results.iter().all(Option::is_some)
        };
        let complete = if flags.contains(vk::QueryResultFlags::WAIT) {
            device.progress.wait(None, || device.is_lost() || read())
        } else {
            settle_all(&*device);
            read()
        };
        device.alive()?;
        let out = ffi::slice_mut(data.cast::<u8>(), size);
        let stride = usize::try_from(stride).unwrap_or(usize::MAX);
        for (index, result) in results.iter().enumerate() {
            let start = index.saturating_mul(stride);
            for (offset, part) in encode(result.as_ref(), flags) {
                let at = start.saturating_add(offset);
                let Some(target) = out.get_mut(at..at.saturating_add(part.len())) else {
                    return Err(Error::usage("the results do not fit into dataSize"));
                };
                target.copy_from_slice(&part);
            }
        }
        // Without an availability word an application that gets NOT_READY cannot tell which results are
        // there.
        if complete || flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) {
            calls::synchronize(&device, "vkGetQueryPoolResults");
            results.iter().flatten().for_each(|result| device.host_saw(&result.told));
        }
        Ok(if complete { vk::Result::SUCCESS } else { vk::Result::NOT_READY })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unavailable_results_leave_the_value_alone() {
        let query = Query::default();
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        assert_eq!(encode(query.get().as_ref(), flags), vec![(8, vec![0; 8])]);
        query.put(5, Told::default());
        assert_eq!(
            encode(query.get().as_ref(), flags),
            vec![(0, 5u64.to_le_bytes().to_vec()), (8, 1u64.to_le_bytes().to_vec())]
        );
    }
}
