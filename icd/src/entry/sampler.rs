//! VkSampler and VkSamplerYcbcrConversion (which is refused).

use crate::boundary::entries;
use crate::caps::limits;
use crate::device::Device;
use crate::entry::descriptor_buffer::creation;
use crate::entry::destroy::destroy_described;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use pellucid_shader_interp::interface;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub struct Sampler {
    /// Its state, as the interpreter takes it.
    pub state: interface::Sampler,
}

object!(Sampler, vk::Sampler, kind::SAMPLER);

/// The raw components of a border color.
///
/// # Errors
/// It is a custom one that is not there.
///
/// # Safety
/// `info` is the application's.
unsafe fn border(info: &vk::SamplerCreateInfo<'_>) -> Outcome<[u32; 4]> {
    let one = 1f32.to_bits();
    Ok(match info.border_color {
        vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT => {
            // SAFETY: the contract; every member of the union is made of words.
            unsafe {
                let custom = ffi::find::<vk::SamplerCustomBorderColorCreateInfoEXT<'_>>(info.p_next);
                let custom = custom.ok_or_else(|| Error::usage("a custom border color that is not told"))?;
                custom.custom_border_color.uint32
            }
        }
        vk::BorderColor::FLOAT_OPAQUE_BLACK => [0, 0, 0, one],
        vk::BorderColor::INT_OPAQUE_BLACK => [0, 0, 0, 1],
        vk::BorderColor::FLOAT_OPAQUE_WHITE => [one; 4],
        vk::BorderColor::INT_OPAQUE_WHITE => [1; 4],
        _ => [0; 4],
    })
}

entries! {
    /// vkCreateSampler.
    fn create_sampler(
        device: vk::Device,
        info: *const vk::SamplerCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Sampler,
    ) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        if device.samplers.load(Ordering::Relaxed) >= limits::SAMPLERS {
            return Err(vk::Result::ERROR_TOO_MANY_OBJECTS.into());
        }
        let state = interface::Sampler {
            mag_linear: info.mag_filter == vk::Filter::LINEAR,
            min_linear: info.min_filter == vk::Filter::LINEAR,
            mip_linear: info.mipmap_mode == vk::SamplerMipmapMode::LINEAR,
            address: [info.address_mode_u, info.address_mode_v, info.address_mode_w].map(|m| m.as_raw()),
            lod_bias: info.mip_lod_bias,
            min_lod: info.min_lod,
            max_lod: info.max_lod,
            max_anisotropy: if info.anisotropy_enable == vk::TRUE { info.max_anisotropy } else { 1.0 },
            border: border(info)?,
            unnormalized: info.unnormalized_coordinates == vk::TRUE,
            compare: (info.compare_enable == vk::TRUE).then(|| info.compare_op.as_raw()),
        };
        let flag = vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;
        let how = creation(info.flags.contains(flag), info.p_next)?;
        let sampler = Arc::new(Sampler { state });
        let handle = handle::insert(sampler.clone());
        if device.describes() {
            let added = device.described.add_sampler(handle, &sampler, how);
            added.inspect_err(|_| drop(handle::take::<Sampler>(handle)))?;
        }
        device.samplers.fetch_add(1, Ordering::Relaxed);
        ffi::write(out, handle)
    }

    /// vkDestroySampler.
    fn destroy_sampler(device: vk::Device, sampler: vk::Sampler, _allocator: *const vk::AllocationCallbacks<'_>) {
        if destroy_described::<Sampler>(device, sampler, "vkDestroySampler")?.is_some() {
            let device = handle::dispatchable::<Device>(device)?;
            device.samplers.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// vkCreateSamplerYcbcrConversion: samplerYcbcrConversion is false.
    fn create_sampler_ycbcr_conversion(
        device: vk::Device,
        _info: *const vk::SamplerYcbcrConversionCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::SamplerYcbcrConversion,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        ffi::write(out, vk::SamplerYcbcrConversion::null())?;
        Err::<(), _>(Error::not_implemented("sampler Y'CbCr conversion"))
    }

    /// vkDestroySamplerYcbcrConversion: there is none to destroy.
    fn destroy_sampler_ycbcr_conversion(
        device: vk::Device,
        _conversion: vk::SamplerYcbcrConversion,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::dispatchable::<Device>(device)?;
        Ok(())
    }
}
