//! The debugger's side of a capture: the dispatch as it was, on a device of this process.

use super::data::{CapturedDispatch, Extent, Head, Part};
use crate::check::info::{self, Dispatch};
use crate::check::named::Named;
use crate::debugger;
use crate::device::Device;
use crate::entry::pipeline;
use crate::handle;
use crate::printf;
use crate::report::Object;
use crate::report::texel::DescriptorImage;
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::device::Allocation;
use pellucid_memory::unwritten::Unwritten;
use pellucid_shader_interp::interface::{Descriptor, Grid, Resources};
use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::Arc;

/// A dispatch that was captured.
pub struct Captured {
    dispatch: CapturedDispatch,
    memory: Vec<Arc<Allocation>>,
}

impl Captured {
    /// Reads a capture.
    ///
    /// # Errors
    /// Why there is none of the dispatch, or what is wrong with the file.
    pub fn read(path: &Path) -> Result<Captured, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut file = std::io::BufReader::new(std::fs::File::open(path).map_err(failed)?);
        let mut line = Vec::new();
        file.read_until(b'\n', &mut line).map_err(failed)?;
        let head: Head = serde_json::from_slice(&line).map_err(|error| failed(error.into()))?;
        if head.pellucid != env!("CARGO_PKG_VERSION") {
            return Err(format!("the driver that the program uses is of version {}", head.pellucid));
        }
        let dispatch = match head.dispatch {
            Some(dispatch) => dispatch,
            None => return Err(head.refused.unwrap_or_else(|| "an empty capture".to_owned())),
        };
        let mut memory = Vec::new();
        for extent in &dispatch.memory {
            memory.push(restored(extent, &mut file).map_err(failed)?);
        }
        Ok(Captured { dispatch, memory })
    }

    /// The module.
    pub fn words(&self) -> &[u32] {
        &self.dispatch.key.words
    }

    /// Has the debugger of this process run the dispatch, on this device.
    ///
    /// # Errors
    /// It is no device that checks, or the program is another one than it was.
    pub fn debug(&self, device: vk::Device) -> Result<(), String> {
        let device = handle::dispatchable::<Device>(device).map_err(|_| "no device".to_owned())?;
        let Some(state) = &device.checked else { return Err("the debugger is for check mode".to_owned()) };
        let of = &self.dispatch;
        let program =
            pipeline::compile_for(&of.key, pipeline::For::Debugger).map_err(|error| error.to_string())?;
        let places: Vec<(u32, u32)> = program.shader.bindings.iter().map(|b| (b.set, b.binding)).collect();
        if places != of.places {
            return Err("the program that is debugged has other bindings".to_owned());
        }
        let range = |part: &Part| part.range(&self.memory);
        let descriptors = |elements: &Vec<Descriptor<Part>>| elements.iter().map(|d| d.map(&range)).collect();
        let resources = Resources {
            bindings: of.bindings.iter().map(descriptors).collect(),
            push_constants: of.push_constants.clone(),
            push_unset: of.unset_bytes.clone(),
            addresses: Arc::new(of.addresses.iter().map(range).collect()),
        };
        let named = Named {
            number: of.number,
            program: program.clone(),
            pipeline: of.pipeline.clone(),
            labels: of.labels.clone(),
            queue: of.queue.clone(),
            objects: of.objects.iter().map(|object| object_of(object, &resources)).collect(),
            pushed: of.pushed.clone(),
        };
        let grid = Grid { base: of.base, groups: of.groups };
        // What it prints, the program prints when it goes on.
        let log = printf::log(&device, &program);
        let prints = log.as_ref();
        let (program, resources, robust) = (&*program, &resources, of.robust);
        let executed = Dispatch { program, grid: &grid, resources, number: of.number, prints, robust };
        let info = info::told(executed, unwritten(&of.memory), of.host.clone());
        let mut state = state.lock();
        // How it ended, the debugger has told.
        let _ = debugger::dispatch(&device, &mut state.memory, executed, info, named.context());
        state.memory.end_dispatch();
        Ok(())
    }
}

/// An extent with its bytes, at its device address.
fn restored(extent: &Extent, bytes: &mut impl Read) -> std::io::Result<Arc<Allocation>> {
    let memory = Allocation::private(extent.address, extent.size).map_err(std::io::Error::other)?;
    for (offset, length) in &extent.stored {
        let mut run = vec![0; usize::try_from(*length).map_err(std::io::Error::other)?];
        bytes.read_exact(&mut run)?;
        memory.write(*offset, &run);
    }
    Ok(memory)
}

/// What nothing had written.
fn unwritten(memory: &[Extent]) -> Unwritten {
    let mut all = Unwritten::default();
    for extent in memory {
        for (from, to) in &extent.unwritten {
            all.discard(extent.address, extent.size, extent.address + from, extent.address + to);
        }
    }
    all
}

fn object_of(object: &super::data::CapturedObject, resources: &Resources) -> Object {
    let [binding, element] = [object.reference >> 16, object.reference & 0xffff].map(|k| k as usize);
    let descriptor = resources.bindings.get(binding).and_then(|elements| elements.get(element));
    let texels = match (descriptor, object.texels) {
        (Some(Descriptor::Image(view) | Descriptor::ImageSampler(view, _)), Some((axes, layers))) => {
            Some(DescriptorImage::of_view(view, axes, layers))
        }
        (Some(descriptor), _) => DescriptorImage::of_buffer(descriptor),
        (None, _) => None,
    };
    Object {
        reference: Reference(object.reference),
        what: object.what.clone(),
        handle: object.handle,
        object_type: object.object_type,
        name: object.name.clone(),
        address: object.address,
        texels,
    }
}
