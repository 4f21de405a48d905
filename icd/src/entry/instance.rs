//! VkInstance.

use crate::boundary::{Origin, entries};
use crate::caps::{self, Caps, extensions};
use crate::config::{Config, Surfaces};
use crate::entry::physical_device::PhysicalDevice;
use crate::error::{Error, Outcome};
use crate::handle::{self, dispatchable_object};
use crate::message::{self, DebugUtilsMessengerEXT, Message};
use crate::report::Session;
use crate::{ffi, layer, report};
use ash::vk;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// An instance, with its one physical device.
pub struct Instance {
    /// The user's options.
    pub config: Config,
    /// Where findings go.
    pub session: &'static Session,
    /// `apiVersion` of the application, or 1.0.
    pub api_version: u32,
    /// Extensions that the application enabled.
    pub extensions: Vec<String>,
    physical_device: OnceLock<vk::PhysicalDevice>,
    messengers: Mutex<Vec<Arc<DebugUtilsMessengerEXT>>>,
}

dispatchable_object!(Instance, vk::Instance, |_| 0);

impl Instance {
    /// The physical device's handle.
    pub fn physical_device(&self) -> Outcome<vk::PhysicalDevice> {
        self.physical_device.get().copied().ok_or_else(|| vk::Result::ERROR_INITIALIZATION_FAILED.into())
    }

    /// The debug messengers, oldest first.
    pub fn messengers(&self) -> Vec<Arc<DebugUtilsMessengerEXT>> {
        self.messengers.lock().clone()
    }

    /// Hands a message to the messengers that want it.
    pub fn deliver(&self, message: &Message) {
        message::deliver(&self.messengers(), message);
    }

    /// Says that something failed: to the messengers, and in one line on standard error.
    pub fn say(&self, text: &str) {
        report::say(text);
        self.deliver(&Message::error(text));
    }

    /// Says that the application broke a rule of valid usage: to the messengers each time, on standard error
    /// the first time.
    pub fn misuse(&self, text: &str) {
        if self.session.misuse(text) {
            report::say(text);
        }
        self.deliver(&Message::error(text));
    }

    /// Adds a debug messenger.
    pub fn add_messenger(&self, messenger: Arc<DebugUtilsMessengerEXT>) {
        self.messengers.lock().push(messenger);
    }

    /// The process ends: what the messengers would call may have ended before.
    pub fn end_messengers(&self) {
        self.messengers.lock().clear();
    }

    /// Removes a debug messenger.
    pub fn remove_messenger(&self, messenger: &Arc<DebugUtilsMessengerEXT>) {
        self.messengers.lock().retain(|m| !Arc::ptr_eq(m, messenger));
    }
}

impl Origin for vk::Instance {
    fn say(self, text: &str) {
        match handle::dispatchable::<Instance>(self) {
            Ok(instance) => instance.say(text),
            Err(_) => report::say(text),
        }
    }
}

fn configure() -> Outcome<(Config, &'static Session)> {
    let failed = |text: String| Error::new(vk::Result::ERROR_INITIALIZATION_FAILED, text);
    let config = Config::from_env().map_err(|e| failed(e.to_string()))?;
    let session = report::session(&config).map_err(|e| failed(e.to_string()))?;
    Ok((config, session))
}

fn check_layer(name: *const std::ffi::c_char) -> Outcome<()> {
    if name.is_null() { Ok(()) } else { Err(vk::Result::ERROR_LAYER_NOT_PRESENT.into()) }
}

entries! {
    fn create_instance(
        info: &vk::InstanceCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Instance,
    ) -> vk::Result {
        let (config, session) = configure()?;
        let known = extensions::instance(config.surfaces == Surfaces::Pretend);
        let (names, count) = (info.pp_enabled_extension_names, info.enabled_extension_count);
        let names = extensions::enabled(&known, names, count)?;
        let application = ffi::optional(info.p_application_info);
        let api_version = application.map_or(0, |a| a.api_version);
        let named = |name| ffi::string(name).unwrap_or_default();
        session.instance_created(application.map_or_else(Default::default, |a| {
            [a.p_engine_name, a.p_application_name].map(named)
        }));
        if config.validation && !layer::is_above() {
            session.without_validation();
        }
        let caps = Arc::new(Caps::new(&config));
        let instance = Arc::new(Instance {
            config,
            session,
            api_version: if api_version == 0 { vk::API_VERSION_1_0 } else { api_version },
            extensions: names,
            physical_device: OnceLock::new(),
            messengers: Mutex::default(),
        });
        // Messengers chained to the create info hear of what happens inside vkCreateInstance and
        // vkDestroyInstance only.
        let physical = PhysicalDevice::new(Arc::downgrade(&instance), caps);
        let _ = instance.physical_device.set(handle::insert_dispatchable(Arc::new(physical)));
        ffi::write(out, handle::insert_dispatchable(instance))
    }

    fn destroy_instance(instance: vk::Instance, _allocator: *const vk::AllocationCallbacks<'_>) {
        if let Some(instance) = handle::take_dispatchable::<Instance>(instance)?
            && let Some(physical) = instance.physical_device.get()
        {
            handle::take_dispatchable::<PhysicalDevice>(*physical)?;
        }
        Ok(())
    }

    fn enumerate_physical_devices(
        instance: Arc<Instance>,
        count: *mut u32,
        out: *mut vk::PhysicalDevice,
    ) -> vk::Result {
        ffi::enumerate(&[instance.physical_device()?], count, out)
    }

    fn enumerate_physical_device_groups(
        instance: Arc<Instance>,
        count: *mut u32,
        out: *mut vk::PhysicalDeviceGroupProperties<'_>,
    ) -> vk::Result {
        let device = instance.physical_device()?;
        if out.is_null() {
            ffi::write(count, 1)?;
            return Ok(vk::Result::SUCCESS);
        }
        if *ffi::read(count)? == 0 {
            return Ok(vk::Result::INCOMPLETE);
        }
        let group = ffi::read_mut(out)?;
        group.physical_device_count = 1;
        group.physical_devices = [vk::PhysicalDevice::null(); vk::MAX_DEVICE_GROUP_SIZE];
        group.physical_devices[0] = device;
        group.subset_allocation = vk::FALSE;
        ffi::write(count, 1)?;
        Ok(vk::Result::SUCCESS)
    }

    fn enumerate_instance_version(out: *mut u32) -> vk::Result {
        // What is wrong with the options is said when an instance is created.
        ffi::write(out, caps::api_version(&Config::from_env().unwrap_or_default()))
    }

    fn enumerate_instance_extension_properties(
        layer: *const std::ffi::c_char,
        count: *mut u32,
        out: *mut vk::ExtensionProperties,
    ) -> vk::Result {
        check_layer(layer)?;
        // What is wrong with the options is said when an instance is created.
        let surfaces = Config::from_env().is_ok_and(|config| config.surfaces == Surfaces::Pretend);
        ffi::enumerate(&extensions::properties(&extensions::instance(surfaces)), count, out)
    }

    fn enumerate_instance_layer_properties(count: *mut u32, out: *mut vk::LayerProperties) -> vk::Result {
        ffi::enumerate(&[], count, out)
    }
}
