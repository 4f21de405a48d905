//! Hazards between commands as people read them: which commands, which bytes, which element of the dependency
//! is missing, and the masks to add.

use super::api::ApiFinding;
use super::context::{DispatchContext, Object, base_name};
use super::groups::FixPlace;
use super::json;
use super::note::{FixKind, Note, NoteKind};
use super::source::excerpt;
use super::suppress::Subject;
use super::text::Shown;
use super::timeline::Timeline;
use super::words::join;
use pellucid_memory::commands::{Accesses, BarrierGap, Fix, Hazard, Operand, Stages};
use pellucid_memory::finding::FindingId;
use serde_json::{Value, json};

/// One of the two commands of a hazard.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// The entry point that recorded it.
    pub command: &'a str,
    /// Where it stands: "command 3 of submission 1 on queue 0".
    pub position: String,
    /// Open debug labels, outermost first.
    pub labels: &'a [String],
    /// The dispatch, if it is one.
    pub dispatch: Option<DispatchContext<'a>>,
    /// What a barrier does to the memory that it is for.
    pub transition: Option<String>,
}

/// A hazard and what the driver knows about it.
#[derive(Clone, Debug)]
pub struct HazardReport<'a> {
    /// As the tracker found it.
    pub hazard: &'a Hazard,
    /// The VkDevice: [`Device::ordinal`](crate::device::Device::ordinal).
    pub device: u64,
    /// The earlier command.
    pub first: Side<'a>,
    /// The later command.
    pub second: Side<'a>,
    /// The barrier that the fix extends, as it is told.
    pub barrier: Option<String>,
    /// Where the fix is made; `None` if the commands there are too long ago to be named.
    pub fix_place: Option<FixPlace>,
    /// The debug name of the semaphore that the fix changes.
    pub semaphore: String,
    /// The memory: `buffer "x"`, and the offset of its first byte in device addresses.
    pub place: Option<(Object, u64)>,
    /// Other buffers and images that hold the first byte.
    pub aliases: Vec<Object>,
    /// What was executed from the first to the second.
    pub timeline: Timeline<'a>,
}

impl Side<'_> {
    /// `vkCmdDispatch "blur" (command 3 of submission 1 on queue 0)`.
    pub fn title(&self) -> String {
        let name = match (&self.dispatch, self.labels.last()) {
            (Some(d), _) => format!(", {}", d.title()),
            (None, Some(label)) => format!(" in \"{label}\""),
            (None, None) => String::new(),
        };
        format!("{}{name} ({})", self.command, self.position)
    }

    /// The same, or what it does to the memory that a barrier of it is for.
    pub fn at(&self) -> String {
        match &self.transition {
            Some(transition) => format!("the {transition} of {}", self.title()),
            None => self.title(),
        }
    }

    /// Where an access that a shader made stands in that.
    pub fn location(&self, operand: Option<Operand>) -> Option<String> {
        let (site, _) = operand?.shader?;
        Some(self.dispatch.as_ref()?.location(site))
    }

    /// The command's members of the report.
    pub fn json(&self) -> Value {
        json!({
            "command": self.command,
            "position": self.position,
            "labels": self.labels,
            "dispatch": self.dispatch.as_ref().map(|d| d.number),
            "transition": self.transition,
        })
    }

    /// What suppressions of a finding about this command alone, and an object, are matched against.
    pub fn subject(&self, object: &Object) -> Subject {
        let mut names = vec![object.name.clone(), self.command.to_owned()];
        names.extend(self.labels.iter().cloned());
        Subject { shaders: self.dispatch.iter().map(|d| d.shader.name.clone()).collect(), names }
    }

    /// The source line of an access that is the only one.
    pub fn shown_alone(&self, operand: Option<Operand>) -> Vec<Shown> {
        operand.and_then(|operand| self.shown(&operand, None)).into_iter().collect()
    }

    /// The source line of an access: the only one, or the first or second of two.
    fn shown(&self, operand: &Operand, number: Option<usize>) -> Option<Shown> {
        let dispatch = self.dispatch.as_ref()?;
        let (site, by) = operand.shader?;
        let info = dispatch.site(site)?;
        let [x, y, z] = by.workgroup;
        let what = if operand.write.is_empty() {
            "read"
        } else if operand.read.is_empty() {
            "written"
        } else {
            "read and written"
        };
        let label = format!(
            "{}{what} by invocation {} of workgroup ({x},{y},{z}), {}",
            number.map_or(String::new(), |number| format!("({number}) ")),
            by.local_index,
            dispatch.title()
        );
        let primary = number != Some(1);
        Some(match excerpt(dispatch.shader, info, !operand.write.is_empty()) {
            Some(e) => Shown {
                path: base_name(&e.name).to_owned(),
                text: e.text,
                first_line: 1,
                span: e.span,
                label,
                primary,
            },
            None => Shown {
                path: format!("{}, SPIR-V word", dispatch.shader.name),
                text: info.instruction.clone(),
                first_line: info.word as usize,
                span: 0..info.instruction.len(),
                label,
                primary,
            },
        })
    }
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let all = join(names, " | ");
    if all.is_empty() { "NONE".to_owned() } else { all }
}

/// Stage bits by their names without `VK_PIPELINE_STAGE_2_` and `_BIT`.
pub fn stages(mask: Stages) -> String {
    joined(mask.iter_names().map(|(name, _)| match name {
        "COPY_INDIRECT" => "COPY_INDIRECT_KHR",
        "CONDITIONAL_RENDERING" => "CONDITIONAL_RENDERING_EXT",
        "TRANSITION" => "ALL_COMMANDS",
        "GRAPHICS" => "ALL_GRAPHICS",
        name => name,
    }))
}

/// Access bits by their names without `VK_ACCESS_2_` and `_BIT`. Those of transitions and sparse bindings
/// have none.
pub fn accesses(mask: Accesses) -> String {
    let nameless = Accesses::TRANSITION | Accesses::SPARSE_BINDING;
    joined((mask - nameless).iter_names().map(|(name, _)| match name {
        "DESCRIPTOR_BUFFER_READ" => "DESCRIPTOR_BUFFER_READ_EXT",
        "CONDITIONAL_RENDERING_READ" => "CONDITIONAL_RENDERING_READ_EXT",
        name => name,
    }))
}

/// The bits that a barrier's masks lack, each with its mask.
fn gap_parts(gap: &BarrierGap) -> impl Iterator<Item = (String, &'static str)> {
    let stage = |mask: Stages| (!mask.is_empty()).then(|| stages(mask));
    let access = |mask: Accesses| (!mask.is_empty()).then(|| accesses(mask));
    let parts = [
        (stage(gap.source), "srcStageMask"),
        (access(gap.available), "srcAccessMask"),
        (stage(gap.destination), "dstStageMask"),
        (access(gap.visible), "dstAccessMask"),
    ];
    parts.into_iter().filter_map(|(bits, mask)| Some((bits?, mask)))
}

/// `COMPUTE_SHADER in dstStageMask`, ...
pub(super) fn gap_words(gap: &BarrierGap) -> Vec<String> {
    gap_parts(gap).map(|(bits, mask)| format!("{bits} in {mask}")).collect()
}

impl HazardReport<'_> {
    fn sides(&self) -> [(&Side<'_>, &Operand, Stages); 2] {
        let h = self.hazard;
        [(&self.first, &h.first_operand, h.first_at.1), (&self.second, &h.second_operand, h.second_at.1)]
    }

    /// Bytes of the object, or device addresses.
    fn bytes(&self) -> String {
        let (object, base) = match &self.place {
            Some((object, base)) => (object.called(), *base),
            None => ("device memory".to_owned(), 0),
        };
        let aliases: Vec<String> = self.aliases.iter().map(Object::called).collect();
        let aliases = match aliases.as_slice() {
            [] => String::new(),
            all => format!(", the same memory as {}", all.join(" and ")),
        };
        let all = &self.hazard.bytes;
        let told: Vec<String> =
            all.iter().take(4).map(|r| format!("{}..{}", r.start - base, r.end - base)).collect();
        let more = if all.len() > 4 { format!(" and {} more ranges", all.len() - 4) } else { String::new() };
        format!("bytes {}{more} of {object}{aliases}", told.join(", "))
    }

    fn missing(&self) -> Note {
        let h = self.hazard;
        let [(first, w, _), (_, y, _)] = self.sides();
        if h.id == FindingId::HazardSparseBinding {
            let text = "missing: an execution dependency: nothing makes (1) happen before (2). Sparse bindings have no place in \
                        submission order: only semaphores, fences and waits of the host order them";
            return Note::new(NoteKind::MissingExecutionDependency, text);
        }
        if !h.executed {
            let text = "missing: an execution dependency: nothing makes (1) happen before (2)";
            return Note::new(NoteKind::MissingExecutionDependency, text);
        }
        let reads = !y.read.is_empty() && !w.write.is_empty() && h.id == FindingId::HazardReadAfterWrite;
        let text = if first.transition.is_some() {
            "missing: (1) happens before (2), but no memory dependency makes what it writes visible to that access"
        } else if reads {
            "missing: (1) happens before (2), but no memory dependency makes its write available and visible to that access"
        } else {
            "missing: (1) happens before (2), but no memory dependency makes its write available"
        };
        Note::new(NoteKind::MissingMemoryDependency, text)
    }

    fn fix(&self) -> String {
        match &self.hazard.fix {
            Fix::Extend(gap) => {
                let parts: Vec<String> =
                    gap_parts(gap).map(|(bits, mask)| format!("{bits} to {mask}")).collect();
                let barrier = self.barrier.as_deref().unwrap_or("the barrier");
                let masks = format!("add {} of {barrier}", parts.join(" and "));
                match (gap.range, parts.is_empty()) {
                    (true, true) => format!("extend the range of {barrier} to these bytes"),
                    (true, false) => format!("{masks}, and extend its range to these bytes"),
                    (false, _) => masks,
                }
            }
            Fix::Insert { source, available, destination, visible } => format!(
                "insert a barrier between them: srcStageMask {}, srcAccessMask {}, dstStageMask {}, dstAccessMask {}",
                stages(*source),
                accesses(*available),
                stages(*destination),
                accesses(*visible)
            ),
            Fix::ExtendSemaphore(gap) => {
                let (waits, signals) = (gap.waits.0, gap.signals.0);
                let semaphore = match self.semaphore.as_str() {
                    "" => "the semaphore".to_owned(),
                    name => format!("semaphore \"{name}\""),
                };
                let mut parts = Vec::new();
                if let Some((value, instead)) = gap.value {
                    parts.push(format!("wait for value {instead} of {semaphore} in place of {value}"));
                }
                if !gap.wait_stages.is_empty() {
                    parts.push(format!(
                        "add {} to the stages that wait for {semaphore}",
                        stages(gap.wait_stages)
                    ));
                }
                if !gap.signal_stages.is_empty() {
                    let stages = stages(gap.signal_stages);
                    if parts.is_empty() {
                        return format!(
                            "in the submission on queue {signals}: add {stages} to the stages after which it signals {semaphore}"
                        );
                    }
                    parts.push(format!(
                        "add {stages} to the stages after which queue {signals} signals {semaphore}"
                    ));
                }
                format!("in the submission on queue {waits}: {}", parts.join(", and "))
            }
            Fix::Semaphore { from, to, stage } => {
                let submission = |at: (_, Stages)| match at.1 {
                    Stages::SPARSE_BINDING => "vkQueueBindSparse",
                    _ => "the submission",
                };
                let (from, to) = (from.0, to.0);
                let signal =
                    format!("signal a semaphore in {} on queue {from}", submission(self.hazard.first_at));
                match self.hazard.id {
                    FindingId::HazardSparseBinding if *stage == Stages::SPARSE_BINDING => {
                        format!("{signal} and wait for it in vkQueueBindSparse on queue {to}")
                    }
                    _ => format!("{signal} and wait for it on queue {to} at {}", stages(*stage)),
                }
            }
        }
    }
}

impl ApiFinding for HazardReport<'_> {
    fn id(&self) -> FindingId {
        self.hazard.id
    }

    /// Command, shader and static instruction of each side; of commands without a shader the device and the
    /// place, which say which ones they are.
    fn key(&self) -> String {
        let mut key = String::new();
        for (side, operand, _) in self.sides() {
            key.push_str(&format!("|{}", side.command));
            match (&side.dispatch, operand.shader) {
                (Some(d), Some((site, _))) => {
                    key.push_str(&format!("|{}|{}", d.shader.name, d.location(site)))
                }
                _ => key.push_str(&format!("|{}|{}", self.device, side.position)),
            }
        }
        key
    }

    fn subject(&self) -> Subject {
        let mut subject = Subject::default();
        for side in [&self.first, &self.second] {
            subject.names.push(side.command.to_owned());
            subject.names.extend(side.labels.iter().cloned());
            let Some(dispatch) = &side.dispatch else { continue };
            subject.shaders.push(dispatch.shader.name.clone());
            subject.shaders.push(dispatch.pipeline.to_owned());
            subject.shaders.extend(dispatch.shader.files.iter().map(|f| base_name(&f.name).to_owned()));
        }
        subject.names.extend(self.objects().into_iter().map(|object| object.name));
        subject
    }

    fn objects(&self) -> Vec<Object> {
        self.place.iter().map(|(object, _)| object).chain(&self.aliases).cloned().collect()
    }

    fn shown(&self) -> Vec<Shown> {
        let sides = self.sides().into_iter().enumerate().rev();
        sides.filter_map(|(i, (side, operand, _))| side.shown(operand, Some(i + 1))).collect()
    }

    fn notes(&self) -> Vec<Note> {
        let mut out = Vec::new();
        for (i, (side, operand, stage)) in self.sides().into_iter().enumerate() {
            let what = match &side.transition {
                Some(transition) => transition.clone(),
                None if stage == Stages::SPARSE_BINDING => "binds or unbinds memory there".to_owned(),
                None => format!("stage {}, access {}", stages(stage), accesses(operand.read | operand.write)),
            };
            out.push(Note::new(NoteKind::Access, format!("({}) {}: {what}", i + 1, side.title())));
        }
        out.push(Note::new(NoteKind::Place, format!("both on {}", self.bytes())));
        out.push(self.missing());
        out
    }

    fn help(&self) -> Note<FixKind> {
        let kind = match self.hazard.fix {
            Fix::Extend(_) | Fix::Insert { .. } => FixKind::PipelineBarrier,
            Fix::ExtendSemaphore(_) | Fix::Semaphore { .. } => FixKind::Semaphore,
        };
        Note::new(kind, self.fix())
    }

    fn fix_place(&self) -> Option<FixPlace> {
        self.fix_place
    }

    fn members(&self) -> Value {
        let sides = self.sides().map(|(side, operand, stage)| {
            let site = side.dispatch.as_ref().zip(operand.shader);
            let write = !operand.write.is_empty();
            let mut members = side.json();
            members["stage"] = json!(stages(stage));
            members["access"] = json!(accesses(operand.read | operand.write));
            members["location"] = json!(side.location(Some(*operand)));
            members["source"] = json!(site.and_then(|(d, (site, _))| json::source(d, d.site(site)?, write)));
            members["title"] = json!(side.title());
            members
        });
        let memory = |o: Object| json!({ "what": o.what, "name": o.name });
        let memory: Vec<Value> = self.objects().into_iter().map(memory).collect();
        json!({
            "commands": sides,
            "bytes": self.bytes(),
            "memory": memory,
            "timeline": self.timeline.json(),
            "hazard": self.hazard,
        })
    }
}
