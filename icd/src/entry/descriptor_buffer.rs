//! VK_EXT_descriptor_buffer: descriptors in memory that the application lays out.

use crate::boundary::entries;
use crate::caps::{DESCRIPTOR_BUFFERS, SET_ALIGNMENT};
use crate::command::Command;
use crate::command::buffer::{Recorder, push, record};
use crate::descriptor_bytes::{ANY_LAYOUT, CAPTURE_BYTES, Encoded, SIZE};
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::descriptor_layout::{DescriptorSetLayout, no_binding};
use crate::entry::image::Image;
use crate::entry::image_view::ImageView;
use crate::entry::pipeline_layout::PipelineLayout;
use crate::entry::sampler::Sampler;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle;
use ash::vk;
use std::ffi::c_void;
use std::sync::Arc;

/// The layout of a set in memory, of which something is asked.
fn layout_in_memory(layout: vk::DescriptorSetLayout) -> Outcome<Arc<DescriptorSetLayout>> {
    let layout = handle::get::<DescriptorSetLayout>(layout)?;
    match layout.is_in_memory() && !layout.is_pushed() && !layout.is_embedded() {
        true => Ok(layout),
        false => Err(Error::usage(
            "the layout is not one of sets in descriptor buffers, or its sets are pushed or embedded",
        )),
    }
}

/// The descriptor of a buffer; `None`, and address 0, is a null descriptor.
fn buffer(info: Option<&vk::DescriptorAddressInfoEXT<'_>>, texels: bool) -> Encoded {
    match info {
        Some(info) if info.address != 0 && texels => {
            Encoded::Texels { address: info.address, range: info.range, format: info.format.as_raw() }
        }
        Some(info) if info.address != 0 => Encoded::Buffer { address: info.address, range: info.range },
        _ => Encoded::Null,
    }
}

fn sampler(device: &Device, sampler: vk::Sampler) -> Outcome<u64> {
    handle::get::<Sampler>(sampler)?;
    Ok(device.described.number(sampler))
}

/// The descriptor of an image; `None`, and VK_NULL_HANDLE, is a null descriptor.
fn image(device: &Device, info: Option<&vk::DescriptorImageInfo>) -> Outcome<Option<(u64, i32)>> {
    let Some(info) = info.filter(|info| info.image_view != vk::ImageView::null()) else { return Ok(None) };
    handle::get::<ImageView>(info.image_view)?;
    let layout = if device.layouts_ignored { ANY_LAYOUT } else { info.image_layout.as_raw() };
    Ok(Some((device.described.number(info.image_view), layout)))
}

/// # Safety
/// `info` is the application's.
unsafe fn encode(device: &Device, info: &vk::DescriptorGetInfoEXT<'_>) -> Outcome<Encoded> {
    use vk::DescriptorType as T;
    let plain = |image: Option<(u64, i32)>| {
        image.map_or(Encoded::Null, |(view, layout)| Encoded::Image { view, layout })
    };
    // SAFETY: the contract; the type says which member of the union is there.
    unsafe {
        let data = &info.data;
        Ok(match info.ty {
            T::SAMPLER => Encoded::Sampler { sampler: sampler(device, *ffi::read(data.p_sampler)?)? },
            T::COMBINED_IMAGE_SAMPLER => {
                let info = ffi::read(data.p_combined_image_sampler)?;
                match image(device, Some(info))? {
                    None => Encoded::Null,
                    Some((view, layout)) => {
                        Encoded::ImageSampler { view, layout, sampler: sampler(device, info.sampler)? }
                    }
                }
            }
            T::INPUT_ATTACHMENT => plain(image(device, ffi::optional(data.p_input_attachment_image))?),
            T::SAMPLED_IMAGE => plain(image(device, ffi::optional(data.p_sampled_image))?),
            T::STORAGE_IMAGE => plain(image(device, ffi::optional(data.p_storage_image))?),
            T::UNIFORM_TEXEL_BUFFER => buffer(ffi::optional(data.p_uniform_texel_buffer), true),
            T::STORAGE_TEXEL_BUFFER => buffer(ffi::optional(data.p_storage_texel_buffer), true),
            T::UNIFORM_BUFFER => buffer(ffi::optional(data.p_uniform_buffer), false),
            T::STORAGE_BUFFER => buffer(ffi::optional(data.p_storage_buffer), false),
            other => return Err(Error::not_implemented(&format!("descriptors of type {other:?} in memory"))),
        })
    }
}

/// Whether commands of a bind point are recorded: with those of graphics nothing is drawn.
fn is_compute(point: vk::PipelineBindPoint) -> Outcome<bool> {
    match point {
        vk::PipelineBindPoint::COMPUTE => Ok(true),
        vk::PipelineBindPoint::GRAPHICS => Ok(false),
        other => Err(Error::not_implemented(&format!("the pipeline bind point {other:?}"))),
    }
}

/// The layouts of `count` sets from `first` on.
fn layouts(
    layout: vk::PipelineLayout,
    first: u32,
    count: u32,
    fits: impl Fn(&DescriptorSetLayout) -> bool,
) -> Outcome<Vec<Arc<DescriptorSetLayout>>> {
    let layout = handle::get::<PipelineLayout>(layout)?;
    let numbers = first as usize..(first as usize).saturating_add(count as usize);
    let Some(sets) = layout.sets.get(numbers) else {
        return Err(Error::usage(format!(
            "{count} sets from number {first} on, for a pipeline layout of {} sets",
            layout.sets.len()
        )));
    };
    let wrong = || Error::usage("a set layout of the pipeline layout is not for this");
    sets.iter().map(|set| set.clone().filter(|set| fits(set)).ok_or_else(wrong)).collect()
}

/// # Safety
/// The arrays are the application's.
unsafe fn set_offsets(
    recorder: &mut Recorder,
    layout: vk::PipelineLayout,
    (first, count): (u32, u32),
    (indices, offsets): (*const u32, *const vk::DeviceSize),
) -> Outcome<()> {
    let layouts = layouts(layout, first, count, |set| set.is_in_memory() && !set.is_embedded())?;
    // SAFETY: the contract.
    let (indices, offsets) = unsafe { (ffi::slice(indices, count), ffi::slice(offsets, count)) };
    if let Some(offset) = offsets.iter().find(|offset| !offset.is_multiple_of(SET_ALIGNMENT)) {
        return Err(Error::usage(format!("the offset {offset} is no multiple of {SET_ALIGNMENT}")));
    }
    if let Some(index) = indices.iter().find(|index| **index >= DESCRIPTOR_BUFFERS) {
        return Err(Error::usage(format!("there is no descriptor buffer binding {index}")));
    }
    let places = indices.iter().copied().zip(offsets.iter().copied());
    let sets = layouts.into_iter().zip(places).map(|(set, (index, offset))| (set, index, offset)).collect();
    recorder.add(Command::SetDescriptorBufferOffsets(first, sets));
    Ok(())
}

fn bind_embedded(recorder: &mut Recorder, layout: vk::PipelineLayout, number: u32) -> Outcome<()> {
    let layouts = layouts(layout, number, 1, DescriptorSetLayout::is_embedded)?;
    layouts.into_iter().for_each(|set| recorder.add(Command::BindEmbeddedSamplers(number, set)));
    Ok(())
}

/// What captures an object.
///
/// # Safety
/// `out` is the application's.
unsafe fn capture(out: *mut c_void, number: u64) -> Outcome<()> {
    // SAFETY: the contract.
    unsafe { ffi::write(out.cast::<[u8; CAPTURE_BYTES]>(), number.to_le_bytes()) }
}

/// Declares entry points that say what captures an object: its number, where descriptors name it.
macro_rules! captures {
    ($($(#[$meta:meta])* fn $name:ident($type:ty, $member:ident: $object:ty) $(by $number:ident)?;)*) => {
        entries! { $(
            $(#[$meta])*
            fn $name(device: Arc<Device>, info: &$type, out: *mut c_void) -> vk::Result {
                handle::get::<$object>(info.$member)?;
                let _described = &device.described;
                capture(out, 0 $(+ _described.$number(info.$member))?)
            }
        )* }
    };
}

captures! {
    /// vkGetImageOpaqueCaptureDescriptorDataEXT: descriptors name views.
    fn get_image_opaque_capture_descriptor_data(vk::ImageCaptureDescriptorDataInfoEXT<'_>, image: Image);

    /// vkGetImageViewOpaqueCaptureDescriptorDataEXT.
    fn get_image_view_opaque_capture_descriptor_data(
        vk::ImageViewCaptureDescriptorDataInfoEXT<'_>, image_view: ImageView
    ) by number;

    /// vkGetSamplerOpaqueCaptureDescriptorDataEXT.
    fn get_sampler_opaque_capture_descriptor_data(
        vk::SamplerCaptureDescriptorDataInfoEXT<'_>, sampler: Sampler
    ) by number;
}

entries! {
    /// vkGetDescriptorSetLayoutSizeEXT.
    fn get_descriptor_set_layout_size(
        _device: Arc<Device>,
        layout: vk::DescriptorSetLayout,
        out: *mut vk::DeviceSize,
    ) {
        ffi::write(out, 0)?;
        ffi::write(out, layout_in_memory(layout)?.memory_bytes)
    }

    /// vkGetDescriptorSetLayoutBindingOffsetEXT.
    fn get_descriptor_set_layout_binding_offset(
        _device: Arc<Device>,
        layout: vk::DescriptorSetLayout,
        binding: u32,
        out: *mut vk::DeviceSize,
    ) {
        ffi::write(out, 0)?;
        let layout = layout_in_memory(layout)?;
        ffi::write(out, layout.binding(binding).ok_or_else(|| no_binding(binding))?.memory_offset)
    }

    /// vkGetDescriptorEXT.
    fn get_descriptor(
        device: Arc<Device>,
        info: &vk::DescriptorGetInfoEXT<'_>,
        size: usize,
        out: *mut c_void,
    ) {
        let out = ffi::slice_mut(out.cast::<u8>(), size);
        // Of an object that is not there the application gets bytes that are no descriptor.
        out.fill(0);
        let bytes = encode(&device, info)?.bytes();
        if size as u64 != SIZE {
            return Err(Error::usage(format!("dataSize is {size}, and descriptors have {SIZE} bytes")));
        }
        out.copy_from_slice(&bytes);
        Ok(())
    }

    /// vkCmdBindDescriptorBuffersEXT.
    fn cmd_bind_descriptor_buffers(
        buffer: vk::CommandBuffer,
        count: u32,
        infos: *const vk::DescriptorBufferBindingInfoEXT<'_>,
    ) {
        record(buffer, |_, _| {
            if count > DESCRIPTOR_BUFFERS {
                let text = format!("{count} descriptor buffers; the limit is {DESCRIPTOR_BUFFERS}");
                return Err(Error::usage(text));
            }
            let addresses: Vec<u64> = ffi::slice(infos, count).iter().map(|info| info.address).collect();
            if let Some(address) = addresses.iter().find(|address| !address.is_multiple_of(SET_ALIGNMENT)) {
                let text = format!("the address {address:#x} is no multiple of {SET_ALIGNMENT}");
                return Err(Error::usage(text));
            }
            Ok(Command::BindDescriptorBuffers(addresses))
        })
    }

    /// vkCmdSetDescriptorBufferOffsetsEXT.
    fn cmd_set_descriptor_buffer_offsets(
        buffer: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        first: u32,
        count: u32,
        indices: *const u32,
        offsets: *const vk::DeviceSize,
    ) {
        push(buffer, |r, _| match is_compute(point)? {
            true => set_offsets(r, layout, (first, count), (indices, offsets)),
            false => Ok(()),
        })
    }

    /// vkCmdBindDescriptorBufferEmbeddedSamplersEXT.
    fn cmd_bind_descriptor_buffer_embedded_samplers(
        buffer: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        number: u32,
    ) {
        push(buffer, |r, _| match is_compute(point)? {
            true => bind_embedded(r, layout, number),
            false => Ok(()),
        })
    }

    /// vkCmdSetDescriptorBufferOffsets2EXT.
    fn cmd_set_descriptor_buffer_offsets2(
        buffer: vk::CommandBuffer,
        info: *const vk::SetDescriptorBufferOffsetsInfoEXT<'_>,
    ) {
        push(buffer, |r, _| {
            let info = ffi::read(info)?;
            match info.stage_flags.contains(vk::ShaderStageFlags::COMPUTE) {
                true => set_offsets(
                    r,
                    info.layout,
                    (info.first_set, info.set_count),
                    (info.p_buffer_indices, info.p_offsets),
                ),
                false => Ok(()),
            }
        })
    }

    /// vkCmdBindDescriptorBufferEmbeddedSamplers2EXT.
    fn cmd_bind_descriptor_buffer_embedded_samplers2(
        buffer: vk::CommandBuffer,
        info: *const vk::BindDescriptorBufferEmbeddedSamplersInfoEXT<'_>,
    ) {
        push(buffer, |r, _| {
            let info = ffi::read(info)?;
            match info.stage_flags.contains(vk::ShaderStageFlags::COMPUTE) {
                true => bind_embedded(r, info.layout, info.set),
                false => Ok(()),
            }
        })
    }

    /// vkGetBufferOpaqueCaptureDescriptorDataEXT: descriptors say nothing of a buffer but its address, which
    /// its memory brings along; a sparse buffer has one of its own.
    fn get_buffer_opaque_capture_descriptor_data(
        _device: Arc<Device>,
        info: &vk::BufferCaptureDescriptorDataInfoEXT<'_>,
        out: *mut c_void,
    ) -> vk::Result {
        let buffer = handle::get::<Buffer>(info.buffer)?;
        capture(out, buffer.sparse().map_or(0, |memory| memory.bytes().address()))
    }

    /// vkGetAccelerationStructureOpaqueCaptureDescriptorDataEXT: there are no acceleration structures.
    fn get_acceleration_structure_opaque_capture_descriptor_data(
        _device: Arc<Device>,
        _info: *const vk::AccelerationStructureCaptureDescriptorDataInfoEXT<'_>,
        _out: *mut c_void,
    ) -> vk::Result {
        Err::<(), _>(Error::not_implemented("acceleration structures"))
    }
}
