//! Check mode's view of commands: what each touched goes to the hazard tracker, and what it finds to the
//! reports.

use super::dependency::{part_ranges, translate};
use super::dispatch::across_dispatches;
use super::found::Found;
use super::hazards::{Access, At, Hazards, Transfer};
use super::layouts::{Bound, ImageUse};
use super::named::{Changes, Named};
use super::ownership::{Place, Resource, only};
use super::{report, written};
use crate::addresses::AddressMap;
use crate::command::copy::Touched;
use crate::command::indirect::CopyIndirect;
use crate::command::reach::Reach;
use crate::command::state::State;
use crate::command::uses::BEGIN_CONDITIONAL;
use crate::command::{BarrierOf, Command, Dependency, EventWait, Predicate};
use crate::descriptor_bytes::ANY_LAYOUT;
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::destroy::called;
use crate::entry::image::Image;
use crate::error::Outcome;
use crate::queue::Queue;
use crate::queue::submission::Use;
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::commands::{Accesses, Operand, OperationId, Range, Runs, Stages};
use pellucid_shader_interp::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where a command stands, owned.
pub struct OwnedAt {
    queue: u32,
    name: String,
    labels: Vec<String>,
}

impl OwnedAt {
    /// As the tracker takes it.
    pub fn at(&self) -> At<'_> {
        At { queue: self.queue, queue_name: &self.name, labels: &self.labels }
    }
}

/// Where the command that runs now stands.
pub fn standing(device: &Device, queue: &Queue, state: &State<'_>) -> OwnedAt {
    let name = device.queue_called(queue);
    OwnedAt { queue: queue.index, name, labels: state.labels.clone() }
}

/// In check mode: the tag of the command that begins.
pub fn tag(device: &Device, queue: &Queue, state: &State<'_>, command: &'static str) -> u64 {
    let standing = || standing(device, queue, state);
    device.hazards.as_ref().map_or(0, |hazards| hazards.command(&standing().at(), command, None))
}

/// Checks the read of a predicate, where conditional rendering begins.
///
/// # Errors
/// The text of what loses the device.
pub fn predicate(
    device: &Device,
    queue: &Queue,
    state: &State<'_>,
    predicate: &Predicate,
) -> Result<(), String> {
    let Some(hazards) = &device.hazards else { return Ok(()) };
    let tag = tag(device, queue, state, BEGIN_CONDITIONAL);
    let Some(range) = range(&predicate.buffer, predicate.offset, 4) else { return Ok(()) };
    let operand = Operand::fixed(Accesses::CONDITIONAL_RENDERING_READ, Accesses::empty());
    let resource = predicate.buffer.place().map(|place| place.resource);
    hazards.uses((tag, queue.index), &[], &[Access { range, operand, through: None, resource }]);
    let reads = Runs::from_iter([(range, operand)]);
    let (_, found) = hazards.operation(queue.index, Stages::CONDITIONAL_RENDERING, tag, None, &reads);
    report::hazards(device, &found)
}

/// Runs a transfer command and checks what it touched.
///
/// # Errors
/// What the command says, or the text of what loses the device.
pub fn transfer(
    device: &Device,
    queue: &Queue,
    state: &State<'_>,
    command: &Command,
    run: impl FnOnce(Touched<'_>) -> Outcome<()>,
) -> Result<Outcome<()>, String> {
    let Some(hazards) = &device.hazards else { return Ok(run(None)) };
    let tag = tag(device, queue, state, command.name());
    let operation = Operation {
        tag,
        stage: command.transfer_stage(),
        first: None,
        does: (Accesses::TRANSFER_READ, Accesses::TRANSFER_WRITE),
        images: command.images(),
        buffers: command.buffers().into_iter().filter_map(Buffer::place).collect(),
        by_address: None,
        stores: true,
    };
    Ok(self::operation(device, hazards, queue, operation, run)?.0)
}

/// Runs an indirect copy and checks what it touched: its parameters are read before.
///
/// # Errors
/// What the command says, or the text of what loses the device.
pub fn copy_indirect(
    device: &Device,
    queue: &Queue,
    state: &State<'_>,
    (copy, addresses): (&CopyIndirect, &AddressMap),
    run: impl FnOnce(Touched<'_>) -> Outcome<()>,
) -> Result<Outcome<()>, String> {
    let Some(hazards) = &device.hazards else { return Ok(run(None)) };
    let command = copy.name();
    let tag = tag(device, queue, state, command);
    let operand = Operand::fixed(Accesses::INDIRECT_COMMAND_READ, Accesses::empty());
    let parameters: Runs = copy.parameters_in(addresses).into_iter().map(|range| (range, operand)).collect();
    let access = |(range, operand): (Range, Operand)| {
        let resource = resource(device, state, Reference::PHYSICAL, range);
        Access { range, operand, through: None, resource }
    };
    hazards.uses((tag, queue.index), &[], &parameters.iter().map(access).collect::<Vec<_>>());
    let by = Use { command, index: hazards.index(tag) };
    parameters.iter().for_each(|(range, _)| state.reach.access(range, by));
    let (first, found) = hazards.operation(queue.index, Stages::COPY_INDIRECT, tag, None, &parameters);
    report::hazards(device, &found)?;
    let command_images = Command::CopyIndirect(Box::new(copy.clone())).images();
    let operation = Operation {
        tag,
        stage: Stages::COPY,
        first: Some(first),
        does: (Accesses::TRANSFER_READ, Accesses::TRANSFER_WRITE),
        images: command_images,
        buffers: Vec::new(),
        by_address: Some((state.reach, by)),
        stores: true,
    };
    Ok(self::operation(device, hazards, queue, operation, run)?.0)
}

/// A queue operation of a command that moves bytes.
pub struct Operation<'a> {
    /// The command.
    pub tag: u64,
    pub stage: Stages,
    /// The first operation of the same render pass instance.
    pub first: Option<OperationId>,
    /// Its accesses: reads and writes.
    pub does: (Accesses, Accesses),
    /// The image subresources that it accesses.
    pub images: Vec<ImageUse>,
    /// The buffers that it accesses.
    pub buffers: Vec<Place>,
    /// What takes note of accesses by address, and what makes them; `None` where there are none.
    pub by_address: Option<(&'a Reach, Use)>,
    /// Its writes store values; those of store operations leave what is there.
    pub stores: bool,
}

/// Runs a queue operation and checks what it touched.
///
/// # Errors
/// What the command says, or the text of what loses the device.
pub fn operation(
    device: &Device,
    hazards: &Hazards,
    queue: &Queue,
    operation: Operation<'_>,
    run: impl FnOnce(Touched<'_>) -> Outcome<()>,
) -> Result<(Outcome<()>, OperationId), String> {
    let Operation { tag, stage, first, does: (reads, writes), images, buffers, by_address, stores } =
        operation;
    let mut transfer = Transfer::new(reads, writes);
    let outcome = run(Some(&mut transfer));
    let runs = transfer.runs();
    if let Some((reach, by)) = by_address {
        runs.iter().for_each(|(range, _)| reach.access(range, by));
    }
    if outcome.is_ok() {
        let uses: Vec<_> = images.into_iter().map(|part| (part, None)).collect();
        let mut places = buffers;
        places.extend(uses.iter().map(|(part, _)| part.image.place()));
        let through = |range: &Range| uses.iter().map(|(part, _)| &part.image).find(|i| i.holds(*range));
        let access = |(range, operand): (Range, Operand)| Access {
            range,
            operand,
            through: through(&range).cloned(),
            resource: match only(&places, range).cloned() {
                None if by_address.is_some() => resource_at(device, range),
                known => known,
            },
        };
        let bytes: Vec<_> = runs.iter().map(access).collect();
        hazards.uses((tag, queue.index), &uses, &bytes);
    }
    used_whole(device, &runs);
    let (id, found) = hazards.operation(queue.index, stage, tag, first, &runs);
    // What is unseen has its record: an invalidate asks for that.
    if stores {
        written::note(device, &runs);
    }
    report::hazards(device, &found)?;
    report::layouts(device)?;
    Ok((outcome, id))
}

/// Tells of sparse resources that are used before all that has to be bound is bound.
fn used_whole(device: &Device, runs: &Runs) {
    let mut all = device.sparse_whole.lock();
    if all.is_empty() {
        return;
    }
    all.retain(|(memory, (kind, raw))| {
        let Some(memory) = memory.upgrade() else { return false };
        let bytes = Range::new(memory.address(), memory.size());
        let used = runs.iter().any(|(range, _)| range.meets(bytes));
        let Some(missing) = memory.first_unbound(&(0..memory.size())).filter(|_| used) else { return true };
        let type_name = if *kind == vk::ObjectType::BUFFER { "VkBuffer" } else { "VkImage" };
        device.instance.misuse(&format!(
            "{} has SPARSE_BINDING without SPARSE_RESIDENCY and is used before all of it is bound: bytes {}..{} are not",
            called(device, (type_name, *kind, *raw)),
            missing.start,
            missing.end
        ));
        // Once is enough.
        false
    });
}

/// The buffer that bytes are accessed through by their address, where it is known.
fn resource_at(device: &Device, range: Range) -> Option<Resource> {
    Buffer::at(device, range).map(|place| place.resource)
}

/// The buffer or image that a shader accesses by a reference.
fn resource(device: &Device, state: &State<'_>, reference: Reference, range: Range) -> Option<Resource> {
    if reference == Reference::PHYSICAL {
        return resource_at(device, range);
    }
    let image = || Some(state.image(reference)?.0.image.bounds().next()?.place().resource);
    let in_memory = || state.descriptor_read(reference).and_then(|_| resource_at(device, range));
    let known = state.buffer(reference).and_then(Buffer::place).map(|place| place.resource);
    known.or_else(image).or_else(in_memory)
}

/// Checks the layouts of the images that a dispatch touched, who may interpret their bytes, and who owns what
/// it touched.
fn images((device, hazards): (&Device, &Hazards), state: &State<'_>, (tag, queue): (u64, u32), runs: &Runs) {
    let mut uses = Vec::new();
    let mut known: BTreeMap<Reference, Option<Resource>> = BTreeMap::new();
    let mut resource = |operand: &Operand, range: Range| match operand.reference {
        Some(Reference::PHYSICAL) => self::resource(device, state, Reference::PHYSICAL, range),
        Some(reference) => {
            let new = || self::resource(device, state, reference, range);
            known.entry(reference).or_insert_with(new).clone()
        }
        None => None,
    };
    let references: BTreeSet<Reference> = runs.combs().filter_map(|comb| comb.operand.reference).collect();
    let views: BTreeMap<_, _> = references.into_iter().filter_map(|r| Some((r, state.image(r)?))).collect();
    // Bytes matter to images that are known, or now become so.
    let asks = !views.is_empty() || hazards.asks_of_bytes();
    let mut bytes = Vec::new();
    for comb in runs.combs() {
        let view = comb.operand.reference.and_then(|reference| views.get(&reference));
        if !asks && view.is_none() {
            continue;
        }
        let own = view.is_some_and(|(view, _)| {
            let of = view.image.bounds().find(|image| image.holds(comb.span()));
            of.is_some_and(|image| hazards.are_its_own(image, comb.span()))
        });
        // The image and subresource of the last run: rows of it follow one another.
        let mut last: Option<(Arc<Bound>, Range)> = None;
        for (range, operand) in runs.accesses(comb) {
            let through = view.and_then(|(view, layout)| {
                let known = last.as_ref().map(|(image, _)| image).filter(|image| image.holds(range));
                Some((
                    known.or_else(|| view.image.bounds().find(|image| image.holds(range)))?.clone(),
                    *layout,
                ))
            });
            // Of a descriptor that names no layout nothing is asked.
            let named = through.as_ref().filter(|(_, layout)| layout.as_raw() != ANY_LAYOUT);
            let inside = |bytes: &Range| bytes.start <= range.start && range.end <= bytes.end;
            if let Some((image, layout)) = named
                && !last.as_ref().is_some_and(|(known, bytes)| Arc::ptr_eq(known, image) && inside(bytes))
            {
                let part = |(level, layer, _): (u32, u32, Range)| ImageUse {
                    image: image.clone(),
                    aspects: vk::ImageAspectFlags::empty(),
                    levels: level..level + 1,
                    layers: layer..layer + 1,
                    layout: *layout,
                    writes: !operand.write.is_empty(),
                };
                let all = image.subresources(range);
                last = all.first().map(|(_, _, bytes)| (image.clone(), *bytes));
                uses.extend(all.into_iter().map(|s| (part(s), Some(operand))));
            }
            if !own {
                let resource = if hazards.owners { resource(&operand, range) } else { None };
                bytes.push(Access { range, operand, through: through.map(|(image, _)| image), resource });
            }
        }
    }
    hazards.uses((tag, queue), &uses, &bytes);
}

/// Takes note of a command's dependencies and checks the layout transitions that they perform.
///
/// # Errors
/// The text of what loses the device.
pub fn barrier(
    device: &Device,
    queue: &Queue,
    state: &State<'_>,
    dependency: &Dependency,
) -> Result<(), String> {
    let Some(hazards) = &device.hazards else { return Ok(()) };
    let found = hazards.barrier(&standing(device, queue, state).at(), &translate(dependency));
    performed(device, [dependency], &found)
}

/// Takes note of the dependencies of a command that waited for events, and checks the layout transitions that
/// they perform.
///
/// # Errors
/// The text of what loses the device.
pub fn wait_events(
    device: &Device,
    queue: &Queue,
    state: &State<'_>,
    waits: &[EventWait],
) -> Result<(), String> {
    let Some(hazards) = &device.hazards else { return Ok(()) };
    let told = |wait: &EventWait| {
        let tokens = wait.events.iter().map(|event| event.tokens()).collect();
        (tokens, translate(&wait.dependency))
    };
    let told: Vec<_> = waits.iter().map(told).collect();
    let found = hazards.wait_events(&standing(device, queue, state).at(), &told);
    performed(device, waits.iter().map(|wait| &wait.dependency), &found)
}

/// Dependencies were taken note of: their transitions from UNDEFINED discard what images hold.
///
/// # Errors
/// The text of what loses the device.
pub fn performed<'a>(
    device: &Device,
    dependencies: impl IntoIterator<Item = &'a Dependency>,
    found: &[Found],
) -> Result<(), String> {
    for b in dependencies.into_iter().flat_map(|dependency| &dependency.barriers) {
        if let BarrierOf::Image(image, range, ..) = &b.of
            && let Some(Changes::Layout(vk::ImageLayout::UNDEFINED, _)) = b.transition()
        {
            discard(device, image, range);
        }
    }
    report::hazards(device, found)?;
    report::layouts(device)
}

/// The contents of an image were discarded: its bytes are uninitialised again, where it is known who writes
/// them.
pub fn discard(device: &Device, image: &Image, range: &vk::ImageSubresourceRange) {
    for part in image.parts(range.aspect_mask) {
        // What has depth and stencil keeps the bytes of one while those of the other are discarded.
        if part.bound().is_some_and(|bound| bound.is_whole(range.aspect_mask)) {
            undefined(device, part, &part_ranges(part, range));
        }
    }
}

/// Bytes of an image hold nothing any more.
pub fn undefined(device: &Device, image: &Image, bytes: &[Range]) {
    let Ok((memory, _)) = image.memory() else { return };
    if memory.is_written_unseen() || memory.is_freed() || memory.is_sparse() {
        return;
    }
    let (address, size) = (memory.bytes().address(), memory.bytes().size());
    let mut unwritten = device.unwritten.lock();
    for bytes in bytes {
        unwritten.discard(address, size, bytes.start, bytes.end);
    }
}

/// What a dispatch touched.
pub struct Touches {
    /// Runs of bytes and their accesses.
    pub runs: Runs,
    /// The buffer range that an indirect dispatch read its size from.
    pub parameters: Option<(Range, Option<Resource>)>,
}

/// A dispatch reads the descriptors in memory by which it reaches something: adds these reads to what it
/// touched, and takes note of what it reached by them.
fn descriptors(state: &State<'_>, (program, by): (&Program, Use), runs: &mut Runs) {
    let mut read = BTreeSet::new();
    let mut named = BTreeSet::new();
    let mut images = BTreeSet::new();
    for comb in runs.combs_mut() {
        let Some(reference) = comb.operand.reference.filter(|reference| *reference != Reference::PHYSICAL)
        else {
            continue;
        };
        if state.is_block_in_memory(reference) {
            comb.operand.read = Accesses::DESCRIPTOR_BUFFER_READ;
            comb.ranges().for_each(|bytes| state.reach.access(bytes, by));
        } else if let Some((place, objects)) = state.descriptor_read(reference) {
            comb.ranges().for_each(|bytes| state.reach.access(bytes, by));
            read.insert(place);
            named.extend(objects);
        }
        images.insert(reference.0 >> 16);
    }
    for index in 0..program.shader.bindings.len() as u32 {
        if !images.contains(&(across_dispatches(program, Reference(index << 16)).0 >> 16)) {
            continue;
        }
        for (sampler, element) in program.samplers_of(index) {
            let reference = across_dispatches(program, Reference(sampler << 16 | element & 0xffff));
            if let Some((place, objects)) = state.descriptor_read(reference) {
                read.insert(place);
                named.extend(objects);
            }
        }
    }
    named.iter().chain(&read).for_each(|range| state.reach.access(*range, by));
    let operand = Operand::fixed(Accesses::DESCRIPTOR_BUFFER_READ, Accesses::empty());
    read.into_iter().for_each(|place| runs.push(place, operand));
}

/// Checks a dispatch against the commands before it.
///
/// # Errors
/// The text of what loses the device.
pub fn dispatch(
    device: &Device,
    queue: &Queue,
    state: &State<'_>,
    mut named: Named,
    mut touches: Touches,
) -> Result<(), String> {
    let Some(hazards) = &device.hazards else { return Ok(()) };
    let standing = standing(device, queue, state);
    let command = if touches.parameters.is_some() { "vkCmdDispatchIndirect" } else { "vkCmdDispatch" };
    named.objects = hazards.share(named.objects);
    let program = named.program.clone();
    let tag = hazards.command(&standing.at(), command, Some(Arc::new(named)));
    let by = Use { command, index: hazards.index(tag) };
    let physical = touches.runs.bytes(|operand| operand.reference == Some(Reference::PHYSICAL));
    physical.ranges().for_each(|bytes| state.reach.access(bytes, by));
    descriptors(state, (&program, by), &mut touches.runs);
    let mut before: Option<OperationId> = None;
    if let Some((range, resource)) = touches.parameters {
        let read = Operand::fixed(Accesses::INDIRECT_COMMAND_READ, Accesses::empty());
        let access = Access { range, operand: read, through: None, resource };
        hazards.uses((tag, queue.index), &[], &[access]);
        let (id, found) = hazards.operation(
            queue.index,
            Stages::DRAW_INDIRECT,
            tag,
            None,
            &Runs::from_iter([(range, read)]),
        );
        report::hazards(device, &found)?;
        before = Some(id);
    }
    images((device, hazards), state, (tag, queue.index), &touches.runs);
    used_whole(device, &touches.runs);
    let (_, found) = hazards.operation(queue.index, Stages::COMPUTE_SHADER, tag, before, &touches.runs);
    written::note(device, &touches.runs);
    report::hazards(device, &found)?;
    report::layouts(device)
}

/// Device addresses of a range of a buffer.
pub fn range(buffer: &Buffer, offset: u64, size: u64) -> Option<Range> {
    let (memory, base) = buffer.memory().ok()?;
    Some(Range::new(memory.bytes().address() + base + offset, size))
}
