//! VkDescriptorPool: sets are counted against what the pool was created for.

use crate::boundary::{creates, destroys, entries};
use crate::device::Device;
use crate::entry::descriptor_layout::DescriptorSetLayout;
use crate::entry::descriptor_set::DescriptorSet;
use crate::entry::destroy::{destroy, end};
use crate::error::{Error, Outcome, room_for};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub struct DescriptorPool {
    capacity: Room,
    state: Mutex<State>,
}

#[derive(Clone)]
struct Room {
    sets: u32,
    /// Descriptors left, by type; bytes for inline uniform blocks.
    descriptors: BTreeMap<i32, u64>,
    inline_bindings: u64,
}

struct State {
    room: Room,
    live: BTreeSet<u64>,
}

object!(DescriptorPool, vk::DescriptorPool, kind::DESCRIPTOR_POOL);

/// What a set takes out of a pool.
fn needs(layout: &DescriptorSetLayout, variable: Option<u32>) -> Room {
    let mut room = Room { sets: 1, descriptors: BTreeMap::new(), inline_bindings: 0 };
    for binding in &layout.bindings {
        let count = layout.count(binding, variable);
        if count > 0 {
            *room.descriptors.entry(binding.kind.as_raw()).or_default() += u64::from(count);
            room.inline_bindings += u64::from(binding.is_inline());
        }
    }
    room
}

impl Room {
    fn take(&mut self, needs: &Room) -> Outcome<()> {
        let full = || Error::from(vk::Result::ERROR_OUT_OF_POOL_MEMORY);
        let enough = needs
            .descriptors
            .iter()
            .all(|(kind, count)| self.descriptors.get(kind).copied().unwrap_or(0) >= *count);
        if !enough || self.sets < needs.sets || self.inline_bindings < needs.inline_bindings {
            return Err(full());
        }
        self.sets -= needs.sets;
        self.inline_bindings -= needs.inline_bindings;
        for (kind, count) in &needs.descriptors {
            if let Some(left) = self.descriptors.get_mut(kind) {
                *left -= count;
            }
        }
        Ok(())
    }

    fn give(&mut self, needs: &Room) {
        self.sets += needs.sets;
        self.inline_bindings += needs.inline_bindings;
        for (kind, count) in &needs.descriptors {
            *self.descriptors.entry(*kind).or_default() += count;
        }
    }
}

impl DescriptorPool {
    fn allocate(
        &self,
        device: &Arc<Device>,
        layout: Arc<DescriptorSetLayout>,
        variable: Option<u32>,
    ) -> Outcome<vk::DescriptorSet> {
        // Without a count a variable binding has none.
        let variable = Some(variable.unwrap_or(0));
        let mut state = self.state.lock();
        let needs = needs(&layout, variable);
        state.room.take(&needs)?;
        match DescriptorSet::new(device, layout, variable) {
            Ok(set) => {
                let handle = handle::insert(Arc::new(set));
                state.live.insert(vk::Handle::as_raw(handle));
                Ok(handle)
            }
            Err(error) => {
                state.room.give(&needs);
                Err(error)
            }
        }
    }

    fn free(&self, device: &Device, set: vk::DescriptorSet) -> Outcome<()> {
        let mut state = self.state.lock();
        if let Some(object) = destroy::<DescriptorSet>(device, set, "vkFreeDescriptorSets")? {
            if !state.live.remove(&vk::Handle::as_raw(set)) {
                return Err(Error::usage("the descriptor set is not from this pool"));
            }
            state.room.give(&needs(&object.layout, object.variable));
        }
        Ok(())
    }

    fn clear(&self, device: &Device, call: &'static str) -> Outcome<()> {
        let mut state = self.state.lock();
        for set in std::mem::take(&mut state.live) {
            destroy::<DescriptorSet>(device, vk::Handle::from_raw(set), call)?;
        }
        state.room = self.capacity.clone();
        Ok(())
    }
}

creates! {
    fn create_descriptor_pool(_device, info: vk::DescriptorPoolCreateInfo<'_>) -> vk::DescriptorPool {
        let mut descriptors = BTreeMap::new();
        for size in ffi::slice(info.p_pool_sizes, info.pool_size_count) {
            *descriptors.entry(size.ty.as_raw()).or_default() += u64::from(size.descriptor_count);
        }
        let inline_bindings = ffi::find::<vk::DescriptorPoolInlineUniformBlockCreateInfo<'_>>(info.p_next)
            .map_or(0, |i| u64::from(i.max_inline_uniform_block_bindings));
        let capacity = Room { sets: info.max_sets, descriptors, inline_bindings };
        let state = State { room: capacity.clone(), live: BTreeSet::new() };
        Ok(handle::insert(Arc::new(DescriptorPool { capacity, state: Mutex::new(state) })))
    }
}

destroys! {
    fn destroy_descriptor_pool(device, pool: vk::DescriptorPool) {
        match end::<DescriptorPool>(&device, pool)? {
            Some(pool) => pool.clear(&device, "vkDestroyDescriptorPool"),
            None => Ok(()),
        }
    }
}

entries! {
    fn reset_descriptor_pool(
        device: Arc<Device>,
        pool: Arc<DescriptorPool>,
        _flags: vk::DescriptorPoolResetFlags,
    ) -> vk::Result {
        pool.clear(&device, "vkResetDescriptorPool")
    }

    /// vkAllocateDescriptorSets: all or none.
    fn allocate_descriptor_sets(
        device: Arc<Device>,
        info: &vk::DescriptorSetAllocateInfo<'_>,
        out: *mut vk::DescriptorSet,
    ) -> vk::Result {
        let pool = handle::get::<DescriptorPool>(info.descriptor_pool)?;
        let variable = ffi::find::<vk::DescriptorSetVariableDescriptorCountAllocateInfo<'_>>(info.p_next)
            .map_or(&[][..], |v| ffi::slice(v.p_descriptor_counts, v.descriptor_set_count));
        // A count that cannot succeed is refused before anything is made.
        if info.descriptor_set_count > pool.state.lock().room.sets {
            return Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY.into());
        }
        room_for::<(DescriptorSet, [u64; 24])>(info.descriptor_set_count as usize)?;
        let out = ffi::slice_mut(out, info.descriptor_set_count);
        out.fill(vk::DescriptorSet::null());
        let layouts = ffi::slice(info.p_set_layouts, info.descriptor_set_count);
        let mut failure = None;
        for (index, layout) in layouts.iter().enumerate() {
            let set = handle::get::<DescriptorSetLayout>(*layout).and_then(|layout| {
                if layout.is_in_memory() {
                    let flag = "VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT";
                    return Err(Error::usage(format!("the layout was created with {flag}")));
                }
                pool.allocate(&device, layout, variable.get(index).copied())
            });
            match set {
                Ok(set) => out[index] = set,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        let Some(error) = failure else { return Ok(()) };
        for set in out.iter_mut() {
            pool.free(&device, std::mem::take(set))?;
        }
        Err(error)
    }

    fn free_descriptor_sets(
        device: Arc<Device>,
        pool: Arc<DescriptorPool>,
        sets: &[vk::DescriptorSet],
    ) -> vk::Result {
        sets.iter().try_for_each(|set| pool.free(&device, *set))
    }
}
