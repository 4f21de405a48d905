//! Availability and visibility chains, and location-ordered.

use super::matrix::{Matrix, Row};
use super::options::ChainRule;
use super::order::InterThreadOrder;
use super::pre_execution::{LEVELS, PreExecution};

/// Operations per level of domain: where a chain that ends there has brought a write.
pub(crate) type PerLevel<R> = [R; LEVELS];

/// The matrices of the Alloy reading of chains, by level.
#[derive(Clone, Debug)]
pub(crate) struct AlloyChains<R> {
    pub available: [Matrix<R>; LEVELS],
    pub visible: [Matrix<R>; LEVELS],
}

/// Location-ordered over the accesses of `cell` (all of whose pairs count as the same location when
/// `same_location` relates them).
pub(crate) fn location_ordered<R: Row>(
    program: &PreExecution<R>,
    order: &InterThreadOrder<R>,
    same_location: &Matrix<R>,
) -> Matrix<R> {
    let hb = &order.happens_before;
    let n = program.len();
    let accesses = program.host | program.device;
    let mut ordered = Matrix::empty(n);
    for x in accesses.members() {
        let mut row = R::default();
        row |= hb.row(x) & program.same_agent.row(x) & program.same_reference.row(x);
        if program.pure_read.has(x) {
            if program.non_private.has(x) {
                row |= hb.row(x) & program.non_private;
            }
            row |= program.system_synchronized.row(x);
        }
        *ordered.row_mut(x) = row & same_location.row(x) & accesses;
    }
    match program.options.chain_rule {
        ChainRule::Specification => specification_chains(program, hb, same_location, &mut ordered),
        ChainRule::Alloy => {
            let includes = alloy_includes(program, same_location);
            let chains = alloy_chains(program, hb, &includes);
            alloy_orders(program, hb, same_location, &includes, &chains, &mut ordered);
        }
    }
    domains(program, hb, same_location, &mut ordered);
    ordered
}

/// *Location-Ordered*, third bullet, with the chains as the specification's text has them.
fn specification_chains<R: Row>(
    program: &PreExecution<R>,
    hb: &Matrix<R>,
    same_location: &Matrix<R>,
    ordered: &mut Matrix<R>,
) {
    let writes = program.write & program.non_private & program.device;
    if writes.is_empty() {
        return;
    }
    let happens_after = hb.inverse();
    let all = !R::default();
    // Writes with the same class, reference and locations share what includes them.
    let mut left = writes;
    while let Some(representative) = left.first() {
        let at = program.same_reference.row(representative) & same_location.row(representative);
        let class = program.events[representative].storage_class.bits();
        let mut group = R::default();
        for w in (left & at).members() {
            if program.events[w].storage_class.bits() == class {
                group |= R::bit(w);
            }
        }
        left &= !(group | R::bit(representative));
        let targets = at & program.non_private & program.device;
        let available = program.including_available(class, at);
        let visible = program.including_visible(class, at);
        // Visibility chains do not depend on the write: computed once per read of the group.
        let mut imports: Vec<(usize, PerLevel<R>)> = Vec::new();
        for y in (targets & program.read).members() {
            imports.push((y, visibility_chain(program, &happens_after, y, visible)));
        }
        for w in group.members() {
            let reached = availability_chain(program, hb, w, available);
            for (level, reached) in reached.iter().enumerate() {
                let instance = program.same_instance[level].row(w);
                let sources = *reached & instance;
                if sources.is_empty() {
                    continue;
                }
                let after = hb.image(sources);
                let mut row = after & targets & instance & program.pure_write;
                for (y, chain) in &imports {
                    if *y != w && instance.has(*y) && !(chain[level] & instance & after).is_empty() {
                        row |= R::bit(*y);
                    }
                }
                *ordered.row_mut(w) |= row & all & !R::bit(w);
            }
        }
    }
}

/// The operations after which `(write, location)` is available to the write's instance of each level.
fn availability_chain<R: Row>(
    program: &PreExecution<R>,
    hb: &Matrix<R>,
    write: usize,
    including: R,
) -> PerLevel<R> {
    let own = (program.program_order.row(write) | R::bit(write)) & including;
    let mut reached: PerLevel<R> = std::array::from_fn(|level| own & program.available_at[level]);
    if program.options.chains {
        for level in 0..LEVELS - 1 {
            let instance = program.same_instance[level].row(write);
            let next = hb.image(reached[level] & instance) & including & instance;
            for (wider, reached) in reached.iter_mut().enumerate().skip(level + 1) {
                *reached |= next & program.available_at[wider];
            }
        }
    }
    reached
}

/// The operations through which writes available in each level's domain become visible to `read`.
fn visibility_chain<R: Row>(
    program: &PreExecution<R>,
    happens_after: &Matrix<R>,
    read: usize,
    including: R,
) -> PerLevel<R> {
    let mut before = R::bit(read);
    for earlier in program.same_agent.row(read).members() {
        if earlier < read {
            before |= R::bit(earlier);
        }
    }
    let own = before & including;
    let mut reached: PerLevel<R> = std::array::from_fn(|level| own & program.visible_at[level]);
    if program.options.chains {
        for level in 0..LEVELS - 1 {
            // All links of this level lie in the read's instance of it, as the last element is the reader's
            // own.
            let instance = program.same_instance[level].row(read);
            let next = happens_after.image(reached[level]) & including & instance;
            for (wider, reached) in reached.iter_mut().enumerate().skip(level + 1) {
                *reached |= next & program.visible_at[wider];
            }
        }
    }
    reached
}

/// By level: the first operation that makes a write available to its agent's instance.
pub(crate) fn available<R: Row>(
    program: &PreExecution<R>,
    hb: &Matrix<R>,
    write: usize,
) -> PerLevel<Option<u32>> {
    let at = program.same_reference.row(write) & program.overlap.row(write);
    let class = program.events[write].storage_class.bits();
    let reached = availability_chain(program, hb, write, program.including_available(class, at));
    in_instance(program, write, reached)
}

/// By level: the first operation by which what is available to the agent's instance becomes visible to a
/// read.
pub(crate) fn visible<R: Row>(
    program: &PreExecution<R>,
    hb: &Matrix<R>,
    read: usize,
) -> PerLevel<Option<u32>> {
    let at = program.same_reference.row(read) & program.overlap.row(read);
    let class = program.events[read].storage_class.bits();
    let including = program.including_visible(class, at);
    in_instance(program, read, visibility_chain(program, &hb.inverse(), read, including))
}

fn in_instance<R: Row>(
    program: &PreExecution<R>,
    access: usize,
    reached: PerLevel<R>,
) -> PerLevel<Option<u32>> {
    std::array::from_fn(|level| {
        (reached[level] & program.same_instance[level].row(access)).first().map(|event| event as u32)
    })
}

/// The Alloy model's `avvisinc`: which operations include which.
pub(crate) fn alloy_includes<R: Row>(program: &PreExecution<R>, same_location: &Matrix<R>) -> Matrix<R> {
    let events = &program.events;
    let mut includes = Matrix::empty(program.len());
    for (a, from) in events.iter().enumerate() {
        for (b, to) in events.iter().enumerate() {
            let available =
                to.semantics.make_available && to.semantics.classes.bits() & from.storage_class.bits() != 0;
            let visible =
                from.semantics.make_visible && from.semantics.classes.bits() & to.storage_class.bits() != 0;
            let per_instruction = same_location.has(a, b)
                && program.same_reference.has(a, b)
                && (from.available || from.visible || to.available || to.visible);
            if available || visible || per_instruction {
                includes.add(a, b);
            }
        }
    }
    for operation in (program.domain.available_device | program.domain.available_host).members() {
        for access in program.covered.row(operation).members() {
            includes.add(access, operation);
        }
    }
    for operation in (program.domain.visible_device | program.domain.visible_host).members() {
        *includes.row_mut(operation) |= program.covered.row(operation);
    }
    includes
}

/// The Alloy model's `avsg` to `avsh` and `vissg` to `vissh`.
pub(crate) fn alloy_chains<R: Row>(
    program: &PreExecution<R>,
    hb: &Matrix<R>,
    includes: &Matrix<R>,
) -> AlloyChains<R> {
    let n = program.len();
    let all = !R::default();
    let links: [Matrix<R>; LEVELS] = std::array::from_fn(|level| {
        let mut link = hb.clone();
        link.intersect(&program.same_instance[level]);
        link.intersect(includes);
        link
    });
    let identity = |set: R| {
        let mut matrix = Matrix::empty(n);
        for a in set.members() {
            matrix.add(a, a);
        }
        matrix
    };
    let everything = Matrix::empty(n).reflexive();
    let limit = |mut chain: Matrix<R>| {
        if !program.options.chains {
            chain.intersect(&everything);
        }
        chain
    };
    let mut available: Vec<Matrix<R>> = vec![identity(program.available_at[0])];
    let mut visible: Vec<Matrix<R>> = vec![identity(program.visible_at[0])];
    for level in 1..LEVELS {
        let mut prefix = everything.clone();
        for (lower, chain) in available.iter().enumerate() {
            prefix = prefix.compose(&chain.compose(&links[lower]).reflexive());
        }
        available.push(limit(prefix).between(all, program.available_at[level]));
        let mut suffix = everything.clone();
        for lower in (0..level).rev() {
            suffix = suffix.compose(&links[lower].compose(&visible[lower]).reflexive());
        }
        visible.push(limit(suffix).between(program.visible_at[level], all));
    }
    let mut available = available.into_iter();
    let mut visible = visible.into_iter();
    AlloyChains {
        available: std::array::from_fn(|_| available.next().unwrap_or_else(|| Matrix::empty(n))),
        visible: std::array::from_fn(|_| visible.next().unwrap_or_else(|| Matrix::empty(n))),
    }
}

fn alloy_orders<R: Row>(
    program: &PreExecution<R>,
    hb: &Matrix<R>,
    same_location: &Matrix<R>,
    includes: &Matrix<R>,
    chains: &AlloyChains<R>,
    ordered: &mut Matrix<R>,
) {
    let mut own = program.program_order.clone().reflexive();
    own.intersect(includes);
    let sources = program.write & program.non_private & program.device;
    let targets = program.non_private & program.device;
    for level in 0..LEVELS {
        let mut step = hb.clone();
        step.intersect(&program.same_instance[level]);
        let after = own.between(sources, !R::default()).compose(&chains.available[level]).compose(&step);
        let visible = after.compose(&chains.visible[level]).compose(&own);
        for w in sources.members() {
            let row =
                (after.row(w) & targets & program.pure_write) | (visible.row(w) & targets & program.read);
            *ordered.row_mut(w) |= row & program.same_reference.row(w) & same_location.row(w) & !R::bit(w);
        }
    }
}

/// The last bullet: through the device domain and the host domain, by API-level operations only.
fn domains<R: Row>(
    program: &PreExecution<R>,
    hb: &Matrix<R>,
    same_location: &Matrix<R>,
    ordered: &mut Matrix<R>,
) {
    let PreExecution { host, device, write, read, pure_write, ref domain, .. } = *program;
    if (domain.available_device
        | domain.available_host
        | domain.host_to_device
        | domain.device_to_host
        | host)
        .is_empty()
    {
        return;
    }
    // The operations among `operations` that happen after `x` and include it.
    let including = |x: usize, operations: R| {
        let mut row = R::default();
        for operation in (hb.row(x) & operations).members() {
            if program.covered.has(operation, x) {
                row |= R::bit(operation);
            }
        }
        row
    };
    // The reads to which visibility operations after `available` make writes visible.
    let visible = |available: R, operations: R| {
        let mut row = R::default();
        for operation in (hb.image(available) & operations).members() {
            row |= hb.row(operation) & program.covered.row(operation);
        }
        row & read
    };
    for w in (write & device).members() {
        let available = including(w, domain.available_device);
        let mut row = (hb.image(available) & device & pure_write)
            | (visible(available, domain.visible_device) & device);
        let transferred = hb.image(available) & domain.device_to_host;
        let reached = hb.image(transferred) & host;
        row |= reached & write;
        for y in (reached & read).members() {
            if program.events[y].visible {
                row |= R::bit(y);
            }
        }
        row |= visible(transferred, domain.visible_host) & host;
        *ordered.row_mut(w) |= row & same_location.row(w) & !R::bit(w);
    }
    for w in (write & host).members() {
        let mut after = hb.image(including(w, domain.available_host));
        if program.events[w].available {
            after |= hb.row(w);
        }
        let transferred = after & domain.host_to_device;
        let mut row = (hb.image(transferred) & device & pure_write)
            | (visible(transferred, domain.visible_device) & device);
        // Pairs of host accesses are the host language's business: happens-before orders them.
        row |= hb.row(w) & host;
        *ordered.row_mut(w) |= row & same_location.row(w) & !R::bit(w);
    }
    for r in (read & host & !write).members() {
        *ordered.row_mut(r) |= hb.row(r) & host & same_location.row(r);
    }
}
