//! What is in the file of a capture: a line of JSON, and behind it the bytes of memory that are not zero.

use crate::entry::pipeline_cache::Key;
use crate::report::texel::Layers;
use pellucid_memory::checked::Robustness;
use pellucid_memory::device::{Allocation, MemoryRange};
use pellucid_memory::host::HostLines;
use pellucid_memory::raw;
use pellucid_shader_interp::interface::Descriptor;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Bytes that are stored, or left out because they are zero, at once.
const PAGE: u64 = 4096;

/// The line of JSON.
#[derive(Serialize, Deserialize)]
pub struct Head {
    /// The version of Pellucid that wrote it.
    pub pellucid: String,
    /// Why there is nothing behind this line.
    pub refused: Option<String>,
    pub dispatch: Option<CapturedDispatch>,
}

/// All that an execution of it depends on.
#[derive(Serialize, Deserialize)]
pub struct CapturedDispatch {
    pub number: u32,
    pub base: [u32; 3],
    pub groups: [u32; 3],
    /// What its program is compiled from.
    pub key: Key,
    pub robust: Robustness,
    /// Set and binding of each of the shader's bindings.
    pub places: Vec<(u32, u32)>,
    pub bindings: Vec<Vec<Descriptor<Part>>>,
    pub push_constants: Vec<u8>,
    pub unset_bytes: Vec<u8>,
    pub addresses: Vec<Part>,
    pub pipeline: String,
    pub labels: Vec<String>,
    pub queue: String,
    pub objects: Vec<CapturedObject>,
    pub pushed: Vec<(u32, u32)>,
    /// What the host's cache of the machine holds.
    pub host: HostLines,
    pub memory: Vec<Extent>,
}

/// An object that findings may name; its texels are those of the descriptor.
#[derive(Serialize, Deserialize)]
pub struct CapturedObject {
    pub reference: u32,
    pub what: String,
    pub handle: u64,
    pub object_type: i32,
    pub name: String,
    pub address: u64,
    /// Of an image: axes, and what its layers are.
    pub texels: Option<(usize, Layers)>,
}

/// Memory that the dispatch reaches, as it was.
#[derive(Default, Serialize, Deserialize)]
pub struct Extent {
    pub address: u64,
    pub size: u64,
    /// Offset and bytes of what is stored, in order; the rest is zero.
    pub stored: Vec<(u64, u64)>,
    /// First bytes and those behind the last, as offsets, that nothing has written.
    pub unwritten: Vec<(u64, u64)>,
}

/// A part of an extent.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Part {
    /// Index of the extent; `None`: memory of nothing.
    extent: Option<usize>,
    offset: u64,
    size: u64,
    reference: u32,
}

/// The memory of a dispatch while its descriptors become data: which extent each part lies in.
#[derive(Default)]
pub struct Reached {
    /// Allocation, first offset and the one behind the last.
    extents: Vec<(Arc<Allocation>, u64, u64)>,
}

impl Reached {
    /// The memory of these ranges, each allocation's together as far as they meet.
    pub fn of<'a>(ranges: impl Iterator<Item = &'a MemoryRange>) -> Reached {
        let mut found: Vec<(Arc<Allocation>, u64, u64)> = Vec::new();
        for range in ranges {
            let Some(memory) = range.allocation() else { continue };
            let start = range.address() - memory.address();
            // Accesses of less than a word know the rest of it.
            let end = (start + range.size()).next_multiple_of(4).min(memory.size());
            found.push((memory.clone(), start & !3, end));
        }
        // By device address: what is written does not depend on where this process has it. Memory of no heap
        // may share an address.
        let place = |memory: &Arc<Allocation>| (memory.address(), Arc::as_ptr(memory).addr());
        found.sort_by_key(|(memory, start, end)| (place(memory), *start, *end));
        let mut extents: Vec<(Arc<Allocation>, u64, u64)> = Vec::new();
        for (memory, start, end) in found {
            match extents.last_mut() {
                Some((of, _, last)) if Arc::ptr_eq(of, &memory) && start <= *last => *last = end.max(*last),
                _ => extents.push((memory, start, end)),
            }
        }
        Reached { extents }
    }

    /// A range as data.
    pub fn part(&self, range: &MemoryRange) -> Part {
        let reference = range.view().reference.0;
        let none = Part { extent: None, offset: 0, size: 0, reference };
        let Some(memory) = range.allocation() else { return none };
        let start = range.address() - memory.address();
        let holds = |(of, first, last): &(Arc<Allocation>, u64, u64)| {
            Arc::ptr_eq(of, memory) && *first <= start && start + range.size() <= *last
        };
        match self.extents.iter().position(holds) {
            Some(k) => {
                Part { extent: Some(k), offset: start - self.extents[k].1, size: range.size(), reference }
            }
            None => none,
        }
    }

    /// Each extent's first device address, size, and bytes that are not zero: what is stored, and from which
    /// offset on.
    pub fn contents(&self, mut each: impl FnMut(u64, u64, Vec<(u64, Vec<u8>)>)) {
        for (memory, first, last) in &self.extents {
            let mut stored: Vec<(u64, Vec<u8>)> = Vec::new();
            let mut page = vec![0; PAGE as usize];
            let mut at = *first;
            while at < *last {
                let bytes = &mut page[..PAGE.min(last - at) as usize];
                raw::read(&memory.bytes(), at, bytes);
                let offset = at - first;
                at += bytes.len() as u64;
                if bytes.iter().all(|byte| *byte == 0) {
                    continue;
                }
                match stored.last_mut() {
                    Some((start, run)) if *start + run.len() as u64 == offset => run.extend_from_slice(bytes),
                    _ => stored.push((offset, bytes.to_vec())),
                }
            }
            each(memory.address() + first, last - first, stored);
        }
    }
}

impl Part {
    /// The same part of memory that was made again.
    pub fn range(&self, memory: &[Arc<Allocation>]) -> MemoryRange {
        let reference = pellucid_memory::access::Reference(self.reference);
        match self.extent.and_then(|k| memory.get(k)) {
            Some(memory) => MemoryRange::new(memory, self.offset, self.size, reference),
            None => MemoryRange::NULL,
        }
    }
}
