//! What the device says of itself: features, limits, properties, extensions, memory types, formats.
//!
//! Guarantees: one place for each claim, and each claim made once: the structures of the core versions are
//! filled here, and the structures of the extensions that were promoted into them are copied from those.
//! Nothing is claimed that does not work.

pub mod extensions;
pub mod external;
pub mod features;
pub mod formats;
pub mod later;
pub mod limits;
pub mod matrices;
pub mod memory;
pub mod properties;
pub mod queues;

use crate::config::{ApiVersion, Config, HostCoherence, Queues, SubgroupSizes, Surfaces};
use ash::vk;
use features::Features;

/// The version of Vulkan that instance and device support under these options: the patch is that of the
/// headers that the driver was written by.
pub fn api_version(config: &Config) -> u32 {
    match config.api_version {
        ApiVersion::V1_3 => vk::make_api_version(0, 1, 3, 281),
        ApiVersion::V1_4 => vk::make_api_version(0, 1, 4, 360),
    }
}

/// Bytes of shared memory of a workgroup.
pub const SHARED_MEMORY: u32 = 64 << 10;
/// Largest pool of update-after-bind descriptors, and of each type of them in a stage or set.
pub const UPDATE_AFTER_BIND: u32 = 1 << 20;
/// Largest number of descriptors of one type in a stage or set.
pub const DESCRIPTORS: u32 = 1 << 16;
/// `maxPushDescriptors`.
pub const PUSH_DESCRIPTORS: u32 = 32;
/// `maxInlineUniformBlockSize`, in bytes.
pub const INLINE_BLOCK: u32 = 4096;
/// `maxPerStageDescriptorInlineUniformBlocks`, and the other limits of how many there are: two for each set.
pub const INLINE_BLOCKS: u32 = 2 * BOUND_SETS;
/// `maxPushConstantsSize`, in bytes.
pub const PUSH_CONSTANTS: u32 = 256;
/// `maxBoundDescriptorSets`.
pub const BOUND_SETS: u32 = 32;
/// Alignment of buffers, of their offsets in descriptors, and of images, in bytes.
pub const ALIGNMENT: u64 = 16;
/// `maxDescriptorBufferBindings`: as many as there are sets.
pub const DESCRIPTOR_BUFFERS: u32 = BOUND_SETS;
/// `descriptorBufferOffsetAlignment`, in bytes.
pub const SET_ALIGNMENT: u64 = ALIGNMENT;
/// Memory requirements of buffers and images are aligned to this.
pub const BIND_ALIGNMENT: u64 = 64;

/// The claims of one physical device, which depend on the configuration.
#[derive(Debug)]
pub struct Caps {
    pub features: Features,
    /// `maxComputeWorkGroupInvocations`.
    pub workgroup_invocations: u32,
    pub subgroup_size: u32,
    /// `minSubgroupSize` and `maxSubgroupSize`.
    pub subgroup_sizes: (u32, u32),
    /// The type shown.
    pub device_type: vk::PhysicalDeviceType,
    /// The first queue family also shows GRAPHICS.
    pub pretend_graphics: bool,
    /// The extensions of windows are there.
    pub surfaces: bool,
    /// All memory that the host can map is coherent.
    pub coherent: bool,
    /// `apiVersion`.
    pub api_version: u32,
    /// `conformanceVersion`.
    pub conformance_version: vk::ConformanceVersion,
    /// Bytes of each of the two heaps.
    pub heap_size: u64,
}

fn conformance_version([major, minor, subminor, patch]: [u8; 4]) -> vk::ConformanceVersion {
    vk::ConformanceVersion { major, minor, subminor, patch }
}

impl Caps {
    /// Whether the device has what 1.4 requires of it.
    pub fn has_1_4(&self) -> bool {
        vk::api_version_minor(self.api_version) >= 4
    }

    /// The claims under this configuration.
    pub fn new(config: &Config) -> Caps {
        let graphics = config.queues == Queues::PretendGraphics;
        let api_version = api_version(config);
        Caps {
            features: Features::new(config.chains, graphics, vk::api_version_minor(api_version)),
            workgroup_invocations: config.max_workgroup_invocations,
            subgroup_size: config.subgroup_size,
            subgroup_sizes: match config.subgroup_sizes {
                SubgroupSizes::All => (1, 32),
                SubgroupSizes::One => (config.subgroup_size, config.subgroup_size),
            },
            device_type: vk::PhysicalDeviceType::from_raw(config.device_type.vk()),
            pretend_graphics: graphics,
            api_version,
            surfaces: config.surfaces == Surfaces::Pretend,
            coherent: config.host_memory == HostCoherence::Coherent,
            conformance_version: conformance_version(config.conformance_version),
            heap_size: memory::heap_size(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::find;

    #[test]
    fn profiles_show_what_webgpu_looks_for() {
        let sizes = |caps: &Caps| {
            let properties = caps.properties13();
            (properties.min_subgroup_size, properties.max_subgroup_size)
        };
        let draws = |caps: &Caps| caps.features.v11.shader_draw_parameters == vk::TRUE;
        let stages = |caps: &Caps| caps.properties11().subgroup_supported_stages;
        let mut config = Config::default();
        let caps = Caps::new(&config);
        assert_eq!((sizes(&caps), draws(&caps)), ((1, 32), false));
        assert_eq!(stages(&caps), vk::ShaderStageFlags::COMPUTE);
        config.set(find("for").unwrap(), "for", "dawn").unwrap();
        config.set(find("subgroup-size").unwrap(), "subgroup-size", "8").unwrap();
        let caps = Caps::new(&config);
        assert_eq!((sizes(&caps), draws(&caps)), ((8, 8), true));
        assert!(stages(&caps).contains(vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT));
    }
}
