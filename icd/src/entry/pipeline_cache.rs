//! VkPipelineCache: compiled programs, kept in memory. The data that applications store holds the header
//! alone, because compiling costs less than reading a file would.

use crate::boundary::{creates, destroys, entries};
use crate::caps::properties::uuid;
use crate::device::Device;
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use parking_lot::Mutex;
use pellucid_shader_interp::Program;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;

/// All that a program depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    pub entry_point: String,
    pub subgroup_size: u32,
    /// For modelled memory.
    pub modelled: bool,
    /// Following push constants that nothing may have set.
    pub push_unset: bool,
    /// With workgroup memory that is coherent.
    pub coherent_workgroup: bool,
    /// With storage buffers and images that are coherent.
    pub coherent_storage: bool,
    /// With notes.
    pub notes: bool,
    pub specialization: BTreeMap<u32, Vec<u8>>,
    /// SPIR-V.
    pub words: Arc<[u32]>,
}

#[derive(Default)]
pub struct PipelineCache {
    pub programs: Mutex<BTreeMap<Key, Arc<Program>>>,
}

object!(PipelineCache, vk::PipelineCache, kind::PIPELINE_CACHE);

/// VkPipelineCacheHeaderVersionOne.
fn header() -> Vec<u8> {
    let mut data = Vec::with_capacity(32);
    data.extend(32u32.to_le_bytes());
    data.extend(vk::PipelineCacheHeaderVersion::ONE.as_raw().to_le_bytes());
    data.extend(0u32.to_le_bytes());
    data.extend(0x9e11u32.to_le_bytes());
    data.extend(uuid("pipe"));
    data
}

creates! {
    fn create_pipeline_cache(_device, _info: vk::PipelineCacheCreateInfo<'_>) -> vk::PipelineCache {
        Ok(handle::insert(Arc::new(PipelineCache::default())))
    }
}

destroys! {
    fn destroy_pipeline_cache(PipelineCache);
}

entries! {
    /// vkGetPipelineCacheData: nothing at all if the header does not fit.
    fn get_pipeline_cache_data(
        _device: Arc<Device>,
        _cache: Arc<PipelineCache>,
        size: *mut usize,
        out: *mut c_void,
    ) -> vk::Result {
        let data = header();
        ffi::enumerate_bytes(&data, size, out)
    }

    fn merge_pipeline_caches(
        _device: Arc<Device>,
        to: Arc<PipelineCache>,
        count: u32,
        from: *const vk::PipelineCache,
    ) -> vk::Result {
        for from in ffi::slice(from, count) {
            let programs = handle::get::<PipelineCache>(*from)?.programs.lock().clone();
            to.programs.lock().extend(programs);
        }
        Ok(())
    }
}
