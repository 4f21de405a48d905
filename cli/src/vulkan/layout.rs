//! Where the threads and variables of a litmus test go: the grid, the descriptors, workgroup memory, and
//! which real storage class stands for which of the test's.

use super::Refused;
use pellucid_memory::litmus::program::{Access, Instruction, LitmusProgram, Term};
use pellucid_memory::scope::StorageClasses;
use std::collections::BTreeMap;

/// One descriptor of the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Binding number in set 0; binding 0 is the result buffer.
    pub binding: u32,
    /// The location that it refers to: bytes `location * STRIDE ..` of the data buffer.
    pub location: u32,
    /// A storage texel buffer instead of a storage buffer.
    pub texel: bool,
}

/// What a device leaves to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `minSubgroupSize`.
    pub smallest: u32,
    /// `maxSubgroupSize`.
    pub largest: u32,
    /// Every instruction is a block of its own, so that threads of one subgroup take turns at each.
    pub fine: bool,
    /// Threads pause now and then, as the run's salt decides: other interleavings where the device itself
    /// always takes the same one.
    pub stagger: bool,
    /// Invocations of one subgroup run one by one: nothing needs to keep them together, or apart.
    pub alone: bool,
}

/// Bytes from one location to the next in the data buffer: whole cache lines and any offset alignment.
pub const STRIDE: u64 = 256;

/// Gives each storage class of the test a real one. The model treats all classes alike, so any assignment
/// that has room for the variables is as good as another: the first that has is taken, and the reason why the
/// last one failed is told if none has.
pub(super) fn assign(program: &LitmusProgram, shape: Shape) -> Result<(LitmusProgram, Layout), Refused> {
    const REAL: [[StorageClasses; 4]; 4] = {
        const U: StorageClasses = StorageClasses::UNIFORM;
        const W: StorageClasses = StorageClasses::WORKGROUP;
        const I: StorageClasses = StorageClasses::IMAGE;
        const O: StorageClasses = StorageClasses::OUTPUT;
        [[U, W, I, O], [U, I, W, O], [W, I, U, O], [U, I, O, W]]
    };
    let mut reason = None;
    for real in REAL {
        let map = |from: StorageClasses| {
            let mut to = StorageClasses::empty();
            for (bit, class) in real.into_iter().enumerate() {
                if from.bits() >> bit & 1 != 0 {
                    to |= class;
                }
            }
            to
        };
        let mut mapped = program.clone();
        for instruction in mapped.threads.iter_mut().flat_map(|t| &mut t.code) {
            match instruction {
                Instruction::Store(a, _) | Instruction::Load(a, _) | Instruction::ReadModifyWrite(a, ..) => {
                    a.class = map(a.class);
                    a.semantics.classes = map(a.semantics.classes);
                }
                Instruction::MemoryBarrier(_, semantics) | Instruction::ControlBarrier { semantics, .. } => {
                    semantics.classes = map(semantics.classes);
                }
                _ => {}
            }
        }
        match Layout::of(&mapped, shape) {
            Ok(layout) => return Ok((mapped, layout)),
            Err(refused) => reason = reason.or(Some(refused)),
        }
    }
    Err(reason.expect("at least one assignment was tried"))
}

/// Where threads and variables go.
pub(super) struct Layout {
    pub subgroup_size: u32,
    pub local_size: u32,
    pub groups: u32,
    pub registers: u32,
    /// Workgroup, subgroup and lane of each thread.
    pub place: Vec<[u32; 3]>,
    /// Several threads of the test share a subgroup, and run together.
    pub shared_subgroups: bool,
    /// By variable and class.
    pub resources: BTreeMap<(usize, StorageClasses), Resource>,
    /// The variable of each location in workgroup memory.
    pub workgroup: BTreeMap<u32, usize>,
}

impl Layout {
    fn of(program: &LitmusProgram, shape: Shape) -> Result<Layout, Refused> {
        let refuse = |what: &str| Err(Refused(what.to_owned()));
        if program.threads.windows(2).any(|w| w[0].queue_family != w[1].queue_family) {
            return refuse("with several queue families");
        }
        let mut groups: BTreeMap<u32, BTreeMap<u32, Vec<usize>>> = BTreeMap::new();
        for (index, thread) in program.threads.iter().enumerate() {
            groups.entry(thread.workgroup).or_default().entry(thread.subgroup).or_default().push(index);
        }
        let widest = groups.values().flat_map(BTreeMap::values).map(Vec::len).max().unwrap_or(1);
        let subgroup_size = (widest as u32).next_power_of_two().max(shape.smallest);
        if subgroup_size > shape.largest {
            return refuse(&format!("with more than {} threads in a subgroup", shape.largest));
        }
        let subgroups = groups.values().map(BTreeMap::len).max().unwrap_or(1) as u32;
        if subgroups * subgroup_size > 128 {
            return refuse("with more than 128 invocations in a workgroup");
        }
        let mut place = vec![[0; 3]; program.threads.len()];
        for (g, members) in groups.values().enumerate() {
            for (s, lanes) in members.values().enumerate() {
                for (lane, &thread) in lanes.iter().enumerate() {
                    place[thread] = [g as u32, s as u32, lane as u32];
                }
            }
        }
        let mut resources = BTreeMap::new();
        let mut workgroup = BTreeMap::new();
        let mut classes: BTreeMap<u32, (StorageClasses, Vec<usize>)> = BTreeMap::new();
        for (index, thread) in program.threads.iter().enumerate() {
            for access in thread.code.iter().filter_map(access_of) {
                let location = program.variables[access.variable].location;
                let entry = classes.entry(location).or_insert((StorageClasses::empty(), Vec::new()));
                entry.0 |= access.class;
                entry.1.push(index);
                let texel = match access.class {
                    StorageClasses::UNIFORM => false,
                    StorageClasses::IMAGE => true,
                    StorageClasses::WORKGROUP => {
                        if *workgroup.entry(location).or_insert(access.variable) != access.variable {
                            return refuse("with aliases in workgroup memory");
                        }
                        continue;
                    }
                    _ => return refuse("with four storage classes"),
                };
                let binding = resources.len() as u32 + 1;
                let key = (access.variable, access.class);
                resources.entry(key).or_insert(Resource { binding, location, texel });
            }
        }
        for &location in workgroup.keys() {
            let (used, threads) = &classes[&location];
            let name = program.location_name(location);
            if *used != StorageClasses::WORKGROUP {
                return refuse(&format!("with {name} in workgroup memory and elsewhere"));
            }
            if threads.iter().any(|&t| place[t][0] != place[threads[0]][0]) {
                return refuse(&format!("with {name} in the workgroup memory of several workgroups"));
            }
            if program.initial.get(location as usize).is_some_and(|&v| v != 0) {
                return refuse(&format!("with an initial value of {name} in workgroup memory"));
            }
            if program.observables().contains(&Term::Memory(location)) {
                return refuse(&format!("with the final value of {name} in workgroup memory"));
            }
        }
        let registers = program.threads.iter().map(|t| t.registers.len()).max().unwrap_or(0).max(1) as u32;
        Ok(Layout {
            subgroup_size,
            local_size: subgroups * subgroup_size,
            groups: groups.len() as u32,
            registers,
            place,
            shared_subgroups: widest > 1 && !shape.alone,
            resources,
            workgroup,
        })
    }
}

fn access_of(instruction: &Instruction) -> Option<&Access> {
    match instruction {
        Instruction::Store(a, _) | Instruction::Load(a, _) | Instruction::ReadModifyWrite(a, ..) => Some(a),
        _ => None,
    }
}
