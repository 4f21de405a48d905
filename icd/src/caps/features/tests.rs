//! Feature structures against the table of their members.

use super::*;

#[test]
fn a_structure_without_chains_refuses_them() {
    assert_eq!(Features::new(false, false).v12.vulkan_memory_model_availability_visibility_chains, vk::FALSE);
    assert_eq!(Features::new(true, false).v12.vulkan_memory_model_availability_visibility_chains, vk::TRUE);
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
    ] {
        let row = rows().find(|r| r.kind == kind).unwrap();
        assert_eq!((16 + row.members.len() * 4).next_multiple_of(8), size);
        assert_eq!((row.values)(&Features::new(true, false)).len(), row.members.len());
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
