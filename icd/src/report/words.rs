//! What accesses, facts, gaps and edits are called: in the terms of the GLSL memory scope extension, of plain
//! GLSL, or of SPIR-V.

use super::context::{Context, DispatchContext};
use super::element::untyped;
use super::misuse;
use super::texel::{self, Layers};
use pellucid_memory::access::{AtomicOp, Site};
use pellucid_memory::finding::{
    Absence, AccessInfo, AccessKind, Fact, Finding, FindingId, Missing, Wait, WaitReason,
};
use pellucid_memory::machine::{CacheKind, CachedCopy};
use pellucid_memory::scope::{Scope, StorageClasses};
use pellucid_shader_interp::ir::{Shader, SiteInfo, SourceLanguage};

/// Whose words a finding is told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// GLSL with `#pragma use_vulkan_memory_model` (GL_KHR_memory_scope_semantics).
    ScopedGlsl,
    /// GLSL whose module declares the GLSL450 memory model.
    Glsl,
    /// Anything else.
    Spirv,
}

impl Dialect {
    /// The dialect of a shader.
    pub fn of(shader: &Shader) -> Dialect {
        match (shader.language, shader.vulkan_memory_model) {
            (SourceLanguage::Glsl, true) => Dialect::ScopedGlsl,
            (SourceLanguage::Glsl, false) => Dialect::Glsl,
            _ => Dialect::Spirv,
        }
    }

    pub(super) fn scope(self, scope: Scope) -> &'static str {
        match (self, scope) {
            (Dialect::Spirv, Scope::Invocation) => "Invocation",
            (Dialect::Spirv, Scope::Subgroup) => "Subgroup",
            (Dialect::Spirv, Scope::Workgroup) => "Workgroup",
            (Dialect::Spirv, Scope::QueueFamily) => "QueueFamily",
            (Dialect::Spirv, Scope::Device) => "Device",
            (_, Scope::Invocation) => "gl_ScopeInvocation",
            (_, Scope::Subgroup) => "gl_ScopeSubgroup",
            (_, Scope::Workgroup) => "gl_ScopeWorkgroup",
            (_, Scope::QueueFamily) => "gl_ScopeQueueFamily",
            (_, Scope::Device) => "gl_ScopeDevice",
        }
    }

    pub(super) fn classes(self, classes: StorageClasses) -> String {
        let names = [
            (StorageClasses::UNIFORM, "UniformMemory", "gl_StorageSemanticsBuffer"),
            (StorageClasses::WORKGROUP, "WorkgroupMemory", "gl_StorageSemanticsShared"),
            (StorageClasses::IMAGE, "ImageMemory", "gl_StorageSemanticsImage"),
            (StorageClasses::OUTPUT, "OutputMemory", "gl_StorageSemanticsOutput"),
        ];
        let chosen = names.iter().filter(|(class, ..)| classes.contains(*class));
        join(chosen.map(|(_, spirv, glsl)| if self == Dialect::Spirv { *spirv } else { *glsl }), " | ")
    }
}

/// The first line of a finding.
pub fn title(id: FindingId) -> &'static str {
    use FindingId::*;
    match id {
        RaceUnordered => "two accesses race: nothing makes one happen before the other",
        RacePrivate => "a private access races with another invocation's",
        RaceNotAvailable => "a write is not made available to the access that follows it",
        RaceNotVisible => "a read may miss a write that happens before it",
        RaceScope => "two accesses race: the scope of the synchronisation is too narrow",
        RaceStorageClass => "two accesses race: the synchronisation does not cover their storage class",
        RaceReference => "one location is reached through two references",
        RaceSameInvocation => {
            "one invocation reaches one location in two ways, and nothing orders them in memory"
        }
        RaceSameSubgroup => {
            "a cooperative matrix is stored to where its subgroup loaded one, and nothing orders the two in memory"
        }
        RaceMixedScopeAtomics => "two atomics race: they are not in each other's scope",
        HazardReadAfterWrite => {
            "a command reads what an earlier command wrote, and no dependency makes it visible"
        }
        HazardWriteAfterRead => "a command writes what an earlier command may still read",
        HazardWriteAfterWrite => {
            "a command writes what an earlier command wrote, and no dependency orders them"
        }
        HazardReadRacingWrite => "a read races with a write on another queue",
        HazardWriteRacingRead => "a write races with a read on another queue",
        HazardWriteRacingWrite => "two writes on different queues race",
        HazardLayoutTransition => "a layout transition or ownership transfer is not ordered with an access",
        HazardSparseBinding => {
            "a sparse binding is not ordered with a use of the same bytes, or with another binding"
        }
        HostNotFlushed => "the device reads bytes that the host wrote and had not flushed",
        HostNotInvalidated => "the host uses bytes that the device wrote and that it never invalidated",
        HostNoBarrier => "no dependency makes a write available between the host and the device",
        HostInFlight => "the host accesses memory that the device is using",
        ImageLayout => "an image is not in the layout that its use needs",
        QueueFamilyOwnership => "a buffer or image is used by a queue family that does not own it",
        QueueFamilyNotReleased => "a buffer that another queue family wrote is read without a transfer",
        UninitialisedRead => "a read of memory that nothing has written",
        OutOfBounds => "an access outside the bounds of its object",
        OutOfBoundsRobust => "an access outside the bounds of its object, which is defined here",
        FreedInUse => "an object is destroyed or changed while the device uses it",
        ApiMisuse => "a call breaks a rule of valid usage",
        NeverRan => "submitted work never ran",
        BarrierDivergence => "a barrier is not reached by all invocations of its scope",
        CooperativeMatrixDivergence => {
            "a cooperative matrix instruction is not executed by the whole subgroup with the same operands"
        }
        DerivativeDivergence => "a derivative is not computed by all invocations of its quad",
        Livelock => "no invocation can make progress",
        DivideByZero => "the result of an integer division by zero is undefined",
        ShiftOutOfRange => "the result of a shift by the operand's width or more is undefined",
        ConversionOutOfRange => {
            "the result of a conversion to an integer that cannot hold the value is undefined"
        }
        ImplicitDerivativeDivergence => {
            "the level that is sampled is undefined where not all invocations of a quad sample"
        }
        NonUniformIndex => {
            "invocations that run together select different descriptors by an index that is not decorated NonUniform"
        }
    }
}

/// The family that totals count a finding under: `race`, `hazard`, `host`, `api`, or the id itself.
pub fn family(id: FindingId) -> &'static str {
    match id.name().split_once('-') {
        Some(("race", _)) => "race",
        Some(("hazard", _)) => "hazard",
        Some(("host", _)) => "host",
        _ if [FindingId::ApiMisuse, FindingId::NeverRan].contains(&id) => misuse::FAMILY,
        _ => id.name(),
    }
}

/// A scope in prose.
pub fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Invocation => "invocation",
        Scope::Subgroup => "subgroup",
        Scope::Workgroup => "workgroup",
        Scope::QueueFamily => "queue family",
        Scope::Device => "device",
    }
}

/// Storage classes in prose.
pub fn class_name(classes: StorageClasses) -> String {
    let names = [
        (StorageClasses::UNIFORM, "buffer"),
        (StorageClasses::WORKGROUP, "shared"),
        (StorageClasses::IMAGE, "image"),
        (StorageClasses::OUTPUT, "output"),
    ];
    join(names.iter().filter(|(class, _)| classes.contains(*class)).map(|(_, name)| *name), " and ")
}

/// A value that an access returned or may return, in the type of what it accesses; of 8 bytes that were read
/// by halves, the half's bits.
pub fn value(bits: u64, access: &AccessInfo, dispatch: Option<&DispatchContext<'_>>) -> String {
    match (access.half, dispatch.and_then(|dispatch| dispatch.value_type(access))) {
        (Some(half), _) => format!("{bits:#x} in the {} 4 bytes", ["lower", "upper"][usize::from(half & 1)]),
        (None, Some(value_type)) => value_type.show(bits),
        (None, None) => untyped(bits),
    }
}

/// Which cache holds a copy, such as `texture cache of compute units 0 to 3`.
pub fn cache(copy: &CachedCopy) -> String {
    let kind = match copy.kind {
        CacheKind::First => "first level",
        CacheKind::Second => "second level",
        CacheKind::Texture => "texture cache",
        CacheKind::Constant => "constant cache",
        CacheKind::Host => return "host's cache".to_owned(),
    };
    match copy.units {
        (unit, 1) => format!("{kind} of compute unit {unit}"),
        (unit, count) => format!("{kind} of compute units {unit} to {}", unit + count - 1),
    }
}

/// What the caches of the machine held when an access read, the point of coherency last.
pub fn caches(access: &AccessInfo, dispatch: Option<&DispatchContext<'_>>) -> Option<String> {
    let cached = access.caches.as_ref()?;
    let shown = |bits: u32| value(u64::from(bits), access, dispatch);
    let copies = cached.copies.iter().map(|copy| {
        let dirty = if copy.dirty != 0 { ", not written back" } else { "" };
        format!("{} in the {}{dirty}; ", shown(copy.value), cache(copy))
    });
    let coherent = shown(cached.coherent);
    Some(format!("{}{coherent} at the point of coherency", copies.collect::<String>()))
}

/// Who made an access and what it did, such as `(2) read by invocation 0 (subgroup 0) of the same workgroup:
/// got 0 (stale), newest is 17`.
pub fn access(index: usize, finding: &Finding, context: &Context<'_>) -> String {
    let access = &finding.accesses[index];
    let by = access.by;
    let verb = match (access.kind, access.atomic) {
        (AccessKind::Read, None) => "read".to_owned(),
        (AccessKind::Write, None) => "written".to_owned(),
        (AccessKind::Read, Some(scope)) => format!("read atomically at {} scope", scope_name(scope)),
        (AccessKind::Write, Some(scope)) => format!("written atomically at {} scope", scope_name(scope)),
        (AccessKind::ReadModifyWrite(op), scope) => {
            let at = scope.map(|s| format!(" at {} scope", scope_name(s))).unwrap_or_default();
            format!("updated by atomic {}{at}", operation(op))
        }
    };
    let verb = match finding.id {
        FindingId::BarrierDivergence => "reached".to_owned(),
        FindingId::CooperativeMatrixDivergence
        | FindingId::DerivativeDivergence
        | FindingId::ImplicitDerivativeDivergence
        | FindingId::DivideByZero
        | FindingId::ShiftOutOfRange
        | FindingId::NonUniformIndex
        | FindingId::ConversionOutOfRange => "executed".to_owned(),
        FindingId::Livelock if access.place.size == 0 => "reached".to_owned(),
        FindingId::Livelock => format!("{verb} again and again"),
        _ => verb,
    };
    let mut who = format!("invocation {} (subgroup {})", by.local_index, by.subgroup);
    let first = finding.accesses[0].by;
    if index > 0 && finding.id == FindingId::RaceSameInvocation {
        "the same invocation".clone_into(&mut who);
    } else if index > 0 && first.dispatch == by.dispatch && first.workgroup == by.workgroup {
        who.push_str(" of the same workgroup");
    } else {
        let [x, y, z] = by.workgroup;
        who.push_str(&format!(" of workgroup ({x},{y},{z})"));
        if index == 0 || first.dispatch != by.dispatch {
            let title = context.of(access).map(DispatchContext::title);
            who.push_str(&format!(", {}", title.unwrap_or_else(|| format!("dispatch {}", by.dispatch))));
        }
    }
    let number = if finding.accesses.len() > 1 { format!("({}) ", index + 1) } else { String::new() };
    let value = |bits: u64| value(bits, access, context.of(access));
    let got = match (access.returned, access.newest) {
        (Some(got), Some(newest)) if got != newest => {
            format!(": got {} (stale), newest is {}", value(got), value(newest))
        }
        (Some(got), _) if matches!(access.kind, AccessKind::Read) => format!(": got {}", value(got)),
        _ => String::new(),
    };
    format!("{number}{verb} by {who}{got}")
}

pub(super) fn operation(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::Exchange => "exchange",
        AtomicOp::CompareExchange => "compare-exchange",
        AtomicOp::IAdd | AtomicOp::FAdd => "add",
        AtomicOp::ISub => "subtract",
        AtomicOp::SMin | AtomicOp::UMin | AtomicOp::FMin => "min",
        AtomicOp::SMax | AtomicOp::UMax | AtomicOp::FMax => "max",
        AtomicOp::And => "and",
        AtomicOp::Or => "or",
        AtomicOp::Xor => "xor",
    }
}

/// The texel, the element or the bytes that an access reached, in prose.
pub fn part(access: &AccessInfo, dispatch: &DispatchContext<'_>) -> String {
    if let Some(texel) = dispatch.texel(access) {
        let image = dispatch.object(access).and_then(|object| object.texels.as_ref());
        return texel::name(&texel, image.map_or(Layers::Array, |image| image.layers));
    }
    let element = dispatch.element(access);
    if dispatch.is_push_constant(access) && access.place.size > 0 {
        let first = access.place.offset;
        let bytes = format!("bytes {first} to {}", first + u64::from(access.place.size) - 1);
        return element.map_or(bytes.clone(), |element| format!("{element}, {bytes}"));
    }
    let offset = dispatch.offset(access).unwrap_or(access.place.offset);
    let bytes = format!(
        "{} at offset {offset}",
        if access.place.size == 1 { "1 byte".to_owned() } else { format!("{} bytes", access.place.size) }
    );
    match element {
        Some(element) if access.place.class.is_empty() => element,
        Some(element) => format!("{element}, {bytes}"),
        None => bytes,
    }
}

/// Which push constants were set, as a note.
pub fn pushed(dispatch: &DispatchContext<'_>) -> String {
    let runs: Vec<String> =
        dispatch.pushed.iter().take(4).map(|(first, last)| format!("{first} to {last}")).collect();
    match runs.as_slice() {
        [] => "no vkCmdPushConstants comes before the dispatch in its command buffer".to_owned(),
        runs => {
            let more = if dispatch.pushed.len() > runs.len() { ", ..." } else { "" };
            format!(
                "vkCmdPushConstants set bytes {}{more} before the dispatch in its command buffer",
                runs.join(", ")
            )
        }
    }
}

/// A fact, as a note.
pub fn fact(fact: &Fact, dispatch: &DispatchContext<'_>) -> String {
    match fact {
        Fact::HappensBefore(sites) if sites.is_empty() => {
            "(1) happens before (2) in program order".to_owned()
        }
        Fact::HappensBefore(sites) => {
            let mut path: Vec<String> = sites.iter().map(|s| at(*s, dispatch)).collect();
            path.dedup();
            format!("(1) happens before (2): {}", path.join(", then "))
        }
        Fact::MadeAvailable(site, scope) => {
            format!("(1) is made available at {} scope by {}", scope_name(*scope), at(*site, dispatch))
        }
        Fact::MadeVisible(site, scope) => {
            format!(
                "memory is made visible to (2) at {} scope by {}",
                scope_name(*scope),
                at(*site, dispatch)
            )
        }
        Fact::SameReference => "both accesses go through the same reference".to_owned(),
        Fact::BothAtomic => "both accesses are atomic".to_owned(),
        Fact::ClosestPair(release, acquire) => format!(
            "the closest release and acquire, which do not synchronise: {} and {}",
            at(*release, dispatch),
            at(*acquire, dispatch)
        ),
        Fact::Waits(wait) => {
            let (who, does) = waits(wait, dispatch);
            format!("{who} {does}")
        }
        Fact::MoreWait(subgroups, workgroups) => {
            let count = |n: u64, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
            match (subgroups, workgroups) {
                (n, 0) => count(*n, "more subgroup makes no progress", "more subgroups make no progress"),
                (0, n) => count(*n, "more workgroup has not started", "more workgroups have not started"),
                (n, m) => format!(
                    "{}, and {}",
                    count(*n, "more subgroup makes no progress", "more subgroups make no progress"),
                    count(*m, "more workgroup has not started", "more workgroups have not started")
                ),
            }
        }
        Fact::Bounds(_, 0) => "nothing is bound there".to_owned(),
        Fact::Bounds(class, bytes) => {
            let of = if *class == StorageClasses::UNIFORM { "descriptor's range" } else { "variable" };
            format!("the {of} has {bytes} bytes")
        }
        Fact::Absent(absence, runs) => {
            let where_ = match absence {
                Absence::Ended => "ended before it",
                Absence::Past => "took a path that goes on behind it",
                Absence::OtherBarrier => "waits at another barrier",
            };
            absent(runs, where_)
        }
        Fact::SameValue => {
            "each of the writes that met wrote the value that was there; a race is undefined all the same"
                .to_owned()
        }
        Fact::Rehearsal(number) => format!(
            "seen in rehearsal {number} of the dispatch, which may execute so; not in the execution that the \
             program got"
        ),
    }
}

/// Which invocations wait; and what they do, at which line, and for which value.
pub fn waits(wait: &Wait, dispatch: &DispatchContext<'_>) -> (String, String) {
    let by = wait.access.by;
    let [x, y, z] = by.workgroup;
    let count: u32 = wait.invocations.iter().map(|(first, last)| last - first + 1).sum();
    let one = count <= 1;
    let (first, last) = (by.local_index, wait.invocations.last().map_or(by.local_index, |run| run.1));
    let which = match count {
        0 | 1 => format!("invocation {first}"),
        2 => format!("invocations {first} and {last}"),
        n if last - first + 1 == n => format!("invocations {first} to {last}"),
        n => format!("{n} invocations from {first} to {last}"),
    };
    let who = format!("{which} (subgroup {}) of workgroup ({x},{y},{z})", by.subgroup);
    let verb = |one_of_them: &'static str, several: &'static str| if one { one_of_them } else { several };
    let place = dispatch.location(wait.access.site);
    let does = match wait.reason {
        WaitReason::Repeats if wait.access.place.size > 0 => {
            let seen = wait.access.returned.map_or(String::new(), |bits| {
                format!(", which holds {}", value(bits, &wait.access, Some(dispatch)))
            });
            let wrote = wait.wrote.map_or(String::new(), |by| {
                let [x, y, z] = by.workgroup;
                format!(", written last by invocation {} of workgroup ({x},{y},{z})", by.local_index)
            });
            format!(
                "{} at {place} for a change of {}: {}{seen}{wrote}",
                verb("waits", "wait"),
                dispatch.place(&wait.access),
                part(&wait.access, dispatch)
            )
        }
        WaitReason::Repeats => {
            format!(
                "{} the loop at {place}, and nothing that is read there changes",
                verb("repeats", "repeat")
            )
        }
        WaitReason::Turns => format!("{} still in the loop at {place}", verb("is", "are")),
        WaitReason::Barrier => {
            let what = at(wait.access.site, dispatch);
            format!("{} at the barrier ({what}) for the rest of the workgroup", verb("waits", "wait"))
        }
        WaitReason::Starved => format!(
            "could go on at {place}, but {} not scheduled: the progress model does not guarantee it",
            verb("is", "are")
        ),
        WaitReason::NotStarted => {
            format!("{} not started, and the progress model does not guarantee it", verb("has", "have"))
        }
    };
    (who, does)
}

/// Who did not reach a barrier, such as `invocations 32 to 63 (32 of them) ended before it`.
fn absent(runs: &[(u32, u32)], what: &str) -> String {
    /// Runs that are named one by one.
    const NAMED: usize = 4;
    let count: u64 = runs.iter().map(|(first, last)| u64::from(last - first) + 1).sum();
    if let [(only, last)] = runs
        && only == last
    {
        return format!("invocation {only} {what}");
    }
    let mut names: Vec<String> = runs
        .iter()
        .take(NAMED)
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first} to {last}"),
        })
        .collect();
    if runs.len() > NAMED {
        names.push("...".to_owned());
    }
    let what = what.replacen("waits", "wait", 1);
    format!("invocations {} ({count} of the workgroup) {what}", names.join(", "))
}

/// A synchronising instruction with its place: `OpControlBarrier at reduce.comp:33`, or what GLSL calls it.
pub(super) fn at(site: Site, dispatch: &DispatchContext<'_>) -> String {
    match dispatch.site(site) {
        Some(info) if info.source.is_some() => {
            format!("{} at {}", called(site, dispatch), dispatch.location(site))
        }
        _ => dispatch.location(site),
    }
}

/// The opcode of an instruction, if it is known.
pub(super) fn opcode<'a>(site: Site, dispatch: &DispatchContext<'a>) -> Option<&'a str> {
    opcode_of(dispatch.site(site)?)
}

/// The opcode of an instruction.
pub(super) fn opcode_of(info: &SiteInfo) -> Option<&str> {
    info.instruction.split_whitespace().find(|word| word.starts_with("Op"))
}

/// The opcode of a synchronising instruction, or what GLSL calls it.
pub(super) fn called<'a>(site: Site, dispatch: &DispatchContext<'a>) -> &'a str {
    let opcode = opcode(site, dispatch).unwrap_or("instruction");
    match (Dialect::of(dispatch.shader), opcode) {
        (Dialect::Spirv, _) => opcode,
        (Dialect::ScopedGlsl, "OpControlBarrier") => "controlBarrier",
        (Dialect::Glsl, "OpControlBarrier") => "barrier",
        (_, "OpMemoryBarrier") => "memoryBarrier",
        (_, "OpAtomicLoad") => "atomicLoad",
        (_, "OpAtomicStore") => "atomicStore",
        (_, "OpAtomicIAdd" | "OpAtomicFAddEXT") => "atomicAdd",
        (_, "OpAtomicExchange") => "atomicExchange",
        (_, "OpAtomicCompareExchange") => "atomicCompSwap",
        _ => opcode,
    }
}

/// What is missing, as a note.
pub fn missing(missing: &Missing, dispatch: &DispatchContext<'_>) -> String {
    let dialect = Dialect::of(dispatch.shader);
    match missing {
        Missing::HappensBefore => "missing: a happens-before path between (1) and (2)".to_owned(),
        Missing::NonPrivate(site) => {
            format!("missing: the access at {} is private, so no synchronisation covers it", dispatch.location(*site))
        }
        Missing::Availability(scope) => {
            format!("missing: an availability operation for (1) at {} scope or wider", scope_name(*scope))
        }
        Missing::Visibility(scope) => {
            format!("missing: a visibility operation for (2) at {} scope or wider", scope_name(*scope))
        }
        Missing::WiderScope(site, scope) => {
            format!("missing: {} does not reach both invocations; it takes {} scope", at(*site, dispatch), scope_name(*scope))
        }
        Missing::StorageClass(site, classes) => format!(
            "missing: the semantics of {} do not name {} memory ({})",
            at(*site, dispatch),
            class_name(*classes),
            dialect.classes(*classes)
        ),
        Missing::CommonReference => {
            "missing: a common reference; through two references only a dependency of the device domain makes a write visible".to_owned()
        }
        Missing::MutualScope => "missing: a scope in which both atomics are mutually ordered".to_owned(),
    }
}

pub(super) fn join<'a>(words: impl Iterator<Item = &'a str>, separator: &str) -> String {
    words.collect::<Vec<_>>().join(separator)
}
