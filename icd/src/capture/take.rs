//! The driver's side of a capture: a dispatch into a file, and the program waits.

use super::data::{CapturedDispatch, CapturedObject, Extent, Head, Reached};
use super::wanted::{Wanted, held, path};
use crate::check::info::Dispatch;
use crate::check::named::Named;
use crate::device::Device;
use crate::entry::pipeline_cache::Key;
use pellucid_memory::commands::Range;
use pellucid_memory::device::host_lines;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// The capture that is asked for, if it is of this dispatch.
fn wanted(device: &Device, number: u32) -> Option<&Wanted> {
    device.instance.config.capture.as_ref().filter(|wanted| wanted.dispatch == number)
}

/// There is no capture of a dispatch, for this reason.
pub fn refuse(device: &Device, number: u32, why: &str) {
    let Some(wanted) = wanted(device, number) else { return };
    write(device, wanted, || (head(Some(why.to_owned()), None), Vec::new()));
}

/// Captures a dispatch if that is asked for, and waits until it may go on.
pub fn take(device: &Device, executed: Dispatch<'_>, key: &dyn Fn() -> Key, named: &dyn Fn() -> Named) {
    let Some(wanted) = wanted(device, executed.number) else { return };
    if executed.resources.is_partly_bound(executed.program)
        || executed.resources.tells_unbound(executed.program)
    {
        // A capture holds bytes, and not which of them have memory.
        let what = "capturing a dispatch that reaches sparse resources that are partly bound";
        return refuse(device, executed.number, &format!("not implemented in Pellucid: {what}"));
    }
    let aliases = device.aliases();
    if executed.memory().any(|memory| aliases.touch(Range::new(memory.address(), memory.size()))) {
        // Nor which bytes are the same memory.
        let what = "capturing a dispatch that reaches sparse resources with SPARSE_ALIASED";
        return refuse(device, executed.number, &format!("not implemented in Pellucid: {what}"));
    }
    write(device, wanted, || captured(device, executed, key(), named()));
}

fn head(refused: Option<String>, dispatch: Option<CapturedDispatch>) -> Head {
    Head { pellucid: env!("CARGO_PKG_VERSION").to_owned(), refused, dispatch }
}

/// Writes a capture, unless another dispatch of that number was captured before, and waits.
fn write(device: &Device, wanted: &Wanted, made: impl FnOnce() -> (Head, Vec<Vec<u8>>)) {
    let part = wanted.folder.join("part");
    if path(&wanted.folder).exists() {
        return;
    }
    let file = match File::create_new(&part) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return,
        Err(error) => return device.instance.say(&format!("capture: {}: {error}", part.display())),
    };
    let (head, memory) = made();
    let store = || -> io::Result<()> {
        let mut file = BufWriter::new(file);
        serde_json::to_writer(&mut file, &head)?;
        file.write_all(b"\n")?;
        memory.iter().try_for_each(|bytes| file.write_all(bytes))?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()?;
        std::fs::rename(&part, path(&wanted.folder))?;
        // Whoever asked has locked it, as long as it lives and the program is to wait.
        File::open(held(&wanted.folder))?.lock_shared()
    };
    if let Err(error) = store() {
        device.instance.say(&format!("capture: {}: {error}", wanted.folder.display()));
    }
}

fn captured(device: &Device, executed: Dispatch<'_>, key: Key, named: Named) -> (Head, Vec<Vec<u8>>) {
    let Dispatch { program, grid, resources, .. } = executed;
    let reached = Reached::of(executed.memory());
    let unwritten = device.unwritten.lock().clone();
    let (mut memory, mut stored) = (Vec::new(), Vec::new());
    reached.contents(|address, size, runs| {
        let gaps = unwritten.runs(address, address + size);
        memory.push(Extent {
            address,
            size,
            stored: runs.iter().map(|(offset, bytes)| (*offset, bytes.len() as u64)).collect(),
            unwritten: gaps.into_iter().map(|(from, to)| (from - address, to - address)).collect(),
        });
        stored.extend(runs.into_iter().map(|(_, bytes)| bytes));
    });
    let object = |of: &crate::report::Object| CapturedObject {
        reference: of.reference.0,
        what: of.what.clone(),
        handle: of.handle,
        object_type: of.object_type,
        name: of.name.clone(),
        address: of.address,
        texels: of.texels.as_ref().map(|image| (image.extent.len(), image.layers)),
    };
    let dispatch = CapturedDispatch {
        number: named.number,
        base: grid.base,
        groups: grid.groups,
        key,
        robust: executed.robust,
        places: program.shader.bindings.iter().map(|b| (b.set, b.binding)).collect(),
        bindings: resources
            .bindings
            .iter()
            .map(|elements| elements.iter().map(|d| d.map(&|range| reached.part(range))).collect())
            .collect(),
        push_constants: resources.push_constants.clone(),
        unset_bytes: resources.push_unset.clone(),
        addresses: executed.addresses().iter().map(|range| reached.part(range)).collect(),
        pipeline: named.pipeline,
        labels: named.labels,
        queue: named.queue,
        objects: named.objects.iter().map(object).collect(),
        pushed: named.pushed,
        host: host_lines(executed.memory()),
        memory,
    };
    (head(None, Some(dispatch)), stored)
}
