//! Formats: what images and texel buffers of a format can be used for, from the interpreter's table of texel
//! formats.
//!
//! *Required Format Support* asks attachments, blits and vertex buffers of every device, also of one whose
//! queues have no graphics. They are named here as it asks: images and buffers with such usages are created,
//! bound, cleared, copied and viewed like others, and no queue takes the commands that would draw with them.

use super::later::{COPY_IMAGE_INDIRECT_DST, DEPTH_COPY, STENCIL_COPY};
use super::limits::{IMAGE_LAYERS, IMAGE_SIZE, IMAGE_SIZE_3D};
use super::memory::SPARSE_ROW;
use ash::vk;
use pellucid_shader_interp::math::format::ycbcr::Ycbcr;
use pellucid_shader_interp::math::format::{self, Aspect, FormatInfo, Numeric, feature};

/// What is known of a format; `None` if the driver does not support it.
pub fn info(format: vk::Format) -> Option<&'static FormatInfo> {
    format::properties(format.as_raw())
}

/// What is known of a format whose colour images require sampler Y'CbCr conversion.
pub fn ycbcr(format: vk::Format) -> Option<&'static Ycbcr> {
    format::ycbcr(format.as_raw())
}

/// Features of images of a format that requires sampler Y'CbCr conversion, whatever their tiling. Chroma is
/// reconstructed implicitly, by a filter of its own, unless the conversion forces explicit reconstruction.
fn ycbcr_features(of: &Ycbcr) -> u32 {
    let mut features = feature::SAMPLED_IMAGE
        | feature::SAMPLED_IMAGE_FILTER_LINEAR
        | feature::TRANSFER_SRC
        | feature::TRANSFER_DST
        | feature::MIDPOINT_CHROMA_SAMPLES
        | feature::YCBCR_CONVERSION_LINEAR_FILTER
        | feature::YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER
        | feature::YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE;
    if of.subsampling != [1, 1] {
        features |= feature::COSITED_CHROMA_SAMPLES;
    }
    if of.planes.len() > 1 {
        features |= feature::DISJOINT;
    }
    features
}

/// The features of images and buffers of a format; `None` if it is not supported.
fn features(format: vk::Format, tiling: vk::ImageTiling) -> Option<[u32; 2]> {
    if let Some(of) = ycbcr(format) {
        return Some([ycbcr_features(of), 0]);
    }
    info(format).map(|info| [image_features(info, tiling), buffer_features(info)])
}

/// Features of images of a format. Those with linear tiling are no attachments of depth and stencil.
fn image_features(info: &FormatInfo, tiling: vk::ImageTiling) -> u32 {
    let graphics = match tiling {
        vk::ImageTiling::OPTIMAL => !feature::VERTEX_BUFFER,
        _ => !(feature::VERTEX_BUFFER | feature::DEPTH_STENCIL_ATTACHMENT),
    };
    let filtered = info.image_features & feature::SAMPLED_IMAGE_FILTER_LINEAR != 0;
    let minmax = if filtered { feature::SAMPLED_IMAGE_FILTER_MINMAX } else { 0 };
    info.image_features | minmax | info.graphics_features & graphics
}

/// Features of buffers of a format.
fn buffer_features(info: &FormatInfo) -> u32 {
    info.buffer_features | info.graphics_features & feature::VERTEX_BUFFER
}

/// VkFormatProperties3.
pub fn properties3(format: vk::Format) -> vk::FormatProperties3<'static> {
    let Some([linear, buffer]) = features(format, vk::ImageTiling::LINEAR) else {
        return vk::FormatProperties3::default();
    };
    let [optimal, _] = features(format, vk::ImageTiling::OPTIMAL).unwrap_or_default();
    let has_depth = info(format).is_some_and(FormatInfo::has_depth);
    let has_stencil = info(format).is_some_and(FormatInfo::has_stencil);
    let without_format = |flags: vk::FormatFeatureFlags2, storage: vk::FormatFeatureFlags2| {
        if flags.contains(storage) {
            flags
                | vk::FormatFeatureFlags2::STORAGE_READ_WITHOUT_FORMAT
                | vk::FormatFeatureFlags2::STORAGE_WRITE_WITHOUT_FORMAT
        } else {
            flags
        }
    };
    let image = |features: u32| {
        let mut features = vk::FormatFeatureFlags2::from_raw(u64::from(features));
        if features.contains(vk::FormatFeatureFlags2::SAMPLED_IMAGE) && has_depth {
            features |= vk::FormatFeatureFlags2::SAMPLED_IMAGE_DEPTH_COMPARISON;
        }
        let features = if features.contains(vk::FormatFeatureFlags2::TRANSFER_DST) {
            features | vk::FormatFeatureFlags2::HOST_IMAGE_TRANSFER_EXT | COPY_IMAGE_INDIRECT_DST
        } else {
            features
        };
        // No queue needs graphics to copy an aspect (VK_KHR_maintenance10).
        let copied = |there, flags| if there && !features.is_empty() { flags } else { Default::default() };
        let features = features | copied(has_depth, DEPTH_COPY) | copied(has_stencil, STENCIL_COPY);
        without_format(features, vk::FormatFeatureFlags2::STORAGE_IMAGE)
    };
    let buffer = vk::FormatFeatureFlags2::from_raw(u64::from(buffer));
    vk::FormatProperties3::default()
        .linear_tiling_features(image(linear))
        .optimal_tiling_features(image(optimal))
        .buffer_features(without_format(buffer, vk::FormatFeatureFlags2::STORAGE_TEXEL_BUFFER))
}

/// VkFormatProperties.
pub fn properties(format: vk::Format) -> vk::FormatProperties {
    let of = |tiling| features(format, tiling).unwrap_or_default().map(vk::FormatFeatureFlags::from_raw);
    let [linear_tiling_features, buffer_features] = of(vk::ImageTiling::LINEAR);
    let [optimal_tiling_features, _] = of(vk::ImageTiling::OPTIMAL);
    vk::FormatProperties { linear_tiling_features, optimal_tiling_features, buffer_features }
}

/// The sparse image block of a format (`imageGranularity`), in texels; `None`: its images are not partially
/// resident. Each of its rows is a page of memory, since rows of an image lie one after the other: no
/// standard shape. 3D images get a slice of fewer rows.
pub fn sparse_block(info: &FormatInfo, image_type: vk::ImageType) -> Option<[u32; 3]> {
    let texel = u32::from(info.texel_bytes);
    let row = SPARSE_ROW as u32 / texel.max(1);
    let shaped = info.aspect == Aspect::Color && info.compression.is_none() && texel.is_power_of_two();
    match image_type {
        vk::ImageType::TYPE_2D if shaped => Some([row, 16, 1]),
        vk::ImageType::TYPE_3D if shaped => Some([row, 4, 4]),
        _ => None,
    }
}

/// What is asked of vkGetPhysicalDeviceImageFormatProperties.
#[derive(Clone, Copy, Debug)]
pub struct ImageQuery {
    pub format: vk::Format,
    /// Dimensions.
    pub image_type: vk::ImageType,
    pub tiling: vk::ImageTiling,
    pub usage: vk::ImageUsageFlags,
    /// Creation flags.
    pub flags: vk::ImageCreateFlags,
}

/// VkImageFormatProperties; `None` is VK_ERROR_FORMAT_NOT_SUPPORTED.
pub fn image_properties(query: &ImageQuery, max_size: u64) -> Option<vk::ImageFormatProperties> {
    use vk::{FormatFeatureFlags as F, ImageCreateFlags as C, ImageUsageFlags as U, SampleCountFlags as S};
    let [features, _] = features(query.format, query.tiling)?;
    let features = F::from_raw(features);
    let ycbcr = ycbcr(query.format);
    let refused = C::PROTECTED | C::SUBSAMPLED_EXT | C::SPLIT_INSTANCE_BIND_REGIONS;
    if features.is_empty() || query.flags.intersects(refused) {
        return None;
    }
    // What has one plane is disjoint only as an alias of a plane.
    if query.flags.contains(C::DISJOINT) && !features.contains(F::DISJOINT) && !query.flags.contains(C::ALIAS)
    {
        return None;
    }
    if !matches!(query.tiling, vk::ImageTiling::OPTIMAL | vk::ImageTiling::LINEAR) {
        return None;
    }
    // With EXTENDED_USAGE the views' formats decide.
    if !query.flags.contains(C::EXTENDED_USAGE) {
        let needs = [
            (U::TRANSFER_SRC, F::TRANSFER_SRC),
            (U::TRANSFER_DST, F::TRANSFER_DST),
            (U::HOST_TRANSFER_EXT, F::TRANSFER_DST),
            (U::SAMPLED, F::SAMPLED_IMAGE),
            (U::STORAGE, F::STORAGE_IMAGE),
            (U::COLOR_ATTACHMENT, F::COLOR_ATTACHMENT),
            (U::DEPTH_STENCIL_ATTACHMENT, F::DEPTH_STENCIL_ATTACHMENT),
        ];
        if needs.iter().any(|(usage, feature)| query.usage.contains(*usage) && !features.contains(*feature)) {
            return None;
        }
        if query.usage.contains(U::INPUT_ATTACHMENT)
            && !features.intersects(F::COLOR_ATTACHMENT | F::DEPTH_STENCIL_ATTACHMENT)
        {
            return None;
        }
    }
    let linear = query.tiling == vk::ImageTiling::LINEAR;
    // Of what requires sampler Y'CbCr conversion: images of two dimensions and one level.
    if ycbcr.is_some() {
        let other = C::BLOCK_TEXEL_VIEW_COMPATIBLE
            | C::CUBE_COMPATIBLE
            | C::TYPE_2D_ARRAY_COMPATIBLE
            | C::SPARSE_RESIDENCY;
        if query.image_type != vk::ImageType::TYPE_2D || query.flags.intersects(other) {
            return None;
        }
        return Some(vk::ImageFormatProperties {
            max_extent: vk::Extent3D { width: IMAGE_SIZE, height: IMAGE_SIZE, depth: 1 },
            max_mip_levels: 1,
            max_array_layers: IMAGE_LAYERS,
            sample_counts: S::TYPE_1,
            max_resource_size: max_size,
        });
    }
    let info = info(query.format)?;
    // BC: images of two and three dimensions (*Required Compressed Image Formats*); views of their blocks.
    if info.compression.is_some() && query.image_type == vk::ImageType::TYPE_1D
        || info.compression.is_none() && query.flags.contains(C::BLOCK_TEXEL_VIEW_COMPATIBLE)
    {
        return None;
    }
    let partly = query.flags.contains(C::SPARSE_RESIDENCY);
    if partly && (linear || sparse_block(info, query.image_type).is_none()) {
        return None;
    }
    let (width, height, depth) = match query.image_type {
        vk::ImageType::TYPE_1D => (IMAGE_SIZE, 1, 1),
        vk::ImageType::TYPE_2D => (IMAGE_SIZE, IMAGE_SIZE, 1),
        vk::ImageType::TYPE_3D => (IMAGE_SIZE_3D, IMAGE_SIZE_3D, IMAGE_SIZE_3D),
        _ => return None,
    };
    if query.flags.contains(C::CUBE_COMPATIBLE) && query.image_type != vk::ImageType::TYPE_2D {
        return None;
    }
    let multisampled = query.image_type == vk::ImageType::TYPE_2D
        && !linear
        && !partly
        && !query.flags.contains(C::CUBE_COMPATIBLE)
        && features.intersects(F::COLOR_ATTACHMENT | F::DEPTH_STENCIL_ATTACHMENT)
        && info.numeric != Numeric::SharedExponent;
    Some(vk::ImageFormatProperties {
        max_extent: vk::Extent3D { width, height, depth },
        max_mip_levels: u32::BITS - width.max(height).max(depth).leading_zeros(),
        max_array_layers: if query.image_type == vk::ImageType::TYPE_3D { 1 } else { IMAGE_LAYERS },
        sample_counts: if multisampled { S::TYPE_1 | S::TYPE_4 } else { S::TYPE_1 },
        max_resource_size: max_size,
    })
}
