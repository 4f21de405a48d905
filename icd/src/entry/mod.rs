//! Entry points, one file for each kind of Vulkan object: the object itself and the functions that create,
//! use and destroy it.
//!
//! Every function is declared in an `entries!` block, so that it runs under the guard of [`crate::boundary`],
//! and has one row in the table of [`crate::proc_addr`].

pub mod buffer;
pub mod buffer_view;
pub mod command_buffer;
pub mod command_pool;
pub mod command_sync;
pub mod command_transfer;
pub mod debug;
pub mod descriptor_layout;
pub mod descriptor_pool;
pub mod descriptor_set;
pub mod descriptor_template;
pub mod destroy;
pub mod device;
pub mod event;
pub mod external;
pub mod fence;
pub mod format;
pub mod graphics;
pub mod image;
pub mod image_view;
pub mod instance;
pub mod memory;
pub mod physical_device;
pub mod pipeline;
pub mod pipeline_cache;
pub mod pipeline_layout;
pub mod private_data;
pub mod query;
pub mod queue;
pub mod sampler;
pub mod semaphore;
pub mod shader;

/// Kinds of non-dispatchable handles: the first byte of the handle.
pub(crate) mod kind {
    pub const MEMORY: u8 = 0x11;
    pub const BUFFER: u8 = 0x12;
    pub const BUFFER_VIEW: u8 = 0x13;
    pub const IMAGE: u8 = 0x14;
    pub const IMAGE_VIEW: u8 = 0x15;
    pub const SAMPLER: u8 = 0x16;
    pub const SHADER: u8 = 0x17;
    pub const PIPELINE_LAYOUT: u8 = 0x18;
    pub const PIPELINE: u8 = 0x19;
    pub const PIPELINE_CACHE: u8 = 0x1a;
    pub const SET_LAYOUT: u8 = 0x1b;
    pub const DESCRIPTOR_POOL: u8 = 0x1c;
    pub const DESCRIPTOR_SET: u8 = 0x1d;
    pub const UPDATE_TEMPLATE: u8 = 0x1e;
    pub const COMMAND_POOL: u8 = 0x1f;
    pub const FENCE: u8 = 0x20;
    pub const SEMAPHORE: u8 = 0x21;
    pub const EVENT: u8 = 0x22;
    pub const QUERY_POOL: u8 = 0x23;
    pub const MESSENGER: u8 = 0x24;
    pub const PRIVATE_DATA: u8 = 0x25;
}
