//! A debugger in the process of the application: it gets each checked dispatch instead of the executor, and
//! runs it as often and as far as it likes.
//!
//! Every run is the execution that check mode makes of the dispatch with the same options, up to the first
//! turn that the debugger gives to another unit, and the first value that it chooses. Where no debugger is
//! installed nothing of this costs anything.

use crate::check::info::{Dispatch, options};
use crate::check::watching::Watching;
use crate::device::Device;
use crate::report::DispatchContext;
use crate::report::exit;
use parking_lot::Mutex;
use pellucid_memory::checked::{CheckedMemory, DispatchInfo};
use pellucid_memory::device::MemoryRange;
use pellucid_memory::finding::Finding;
use pellucid_memory::raw;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::Program;
use pellucid_shader_interp::exec::modelled::debugged::{Follower, Snapshot, debug, debug_from};
use pellucid_shader_interp::exec::modelled::{BarrierDivergence, ModelledOptions, Scheduler, Unit};
use pellucid_shader_interp::exec::waiting::{Turn, Waiting};
use pellucid_shader_interp::interface::{Descriptor, Grid, Resources};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What debugs the dispatches of this process.
pub trait Debugger: Send {
    /// A dispatch is to run: at the end [`Debugged::run`] has been called at least once, and memory is as the
    /// last run left it.
    ///
    /// # Errors
    /// The trap of the last run.
    fn dispatch(&mut self, dispatch: &mut Debugged<'_>) -> Result<(), Trap>;
}

static DEBUGGER: Mutex<Option<Box<dyn Debugger>>> = Mutex::new(None);

/// Debugs all checked dispatches from now on. To be called before there is an instance.
pub fn install(by: Box<dyn Debugger>) {
    *DEBUGGER.lock() = Some(by);
    INSTALLED.store(true, Ordering::Relaxed);
}

/// The process is about to end in the midst of what is debugged: no totals are written.
pub fn abandon() {
    if let Some(session) = exit::session() {
        session.abandon();
    }
}

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Whether there is a debugger.
pub(crate) fn is_installed() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}

/// The schedule as a debugger changes it.
#[derive(Debug, Default)]
pub struct Turns {
    /// Which subgroup runs next, by workgroup and number, by the number of the scheduler's choice.
    pub given: BTreeMap<u64, (u32, u32)>,
    /// Choices that the scheduler has made in the present run.
    pub made: AtomicU64,
    /// What was found in the present run so far beside memory: barriers that diverge, and a livelock.
    pub watched: Mutex<Vec<Finding>>,
}

/// A dispatch that is debugged.
pub struct Debugged<'a> {
    device: &'a Device,
    executed: Dispatch<'a>,
    info: DispatchInfo,
    /// Device memory as it was before the first run.
    before: Vec<(MemoryRange, Vec<u8>)>,
    /// What names it.
    pub context: DispatchContext<'a>,
    memory: &'a mut CheckedMemory,
    found: Vec<Finding>,
}

/// A dispatch between two turns, to go on from.
pub struct Kept {
    execution: Snapshot,
    memory: CheckedMemory,
    /// Device memory that the dispatch may write.
    bytes: Vec<(MemoryRange, Vec<u8>)>,
}

impl Kept {
    /// A copy of an execution, with the bytes of `written`: [`Debugged::written`].
    pub fn new(execution: Snapshot, memory: &CheckedMemory, written: &[MemoryRange]) -> Kept {
        let mut memory = memory.clone();
        memory.choose_nothing();
        Kept { execution, memory, bytes: written.iter().cloned().map(with_bytes).collect() }
    }

    /// Where it stands.
    pub fn execution(&self) -> &Snapshot {
        &self.execution
    }

    /// About how many bytes it takes.
    pub fn weight(&self) -> usize {
        self.memory.weight() + self.bytes.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    }
}

impl<'a> Debugged<'a> {
    /// What runs.
    pub fn program(&self) -> &'a Program {
        self.executed.program
    }

    /// Its workgroups.
    pub fn grid(&self) -> &'a Grid {
        self.executed.grid
    }

    /// What it is bound to.
    pub fn resources(&self) -> &'a Resources {
        self.executed.resources
    }

    /// Memory that it may write; `None` where an execution is more than memory and its turns: it prints.
    pub fn written(&self) -> Option<Vec<MemoryRange>> {
        self.executed.prints.is_none().then_some(())?;
        let may = self.executed.resources.written_by(self.executed.program);
        let written = |range: &MemoryRange| match &may {
            None => true,
            Some(may) => {
                let (start, end) = (range.address(), range.address() + range.size());
                may.iter().any(|(first, last)| start < *last && *first < end)
            }
        };
        Some(self.before.iter().map(|(range, _)| range).filter(|range| written(range)).cloned().collect())
    }

    /// Runs it from its beginning, or from where a copy of it was made with the same turns and choices.
    ///
    /// # Errors
    /// What ends the run.
    pub fn run(
        &mut self,
        from: Option<&Kept>,
        turns: &Turns,
        debugger: &mut dyn Follower<CheckedMemory>,
    ) -> Result<(), Trap> {
        for (range, bytes) in from.map_or(&self.before, |kept| &kept.bytes) {
            raw::write(&range.view(), 0, bytes);
        }
        let Dispatch { program, grid, resources, prints, .. } = self.executed;
        let inner = Watching::new(&self.device.instance.config, self.executed);
        let mut scheduler = Steered { inner, turns };
        let options = ModelledOptions { prints, ..options(self.device) };
        let outcome = if let Some(Kept { execution, memory, .. }) = from {
            self.memory.clone_from(memory);
            let memory = &mut *self.memory;
            debug_from(program, grid, resources, memory, &mut scheduler, &options, debugger, execution)
        } else {
            turns.made.store(0, Ordering::Relaxed);
            turns.watched.lock().clear();
            self.memory.end_dispatch();
            self.memory.begin_dispatch(self.info.clone());
            if let Some(prints) = prints {
                prints.clear();
            }
            debug(program, grid, resources, self.memory, &mut scheduler, &options, debugger)
        };
        self.found = scheduler.inner.rest().collect();
        outcome
    }

    /// The modelled memory after the last run.
    pub fn memory(&mut self) -> &mut CheckedMemory {
        self.memory
    }
}

/// The scheduler of check mode, some of whose choices are made by the debugger.
struct Steered<'a> {
    inner: Watching<'a>,
    turns: &'a Turns,
}

impl Steered<'_> {
    fn show_found(&self) {
        self.turns.watched.lock().clone_from(&self.inner.findings);
    }
}

impl Scheduler for Steered<'_> {
    fn pick(&mut self, runnable: &[Unit]) -> usize {
        let own = self.inner.pick(runnable);
        let choice = self.turns.made.fetch_add(1, Ordering::Relaxed);
        let wanted = self.turns.given.get(&choice);
        let unit = wanted.and_then(|(workgroup, subgroup)| {
            runnable.iter().position(|unit| (unit.workgroup, unit.subgroup) == (*workgroup, *subgroup))
        });
        unit.unwrap_or(own)
    }

    fn priority(&self, unit: &Unit) -> u64 {
        self.inner.priority(unit)
    }

    fn begin(&mut self) {
        self.inner.begin();
        self.show_found();
    }

    fn state(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new((self.turns.made.load(Ordering::Relaxed), self.inner.state()?)))
    }

    fn restore(&mut self, state: &dyn Any) {
        if let Some((made, inner)) = state.downcast_ref::<(u64, Arc<dyn Any + Send + Sync>)>() {
            self.turns.made.store(*made, Ordering::Relaxed);
            self.inner.restore(&**inner);
            self.show_found();
        }
    }

    fn barrier_divergence(&mut self, divergence: &BarrierDivergence) {
        self.inner.barrier_divergence(divergence);
        self.show_found();
    }

    fn livelock(&mut self, waiting: &[Waiting], outside: u64, turns: &[Turn]) {
        self.inner.livelock(waiting, outside, turns);
        self.show_found();
    }
}

/// The memory that a dispatch may write, with its bytes.
fn snapshot(resources: &Resources) -> Vec<(MemoryRange, Vec<u8>)> {
    let mut ranges: BTreeMap<(u64, u64), MemoryRange> = BTreeMap::new();
    let bound = resources.bindings.iter().flatten().flat_map(Descriptor::memory);
    for range in bound.chain(resources.addresses.iter()) {
        ranges.insert((range.address(), range.size()), range.clone());
    }
    ranges.into_values().map(with_bytes).collect()
}

fn with_bytes(range: MemoryRange) -> (MemoryRange, Vec<u8>) {
    let mut bytes = vec![0; range.size() as usize];
    raw::read(&range.view(), 0, &mut bytes);
    (range, bytes)
}

/// Has the debugger run a dispatch; what was found beside memory.
pub(crate) fn dispatch(
    device: &Device,
    memory: &mut CheckedMemory,
    executed: Dispatch<'_>,
    info: DispatchInfo,
    context: DispatchContext<'_>,
) -> (Result<(), Trap>, Vec<Finding>) {
    let before = snapshot(executed.resources);
    memory.remember_superseded();
    memory.begin_dispatch(info.clone());
    let mut debugged = Debugged { device, executed, info, before, context, memory, found: Vec::new() };
    let outcome = match &mut *DEBUGGER.lock() {
        Some(by) => by.dispatch(&mut debugged),
        None => Ok(()),
    };
    (outcome, debugged.found)
}
