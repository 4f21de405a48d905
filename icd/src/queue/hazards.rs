//! Hazards between commands, in check mode: the driver's side of [`pellucid_memory::commands`].
//!
//! What the API calls, the tracker hears in its own terms: stage and access masks are mapped to the stages and accesses that this device has,
//! barriers to dependencies on byte ranges, and each command to queue operations with the bytes that it accessed. All queues are worked off by
//! one thread in check mode, so the tracker sees one order; what the host has seen is taken when the host sees it.

use crate::command::dispatch::Named;
use crate::command::{Barrier, BarrierOf, Dependency, Half};
use crate::entry::image::Image;
use ash::vk;
use pellucid_memory::commands::{
    AccessScope, Accesses, EventToken, Footprint, Hazard, Operand, OperationId, Payload, QueueId, Range,
    Stages, Tracker,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A command, as a hazard names it.
#[derive(Clone)]
pub struct CommandName {
    /// The entry point that recorded it.
    pub command: &'static str,
    /// Its queue: debug name, or "queue 0".
    pub queue: String,
    /// Submission on the queue, from 1.
    pub submission: u64,
    /// Command in the submission, from 1; state commands are not counted.
    pub index: u32,
    /// Open debug labels, outermost first.
    pub labels: Vec<String>,
    /// What names a dispatch.
    pub dispatch: Option<Arc<Named>>,
}

/// A hazard and what names its commands.
pub struct Found {
    /// The hazard.
    pub hazard: Hazard,
    /// The earlier command.
    pub first: Option<Arc<CommandName>>,
    /// The later command.
    pub second: Option<Arc<CommandName>>,
    /// The barrier that the fix extends.
    pub barrier: Option<Arc<CommandName>>,
}

/// How many commands are remembered by name.
const REMEMBERED: u64 = 1 << 14;
/// How many signals of one timeline semaphore are remembered.
const SIGNALS: usize = 64;

#[derive(Default)]
struct State {
    tracker: Tracker,
    names: BTreeMap<u64, Arc<CommandName>>,
    next: u64,
    places: BTreeMap<u32, (u64, u32)>,
    fences: HashMap<usize, Payload>,
    semaphores: HashMap<usize, BTreeMap<u64, Payload>>,
    events: HashMap<usize, EventToken>,
}

/// The tracker of a device.
#[derive(Default)]
pub struct Hazards(Mutex<State>);

/// Where a command stands.
pub struct At<'a> {
    /// Index of the queue.
    pub queue: u32,
    /// Its name.
    pub queue_name: &'a str,
    /// Open labels.
    pub labels: &'a [String],
}

impl Hazards {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the host knows now: taken at vkQueueSubmit.
    pub fn host(&self) -> Payload {
        self.state().tracker.host_knowledge()
    }

    /// A submission begins.
    pub fn submit(&self, queue: u32, host: &Payload) {
        let mut state = self.state();
        state.tracker.submit(QueueId(queue), host);
        let place = state.places.entry(queue).or_default();
        *place = (place.0 + 1, 0);
    }

    /// A submission waited for a semaphore at `value` (0 for a binary one).
    pub fn wait_semaphore(&self, queue: u32, semaphore: usize, value: u64, stages: vk::PipelineStageFlags2) {
        let mut state = self.state();
        let payload = state
            .semaphores
            .get(&semaphore)
            .and_then(|signals| signals.range(value..).next().or_else(|| signals.iter().next_back()))
            .map(|(_, payload)| payload.clone())
            .unwrap_or_default();
        state.tracker.wait_semaphore(QueueId(queue), &payload, destination(stages));
    }

    /// A submission signals a semaphore. `None` is vkQueueSubmit's first scope: everything.
    pub fn signal_semaphore(
        &self,
        queue: u32,
        semaphore: usize,
        value: u64,
        stages: Option<vk::PipelineStageFlags2>,
    ) {
        let mut state = self.state();
        let payload = state.tracker.signal_semaphore(QueueId(queue), stages.map(source));
        state.keep(semaphore, value, payload);
    }

    /// vkSignalSemaphore.
    pub fn host_signal(&self, semaphore: usize, value: u64) {
        let mut state = self.state();
        let payload = state.tracker.host_knowledge();
        state.keep(semaphore, value, payload);
    }

    /// The host saw a semaphore at `value`.
    pub fn host_saw_semaphore(&self, semaphore: usize, value: u64) {
        let mut state = self.state();
        let state = &mut *state;
        if let Some(signals) = state.semaphores.get(&semaphore) {
            for (_, payload) in signals.range(..=value) {
                state.tracker.host_wait(payload);
            }
        }
    }

    /// A submission signals a fence.
    pub fn signal_fence(&self, queue: u32, fence: usize) {
        let mut state = self.state();
        let payload = state.tracker.signal_fence(QueueId(queue));
        state.fences.insert(fence, payload);
    }

    /// The host saw a fence signaled.
    pub fn host_saw_fence(&self, fence: usize) {
        let mut state = self.state();
        let state = &mut *state;
        if let Some(payload) = state.fences.get(&fence) {
            state.tracker.host_wait(payload);
        }
    }

    /// The host saw a queue idle.
    pub fn host_saw_idle(&self, queue: u32) {
        let mut state = self.state();
        let payload = state.tracker.signal_fence(QueueId(queue));
        state.tracker.host_wait(&payload);
    }

    /// Memory was allocated or freed: nothing that follows conflicts with what came before.
    pub fn forget(&self, address: u64, size: u64) {
        self.state().tracker.forget(Range::new(address, size));
    }

    /// A command begins; the tag names it from now on.
    pub fn command(&self, at: &At<'_>, command: &'static str, dispatch: Option<Arc<Named>>) -> u64 {
        self.state().name(at, command, dispatch)
    }

    /// vkCmdPipelineBarrier and vkCmdPipelineBarrier2.
    pub fn barrier(&self, at: &At<'_>, dependency: &Dependency) {
        let mut state = self.state();
        let tag = state.name(at, "vkCmdPipelineBarrier", None);
        let list = dependencies(dependency);
        state.tracker.barriers(QueueId(at.queue), &list, tag);
    }

    /// vkCmdSetEvent and vkCmdSetEvent2.
    pub fn set_event(&self, at: &At<'_>, event: usize, dependency: &Dependency) {
        let mut state = self.state();
        state.name(at, "vkCmdSetEvent", None);
        let stages = dependencies(dependency).iter().fold(Stages::empty(), |all, d| all | d.source);
        let token = state.tracker.set_event(QueueId(at.queue), stages);
        state.events.insert(event, token);
    }

    /// vkCmdWaitEvents and vkCmdWaitEvents2.
    pub fn wait_events(&self, at: &At<'_>, events: &[usize], dependency: &Dependency) {
        let mut state = self.state();
        let tag = state.name(at, "vkCmdWaitEvents", None);
        let state = &mut *state;
        let tokens: Vec<&EventToken> = events.iter().filter_map(|e| state.events.get(e)).collect();
        for d in dependencies(dependency) {
            state.tracker.wait_events(QueueId(at.queue), &tokens, &d, tag);
        }
    }

    /// One queue operation of command `tag` with its accesses; `after` is an operation of the same command that precedes it.
    pub fn operation(
        &self,
        queue: u32,
        stage: Stages,
        tag: u64,
        after: Option<OperationId>,
        accesses: impl IntoIterator<Item = (Range, Operand)>,
    ) -> (OperationId, Vec<Found>) {
        let mut state = self.state();
        let id = state.tracker.begin(QueueId(queue), stage, tag, after);
        let mut found = Vec::new();
        for (range, operand) in accesses {
            if range.start < range.end {
                let hazards = state.tracker.access(id, range, operand);
                found.extend(hazards);
            }
        }
        let found = found.into_iter().map(|hazard| state.found(hazard)).collect();
        (id, found)
    }
}

impl State {
    fn keep(&mut self, semaphore: usize, value: u64, payload: Payload) {
        let signals = self.semaphores.entry(semaphore).or_default();
        signals.insert(value, payload);
        if signals.len() > SIGNALS {
            signals.pop_first();
        }
    }

    fn name(&mut self, at: &At<'_>, command: &'static str, dispatch: Option<Arc<Named>>) -> u64 {
        let place = self.places.entry(at.queue).or_default();
        place.1 += 1;
        let (submission, index) = *place;
        let queue = at.queue_name.to_owned();
        let labels = at.labels.to_vec();
        let tag = self.next;
        self.next += 1;
        let name = CommandName { command, queue, submission, index, labels, dispatch };
        self.names.insert(tag, Arc::new(name));
        self.names.remove(&tag.wrapping_sub(REMEMBERED));
        tag
    }

    fn found(&self, hazard: Hazard) -> Found {
        let name = |tag: u64| self.names.get(&tag).cloned();
        let barrier = match &hazard.fix {
            pellucid_memory::commands::Fix::Extend(gap) => name(gap.tag),
            _ => None,
        };
        Found {
            first: name(self.tracker.tag(hazard.first)),
            second: name(self.tracker.tag(hazard.second)),
            barrier,
            hazard,
        }
    }
}

type Stage2 = vk::PipelineStageFlags2;
type Access2 = vk::AccessFlags2;

/// The stages of a mask, apart from the pseudo stages.
fn stages(mask: Stage2) -> Stages {
    const TABLE: [(Stage2, Stages); 8] = [
        (Stage2::DRAW_INDIRECT, Stages::DRAW_INDIRECT),
        (Stage2::COMPUTE_SHADER, Stages::COMPUTE_SHADER),
        (Stage2::COPY, Stages::COPY),
        (Stage2::CLEAR, Stages::CLEAR),
        (Stage2::BLIT, Stages::BLIT),
        (Stage2::RESOLVE, Stages::RESOLVE),
        (Stage2::ALL_TRANSFER, Stages::ALL_TRANSFER),
        (Stage2::HOST, Stages::HOST),
    ];
    let all = if mask.contains(Stage2::ALL_COMMANDS) { Stages::DEVICE } else { Stages::empty() };
    TABLE.iter().filter(|(bit, _)| mask.contains(*bit)).fold(all, |s, (_, stages)| s | *stages)
}

/// A first synchronization scope: BOTTOM_OF_PIPE is everything, TOP_OF_PIPE nothing.
fn source(mask: Stage2) -> Stages {
    let all = if mask.contains(Stage2::BOTTOM_OF_PIPE) { Stages::DEVICE } else { Stages::empty() };
    stages(mask) | all
}

/// A second synchronization scope: TOP_OF_PIPE is everything, BOTTOM_OF_PIPE nothing.
fn destination(mask: Stage2) -> Stages {
    let all = if mask.contains(Stage2::TOP_OF_PIPE) { Stages::DEVICE } else { Stages::empty() };
    stages(mask) | all
}

fn accesses(mask: Access2) -> Accesses {
    const TABLE: [(Access2, Accesses); 13] = [
        (Access2::INDIRECT_COMMAND_READ, Accesses::INDIRECT_COMMAND_READ),
        (Access2::UNIFORM_READ, Accesses::UNIFORM_READ),
        (Access2::SHADER_SAMPLED_READ, Accesses::SHADER_SAMPLED_READ),
        (Access2::SHADER_STORAGE_READ, Accesses::SHADER_STORAGE_READ),
        (Access2::SHADER_READ, Accesses::SHADER_READ),
        (Access2::SHADER_STORAGE_WRITE, Accesses::SHADER_STORAGE_WRITE),
        (Access2::SHADER_WRITE, Accesses::SHADER_STORAGE_WRITE),
        (Access2::TRANSFER_READ, Accesses::TRANSFER_READ),
        (Access2::TRANSFER_WRITE, Accesses::TRANSFER_WRITE),
        (Access2::HOST_READ, Accesses::HOST_READ),
        (Access2::HOST_WRITE, Accesses::HOST_WRITE),
        (Access2::MEMORY_READ, Accesses::MEMORY_READ),
        (Access2::MEMORY_WRITE, Accesses::MEMORY_WRITE),
    ];
    TABLE
        .iter()
        .filter(|(bit, _)| mask.contains(*bit))
        .fold(Accesses::empty(), |a, (_, accesses)| a | *accesses)
}

/// Bytes of the subresources of an image barrier.
fn image_ranges(image: &Image, range: &vk::ImageSubresourceRange) -> Vec<Range> {
    let Ok((memory, base)) = image.memory() else { return Vec::new() };
    let Ok((levels, layers)) = image.range(range) else { return Vec::new() };
    let start = memory.bytes().address() + base;
    image.layout.levels[levels.start as usize..levels.end as usize]
        .iter()
        .flat_map(|level| {
            let first = start + level.offset;
            layers.clone().map(move |l| Range::new(first + u64::from(l) * image.layout.layer, level.size()))
        })
        .collect()
}

fn ranges(of: &BarrierOf) -> Option<Vec<Range>> {
    match of {
        BarrierOf::Memory => None,
        BarrierOf::Buffer(buffer, offset, size) => {
            let Ok((memory, base)) = buffer.memory() else { return Some(Vec::new()) };
            let size = if *size == vk::WHOLE_SIZE { buffer.size.saturating_sub(*offset) } else { *size };
            Some(vec![Range::new(memory.bytes().address() + base + offset, size)])
        }
        BarrierOf::Image(image, range, ..) => Some(image_ranges(image, range)),
    }
}

/// The dependencies of a command: one for all barriers of a 1.0 command, one for each barrier of the others.
fn dependencies(dependency: &Dependency) -> Vec<pellucid_memory::commands::Dependency> {
    let scope = |half: &Half, stages, barrier: &Barrier| AccessScope {
        stages,
        accesses: accesses(half.accesses),
        ranges: ranges(&barrier.of),
    };
    match dependency.stages {
        Some((from, to)) => {
            // Access scopes hold the stages named; a pseudo stage names none.
            let (s, d) = (stages(from), stages(to));
            vec![pellucid_memory::commands::Dependency {
                source: source(from),
                destination: destination(to),
                available: dependency.barriers.iter().map(|b| scope(&b.from, s, b)).collect(),
                visible: dependency.barriers.iter().map(|b| scope(&b.to, d, b)).collect(),
            }]
        }
        None => dependency
            .barriers
            .iter()
            .map(|b| pellucid_memory::commands::Dependency {
                source: source(b.from.stages),
                destination: destination(b.to.stages),
                available: vec![scope(&b.from, stages(b.from.stages), b)],
                visible: vec![scope(&b.to, stages(b.to.stages), b)],
            })
            .collect(),
    }
}

/// What a transfer reads and writes, by region.
pub struct Transfer {
    footprint: Footprint,
}

impl Transfer {
    /// Nothing yet.
    pub fn new() -> Transfer {
        Transfer { footprint: Footprint::new() }
    }

    /// It reads these bytes.
    pub fn read(&mut self, address: u64, size: u64) {
        let operand = Operand::fixed(Accesses::TRANSFER_READ, Accesses::empty());
        self.footprint.add(Range::new(address, size), operand);
    }

    /// It writes these bytes.
    pub fn write(&mut self, address: u64, size: u64) {
        let operand = Operand::fixed(Accesses::empty(), Accesses::TRANSFER_WRITE);
        self.footprint.add(Range::new(address, size), operand);
    }

    /// The runs of bytes.
    pub fn runs(self) -> Vec<(Range, Operand)> {
        self.footprint.runs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_mean_what_the_specification_says() {
        assert_eq!(source(Stage2::TOP_OF_PIPE), Stages::empty());
        assert_eq!(source(Stage2::BOTTOM_OF_PIPE), Stages::DEVICE);
        assert_eq!(destination(Stage2::TOP_OF_PIPE), Stages::DEVICE);
        assert_eq!(destination(Stage2::BOTTOM_OF_PIPE), Stages::empty());
        assert_eq!(stages(Stage2::ALL_COMMANDS), Stages::DEVICE);
        assert_eq!(stages(Stage2::ALL_TRANSFER), Stages::ALL_TRANSFER);
        assert_eq!(accesses(Access2::SHADER_READ), Accesses::SHADER_READ);
        assert_eq!(accesses(Access2::SHADER_WRITE), Accesses::SHADER_STORAGE_WRITE);
        assert_eq!(accesses(Access2::MEMORY_WRITE), Accesses::MEMORY_WRITE);
    }
}
