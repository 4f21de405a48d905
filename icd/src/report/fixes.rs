//! What fixes are called: one sentence per edited instruction, in the words of the shader's language.

use super::context::DispatchContext;
use super::note::{FixKind, Note};
use super::words::{Dialect, at, class_name, join, opcode, opcode_of, scope_name};
use pellucid_memory::access::{AtomicOp, Site};
use pellucid_memory::finding::{Edit, Finding, FindingId};
use pellucid_memory::outline::BarrierPlace;
use pellucid_memory::scope::{Scope, StorageClasses};
use std::collections::{BTreeMap, BTreeSet};

/// A bit of memory semantics that an edit adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Flag {
    AcquireRelease,
    Acquire,
    Release,
    MakeAvailable,
    MakeVisible,
}

impl Flag {
    fn name(self, dialect: Dialect) -> &'static str {
        match (dialect, self) {
            (Dialect::Spirv, Flag::AcquireRelease) => "AcquireRelease",
            (_, Flag::AcquireRelease) => "gl_SemanticsAcquireRelease",
            (Dialect::Spirv, Flag::Acquire) => "Acquire",
            (Dialect::Spirv, Flag::Release) => "Release",
            (Dialect::Spirv, Flag::MakeAvailable) => "MakeAvailable",
            (Dialect::Spirv, Flag::MakeVisible) => "MakeVisible",
            (_, Flag::Acquire) => "gl_SemanticsAcquire",
            (_, Flag::Release) => "gl_SemanticsRelease",
            (_, Flag::MakeAvailable) => "gl_SemanticsMakeAvailable",
            (_, Flag::MakeVisible) => "gl_SemanticsMakeVisible",
        }
    }
}

/// What one synchronising instruction has to gain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Gain {
    flags: Vec<Flag>,
    /// It names another order now.
    replaces: bool,
    classes: StorageClasses,
    scope: Option<Scope>,
}

/// One line of help, before it is put into words.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Help<'a> {
    /// The semantics of an instruction gain something.
    Gain(Site, Gain),
    /// A qualifier in the declaration of what a variable of GLSL names serves these accesses.
    Declare { variable: &'a str, qualifier: &'static str, accesses: Vec<Site> },
    /// The Coherent decoration of what an instruction of SPIR-V accesses.
    Decorate(Site),
    /// Any other edit.
    Edit(&'a Edit),
}

/// The qualifier of GL_KHR_memory_scope_semantics for variables whose accesses are non-private.
const NON_PRIVATE: &str = "nonprivate";

impl Help<'_> {
    fn kind(&self) -> FixKind {
        match self {
            Help::Gain(_, gain) if gain.flags.contains(&Flag::MakeAvailable) => FixKind::Availability,
            Help::Gain(_, gain) if gain.flags.contains(&Flag::MakeVisible) => FixKind::Visibility,
            Help::Gain(_, gain) if gain.scope.is_some() => FixKind::Scope,
            Help::Gain(_, gain) if !gain.classes.is_empty() => FixKind::StorageClasses,
            Help::Gain(..) => FixKind::Synchronization,
            Help::Declare { qualifier, .. } if *qualifier == NON_PRIVATE => FixKind::NonPrivate,
            Help::Declare { .. } | Help::Decorate(_) => FixKind::Coherent,
            Help::Edit(edit) => FixKind::from(*edit),
        }
    }
}

/// The smallest fix, one sentence per edited instruction.
pub fn fix(edits: &[Edit], dispatch: &DispatchContext<'_>) -> Vec<Note<FixKind>> {
    let dialect = Dialect::of(dispatch.shader);
    let help = helps(edits, dialect, dispatch).into_iter();
    let mut notes: Vec<Note<FixKind>> =
        help.map(|help| Note::new(help.kind(), sentence(help, dialect, dispatch))).collect();
    // Instructions of one source line have the same words.
    let mut known = BTreeSet::new();
    notes.retain(|note| known.insert(note.text.clone()));
    notes
}

/// Loads and stores of workgroup memory, or of storage buffers, from which on it is no slip that all are
/// private.
const LEFT_OUT: u32 = 3;

/// The fix where a compiler has left NonPrivatePointer out of all accesses of workgroup memory, or Coherent
/// off all storage buffers, and nothing else is missing: the same for all findings of the module that it
/// mends.
pub fn for_compilers(finding: &Finding, dispatch: &DispatchContext<'_>) -> Option<Note<FixKind>> {
    let shader = dispatch.shader;
    let class = finding.accesses.first()?.place.class;
    let (memory, option, count) = match class {
        StorageClasses::WORKGROUP => {
            ("workgroup memory", "--workgroup-memory coherent", shader.private_workgroup)
        }
        StorageClasses::UNIFORM => ("storage buffers", "--storage-memory coherent", shader.private_storage),
        _ => return None,
    };
    let by_accesses = |edit: &Edit| match edit {
        Edit::NonPrivate(_) => true,
        Edit::AvailableAccess(_, scope) | Edit::VisibleAccess(_, scope) => *scope <= Scope::Workgroup,
        _ => false,
    };
    let alike = finding.accesses.iter().all(|access| access.place.class == class);
    let mends = !finding.fix.is_empty() && finding.fix.iter().all(by_accesses);
    let left_out = count >= LEFT_OUT && Dialect::of(shader) == Dialect::Spirv;
    if !alike || !mends || !left_out || finding.id != FindingId::RacePrivate {
        return None;
    }
    Some(match shader.vulkan_memory_model {
        true => Note::new(
            FixKind::NonPrivate,
            format!(
                "set NonPrivatePointer on the loads and stores of {memory}, with MakePointerAvailable or MakePointerVisible at the scope Workgroup: the compiler of this module left it out of all {count} ({option} takes them as if it were there)"
            ),
        ),
        false => Note::new(
            FixKind::Coherent,
            format!(
                "decorate the {memory} that invocations exchange values through as Coherent (globallycoherent in HLSL): none that the {count} loads and stores of this module reach is ({option} takes them as if they were, in their workgroup)"
            ),
        ),
    })
}

/// What has to be changed: each instruction that synchronises once, in the order of the shader, then each
/// declaration and each other edit once.
fn helps<'a>(edits: &'a [Edit], dialect: Dialect, dispatch: &DispatchContext<'a>) -> Vec<Help<'a>> {
    let mut gains: BTreeMap<Site, Gain> = BTreeMap::new();
    let mut others: Vec<Help<'a>> = Vec::new();
    for edit in edits {
        let mut gain = |site: Site, flag: Flag| gains.entry(site).or_default().flags.push(flag);
        match edit {
            Edit::MakeAvailable(site) => gain(*site, Flag::MakeAvailable),
            Edit::MakeVisible(site) => gain(*site, Flag::MakeVisible),
            Edit::Acquire(site) => gain(*site, Flag::Acquire),
            Edit::Release(site) => gain(*site, Flag::Release),
            Edit::AcquireRelease(site) => {
                gain(*site, Flag::AcquireRelease);
                gains.entry(*site).or_default().replaces = true;
            }
            Edit::Widen(site, scope) => gains.entry(*site).or_default().scope = Some(*scope),
            Edit::AddClasses(site, classes) => gains.entry(*site).or_default().classes |= *classes,
            edit => {
                let help = qualified(edit, dialect, dispatch).unwrap_or(Help::Edit(edit));
                let known = others.iter_mut().find_map(|known| match (known, &help) {
                    (
                        Help::Declare { variable: v, qualifier: q, accesses },
                        Help::Declare { variable, qualifier, .. },
                    ) if v == variable && q == qualifier => Some(accesses),
                    _ => None,
                });
                match (known, help) {
                    (Some(known), Help::Declare { accesses, .. }) => known.extend(accesses),
                    (_, help) => others.push(help),
                }
            }
        }
    }
    gains.into_iter().map(|(site, gain)| Help::Gain(site, gain)).chain(others).collect()
}

/// The declaration that an edit of an access changes.
fn qualified<'a>(edit: &Edit, dialect: Dialect, dispatch: &DispatchContext<'a>) -> Option<Help<'a>> {
    let (site, scope) = match edit {
        Edit::NonPrivate(site) => (*site, None),
        Edit::AvailableAccess(site, scope) | Edit::VisibleAccess(site, scope) => (*site, Some(*scope)),
        _ => return None,
    };
    let qualifier = match (dialect, scope) {
        (Dialect::Spirv, _) => {
            return (!dispatch.shader.vulkan_memory_model).then_some(Help::Decorate(site));
        }
        (Dialect::ScopedGlsl, None) if left_out(site, dispatch) => return None,
        (Dialect::ScopedGlsl, None) => NON_PRIVATE,
        (Dialect::ScopedGlsl, Some(Scope::Invocation | Scope::Subgroup)) => "subgroupcoherent",
        (Dialect::ScopedGlsl, Some(Scope::Workgroup)) => "workgroupcoherent",
        (Dialect::ScopedGlsl, Some(Scope::QueueFamily)) => "queuefamilycoherent",
        (Dialect::ScopedGlsl, Some(Scope::Device)) => "devicecoherent",
        (Dialect::Glsl, _) => "coherent",
    };
    let variable = dispatch.site(site).map_or("", |info| info.variable.as_str());
    Some(Help::Declare { variable, qualifier, accesses: vec![site] })
}

/// A variable in words.
fn variable_name(variable: &str) -> String {
    if variable.is_empty() { "the variable".to_owned() } else { format!("`{variable}`") }
}

fn sentence(help: Help<'_>, dialect: Dialect, dispatch: &DispatchContext<'_>) -> String {
    match help {
        Help::Gain(site, gain) => gained(site, gain, dialect, dispatch),
        Help::Declare { variable, qualifier, accesses } => {
            let mut places: Vec<String> = Vec::new();
            for place in accesses.iter().map(|site| dispatch.location(*site)) {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
            let accesses = if places.len() == 1 { "access" } else { "accesses" };
            let (name, places) = (variable_name(variable), places.join(" and "));
            format!("declare {name} {qualifier}, for the {accesses} at {places}")
        }
        Help::Decorate(site) => format!(
            "decorate the variable or member of the access at {} as Coherent",
            dispatch.location(site)
        ),
        Help::Edit(edit) => access_edit(edit, dialect, dispatch),
    }
}

fn gained(site: Site, mut gain: Gain, dialect: Dialect, dispatch: &DispatchContext<'_>) -> String {
    gain.flags.sort();
    gain.flags.dedup();
    let control = opcode(site, dispatch) == Some("OpControlBarrier");
    let barrier = control || opcode(site, dispatch) == Some("OpMemoryBarrier");
    let mut parts = Vec::new();
    if !gain.flags.is_empty() {
        // One order is all that semantics may name: acquire and release together are one word of their own.
        let both = [Flag::Acquire, Flag::Release];
        if both.iter().all(|flag| gain.flags.contains(flag)) {
            gain.flags.retain(|flag| !both.contains(flag));
            gain.flags.insert(0, Flag::AcquireRelease);
        }
        let flags = join(gain.flags.iter().map(|flag| flag.name(dialect)), " | ");
        let instead = if gain.replaces { " in place of the order that is there" } else { "" };
        parts.push(format!("add {flags} to the semantics{instead}"));
    }
    if !gain.classes.is_empty() {
        let what = if dialect == Dialect::Spirv { "semantics" } else { "storage semantics" };
        parts.push(match dialect {
            Dialect::Glsl if control => {
                format!("put `{};` before and after it", fence(gain.classes))
            }
            Dialect::Glsl => format!("use a barrier that covers {} memory as well", class_name(gain.classes)),
            _ => format!("add {} to the {what}", dialect.classes(gain.classes)),
        });
    }
    if let Some(scope) = gain.scope {
        parts.push(match dialect {
            Dialect::Glsl => {
                format!("use a memory barrier of {} scope, such as memoryBarrier()", scope_name(scope))
            }
            _ if barrier => format!("widen the memory scope to {}", dialect.scope(scope)),
            _ => format!("widen the scope to {}", dialect.scope(scope)),
        });
    }
    format!("{}: {}", at(site, dispatch), parts.join(", "))
}

/// The function of GLSL without scopes whose fence covers the classes.
fn fence(classes: StorageClasses) -> &'static str {
    match classes {
        StorageClasses::UNIFORM => "memoryBarrierBuffer()",
        StorageClasses::IMAGE => "memoryBarrierImage()",
        StorageClasses::WORKGROUP => "memoryBarrierShared()",
        _ => "memoryBarrier()",
    }
}

fn access_edit(edit: &Edit, dialect: Dialect, dispatch: &DispatchContext<'_>) -> String {
    let lowered = !dispatch.shader.vulkan_memory_model;
    match (edit, dialect) {
        (Edit::NonPrivate(site), Dialect::Spirv) => {
            format!("add NonPrivatePointer to the access at {}", dispatch.location(*site))
        }
        (Edit::NonPrivate(site), _) => format!(
            "the store at {0} does not say NonPrivatePointer, although {1} is declared nonprivate (compilers leave it out of ++ and --): write {0} as an assignment, such as `x = x + 1`",
            dispatch.location(*site),
            variable_name(dispatch.site(*site).map_or("", |info| info.variable.as_str()))
        ),
        (Edit::AvailableAccess(site, scope), _) => format!(
            "add MakePointerAvailable | NonPrivatePointer with scope {} to the store at {}",
            dialect.scope(*scope),
            dispatch.location(*site)
        ),
        (Edit::VisibleAccess(site, scope), _) => format!(
            "add MakePointerVisible | NonPrivatePointer with scope {} to the load at {}",
            dialect.scope(*scope),
            dispatch.location(*site)
        ),
        (Edit::InsertBarrier { before, after, place, scope, classes, early_return }, _) => {
            let barrier = barrier(*scope, *classes, dialect, lowered);
            let put = format!("put `{barrier}` {}", gap(*before, *after, *place, dispatch));
            let put = match scope {
                Scope::Subgroup => {
                    format!("{put} (with the subgroup size that ran, all that come there are one subgroup)")
                }
                _ => put,
            };
            match early_return {
                false => put,
                true => format!(
                    "{put}, and turn the early return before it into a condition that the barrier is not in, so that all invocations of the workgroup reach it"
                ),
            }
        }
        (Edit::ReleaseFence { after, scope, classes }, _) => format!(
            "put `{}` after {}",
            memory_barrier(*scope, *classes, Flag::Release, dialect, lowered),
            dispatch.location(*after)
        ),
        (Edit::AcquireFence { before, scope, classes }, _) => format!(
            "put `{}` before {}",
            memory_barrier(*scope, *classes, Flag::Acquire, dialect, lowered),
            dispatch.location(*before)
        ),
        (Edit::LaterDispatch { before, after, place }, _) => {
            let (a, b) = (dispatch.location(*before), dispatch.location(*after));
            let why = "in a dispatch nothing but atomics with release and acquire orders workgroups";
            match place {
                _ if a == b => format!(
                    "{why}: divide the work of {a} into two dispatches, with a pipeline barrier between them"
                ),
                BarrierPlace::Between => {
                    format!("{why}: do what is at {b} in a later dispatch, after a pipeline barrier")
                }
                BarrierPlace::LoopEnd => format!(
                    "{why}: run each iteration of the loop around {a} and {b} as a dispatch of its own, with pipeline barriers between them"
                ),
                BarrierPlace::BetweenCalls => format!(
                    "{why}: divide the dispatch between the calls that lead to {a} and to {b}, with a pipeline barrier there"
                ),
                BarrierPlace::BetweenAndLoopEnd => format!(
                    "{why}: run each iteration of the loop around {a} and {b} as two dispatches, divided between the two lines, with pipeline barriers between them"
                ),
            }
        }
        (Edit::AtomicUpdate { load, store, operation, scope }, _) => {
            let (a, b) = (dispatch.location(*load), dispatch.location(*store));
            let where_ = if a == b {
                format!("the update at {b}")
            } else {
                format!("the load at {a} and the store at {b}")
            };
            let image = opcode(*store, dispatch) == Some("OpImageWrite");
            let name = match update_name(*operation, dialect) {
                name if image && dialect != Dialect::Spirv => name.replacen("atomic", "imageAtomic", 1),
                name => name.to_owned(),
            };
            let scope = match dialect {
                Dialect::Glsl => String::new(),
                _ => format!(" at {}", dialect.scope(*scope)),
            };
            match operation {
                AtomicOp::CompareExchange => {
                    format!(
                        "make {where_} one atomic update: {name}{scope} in a loop that tries again where another invocation was first"
                    )
                }
                _ => format!("make {where_} one atomic instruction: {name}{scope}"),
            }
        }
        (Edit::MakeAtomic(site, scope), Dialect::ScopedGlsl) => {
            format!("make the access at {} atomic, at {}", dispatch.location(*site), dialect.scope(*scope))
        }
        (Edit::MakeAtomic(site, scope), _) => {
            format!("make the access at {} atomic, at {} scope", dispatch.location(*site), scope_name(*scope))
        }
        (Edit::OneWriter(site), _) => {
            format!("let one invocation alone write each location at {}", dispatch.location(*site))
        }
        (Edit::OneReference(a, b), _) if dispatch.location(*a) == dispatch.location(*b) => {
            format!("reach the location through one descriptor or variable at {}", dispatch.location(*a))
        }
        (Edit::OneReference(a, b), _) => format!(
            "reach the location through one descriptor or variable at {} and at {}",
            dispatch.location(*a),
            dispatch.location(*b)
        ),
        (
            Edit::MakeAvailable(site)
            | Edit::MakeVisible(site)
            | Edit::Acquire(site)
            | Edit::Release(site)
            | Edit::AcquireRelease(site),
            _,
        )
        | (Edit::Widen(site, _) | Edit::AddClasses(site, _), _) => {
            format!("change the semantics of {}", at(*site, dispatch))
        }
    }
}

/// Whether a store is private where the statement that it belongs to loads the same variable as non-private.
fn left_out(store: Site, dispatch: &DispatchContext<'_>) -> bool {
    const NON_PRIVATE: u32 = 0x20;
    let Some(info) = dispatch.site(store).filter(|info| opcode_of(info) == Some("OpStore")) else {
        return false;
    };
    dispatch.shader.sites.iter().any(|other| {
        let operands = other.instruction.split_whitespace().find_map(|word| word.strip_prefix("0x"));
        let mask = operands.and_then(|mask| u32::from_str_radix(mask, 16).ok()).unwrap_or(0);
        opcode_of(other) == Some("OpLoad")
            && mask & NON_PRIVATE != 0
            && other.source.is_some()
            && other.source.map(|p| (p.file, p.line)) == info.source.map(|p| (p.file, p.line))
            && other.variable == info.variable
    })
}

/// A control barrier that orders memory of the classes, as the language writes it.
fn barrier(scope: Scope, classes: StorageClasses, dialect: Dialect, lowered: bool) -> String {
    let name = dialect.scope(scope);
    match (dialect, scope) {
        (Dialect::Spirv, _) => format!(
            "OpControlBarrier {name} {name} AcquireRelease | {}{}",
            dialect.classes(classes),
            if lowered { "" } else { " | MakeAvailable | MakeVisible" }
        ),
        (Dialect::ScopedGlsl, _) => format!(
            "controlBarrier({name}, {name}, {}, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);",
            dialect.classes(classes)
        ),
        (Dialect::Glsl, Scope::Subgroup) => "subgroupBarrier();".to_owned(),
        (Dialect::Glsl, _) if classes == StorageClasses::WORKGROUP => "barrier();".to_owned(),
        // The barrier itself is of workgroup memory only: fences on both sides release and acquire the rest.
        (Dialect::Glsl, _) => {
            let fence = fence(classes);
            format!("{fence}; barrier(); {fence};")
        }
    }
}

/// A memory barrier that releases and makes available, or acquires and makes visible.
fn memory_barrier(
    scope: Scope,
    classes: StorageClasses,
    flag: Flag,
    dialect: Dialect,
    lowered: bool,
) -> String {
    let also = if flag == Flag::Release { Flag::MakeAvailable } else { Flag::MakeVisible };
    let (scope, flags) = (dialect.scope(scope), format!("{} | {}", flag.name(dialect), also.name(dialect)));
    let classes_named = dialect.classes(classes);
    match dialect {
        Dialect::Glsl => format!("{};", fence(classes)),
        Dialect::ScopedGlsl => format!("memoryBarrier({scope}, {classes_named}, {flags});"),
        Dialect::Spirv => {
            let [flag, also] = [flag.name(dialect), also.name(dialect)];
            match lowered {
                true => format!("OpMemoryBarrier {scope} {flag} | {classes_named}"),
                false => format!("OpMemoryBarrier {scope} {flag} | {classes_named} | {also}"),
            }
        }
    }
}

/// Where a barrier goes.
fn gap(before: Site, after: Site, place: BarrierPlace, dispatch: &DispatchContext<'_>) -> String {
    let (a, b) = (dispatch.location(before), dispatch.location(after));
    let one = a == b;
    match place {
        BarrierPlace::Between if one => {
            format!("between the two accesses at {a}, which takes two statements")
        }
        BarrierPlace::Between => format!("between {a} and {b}"),
        BarrierPlace::LoopEnd if one => format!("at the end of the loop around {a}"),
        BarrierPlace::LoopEnd => format!("at the end of the loop around {a} and {b}"),
        BarrierPlace::BetweenAndLoopEnd if one => format!(
            "at the end of the loop around {a}, and also between the two accesses there (which takes two statements) if invocations meet in one iteration"
        ),
        BarrierPlace::BetweenCalls if one => {
            format!("between the calls of the function that lead to {a} twice")
        }
        BarrierPlace::BetweenCalls => format!("between the calls of functions that lead to {a} and to {b}"),
        BarrierPlace::BetweenAndLoopEnd => {
            format!(
                "at the end of the loop around {a} and {b}, and also between them if invocations meet there in one iteration"
            )
        }
    }
}

/// The instruction or function that does a read-modify-write.
fn update_name(operation: AtomicOp, dialect: Dialect) -> &'static str {
    use AtomicOp::*;
    let (spirv, glsl) = match operation {
        Exchange => ("OpAtomicExchange", "atomicExchange"),
        CompareExchange => ("OpAtomicCompareExchange", "atomicCompSwap"),
        IAdd => ("OpAtomicIAdd", "atomicAdd"),
        ISub => ("OpAtomicISub", "atomicAdd of the negated value"),
        SMin => ("OpAtomicSMin", "atomicMin"),
        UMin => ("OpAtomicUMin", "atomicMin"),
        SMax => ("OpAtomicSMax", "atomicMax"),
        UMax => ("OpAtomicUMax", "atomicMax"),
        And => ("OpAtomicAnd", "atomicAnd"),
        Or => ("OpAtomicOr", "atomicOr"),
        Xor => ("OpAtomicXor", "atomicXor"),
        FAdd => ("OpAtomicFAddEXT", "atomicAdd (GL_EXT_shader_atomic_float)"),
        FMin => ("OpAtomicFMinEXT", "atomicMin (GL_EXT_shader_atomic_float2)"),
        FMax => ("OpAtomicFMaxEXT", "atomicMax (GL_EXT_shader_atomic_float2)"),
    };
    if dialect == Dialect::Spirv { spirv } else { glsl }
}
