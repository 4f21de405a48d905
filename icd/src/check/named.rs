//! What names a command in a report.

use crate::report::{DispatchContext, Object};
use ash::vk;
use pellucid_shader_interp::Program;
use std::sync::Arc;

/// What a barrier does to the memory that it is for, between the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// An image layout transition, from and to.
    Layout(vk::ImageLayout, vk::ImageLayout),
    /// A queue family ownership transfer.
    Ownership,
}

/// One of the two halves of a queue family ownership transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnershipTransfer {
    /// The acquire operation; otherwise the release operation.
    pub acquires: bool,
    /// The source queue family.
    pub from: u32,
    /// The destination queue family.
    pub to: u32,
}

/// All that names one dispatch in a report, owned.
pub struct Named {
    /// Its number on the device.
    pub number: u32,
    pub program: Arc<Program>,
    /// The pipeline's debug name, or "".
    pub pipeline: String,
    /// Open labels.
    pub labels: Vec<String>,
    /// The queue's debug name, or what it is.
    pub queue: String,
    pub objects: Arc<[Object]>,
    /// Push constant bytes that were set: first and last of each run.
    pub pushed: Vec<(u32, u32)>,
}

impl Named {
    /// As a report takes it.
    pub fn context(&self) -> DispatchContext<'_> {
        DispatchContext {
            number: self.number,
            shader: &self.program.shader,
            pipeline: &self.pipeline,
            labels: &self.labels,
            queue: &self.queue,
            objects: &self.objects,
            addressed: &[],
            pushed: &self.pushed,
        }
    }
}
