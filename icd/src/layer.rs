//! The driver's library as a layer of the Vulkan loader, too: `pellucid run --validation` puts it between the
//! application and the Khronos validation layer, whose messages it hands to the session of this process.
//!
//! It takes vkCreateInstance and vkDestroyInstance, to have a debug messenger of its own on the layers below
//! for as long as the instance lives; everything else passes it by. The interface is that of the loader's
//! *Loader and Layer Interface*, which ash does not declare.

use crate::config::Config;
use crate::ffi;
use crate::report;
use ash::vk;
use parking_lot::Mutex;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::panic::catch_unwind;

/// The version of the interface: negotiation, without own functions for physical devices.
const INTERFACE: u32 = 2;

/// `sType` of VkLayerInstanceCreateInfo.
const LOADER_INSTANCE_CREATE_INFO: vk::StructureType = vk::StructureType::from_raw(47);

/// `VkLayerFunction`: the information is a link to the next layer.
const LAYER_LINK_INFO: i32 = 0;

/// VkNegotiateLayerInterface.
#[repr(C)]
pub struct Negotiation {
    s_type: i32,
    next: *const c_void,
    version: u32,
    instance_function: Option<vk::PFN_vkGetInstanceProcAddr>,
    device_function: Option<vk::PFN_vkGetDeviceProcAddr>,
    physical_device_function: Option<vk::PFN_vkGetInstanceProcAddr>,
}

/// VkLayerInstanceLink.
#[repr(C)]
struct Link {
    next: *mut Link,
    instance_function: vk::PFN_vkGetInstanceProcAddr,
    physical_device_function: Option<vk::PFN_vkGetInstanceProcAddr>,
}

/// VkLayerInstanceCreateInfo, where it has a link.
#[repr(C)]
struct LinkInfo {
    s_type: vk::StructureType,
    next: *const c_void,
    function: i32,
    link: *mut Link,
}

/// An instance that was created through the layer.
#[derive(Clone, Copy)]
struct Below {
    next: vk::PFN_vkGetInstanceProcAddr,
    messenger: vk::DebugUtilsMessengerEXT,
}

static INSTANCES: Mutex<BTreeMap<vk::Instance, Below>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// This thread creates an instance through the layer.
    static CREATING: Cell<bool> = const { Cell::new(false) };
}

/// Its address tells the layer's messenger from the application's.
static OURS: u8 = 0;

/// Whether the instance that this thread creates is created through the layer.
pub fn is_above() -> bool {
    CREATING.get()
}

/// Whether a messenger is the layer's. The driver tells it nothing: its findings are in the session already.
pub fn has_created(info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>) -> bool {
    info.p_user_data.cast_const() == (&raw const OURS).cast()
}

/// Agrees on a version of the interface.
///
/// # Safety
/// The pointer is the application's.
pub unsafe fn negotiate(negotiation: *mut Negotiation) -> vk::Result {
    // SAFETY: the contract.
    unsafe {
        match ffi::read_mut(negotiation) {
            Ok(told) if told.version >= INTERFACE => {
                told.version = INTERFACE;
                told.instance_function = Some(get_instance_proc_addr);
                told.device_function = None;
                told.physical_device_function = None;
                vk::Result::SUCCESS
            }
            _ => vk::Result::ERROR_INITIALIZATION_FAILED,
        }
    }
}

/// The function of a name of the layers below.
///
/// # Safety
/// `F` is the type of the function that `name` stands for.
unsafe fn below<F: Copy>(
    next: vk::PFN_vkGetInstanceProcAddr,
    instance: vk::Instance,
    name: &CStr,
) -> Option<F> {
    // SAFETY: the next layer's vkGetInstanceProcAddr; the type is what the caller promises, and function
    // pointers have one size.
    unsafe {
        let function = next(instance, name.as_ptr())?;
        Some(std::mem::transmute_copy::<unsafe extern "system" fn(), F>(&function))
    }
}

unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the name is of the application's call. Only the static types are lost; callers restore the type
    // that the name stands for. The next layer gets what this one got.
    unsafe {
        match ffi::string(name)?.as_str() {
            "vkGetInstanceProcAddr" => Some(transmute::<
                vk::PFN_vkGetInstanceProcAddr,
                unsafe extern "system" fn(),
            >(get_instance_proc_addr)),
            "vkCreateInstance" => {
                Some(transmute::<vk::PFN_vkCreateInstance, unsafe extern "system" fn()>(create_instance))
            }
            "vkDestroyInstance" => {
                Some(transmute::<vk::PFN_vkDestroyInstance, unsafe extern "system" fn()>(destroy_instance))
            }
            _ => {
                let next = INSTANCES.lock().get(&instance)?.next;
                next(instance, name)
            }
        }
    }
}

unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: the application's call. The loader's structures are in its chain to be changed, each beginning
    // with its type; a link to the next layer is there, which finds its own one in the same place.
    let (info, next, mut extensions) = unsafe {
        let Ok(info) = ffi::read(info) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
        let mut links = ffi::chain_mut(info.p_next.cast_mut())
            .filter_map(|link| link.cast::<LinkInfo>(LOADER_INSTANCE_CREATE_INFO));
        let Some(link) = links.find(|link| (**link).function == LAYER_LINK_INFO) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let this = (*link).link;
        (*link).link = (*this).next;
        let extensions = ffi::slice(info.pp_enabled_extension_names, info.enabled_extension_count).to_vec();
        (info, (*this).instance_function, extensions)
    };
    let name = ash::ext::debug_utils::NAME;
    // SAFETY: null-terminated strings of the application's call.
    if !extensions.iter().any(|e| unsafe { CStr::from_ptr(*e) } == name) {
        extensions.push(name.as_ptr());
    }
    let info = vk::InstanceCreateInfo {
        enabled_extension_count: extensions.len() as u32,
        pp_enabled_extension_names: extensions.as_ptr(),
        ..*info
    };
    // SAFETY: the types of these functions; what the application gave is handed down with one extension more.
    unsafe {
        let Some(create) = below::<vk::PFN_vkCreateInstance>(next, vk::Instance::null(), c"vkCreateInstance")
        else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        CREATING.set(true);
        let result = create(&raw const info, allocator, out);
        CREATING.set(false);
        if result != vk::Result::SUCCESS {
            return result;
        }
        let instance = *out;
        let mut messenger = vk::DebugUtilsMessengerEXT::null();
        let create = c"vkCreateDebugUtilsMessengerEXT";
        if let Some(create) = below::<vk::PFN_vkCreateDebugUtilsMessengerEXT>(next, instance, create) {
            let wanted = messenger_info();
            // The driver has the extension: its vkCreateInstance would have failed without.
            let _ = create(instance, &raw const wanted, std::ptr::null(), &raw mut messenger);
        }
        INSTANCES.lock().insert(instance, Below { next, messenger });
    }
    vk::Result::SUCCESS
}

fn messenger_info() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    type Severity = vk::DebugUtilsMessageSeverityFlagsEXT;
    type Kind = vk::DebugUtilsMessageTypeFlagsEXT;
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::ERROR | Severity::WARNING)
        .message_type(Kind::VALIDATION | Kind::PERFORMANCE)
        .pfn_user_callback(Some(hear))
        .user_data((&raw const OURS).cast_mut().cast())
}

unsafe extern "system" fn destroy_instance(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let Some(below_this) = INSTANCES.lock().remove(&instance) else { return };
    let next = below_this.next;
    // SAFETY: the types of these functions; the messenger was created on this instance, which ends next.
    unsafe {
        let destroy = c"vkDestroyDebugUtilsMessengerEXT";
        if let Some(destroy) = below::<vk::PFN_vkDestroyDebugUtilsMessengerEXT>(next, instance, destroy) {
            destroy(instance, below_this.messenger, std::ptr::null());
        }
        if let Some(destroy) = below::<vk::PFN_vkDestroyInstance>(next, instance, c"vkDestroyInstance") {
            destroy(instance, allocator);
        }
    }
}

/// A message of the validation layer.
unsafe extern "system" fn hear(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the strings and arrays that the layer below gives its messenger.
    let _ = catch_unwind(|| unsafe {
        let (Ok(data), Ok(config)) = (ffi::read(data), Config::from_env()) else { return };
        let Ok(session) = report::session(&config) else { return };
        let objects = ffi::slice(data.p_objects, data.object_count).iter().map(|object| {
            (format!("{:?}", object.object_type), ffi::string(object.p_object_name).unwrap_or_default())
        });
        let warning = !severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR);
        session.validation(report::ValidationReport::new(
            &ffi::string(data.p_message_id_name).unwrap_or_default(),
            &ffi::string(data.p_message).unwrap_or_default(),
            objects.collect(),
            warning,
        ));
    });
    vk::FALSE
}
