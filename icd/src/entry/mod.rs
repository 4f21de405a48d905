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
pub mod conditional;
pub mod debug;
pub mod descriptor_buffer;
pub mod descriptor_layout;
pub mod descriptor_pool;
pub mod descriptor_set;
pub mod descriptor_template;
pub mod destroy;
pub mod device;
pub mod event;
pub mod executable;
pub mod external;
pub mod fence;
pub mod format;
pub mod graphics;
pub mod host_copy;
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
pub mod render_pass;
pub mod sampler;
pub mod semaphore;
pub mod shader;
pub mod shader_object;
pub mod sparse;
pub mod surface;
