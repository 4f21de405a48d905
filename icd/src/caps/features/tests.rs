//! Feature structures against the table of their members.

use super::*;

#[test]
fn a_structure_without_chains_refuses_them() {
    assert_eq!(
        Features::new(false, false, 4).v12.vulkan_memory_model_availability_visibility_chains,
        vk::FALSE
    );
    assert_eq!(
        Features::new(true, false, 4).v12.vulkan_memory_model_availability_visibility_chains,
        vk::TRUE
    );
}

#[test]
fn every_row_lists_every_member() {
    for (kind, size) in [
        (
            vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
            size_of::<vk::PhysicalDeviceVulkan11Features>(),
        ),
        (
            vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
            size_of::<vk::PhysicalDeviceVulkan12Features>(),
        ),
        (
            vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
            size_of::<vk::PhysicalDeviceVulkan13Features>(),
        ),
        (vk::StructureType::from_raw(55), size_of::<crate::caps::later::PhysicalDeviceVulkan14Features>()),
    ] {
        let row = Features::new(true, false, 4).rows().find(|r| r.kind == kind).unwrap();
        assert_eq!((16 + row.members.len() * 4).next_multiple_of(8), size);
        assert_eq!((row.values)(&Features::new(true, false, 4)).len(), row.members.len());
    }
}

/// What stands in two structures is the same in both.
#[test]
fn a_feature_that_was_promoted_has_one_value() {
    let features = Features::new(true, true, 4);
    let mut values = std::collections::BTreeMap::new();
    for row in features.rows() {
        for (member, value) in row.members.iter().zip((row.values)(&features)) {
            assert_eq!(*values.entry(*member).or_insert(value), value, "{member}");
        }
    }
}

/// A device of 1.3 does not know the structures of 1.4, nor what it requires of graphics.
#[test]
fn the_version_decides_what_is_there() {
    let kind = vk::StructureType::from_raw(55);
    for (minor, graphics) in [(3, false), (3, true), (4, false), (4, true)] {
        let features = Features::new(true, graphics, minor);
        assert_eq!(features.rows().any(|row| row.kind == kind), minor >= 4);
        assert_eq!(features.v10.depth_clamp == vk::TRUE, graphics && minor >= 4);
        assert_eq!(features.v10.independent_blend == vk::TRUE, graphics);
    }
}

#[test]
fn requests_are_compared_member_by_member() {
    assert_eq!(first_refused(&[0, 1], &[1, 1]), None);
    assert_eq!(first_refused(&[0, 1], &[1, 0]), Some(1));
    let names = names_v10();
    assert_eq!(names.len(), bools_v10(&vk::PhysicalDeviceFeatures::default()).len());
    assert_eq!(header_name(&names[0]), "robustBufferAccess");
    assert_eq!(header_name(&names[names.len() - 1]), "inheritedQueries");
}
