//! What check mode has to know of sparse bindings.

use super::hazards::At;
use super::report;
use crate::device::Device;
use crate::entry::memory::DeviceMemory;
use crate::queue::Queue;
use pellucid_memory::commands;
use pellucid_memory::device::Allocation;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a resource, and the memory that is bound to them from an offset on, if some is.
type Part = (commands::Range, Option<(Arc<Allocation>, u64)>);

/// What a batch of vkQueueBindSparse changed, by resource.
#[derive(Default)]
pub struct Changed(Vec<(Arc<DeviceMemory>, Vec<Part>)>);

impl Changed {
    /// These bytes of a resource are others from now on.
    pub fn add(
        &mut self,
        resource: &Arc<DeviceMemory>,
        range: &Range<u64>,
        memory: Option<(&Arc<Allocation>, u64)>,
    ) {
        let memory = memory.map(|(memory, offset)| (memory.clone(), offset));
        let start = resource.bytes().address() + range.start;
        let part: Part = (commands::Range::new(start, range.end - range.start), memory);
        match self.0.last_mut() {
            Some((last, parts)) if Arc::ptr_eq(last, resource) => parts.push(part),
            _ => self.0.push((resource.clone(), vec![part])),
        }
    }

    /// A batch has made these changes.
    ///
    /// # Errors
    /// The text of what loses the device.
    pub fn tell(self, device: &Device, queue: &Queue, labels: &[String]) -> Result<(), String> {
        let Some(hazards) = &device.hazards else { return Ok(()) };
        let name = device.queue_called(queue);
        hazards.begin_bindings(&At { queue: queue.index, queue_name: &name, labels });
        for (resource, parts) in self.0 {
            let address = |(bytes, memory): &Part| {
                (*bytes, memory.as_ref().map(|(memory, offset)| memory.address() + offset))
            };
            let addresses: Vec<_> = parts.iter().map(address).collect();
            let found = hazards.bind(queue.index, &addresses);
            if resource.is_aliased() {
                for (bytes, memory) in &parts {
                    hazards.alias(*bytes, memory.as_ref().map(|(memory, offset)| (memory, *offset)));
                }
            } else {
                addresses.into_iter().for_each(|(bytes, memory)| unwritten(device, bytes, memory));
            }
            report::hazards(device, &found)?;
        }
        Ok(())
    }
}

/// Whether anybody has written the bytes goes with the memory.
fn unwritten(device: &Device, bytes: commands::Range, memory: Option<u64>) {
    let (start, size) = (bytes.start, bytes.end - bytes.start);
    let mut unwritten = device.unwritten.lock();
    unwritten.forget(start, size);
    if let Some(memory) = memory
        && unwritten.runs(memory, memory + size) == [(memory, memory + size)]
    {
        // Nobody has written them: that is followed where they are bound. Elsewhere they count as written.
        unwritten.write(memory, memory + size);
        unwritten.allocate(start, size);
    }
}
