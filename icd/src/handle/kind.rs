//! Kinds of non-dispatchable handles: the first byte of the handle.

pub(crate) const MEMORY: u8 = 0x11;
pub(crate) const BUFFER: u8 = 0x12;
pub(crate) const BUFFER_VIEW: u8 = 0x13;
pub(crate) const IMAGE: u8 = 0x14;
pub(crate) const IMAGE_VIEW: u8 = 0x15;
pub(crate) const SAMPLER: u8 = 0x16;
pub(crate) const SHADER: u8 = 0x17;
pub(crate) const PIPELINE_LAYOUT: u8 = 0x18;
pub(crate) const PIPELINE: u8 = 0x19;
pub(crate) const PIPELINE_CACHE: u8 = 0x1a;
pub(crate) const SET_LAYOUT: u8 = 0x1b;
pub(crate) const DESCRIPTOR_POOL: u8 = 0x1c;
pub(crate) const DESCRIPTOR_SET: u8 = 0x1d;
pub(crate) const UPDATE_TEMPLATE: u8 = 0x1e;
pub(crate) const COMMAND_POOL: u8 = 0x1f;
pub(crate) const FENCE: u8 = 0x20;
pub(crate) const SEMAPHORE: u8 = 0x21;
pub(crate) const EVENT: u8 = 0x22;
pub(crate) const QUERY_POOL: u8 = 0x23;
pub(crate) const MESSENGER: u8 = 0x24;
pub(crate) const PRIVATE_DATA: u8 = 0x25;
pub(crate) const RENDER_PASS: u8 = 0x26;
pub(crate) const FRAMEBUFFER: u8 = 0x27;
pub(crate) const GRAPHICS_PIPELINE: u8 = 0x28;
pub(crate) const SHADER_OBJECT: u8 = 0x29;
pub(crate) const YCBCR_CONVERSION: u8 = 0x2c;
