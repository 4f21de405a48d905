//! VkSurfaceKHR and VkSwapchainKHR: the extensions can be shown (`surfaces`) to programs that ask for them
//! and open no window. No surface can be created, so nothing that takes one is ever asked in valid usage;
//! all of it is refused by name.

use crate::boundary::{entries, guard};
use crate::device::Device;
use crate::error::Error;
use ash::vk;

/// Functions that are refused.
macro_rules! refused {
    ($($name:ident = $vk:literal ($first:ty $(, $type:ty)*);)*) => { $(
        #[doc = $vk]
        pub(crate) unsafe extern "system" fn $name(first: $first $(, _: $type)*) -> vk::Result {
            guard(first, $vk, || Err::<(), _>(Error::not_implemented($vk)))
        }
    )* };
}

refused! {
    create_xlib_surface = "vkCreateXlibSurfaceKHR" (vk::Instance, *const vk::XlibSurfaceCreateInfoKHR<'_>, *const vk::AllocationCallbacks<'_>, *mut vk::SurfaceKHR);
    get_physical_device_surface_support = "vkGetPhysicalDeviceSurfaceSupportKHR" (vk::PhysicalDevice, u32, vk::SurfaceKHR, *mut vk::Bool32);
    get_physical_device_surface_capabilities = "vkGetPhysicalDeviceSurfaceCapabilitiesKHR" (vk::PhysicalDevice, vk::SurfaceKHR, *mut vk::SurfaceCapabilitiesKHR);
    get_physical_device_surface_formats = "vkGetPhysicalDeviceSurfaceFormatsKHR" (vk::PhysicalDevice, vk::SurfaceKHR, *mut u32, *mut vk::SurfaceFormatKHR);
    get_physical_device_surface_present_modes = "vkGetPhysicalDeviceSurfacePresentModesKHR" (vk::PhysicalDevice, vk::SurfaceKHR, *mut u32, *mut vk::PresentModeKHR);
    get_physical_device_present_rectangles = "vkGetPhysicalDevicePresentRectanglesKHR" (vk::PhysicalDevice, vk::SurfaceKHR, *mut u32, *mut vk::Rect2D);
    create_swapchain = "vkCreateSwapchainKHR" (vk::Device, *const vk::SwapchainCreateInfoKHR<'_>, *const vk::AllocationCallbacks<'_>, *mut vk::SwapchainKHR);
    get_swapchain_images = "vkGetSwapchainImagesKHR" (vk::Device, vk::SwapchainKHR, *mut u32, *mut vk::Image);
    acquire_next_image = "vkAcquireNextImageKHR" (vk::Device, vk::SwapchainKHR, u64, vk::Semaphore, vk::Fence, *mut u32);
    acquire_next_image2 = "vkAcquireNextImage2KHR" (vk::Device, *const vk::AcquireNextImageInfoKHR<'_>, *mut u32);
    queue_present = "vkQueuePresentKHR" (vk::Queue, *const vk::PresentInfoKHR<'_>);
    get_device_group_surface_present_modes = "vkGetDeviceGroupSurfacePresentModesKHR" (vk::Device, vk::SurfaceKHR, *mut vk::DeviceGroupPresentModeFlagsKHR);
}

entries! {
    /// vkGetDeviceGroupPresentCapabilitiesKHR: the one device of a group has no presentation engine.
    fn get_device_group_present_capabilities(
        _device: Arc<Device>,
        out: &mut vk::DeviceGroupPresentCapabilitiesKHR<'_>,
    ) -> vk::Result {
        out.present_mask = [0; vk::MAX_DEVICE_GROUP_SIZE];
        out.modes = vk::DeviceGroupPresentModeFlagsKHR::LOCAL;
        Ok(())
    }
}

/// vkDestroySurfaceKHR: there is none to destroy.
pub(crate) unsafe extern "system" fn destroy_surface(
    _: vk::Instance,
    _: vk::SurfaceKHR,
    _: *const vk::AllocationCallbacks<'_>,
) {
}

/// vkDestroySwapchainKHR: there is none to destroy.
pub(crate) unsafe extern "system" fn destroy_swapchain(
    _: vk::Device,
    _: vk::SwapchainKHR,
    _: *const vk::AllocationCallbacks<'_>,
) {
}

/// vkGetPhysicalDeviceXlibPresentationSupportKHR: nothing is presented.
pub(crate) unsafe extern "system" fn get_physical_device_xlib_presentation_support(
    _: vk::PhysicalDevice,
    _: u32,
    _: *mut vk::Display,
    _: vk::VisualID,
) -> vk::Bool32 {
    vk::FALSE
}
