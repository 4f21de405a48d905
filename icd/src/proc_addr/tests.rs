//! The table's order and size, and names that were promoted.

use super::*;

#[test]
fn the_table_is_sorted_and_complete() {
    assert!(TABLE.windows(2).all(|w| w[0].name < w[1].name));
    let core = TABLE.iter().filter(|r| matches!(r.gates.last(), Some(Gate::Core(_)))).count();
    assert_eq!(core, 234, "entry points of Vulkan 1.0 to 1.4");
    assert!(TABLE.iter().all(|r| r.function.is_some()));
    assert_eq!(TABLE.iter().map(|r| r.gates.len()).sum::<usize>(), 405, "names");
}

#[test]
fn what_was_promoted_has_two_names() {
    let found = |name: &std::ffi::CStr| {
        // SAFETY: a string of this test.
        unsafe { find(name.as_ptr()) }.map(|(row, gate)| (row.name, gate))
    };
    let core = found(c"vkQueueSubmit2");
    assert_eq!(core, Some(("vkQueueSubmit2", Gate::Core(3))));
    let extension = Gate::DeviceExtension("VK_KHR_synchronization2");
    assert_eq!(found(c"vkQueueSubmit2KHR"), Some(("vkQueueSubmit2", extension)));
    assert_eq!(found(c"vkQueueSubmit2EXT"), None);
    assert_eq!(found(c"vkQueueSubmitKHR"), None);
    assert_eq!(found(c"vk"), None);
}
