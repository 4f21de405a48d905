//! VkSampler and VkSamplerYcbcrConversion.

use crate::boundary::{creates, destroys, entries};
use crate::caps::{formats, limits};
use crate::described::Creation;
use crate::device::Device;
use crate::entry::destroy::destroy_described;
use crate::entry::image_view::swizzle;
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

pub struct YcbcrConversion {
    /// The format of the images that it is for.
    pub format: vk::Format,
    /// Its state, as the interpreter takes it.
    pub state: interface::SamplerYcbcrConversion,
}

object!(YcbcrConversion, vk::SamplerYcbcrConversion, kind::YCBCR_CONVERSION);

impl YcbcrConversion {
    fn new(info: &vk::SamplerYcbcrConversionCreateInfo<'_>) -> Outcome<YcbcrConversion> {
        if formats::ycbcr(info.format).is_none() {
            return Err(Error::usage(format!("format {:?} has no sampler Y'CbCr conversion", info.format)));
        }
        let midpoint = |offset| offset == vk::ChromaLocation::MIDPOINT;
        let state = interface::SamplerYcbcrConversion {
            model: info.ycbcr_model.as_raw(),
            narrow: info.ycbcr_range == vk::SamplerYcbcrRange::ITU_NARROW,
            swizzle: swizzle(&info.components),
            midpoint: [info.x_chroma_offset, info.y_chroma_offset].map(midpoint),
            linear: info.chroma_filter == vk::Filter::LINEAR,
            explicit: info.force_explicit_reconstruction == vk::TRUE,
        };
        Ok(YcbcrConversion { format: info.format, state })
    }

    /// The conversion that a chain of the application asks for, if any.
    ///
    /// # Errors
    /// Its handle is not live.
    ///
    /// # Safety
    /// `chain` is the application's.
    pub unsafe fn asked_for(chain: *const std::ffi::c_void) -> Outcome<Option<Arc<YcbcrConversion>>> {
        // SAFETY: the contract.
        let info = unsafe { ffi::find::<vk::SamplerYcbcrConversionInfo<'_>>(chain) };
        info.map(|info| handle::get::<YcbcrConversion>(info.conversion)).transpose()
    }
}

/// What a sampler that enables sampler Y'CbCr conversion must not ask for (*VkSamplerCreateInfo*).
fn refused_with_conversion(info: &vk::SamplerCreateInfo<'_>) -> Option<&'static str> {
    let clamped = |mode| mode == vk::SamplerAddressMode::CLAMP_TO_EDGE;
    if !clamped(info.address_mode_u) || !clamped(info.address_mode_v) || !clamped(info.address_mode_w) {
        return Some("has address modes other than VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE");
    }
    if info.anisotropy_enable == vk::TRUE {
        return Some("enables anisotropy");
    }
    (info.unnormalized_coordinates == vk::TRUE).then_some("has unnormalized coordinates")
}

/// How a sampler reduces texels (VkSamplerReductionModeCreateInfo).
///
/// # Errors
/// A mode that is not there, or one that the sampler must not have.
///
/// # Safety
/// `info` is the application's.
unsafe fn reduction(info: &vk::SamplerCreateInfo<'_>, converts: bool) -> Outcome<interface::Reduction> {
    // SAFETY: the contract.
    let asked = unsafe { ffi::find::<vk::SamplerReductionModeCreateInfo<'_>>(info.p_next) };
    let reduction = match asked.map(|asked| asked.reduction_mode).unwrap_or_default() {
        vk::SamplerReductionMode::WEIGHTED_AVERAGE => return Ok(interface::Reduction::WeightedAverage),
        vk::SamplerReductionMode::MIN => interface::Reduction::Min,
        vk::SamplerReductionMode::MAX => interface::Reduction::Max,
        other => return Err(Error::usage(format!("VkSamplerReductionMode {}", other.as_raw()))),
    };
    if info.compare_enable == vk::TRUE || converts {
        let text =
            "a sampler that compares, or converts Y'CbCr, has VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE";
        return Err(Error::usage(text));
    }
    Ok(reduction)
}

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

creates! {
    fn create_sampler(device, info: vk::SamplerCreateInfo<'_>) -> vk::Sampler {
        if device.samplers.load(Ordering::Relaxed) >= limits::SAMPLERS {
            return Err(vk::Result::ERROR_TOO_MANY_OBJECTS.into());
        }
        let conversion = YcbcrConversion::asked_for(info.p_next)?;
        if let Some(what) = refused_with_conversion(info).filter(|_| conversion.is_some()) {
            return Err(Error::usage(format!("a sampler that enables sampler Y'CbCr conversion {what}")));
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
            non_seamless: info.flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT),
            compare: (info.compare_enable == vk::TRUE).then(|| info.compare_op.as_raw()),
            reduction: reduction(info, conversion.is_some())?,
            conversion: conversion.map(|conversion| conversion.state),
        };
        let flag = vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;
        let how = Creation::of(info.flags.contains(flag), info.p_next)?;
        let sampler = Arc::new(Sampler { state });
        let handle = handle::insert(sampler.clone());
        if device.describes() {
            let added = device.described.add(handle, &sampler, how);
            added.inspect_err(|_| drop(handle::take::<Sampler>(handle)))?;
        }
        device.samplers.fetch_add(1, Ordering::Relaxed);
        Ok(handle)
    }
}

destroys! {
    fn destroy_sampler(device, sampler: vk::Sampler) {
        if destroy_described::<Sampler>(&device, sampler, "vkDestroySampler")?.is_some() {
            device.samplers.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

destroys! {
    /// vkDestroySamplerYcbcrConversion. Samplers and image views keep what they need of it.
    fn destroy_sampler_ycbcr_conversion(YcbcrConversion);
}

entries! {
    fn create_sampler_ycbcr_conversion(
        _device: Arc<Device>,
        info: *const vk::SamplerYcbcrConversionCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::SamplerYcbcrConversion,
    ) -> vk::Result {
        ffi::write(out, vk::SamplerYcbcrConversion::null())?;
        ffi::write(out, handle::insert(Arc::new(YcbcrConversion::new(ffi::read(info)?)?)))
    }
}
