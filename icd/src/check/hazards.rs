//! Hazards between commands, in check mode: the driver's side of [`pellucid_memory::commands`].
//!
//! What the API calls, the tracker hears in its own terms: stage and access masks are mapped to the stages
//! and accesses that this device has, barriers to dependencies on byte ranges, and each command to queue
//! operations with the bytes that it accessed. All queues are worked off by one thread in check mode, so the
//! tracker sees one order; what the host has seen is taken when the host sees it.

mod aliased;
mod binding;
mod host;
mod transfer;

pub use self::transfer::Transfer;

use self::aliased::{show, to_memory};
use super::found::{CommandName, Found, HostFound, LayoutFound, OwnershipFound, Submitted, WhoName};
use super::host::HostCall;
use super::host_calls::{HandedIn, HostCalls};
use super::layouts::{Bound, ImageUse, Layouts, Mismatch, Since, Who};
use super::named::{Changes, Named};
use super::ownership::{Owned, Ownership, Resource, WrongOwner};
use super::stages::{destination, source};
use crate::caps::queues;
use crate::report::Object;
use ash::vk;
use parking_lot::Mutex;
use pellucid_memory::aliases::SparseAliases;
use pellucid_memory::commands::{
    Dependency as Told, EventToken, Hazard, HostHazard, Operand, OperationId, Payload, QueueId, Range, Runs,
    SemaphoreUse, Stages, Tracker,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What a submission waits for or signals, as hazards name it.
pub struct NamedSemaphore {
    /// The handle.
    pub semaphore: u64,
    /// Of a timeline semaphore: the value to wait for or to set.
    pub value: Option<u64>,
    /// The stages that wait, or that the signal follows; `None`: all.
    pub stages: Option<vk::PipelineStageFlags2>,
}

/// How many commands are remembered by name.
const REMEMBERED: u64 = 1 << 14;
/// How many calls of the host are remembered with their stacks.
const CALLS: usize = 1 << 12;
/// How many lists of objects are compared with that of a dispatch.
const LISTS: usize = 16;

/// How many submissions are remembered with their semaphores and who handed them in.
const SUBMITTED: usize = 64;
/// Commands from one of a hazard to the other that are told: so many of the first and of the last.
const PASSED: usize = 10;

/// Where the next command of a queue stands.
#[derive(Clone, Copy, Default)]
struct Place {
    /// From 1.
    submission: u64,
    /// Commands of the submission so far.
    commands: u32,
    /// Command buffers of the submission so far.
    buffers: u32,
}

#[derive(Default)]
struct State {
    tracker: Tracker,
    names: BTreeMap<u64, Arc<CommandName>>,
    next: u64,
    places: BTreeMap<u32, Place>,
    /// The latest submissions.
    submitted: VecDeque<Submitted>,
    host_calls: HostCalls,
    objects: VecDeque<Arc<[Object]>>,
    /// The calls that accesses of the host came after, by the tags of those.
    calls: Vec<HostCall>,
    tags: BTreeMap<HostCall, u64>,
    host_found: Vec<HostFound>,
    ownership: Ownership,
    ownership_found: Vec<OwnershipFound>,
    layouts: Layouts,
    layouts_found: Vec<LayoutFound>,
    /// What sparse resources share. The tracker knows it by its place in memory.
    aliases: Arc<SparseAliases>,
}

/// Aspects, mip levels and array layers.
pub type Subresources = (vk::ImageAspectFlags, std::ops::Range<u32>, std::ops::Range<u32>);

/// A barrier of an image, as far as layouts go.
pub struct ImageBarrier {
    pub image: Arc<Bound>,
    pub parts: Subresources,
    /// The layout that they are in then.
    pub to: vk::ImageLayout,
    /// It acquires their ownership: true from an external queue family.
    pub acquired: Option<bool>,
}

/// The dependencies of a command.
pub struct Translated {
    /// As the tracker takes them; a transition's tag is the index of its barrier.
    pub list: Vec<Told>,
    /// What each barrier does to the memory that it is for.
    pub changes: Vec<Option<Changes>>,
    /// What each barrier of an image does to it, or to its planes.
    pub images: Vec<Vec<ImageBarrier>>,
    /// What each barrier does to owners, if anything.
    pub owned: Vec<Option<Owned>>,
}

/// Bytes that a command accesses, and through which image, if through one.
pub struct Access {
    /// Device addresses.
    pub range: Range,
    /// The access.
    pub operand: Operand,
    /// The image.
    pub through: Option<Arc<Bound>>,
    /// The buffer or image, where owners are followed and it is known.
    pub resource: Option<Resource>,
}

/// The tracker of a device.
pub struct Hazards {
    state: Mutex<State>,
    /// The device has queues of several families: it matters who owns buffers and images.
    pub owners: bool,
}

/// Where a command stands.
pub struct At<'a> {
    /// Index of the queue.
    pub queue: u32,
    pub queue_name: &'a str,
    /// Open labels.
    pub labels: &'a [String],
}

impl Hazards {
    /// The tracker of a device that has done nothing; `owners`: it has queues of several families.
    pub fn new(owners: bool) -> Hazards {
        Hazards { state: Mutex::default(), owners }
    }

    /// What the host knows now: taken at vkQueueSubmit.
    pub fn host(&self) -> Payload {
        self.state.lock().tracker.host_knowledge()
    }

    /// The host makes a call that orders it with the device.
    pub fn host_calls(&self, call: &'static str) {
        self.state.lock().host_calls.made(call);
    }

    /// The host hands in a submission: what it knows now, and by which call.
    pub fn hands_in(&self) -> (Payload, Option<HandedIn>) {
        let state = self.state.lock();
        (state.tracker.host_knowledge(), state.host_calls.hands_in())
    }

    /// A submission begins, which `binds` sparse memory. What it waits for is told by
    /// [`Hazards::wait_semaphore`], what it signals by [`Hazards::signal_semaphore`].
    pub fn submit(
        &self,
        (queue, binds): (u32, bool),
        (host, by): &(Payload, Option<HandedIn>),
        waits: &[NamedSemaphore],
        signals: &[NamedSemaphore],
    ) {
        let told = |list: &[NamedSemaphore], mask: fn(vk::PipelineStageFlags2) -> Stages| {
            let told = list.iter().map(|named| SemaphoreUse {
                semaphore: named.semaphore,
                value: named.value,
                stages: named.stages.map(mask),
            });
            told.collect::<Vec<_>>()
        };
        let mut state = self.state.lock();
        state.tracker.family(QueueId(queue), queues::place(queue).0);
        match binds {
            true => state.tracker.submit_bindings(QueueId(queue), host),
            false => state.tracker.submit(QueueId(queue), host),
        }
        let (waits, signals) = (told(waits, destination), told(signals, source));
        state.tracker.semaphores(QueueId(queue), waits.clone(), signals.clone());
        let place = state.places.entry(queue).or_default();
        *place = Place { submission: place.submission + 1, ..Place::default() };
        let submission = place.submission;
        state.submitted.push_back(Submitted { at: queue, submission, waits, signals, by: *by });
        if state.submitted.len() > SUBMITTED {
            state.submitted.pop_front();
        }
    }

    /// A command buffer of the submission begins.
    pub fn command_buffer(&self, queue: u32) {
        self.state.lock().places.entry(queue).or_default().buffers += 1;
    }

    /// A submission waited at these stages for a semaphore, whose signal carried `payload`; `None`: it binds
    /// sparse memory.
    pub fn wait_semaphore(&self, queue: u32, payload: &Payload, stages: Option<vk::PipelineStageFlags2>) {
        let tracker = &mut self.state.lock().tracker;
        match stages {
            Some(stages) => tracker.wait_semaphore(QueueId(queue), payload, destination(stages)),
            None => tracker.wait_to_bind(QueueId(queue), payload),
        }
    }

    /// A submission signals a semaphore, or a timestamp is written: what that carries. `None` is
    /// vkQueueSubmit's first scope: everything.
    pub fn signal_semaphore(&self, queue: u32, stages: Option<vk::PipelineStageFlags2>) -> Payload {
        self.state.lock().tracker.signal_semaphore(QueueId(queue), stages.map(source))
    }

    /// A submission signals a fence: what the signal carries.
    pub fn signal_fence(&self, queue: u32) -> Payload {
        self.state.lock().tracker.signal_fence(QueueId(queue))
    }

    /// What whoever follows all that has executed knows.
    pub fn everything(&self) -> Payload {
        let mut state = self.state.lock();
        let mut all = state.tracker.host_knowledge();
        for queue in state.places.keys().copied().collect::<Vec<_>>() {
            all.join(&state.tracker.signal_fence(QueueId(queue)));
        }
        all
    }

    /// What was found about the layouts of images since this was last asked.
    pub fn take_layouts_found(&self) -> Vec<LayoutFound> {
        std::mem::take(&mut self.state.lock().layouts_found)
    }

    /// What was found about the owners of buffers and images since this was last asked.
    pub fn take_ownership_found(&self) -> Vec<OwnershipFound> {
        std::mem::take(&mut self.state.lock().ownership_found)
    }

    /// What was found between the host and the device since this was last asked.
    pub fn take_host_found(&self) -> Vec<HostFound> {
        std::mem::take(&mut self.state.lock().host_found)
    }

    /// Memory ended: nothing that follows conflicts with what came before.
    pub fn forget(&self, address: u64, size: u64) {
        let (mut state, bytes) = (self.state.lock(), Range::new(address, size));
        state.ownership.forget(bytes);
        state.tracker.forget(bytes);
        state.tracker.end_sparse(bytes);
        state.alias(bytes, None);
    }

    /// A buffer or image was destroyed.
    pub fn destroyed(&self, kind: vk::ObjectType, handle: u64) {
        self.state.lock().ownership.destroyed(kind, handle);
    }

    /// The same objects as another dispatch has, if one of the last had them: programs repeat themselves.
    pub fn share(&self, objects: Arc<[Object]>) -> Arc<[Object]> {
        let lists = &mut self.state.lock().objects;
        if let Some(known) = lists.iter().find(|known| **known == objects) {
            return known.clone();
        }
        lists.push_back(objects.clone());
        if lists.len() > LISTS {
            lists.pop_front();
        }
        objects
    }

    /// The place of the command that a tag names in its submission.
    pub fn index(&self, tag: u64) -> Option<u32> {
        self.state.lock().names.get(&tag).map(|name| name.index)
    }

    /// A command begins; the tag names it from now on.
    pub fn command(&self, at: &At<'_>, command: &'static str, dispatch: Option<Arc<Named>>) -> u64 {
        self.state.lock().name(at, command, dispatch)
    }

    /// Whether bytes that a command reaches through no image matter to layouts or owners.
    pub fn asks_of_bytes(&self) -> bool {
        self.owners || !self.state.lock().layouts.is_empty()
    }

    /// Whether bytes of an image that a command reaches through it matter to nobody else.
    pub fn are_its_own(&self, image: &Bound, range: Range) -> bool {
        !self.owners && self.state.lock().layouts.is_alone(image, range)
    }

    /// The command that `tag` names, on a queue, uses images, and bytes that are not theirs, in this order.
    pub fn uses(&self, (tag, queue): (u64, u32), uses: &[(ImageUse, Option<Operand>)], runs: &[Access]) {
        let mut state = self.state.lock();
        for (part, operand) in uses {
            let found = state.layouts.access(part, Who::Command(tag));
            state.keep_layouts(found, operand.as_ref());
        }
        for Access { range, operand, through, resource } in runs {
            let does = (!operand.read.is_empty(), !operand.write.is_empty());
            // Whoever shares memory may write it through another resource.
            if self.owners && !state.aliases.touch(*range) {
                state.owners((tag, queue), *range, does, (resource.as_ref(), operand));
            }
            state.bytes(*range, does, through.as_deref(), Who::Command(tag), Some(operand));
        }
    }

    /// vkCmdPipelineBarrier and vkCmdPipelineBarrier2: the hazards of its layout transitions.
    pub fn barrier(&self, at: &At<'_>, dependency: &Translated) -> Vec<Found> {
        let tag = self.command(at, "vkCmdPipelineBarrier", None);
        self.dependency(at.queue, tag, dependency)
    }

    /// Dependencies that the command `tag` defines: the hazards of their layout transitions.
    pub fn dependency(&self, queue: u32, tag: u64, dependency: &Translated) -> Vec<Found> {
        let mut state = self.state.lock();
        let list = state.told(tag, dependency);
        state.transitions(queue, &list, dependency, self.owners);
        let mut hazards = state.tracker.barriers(QueueId(queue), &list, tag);
        show(&mut hazards, &state.pieces_of(&[dependency]));
        hazards.into_iter().map(|hazard| state.found(hazard)).collect()
    }

    /// vkCmdSetEvent and vkCmdSetEvent2: what the event carries to its waits, for each of `scopes`, and to
    /// the host.
    pub fn set_event(&self, at: &At<'_>, scopes: &[Stages]) -> (Vec<EventToken>, Payload) {
        let mut state = self.state.lock();
        state.name(at, "vkCmdSetEvent", None);
        let queue = QueueId(at.queue);
        let tokens = scopes.iter().map(|stages| state.tracker.set_event(queue, *stages)).collect();
        let all = scopes.iter().fold(Stages::empty(), |all, stages| all | *stages);
        (tokens, state.tracker.signal_semaphore(queue, Some(all)))
    }

    /// vkCmdWaitEvents and vkCmdWaitEvents2, by what the events of each dependency carry: the hazards of
    /// their layout transitions.
    pub fn wait_events(&self, at: &At<'_>, waits: &[(Vec<Arc<[EventToken]>>, Translated)]) -> Vec<Found> {
        let mut state = self.state.lock();
        let tag = state.name(at, "vkCmdWaitEvents", None);
        let mut told: Vec<(Vec<&EventToken>, Vec<Told>)> = Vec::new();
        for (tokens, dependency) in waits {
            let list = state.told(tag, dependency);
            state.transitions(at.queue, &list, dependency, self.owners);
            told.push((tokens.iter().flat_map(|tokens| tokens.iter()).collect(), list));
        }
        let each = told.iter().flat_map(|(tokens, list)| list.iter().map(move |d| (&tokens[..], d)));
        let mut hazards = state.tracker.wait_each(QueueId(at.queue), &each.collect::<Vec<_>>(), tag);
        let dependencies: Vec<_> = waits.iter().map(|(_, dependency)| dependency).collect();
        show(&mut hazards, &state.pieces_of(&dependencies));
        hazards.into_iter().map(|hazard| state.found(hazard)).collect()
    }

    /// One queue operation of command `tag` with its accesses; `first` is the first one of the same command
    /// or render pass instance, if there is one before it.
    pub fn operation(
        &self,
        queue: u32,
        stage: Stages,
        tag: u64,
        first: Option<OperationId>,
        accesses: &Runs,
    ) -> (OperationId, Vec<Found>) {
        let mut state = self.state.lock();
        let id = state.tracker.begin(QueueId(queue), stage, tag, first);
        let (mut found, of_host) = match state.in_memory(accesses) {
            None => state.tracker.accesses(id, accesses),
            Some((in_memory, pieces)) => {
                let (mut found, of_host) = state.tracker.accesses(id, &in_memory);
                show(&mut found, &pieces);
                (found, of_host)
            }
        };
        found.extend(state.tracker.uses(id, accesses));
        state.keep(of_host);
        state.tracker.join_fixes(&mut found);
        let found = found.into_iter().map(|hazard| state.found(hazard)).collect();
        (id, found)
    }
}

impl State {
    /// The tag of the host's accesses after a call.
    fn call(&mut self, since: &HostCall) -> u64 {
        if let Some(tag) = self.tags.get(since) {
            return *tag;
        }
        // Programs call from few places; one that does not is told the call alone.
        let without_stack = HostCall { caller: None, ..*since };
        let since = if self.tags.len() < CALLS { since.clone() } else { without_stack };
        let next = self.calls.len() as u64;
        let tag = *self.tags.entry(since.clone()).or_insert(next);
        if tag == next {
            self.calls.push(since);
        }
        tag
    }

    fn who(&self, who: Who) -> WhoName {
        match who {
            Who::Command(tag) => WhoName::Command(self.names.get(&tag).cloned()),
            Who::Host(tag) => WhoName::Host(self.calls.get(tag as usize).map_or("", |call| call.call)),
        }
    }

    fn keep_layouts(&mut self, found: impl IntoIterator<Item = Mismatch>, operand: Option<&Operand>) {
        for mismatch in found {
            let since = match mismatch.since {
                Since::Creation => None,
                Since::Transition(who) | Since::Overwritten(who) => Some(self.who(who)),
            };
            let by = self.who(mismatch.by);
            self.layouts_found.push(LayoutFound { mismatch, by, operand: operand.copied(), since });
        }
    }

    fn keep_ownership(
        &mut self,
        wrong: Option<WrongOwner>,
        resource: &Resource,
        (tag, queue): (u64, u32),
        operand: Option<&Operand>,
    ) {
        let Some(wrong) = wrong else { return };
        let name = |tag: u64| self.names.get(&tag).cloned();
        let found = OwnershipFound {
            wrong,
            resource: resource.clone(),
            family: queues::place(queue).0,
            by: name(tag),
            operand: operand.copied(),
            before: wrong.before().and_then(name),
        };
        self.ownership_found.push(found);
    }

    /// Bytes are read or written through a resource: whether it is their owner who does it.
    fn owners(
        &mut self,
        (tag, queue): (u64, u32),
        range: Range,
        does: (bool, bool),
        (resource, operand): (Option<&Resource>, &Operand),
    ) {
        match resource {
            Some(resource) => {
                let wrong = self.ownership.access(resource, queues::place(queue).0, range, does, tag);
                self.keep_ownership(wrong, resource, (tag, queue), Some(operand));
            }
            None if does.1 => self.ownership.forget(range),
            None => {}
        }
    }

    /// Bytes are read or written.
    fn bytes(
        &mut self,
        range: Range,
        does: (bool, bool),
        through: Option<&Bound>,
        by: Who,
        operand: Option<&Operand>,
    ) {
        let found = self.layouts.bytes(range, does, through, by);
        self.keep_layouts(found, operand);
    }

    /// The transitions of a dependency, which the tags of `list` name, where it says of which barriers.
    fn transitions(&mut self, queue: u32, list: &[Told], dependency: &Translated, owners: bool) {
        let told = list.iter().zip(&dependency.list);
        let tags = told.flat_map(|(d, before)| d.transitions.iter().zip(&before.transitions));
        for (tag, index) in tags.map(|(t, before)| (t.tag, before.tag as usize)) {
            if let Some(Some(owned)) = dependency.owned.get(index).filter(|_| owners) {
                let family = queues::place(queue).0;
                let wrong = self.ownership.barrier(owned, family, tag);
                self.keep_ownership(wrong, &owned.resource, (tag, queue), None);
            }
            let changes = dependency.changes.get(index).copied().flatten();
            for barrier in dependency.images.get(index).into_iter().flatten() {
                let ImageBarrier { image, parts, to, acquired } = barrier;
                let (from, to) = match changes {
                    Some(Changes::Layout(from, to)) => (from, to),
                    // One that stays is told of by who had it before.
                    Some(Changes::Ownership) if *acquired == Some(true) => (*to, *to),
                    _ => continue,
                };
                let found = self.layouts.transition(image, parts, (from, to), *acquired, Who::Command(tag));
                self.keep_layouts(found, None);
            }
        }
    }

    fn keep(&mut self, found: Vec<HostHazard>) {
        for hazard in found {
            let tag = self.tracker.tag(hazard.operation);
            let command = tag.and_then(|tag| self.names.get(&tag).cloned());
            let barrier = hazard.extend.and_then(|tag| self.names.get(&tag).cloned());
            let since = self.calls.get(hazard.tag as usize).cloned().unwrap_or_default();
            match self.host_found.iter_mut().find(|found| found.hazard.is_like(&hazard)) {
                Some(found) => {
                    found.hazard.join(hazard);
                    found.barrier = found.barrier.take().or(barrier);
                }
                None => self.host_found.push(HostFound { hazard, command, barrier, since }),
            }
        }
    }

    fn name(&mut self, at: &At<'_>, command: &'static str, dispatch: Option<Arc<Named>>) -> u64 {
        let place = self.places.entry(at.queue).or_default();
        place.commands += 1;
        let Place { submission, commands: index, buffers: buffer } = *place;
        let queue = at.queue_name.to_owned();
        let labels = at.labels.to_vec();
        let tag = self.next;
        self.next += 1;
        let (at, transition) = (at.queue, None);
        let name =
            CommandName { command, queue, at, submission, index, buffer, labels, dispatch, transition };
        self.names.insert(tag, Arc::new(name));
        self.names.remove(&tag.wrapping_sub(REMEMBERED));
        tag
    }

    /// The dependencies of the command that `tag` names, and names for their transitions.
    fn told(&mut self, tag: u64, dependency: &Translated) -> Vec<Told> {
        let mut list = dependency.list.clone();
        if !self.aliases.is_empty() {
            list.iter_mut().for_each(|told| to_memory(&self.aliases, told));
        }
        let Some(command) = self.names.get(&tag).cloned() else { return list };
        for transition in list.iter_mut().flat_map(|d| &mut d.transitions) {
            let changes = dependency.changes.get(transition.tag as usize).copied().flatten();
            transition.tag = self.next;
            self.next += 1;
            let name = CommandName { transition: changes, ..CommandName::clone(&command) };
            self.names.insert(transition.tag, Arc::new(name));
            self.names.remove(&transition.tag.wrapping_sub(REMEMBERED));
        }
        list
    }

    fn found(&self, hazard: Hazard) -> Found {
        let name = |tag: u64| self.names.get(&tag).cloned();
        let barrier = match &hazard.fix {
            pellucid_memory::commands::Fix::Extend(gap) => name(gap.tag),
            _ => None,
        };
        let (first, second) = (self.tracker.tag(hazard.first), self.tracker.tag(hazard.second));
        let (passed, left_out) = match (first, second) {
            (Some(first), Some(second)) => self.passed(first, second),
            _ => Default::default(),
        };
        let of_passed = |submitted: &&Submitted| {
            let same =
                |name: &CommandName| (name.at, name.submission) == (submitted.at, submitted.submission);
            passed.iter().any(|(_, name)| same(name))
        };
        let submitted: Vec<&Submitted> = self.submitted.iter().filter(of_passed).collect();
        let by = submitted.iter().filter_map(|of| Some(((of.at, of.submission), of.by?)));
        let (host, host_left_out) = self.host_calls.between(&by.collect::<Vec<_>>());
        let semaphores = submitted.into_iter().filter(|of| !(of.waits.is_empty() && of.signals.is_empty()));
        Found {
            first: first.and_then(name),
            second: second.and_then(name),
            barrier,
            semaphores: semaphores.cloned().collect(),
            host,
            host_left_out,
            passed,
            left_out,
            hazard,
        }
    }

    /// The commands from one to another, and how many are left out behind how many. Names of transitions
    /// stand for their command, which has one of its own.
    #[allow(clippy::type_complexity)]
    fn passed(&self, first: u64, second: u64) -> (Vec<(u64, Arc<CommandName>)>, (usize, usize)) {
        if first > second {
            return Default::default();
        }
        let own = |(tag, name): &(&u64, &Arc<CommandName>)| {
            name.transition.is_none() || [first, second].contains(*tag)
        };
        let all = || self.names.range(first..=second).filter(own).map(|(tag, name)| (*tag, name.clone()));
        let count = all().count();
        if count <= 2 * PASSED {
            return (all().collect(), (0, 0));
        }
        let told = all().take(PASSED).chain(all().skip(count - PASSED)).collect();
        (told, (PASSED, count - 2 * PASSED))
    }
}
