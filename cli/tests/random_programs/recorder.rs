//! Check mode's memory with a witness: what the interpreter asks for, and what it is answered, becomes an
//! execution of the memory model, without a look at what the detector keeps for itself.

use super::shader::RESULTS;
use pellucid_memory::access::{Access, AtomicOp, Reference, Site};
use pellucid_memory::agent::{Placement, SubgroupIdentity};
use pellucid_memory::checked::CheckedMemory;
use pellucid_memory::model::{Agent, BarrierInstance, Event, EventId, LocationSet};
use pellucid_memory::scope::{Scope, Semantics, StorageClasses};
use pellucid_memory::system::{LaneAccesses, Lanes, Mask, MemorySystem, Notice, Pointers, Trap};
use std::collections::BTreeMap;

/// One event, and what of it the model does not know.
pub struct Recorded {
    pub event: Event,
    pub site: Site,
    pub workgroup: u32,
    /// LocalInvocationIndex.
    pub local: u32,
    /// The value that a read returned, and the newest at that time.
    pub read: Option<(u64, u64)>,
    /// It is a read-modify-write, which reads the newest value, even if it fails.
    pub updates: bool,
    /// Where the value came from: parts of the locations, each with the writes that wrote such bytes there,
    /// the newest first. `None`: what was there in the beginning.
    pub sources: Vec<(LocationSet, Vec<Option<EventId>>)>,
}

/// Where workgroup memory begins in the numbering of locations, and how far that of the next workgroup is.
const WORKGROUP: u32 = 0x8000_0000;
const NEXT_WORKGROUP: u32 = 0x1_0000;

pub struct Recorder {
    pub memory: CheckedMemory,
    pub events: Vec<Recorded>,
    local: u32,
    subgroups: u32,
    current: SubgroupIdentity,
    /// The writes of each byte, oldest first. All memory is zero in the beginning.
    writes: BTreeMap<u32, Vec<(EventId, u8)>>,
    instances: u32,
    /// The barrier that each workgroup arrives at.
    arriving: BTreeMap<u32, u32>,
}

/// One lane's component: where it is, and by what reference.
struct Component {
    lane: usize,
    place: LocationSet,
    reference: Reference,
}

/// The value of component `k`, of lanes as the interpreter lays them out.
fn value(of: &[Lanes], k: usize, size: u8, lane: usize) -> u64 {
    match size {
        8 => u64::from(of[2 * k].0[lane]) | u64::from(of[2 * k + 1].0[lane]) << 32,
        _ => u64::from(of[k].0[lane]),
    }
}

/// What a read-modify-write leaves.
fn updated(op: AtomicOp, size: u8, old: u64, operand: u64) -> u64 {
    let bits = 64 - 8 * u32::from(size);
    let signed = |x: u64| (x << bits).cast_signed() >> bits;
    let result = match op {
        AtomicOp::Exchange | AtomicOp::CompareExchange => operand,
        AtomicOp::IAdd => old.wrapping_add(operand),
        AtomicOp::ISub => old.wrapping_sub(operand),
        AtomicOp::SMin => signed(old).min(signed(operand)).cast_unsigned(),
        AtomicOp::UMin => old.min(operand),
        AtomicOp::SMax => signed(old).max(signed(operand)).cast_unsigned(),
        AtomicOp::UMax => old.max(operand),
        AtomicOp::And => old & operand,
        AtomicOp::Or => old | operand,
        AtomicOp::Xor => old ^ operand,
        AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => unreachable!("no program has it"),
    };
    result << bits >> bits
}

impl Recorder {
    pub fn new(memory: CheckedMemory, local: u32, subgroup: u32) -> Recorder {
        let current = SubgroupIdentity {
            workgroup: 0,
            workgroup_id: [0; 3],
            subgroup: 0,
            lanes: 1,
            placement: Placement::default(),
        };
        Recorder {
            memory,
            events: Vec::new(),
            local,
            subgroups: local.div_ceil(subgroup),
            current,
            writes: BTreeMap::new(),
            instances: 0,
            arriving: BTreeMap::new(),
        }
    }

    fn agent(&self, lane: usize) -> (Agent, u32) {
        let workgroup = self.current.workgroup;
        let local = self.current.local_index(lane as u32);
        let subgroup = workgroup * self.subgroups + self.current.subgroup;
        (Agent::invocation(workgroup * self.local + local, subgroup, workgroup, 0), local)
    }

    fn push(&mut self, site: Site, lane: usize, event: Event) -> EventId {
        let (_, local) = self.agent(lane);
        let workgroup = self.current.workgroup;
        self.events.push(Recorded {
            event,
            site,
            workgroup,
            local,
            read: None,
            updates: false,
            sources: Vec::new(),
        });
        (self.events.len() - 1) as EventId
    }

    /// The components that an instruction accesses. The results are nobody else's business.
    fn components(&self, pointers: &Pointers<'_>, mask: Mask, access: &Access) -> Vec<(usize, Component)> {
        let size = u32::from(access.size);
        let mut components = Vec::new();
        for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
            let (start, end, reference) = match pointers {
                Pointers::View { view, offset, immediate } => {
                    let start = view.address as u32 + offset.0[lane].wrapping_add(*immediate);
                    (start, (view.address + view.size()) as u32, view.reference)
                }
                Pointers::Workgroup { offset, immediate, reference } => {
                    let base = WORKGROUP + self.current.workgroup * NEXT_WORKGROUP;
                    (base + offset.0[lane].wrapping_add(*immediate), base + NEXT_WORKGROUP, *reference)
                }
                Pointers::Physical { low, high, immediate } => {
                    assert_eq!(high.0[lane], 0);
                    (low.0[lane].wrapping_add(*immediate), u32::MAX, Reference::PHYSICAL)
                }
            };
            for k in 0..u32::from(access.components) {
                let place = LocationSet { first: start + k * size, count: size };
                assert!(place.end() <= end, "out of bounds");
                if !(RESULTS..RESULTS + 0x1000).contains(&u64::from(place.first)) {
                    components.push((k as usize, Component { lane, place, reference }));
                }
            }
        }
        components
    }

    fn newest(&self, place: LocationSet) -> u64 {
        let byte = |at: u32| self.writes.get(&at).and_then(|all| all.last()).map_or(0, |(_, byte)| *byte);
        (place.first..place.end()).rev().fold(0, |value, at| value << 8 | u64::from(byte(at)))
    }

    /// Who may have written this value: in parts, where the same writes reach all bytes of each part.
    /// `newest`: the newest of them did.
    fn sources(
        &self,
        place: LocationSet,
        value: u64,
        newest: bool,
    ) -> Vec<(LocationSet, Vec<Option<EventId>>)> {
        let byte = |at: u32| (value >> (8 * (at - place.first))) as u8;
        let none = Vec::new();
        let writes = |at: u32| self.writes.get(&at).unwrap_or(&none);
        let same = |a: u32, b: u32| {
            let (a, b) = (writes(a), writes(b));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0)
        };
        let mut parts = Vec::new();
        let mut first = place.first;
        while first < place.end() {
            let mut end = first + 1;
            // Words are read one by one.
            while end < place.end() && !end.is_multiple_of(4) && same(first, end) {
                end += 1;
            }
            let part = LocationSet { first, count: end - first };
            let wrote = |k: usize| (first..end).all(|at| writes(at)[k].1 == byte(at));
            let mut from: Vec<Option<EventId>> = (0..writes(first).len())
                .rev()
                .filter(|k| wrote(*k))
                .map(|k| Some(writes(first)[k].0))
                .collect();
            if (first..end).all(|at| byte(at) == 0) {
                from.push(None);
            }
            if newest {
                from.truncate(1);
            }
            if from.is_empty() && part.count > 1 {
                // A race may tear a word.
                end = first + 1;
                parts.extend(self.sources(LocationSet { first, count: 1 }, u64::from(byte(first)), newest));
            } else {
                parts.push((part, from));
            }
            first = end;
        }
        parts
    }

    fn event(&self, component: &Component, access: &Access, read: bool, write: bool, failed: bool) -> Event {
        let (agent, _) = self.agent(component.lane);
        let kept = if failed { access.unequal } else { access.semantics };
        let mut event = Event::read(agent, component.place, component.reference.0, access.class);
        (event.read, event.write) = (read, write);
        event.non_private = access.non_private;
        match access.atomic {
            Some(scope) => {
                let semantics = Semantics {
                    acquire: kept.acquire && read,
                    release: kept.release && write,
                    make_available: kept.make_available && write,
                    make_visible: kept.make_visible && read,
                    ..kept
                };
                event = event.atomic(scope, semantics);
            }
            None if write => {
                event.available = access.available.is_some();
                event.scope = access.available.unwrap_or(Scope::Invocation);
            }
            None => {
                event.visible = access.visible.is_some();
                event.scope = access.visible.unwrap_or(Scope::Invocation);
            }
        }
        event
    }

    /// Notes an access, the value it read and the value it wrote. `updates`: a read-modify-write, which reads
    /// the newest value, even if it fails.
    fn access(
        &mut self,
        at: Site,
        lane: usize,
        event: Event,
        read: Option<u64>,
        wrote: Option<u64>,
        updates: bool,
    ) {
        let place = event.locations.expect("an access");
        let answer = read.map(|value| (value, self.newest(place)));
        let sources = read.map_or(Vec::new(), |value| self.sources(place, value, updates));
        let id = self.push(at, lane, event);
        self.events[id as usize].read = answer;
        self.events[id as usize].sources = sources;
        self.events[id as usize].updates = updates;
        if let Some(value) = wrote {
            for (k, location) in (place.first..place.end()).enumerate() {
                self.writes.entry(location).or_default().push((id, (value >> (8 * k)) as u8));
            }
        }
    }

    fn barriers(&mut self, at: Site, mask: Mask, make: &dyn Fn(Agent) -> Event) {
        for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
            let event = make(self.agent(lane).0);
            self.push(at, lane, event);
        }
    }
}

impl LaneAccesses for Recorder {
    const MODELLED: bool = true;

    fn load(
        &mut self,
        at: Site,
        from: Pointers<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        self.memory.load(at, from, mask, access, out)?;
        for (k, component) in self.components(&from, mask, access) {
            let event = self.event(&component, access, true, false, false);
            let got = value(out, k, access.size, component.lane);
            self.access(at, component.lane, event, Some(got), None, false);
        }
        Ok(())
    }

    fn store(
        &mut self,
        at: Site,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        values: &[Lanes],
    ) -> Result<(), Trap> {
        self.memory.store(at, to, mask, access, values)?;
        for (k, component) in self.components(&to, mask, access) {
            let event = self.event(&component, access, false, true, false);
            let wrote = value(values, k, access.size, component.lane);
            self.access(at, component.lane, event, None, Some(wrote), false);
        }
        Ok(())
    }

    fn read_modify_write(
        &mut self,
        at: Site,
        op: AtomicOp,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        values: &[Lanes],
        comparator: Option<&[Lanes]>,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        self.memory.read_modify_write(at, op, to, mask, access, values, comparator, out)?;
        for (_, component) in self.components(&to, mask, access) {
            let operand = |of: &[Lanes]| value(of, 0, access.size, component.lane);
            let old = operand(out);
            let fails = op == AtomicOp::CompareExchange && comparator.is_some_and(|c| operand(c) != old);
            let wrote = (!fails).then(|| updated(op, access.size, old, operand(values)));
            let event = self.event(&component, access, true, !fails, fails);
            self.access(at, component.lane, event, Some(old), wrote, true);
        }
        Ok(())
    }

    fn notice(&mut self, at: Site, mask: Mask, notice: &Notice<'_>) {
        self.memory.notice(at, mask, notice);
    }
}

impl MemorySystem for Recorder {
    fn enter_subgroup(&mut self, identity: &SubgroupIdentity) {
        self.current = *identity;
        self.memory.enter_subgroup(identity);
    }

    fn fence(&mut self, at: Site, mask: Mask, scope: Scope, semantics: &Semantics) {
        self.memory.fence(at, mask, scope, semantics);
        self.barriers(at, mask, &|agent| Event::fence(agent, scope, *semantics));
    }

    fn barrier_arrive(
        &mut self,
        at: Site,
        mask: Mask,
        execution: Scope,
        memory: Scope,
        semantics: &Semantics,
    ) {
        self.memory.barrier_arrive(at, mask, execution, memory, semantics);
        let mut instance = self.instances + 1;
        if execution == Scope::Workgroup {
            instance = *self.arriving.entry(self.current.workgroup).or_insert(instance);
        }
        self.instances = self.instances.max(instance);
        let instance = BarrierInstance { instance, execution, arrives: true, waits: true };
        self.barriers(at, mask, &|agent| Event::barrier(agent, instance, memory, *semantics));
    }

    fn barrier_complete(&mut self, workgroup: u32) {
        self.arriving.remove(&workgroup);
        self.memory.barrier_complete(workgroup);
    }

    fn workgroup_begin(&mut self, workgroup: u32, bytes: u32, zeroed: bool) {
        self.memory.workgroup_begin(workgroup, bytes, zeroed);
    }

    fn workgroup_end(&mut self, workgroup: u32) {
        self.memory.workgroup_end(workgroup);
    }
}

/// Whether two accesses conflict.
pub fn conflict(a: &Event, b: &Event) -> bool {
    let overlap = a.locations.zip(b.locations).is_some_and(|(a, b)| a.overlaps(b));
    overlap && (a.write || b.write)
}

/// The classes of an execution's accesses.
pub fn accesses(events: &[Recorded]) -> impl Iterator<Item = (EventId, &Recorded)> {
    let access = |recorded: &Recorded| recorded.event.storage_class != StorageClasses::empty();
    events.iter().enumerate().filter(move |(_, e)| access(e)).map(|(id, e)| (id as EventId, e))
}
