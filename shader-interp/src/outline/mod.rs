//! The outline of a shader: where its accesses and barriers stand in the text, and where all invocations of a
//! workgroup pass together.
//!
//! Explanations of races ask it ([`Outline`]) where a barrier can be put. Blocks count as part of the region
//! around them; what is left are arms of branches and bodies of loops. Two accesses are separated by a
//! barrier between them in the innermost region that holds both, or, if that is in a loop, by one at the end
//! of the loop's body; a barrier makes sense where the control flow is uniform for the workgroup, which
//! [`uniform`] finds.

mod alone;
mod decisions;
mod uniform;
mod update;

use crate::ir::{Label, Node, Op, OpKind, Place, Region as Nodes, Shader, SourceLanguage, Value};
use alone::Alone;
use decisions::Decisions;
use pellucid_memory::access::{AtomicOp, Site};
use pellucid_memory::outline::{BarrierPlace, Gap, Outline};
use pellucid_memory::scope::Scope;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use uniform::Uniform;
use update::Update;

/// A position in the text: nodes are numbered in the order in which they are written.
type Position = u32;

/// Copies of one instruction, by inlining, that are looked at.
const MOST_SPOTS: usize = 4;

/// An instruction that accesses memory or is a barrier.
#[derive(Clone, Copy, Debug)]
struct Spot {
    region: u32,
    position: Position,
}

/// Invocations that leave a block.
#[derive(Clone, Copy, Debug)]
struct Jump {
    from: Spot,
    label: Label,
    /// Where they go on.
    to: Position,
}

/// An arm of a branch, a loop's body, or the whole shader (0, its own parent).
#[derive(Clone, Debug)]
struct Region {
    parent: u32,
    depth: u32,
    /// Of the node in the parent that holds it.
    position: Position,
    is_loop: bool,
    /// All who come here in a workgroup are of one subgroup.
    one_subgroup: bool,
    /// Before each node and at the end: who comes there.
    gaps: Vec<(Position, Reach)>,
}

/// Which invocations of the workgroup come to a place together, if any comes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// No more is known than that some do.
    Part,
    /// Those that have not returned before.
    NotReturned,
    /// Whoever of the workgroup runs.
    All,
}

impl Region {
    /// The whole shader, of which nothing is written down yet.
    fn root() -> Region {
        let (position, gaps) = (0, Vec::new());
        Region { parent: 0, depth: 0, position, is_loop: false, one_subgroup: false, gaps }
    }
}

/// The outline of one shader; see the module's page.
#[derive(Clone, Debug, Default)]
pub struct ShaderOutline {
    regions: Vec<Region>,
    spots: FxHashMap<Site, SmallVec<[Spot; 1]>>,
    barriers: Vec<(Spot, Scope)>,
    jumps: Vec<Jump>,
    scalars: FxHashSet<Site>,
    waits: FxHashSet<Site>,
    decides: FxHashSet<Site>,
    atomic_decides: bool,
    constant: FxHashSet<Site>,
    fixed_semantics: bool,
    updates: FxHashMap<(Site, Site), Update>,
    partners: FxHashMap<Site, Site>,
    /// Accesses that go to one address in all invocations of a workgroup.
    one_address: FxHashSet<Site>,
    /// Where loads and stores go.
    places: FxHashMap<Site, Place>,
}

impl ShaderOutline {
    /// The outline of a shader, which runs in subgroups of this many invocations.
    pub fn new(shader: &Shader, subgroup_size: u32) -> ShaderOutline {
        let uniform = Uniform::find(shader);
        let updates = update::find(shader);
        let decisions = Decisions::find(shader);
        let mut partners = FxHashMap::default();
        let mut ordered: Vec<_> = updates.keys().copied().collect();
        ordered.sort_unstable();
        for (load, store) in ordered {
            partners.insert(load, store);
            partners.insert(store, load);
        }
        let mut outline = ShaderOutline {
            regions: vec![Region::root()],
            waits: decisions.waits,
            decides: decisions.decides,
            atomic_decides: decisions.by_atomics,
            fixed_semantics: shader.language == SourceLanguage::Glsl && !shader.vulkan_memory_model,
            updates,
            partners,
            ..ShaderOutline::default()
        };
        let mut writer = Writer::new(&mut outline, uniform, Alone::new(shader, subgroup_size));
        writer.region(&shader.body, 0);
        outline.grant_returns(shader);
        outline
    }

    /// Finds the places that all invocations would come to if none returned early.
    fn grant_returns(&mut self, shader: &Shader) {
        let gaps = || self.regions.iter().flat_map(|region| &region.gaps);
        if shader.functions.is_empty() || gaps().all(|(_, reach)| *reach == Reach::All) {
            return;
        }
        let mut granted = ShaderOutline { regions: vec![Region::root()], ..ShaderOutline::default() };
        let mut writer = Writer::new(&mut granted, Uniform::without_returns(shader), Alone::default());
        writer.region(&shader.body, 0);
        let granted = granted.regions.iter().flat_map(|region| &region.gaps);
        for (gap, granted) in self.regions.iter_mut().flat_map(|region| &mut region.gaps).zip(granted) {
            if gap.1 == Reach::Part && granted.1 == Reach::All {
                gap.1 = Reach::NotReturned;
            }
        }
    }

    /// The region that holds both, and where in it each of them is.
    fn common(&self, a: Spot, b: Spot) -> (u32, Position, Position) {
        let (mut a, mut b) = (a, b);
        let up = |spot: Spot| {
            let region = &self.regions[spot.region as usize];
            Spot { region: region.parent, position: region.position }
        };
        while a.region != b.region {
            let (at_a, at_b) = (self.regions[a.region as usize].depth, self.regions[b.region as usize].depth);
            if at_a >= at_b {
                a = up(a);
            }
            if at_b >= at_a {
                b = up(b);
            }
        }
        (a.region, a.position, b.position)
    }

    /// Whether `outer` is `inner` or around it.
    fn encloses(&self, outer: u32, mut inner: u32) -> bool {
        let depth = self.regions[outer as usize].depth;
        while self.regions[inner as usize].depth > depth {
            inner = self.regions[inner as usize].parent;
        }
        inner == outer
    }

    /// The innermost loop that is `region` or around it.
    fn loop_around(&self, mut region: u32) -> Option<u32> {
        loop {
            let at = &self.regions[region as usize];
            if at.is_loop {
                return Some(region);
            }
            if region == 0 {
                return None;
            }
            region = at.parent;
        }
    }

    /// Whether a barrier of the scope stands within the positions on the way to or from `spot`, in `within`
    /// or deeper.
    fn barred(
        &self,
        spot: Spot,
        within: u32,
        positions: std::ops::Range<Position>,
        execution: Scope,
    ) -> bool {
        self.barriers.iter().any(|(barrier, scope)| {
            *scope >= execution
                && positions.contains(&barrier.position)
                && self.encloses(within, barrier.region)
                && self.encloses(barrier.region, spot.region)
        })
    }

    /// Whether an invocation that has come to `low` passes `high` by, in this iteration.
    fn exclusive(&self, low: Spot, high: Spot) -> bool {
        self.jumps.iter().any(|jump| {
            (low.position..high.position).contains(&jump.from.position)
                && jump.to > high.position
                && self.encloses(jump.from.region, low.region)
        })
    }

    /// Where a barrier separates two places, if it is enough that `least` come there.
    fn gap_of(&self, a: Spot, b: Spot, (execution, least): (Scope, Reach)) -> Option<BarrierPlace> {
        let (low, high) = if a.position <= b.position { (a, b) } else { (b, a) };
        let (region, from, to) = self.common(low, high);
        let between = from != to
            && !self.exclusive(low, high)
            && self.regions[region as usize]
                .gaps
                .iter()
                .any(|(at, reach)| (from + 1..=to).contains(at) && *reach >= least);
        let way = low.position + 1..high.position;
        let barred =
            self.barred(low, region, way.clone(), execution) || self.barred(high, region, way, execution);
        let Some(body) = self.loop_around(region) else {
            return (between && !barred).then_some(BarrierPlace::Between);
        };
        let gaps = &self.regions[body as usize].gaps;
        let end = gaps.last().is_some_and(|(_, reach)| *reach >= least);
        let barred_end = self.barred(high, body, high.position + 1..Position::MAX, execution)
            || self.barred(low, body, 0..low.position, execution);
        let (between, end) = (between && !barred, end && !barred_end);
        match (between, end) {
            (true, false) => Some(BarrierPlace::Between),
            (false, true) => Some(BarrierPlace::LoopEnd),
            (true, true) => Some(BarrierPlace::BetweenAndLoopEnd),
            (false, false) => None,
        }
    }

    fn same_place(&self, a: Site, b: Site) -> bool {
        matches!((self.places.get(&a), self.places.get(&b)), (Some(a), Some(b)) if a == b)
            && !self.one_address.contains(&a)
    }

    /// Whether a loop is around what holds both.
    fn shares_loop(&self, a: Spot, b: Spot) -> bool {
        let (region, ..) = self.common(a, b);
        self.loop_around(region).is_some()
    }

    /// [`Outline::gap`], where it is enough that `least` come.
    fn gap_reached(&self, first: Site, second: Site, (execution, least): (Scope, Reach)) -> Option<Gap> {
        // Executions of one instruction that meet at one address meet in the same iteration as well.
        if first == second && (execution > Scope::Workgroup || self.one_address.contains(&first)) {
            return None;
        }
        // Within one update a barrier orders the load of one invocation and the store of another, and loses
        // one of the two updates. Only iterations can be separated, if the addresses are such that
        // invocations own them for one iteration.
        let other =
            if first == second { self.partners.get(&first).copied().unwrap_or(first) } else { second };
        let update = [(first, other), (other, first)].iter().find_map(|pair| self.updates.get(pair));
        if update.is_some_and(|update| update.scattered || self.one_address.contains(&first)) {
            return None;
        }
        let copies = self.spots(first).len().max(self.spots(second).len()) > 1;
        for a in self.spots(first) {
            for b in self.spots(second) {
                // Of two copies of one instruction, which of them were executed is not known: only a place
                // between them is one for sure.
                if copies && a.position == b.position {
                    continue;
                }
                if let Some(mut place) = self.gap_of(*a, *b, (execution, least)) {
                    // Invocations that meet at one address there have met at the same one by another
                    // instruction of the iteration, unless they meet in different iterations.
                    if place == BarrierPlace::BetweenAndLoopEnd && self.same_place(first, second) {
                        place = BarrierPlace::LoopEnd;
                    }
                    if copies {
                        place = BarrierPlace::BetweenCalls;
                    }
                    match (update.filter(|_| first != second), place) {
                        (None, _) => {}
                        (_, BarrierPlace::LoopEnd | BarrierPlace::BetweenAndLoopEnd) => {
                            place = BarrierPlace::LoopEnd
                        }
                        _ => return None,
                    }
                    let in_order = a.position <= b.position;
                    let (before, after) = if in_order { (first, second) } else { (second, first) };
                    let early_return = least == Reach::NotReturned;
                    return Some(Gap { before, after, place, early_return });
                }
            }
        }
        None
    }

    fn spots(&self, site: Site) -> &[Spot] {
        self.spots.get(&site).map_or(&[], |spots| &spots[..])
    }
}

impl Outline for ShaderOutline {
    fn gap(&self, first: Site, second: Site, execution: Scope) -> Option<Gap> {
        let reached: &[Reach] = match execution {
            Scope::Workgroup => &[Reach::All, Reach::NotReturned],
            _ => &[Reach::Part],
        };
        reached.iter().find_map(|least| self.gap_reached(first, second, (execution, *least)))
    }

    fn one_subgroup(&self, first: Site, second: Site) -> bool {
        let (a, b) = (self.spots(first), self.spots(second));
        let alone = |a: &Spot, b: &Spot| self.regions[self.common(*a, *b).0 as usize].one_subgroup;
        are_all_known(a) && are_all_known(b) && a.iter().all(|a| b.iter().all(|b| alone(a, b)))
    }

    fn update(&self, load: Site, store: Site) -> Option<AtomicOp> {
        self.updates.get(&(load, store))?.operation
    }

    fn partner(&self, access: Site) -> Option<Site> {
        self.partners.get(&access).copied()
    }

    fn scalar(&self, access: Site) -> bool {
        self.scalars.contains(&access)
    }

    fn precedes(&self, first: Site, second: Site) -> bool {
        let (a, b) = (self.spots(first), self.spots(second));
        let in_order = |a: &Spot, b: &Spot| a.position < b.position && !self.shares_loop(*a, *b);
        are_all_known(a) && are_all_known(b) && a.iter().all(|a| b.iter().all(|b| in_order(a, b)))
    }

    fn waits(&self, load: Site) -> bool {
        self.waits.contains(&load)
    }

    fn decides(&self, atomic: Site) -> bool {
        self.decides.contains(&atomic)
    }

    fn any_decides(&self) -> bool {
        self.atomic_decides
    }

    fn stores_constant(&self, store: Site) -> bool {
        self.constant.contains(&store)
    }

    fn fixed_semantics(&self) -> bool {
        self.fixed_semantics
    }
}

/// Whether these are all places of an instruction: of more copies than are looked at, some may be anywhere.
fn are_all_known(spots: &[Spot]) -> bool {
    (1..MOST_SPOTS).contains(&spots.len())
}

/// Writes the outline down, in one walk.
struct Writer<'a> {
    outline: &'a mut ShaderOutline,
    uniform: Uniform,
    alone: Alone<'a>,
    constants: FxHashSet<Value>,
    position: Position,
    /// Of each instruction that loads or stores, what belongs to its latest spot.
    parts: FxHashMap<Site, Parts>,
}

/// Accesses of one instruction to members or columns of one value.
struct Parts {
    region: u32,
    /// Where the value is.
    place: Place,
    /// Where in it each of them is.
    immediates: SmallVec<[u32; 8]>,
}

impl<'a> Writer<'a> {
    fn new(outline: &'a mut ShaderOutline, uniform: Uniform, alone: Alone<'a>) -> Writer<'a> {
        let (constants, parts) = (FxHashSet::default(), FxHashMap::default());
        Writer { outline, uniform, alone, constants, position: 0, parts }
    }

    fn open(&mut self, parent: u32, is_loop: bool) -> u32 {
        let regions = &mut self.outline.regions;
        let Region { depth, one_subgroup, .. } = regions[parent as usize];
        let (depth, position) = (depth + 1, self.position);
        regions.push(Region { parent, depth, position, is_loop, one_subgroup, gaps: Vec::new() });
        regions.len() as u32 - 1
    }

    fn mark(&mut self, region: u32) {
        let reach = if self.uniform.together() { Reach::All } else { Reach::Part };
        let gap = (self.position, reach);
        self.outline.regions[region as usize].gaps.push(gap);
    }

    fn region(&mut self, nodes: &'a Nodes, region: u32) {
        for node in nodes {
            self.position += 1;
            self.mark(region);
            match node {
                Node::Op(op) => self.op(op, region),
                Node::If { condition, then, otherwise } => {
                    let before = self.uniform.branch(*condition);
                    self.arm(then, (*condition, true), region);
                    let behind = self.uniform.other_arm(before);
                    self.arm(otherwise, (*condition, false), region);
                    self.uniform.join(*condition, &behind);
                }
                Node::Block { label, body, .. } => {
                    let first = self.outline.jumps.len();
                    self.region(body, region);
                    self.uniform.end_of_block(*label, body);
                    let here = self.position;
                    let inside = &mut self.outline.jumps[first..];
                    inside.iter_mut().filter(|jump| jump.label == *label).for_each(|jump| jump.to = here);
                }
                Node::Loop { label, body, .. } => {
                    let inner = self.open(region, true);
                    self.uniform.begin_loop(*label);
                    self.region(body, inner);
                    self.uniform.end_loop(*label);
                }
                node => {
                    if let Node::Leave { label, .. } = node {
                        let from = Spot { region, position: self.position };
                        self.outline.jumps.push(Jump { from, label: *label, to: 0 });
                    }
                    self.uniform.jump(node);
                }
            }
        }
        self.position += 1;
        self.mark(region);
    }

    fn arm(&mut self, nodes: &'a Nodes, (condition, holds): (Value, bool), region: u32) {
        let inner = self.open(region, false);
        self.outline.regions[inner as usize].one_subgroup |= self.alone.takes(condition, holds);
        self.region(nodes, inner);
    }

    /// Whether an access is one more to a value that the instruction has begun to load or store, and not of
    /// another copy of the instruction.
    fn goes_on(&mut self, site: Site, place: Place, region: u32) -> bool {
        let (place, immediate) = place.apart();
        let parts = self.parts.entry(site);
        let known = parts.or_insert_with(|| Parts { region, place, immediates: SmallVec::new() });
        let same = (known.region, known.place) == (region, place);
        let goes_on = same && !known.immediates.is_empty() && !known.immediates.contains(&immediate);
        if !goes_on {
            *known = Parts { region, place, immediates: SmallVec::new() };
        }
        known.immediates.push(immediate);
        goes_on
    }

    fn op(&mut self, op: &'a Op, region: u32) {
        self.alone.define(op);
        let spot = Spot { region, position: self.position };
        match &op.kind {
            OpKind::ControlBarrier { execution, .. } => self.outline.barriers.push((spot, *execution)),
            OpKind::Load { place, access } | OpKind::Store { place, access } => {
                self.outline.places.insert(op.site, *place);
                if op.kind.values().iter().all(|value| self.uniform.value(*value)) {
                    self.outline.one_address.insert(op.site);
                }
                if access.components == 1 && access.size >= 4 {
                    self.outline.scalars.insert(op.site);
                }
                if matches!(op.kind, OpKind::Store { .. })
                    && op.arguments.iter().all(|value| self.constants.contains(value))
                {
                    self.outline.constant.insert(op.site);
                }
                if self.goes_on(op.site, *place, region) {
                    return;
                }
            }
            OpKind::Constant(_) => {
                self.constants.extend(&op.results);
                return;
            }
            OpKind::Atomic { .. } => {}
            kind if kind.image().is_some() => {}
            _ => return,
        }
        let spots = self.outline.spots.entry(op.site).or_default();
        if spots.len() < MOST_SPOTS {
            spots.push(spot);
        }
    }
}
