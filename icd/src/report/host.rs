//! An access of the host that is not ordered with one of the device, as people read it.

use super::api::ApiFinding;
use super::caller::Caller;
use super::context::Object;
use super::hazard::{Side, accesses, stages};
use super::note::{FixKind, Note, NoteKind};
use super::suppress::Subject;
use pellucid_memory::commands::{Accesses, HostHazard, Range, Stages};
use pellucid_memory::device::ATOM;
use pellucid_memory::finding::FindingId;
use serde_json::{Value, json};

/// Such a finding and what names its parts.
pub struct HostReport<'a> {
    /// The finding.
    pub hazard: &'a HostHazard,
    /// The call after which the host made the access.
    pub since: &'static str,
    /// Who made that call.
    pub caller: Option<&'a Caller>,
    /// The device's command.
    pub command: Side<'a>,
    /// The barrier that lacks nothing but these bytes, as it is told.
    pub barrier: Option<String>,
    /// The VkDeviceMemory that both access.
    pub memory: Object,
    /// Its device address and size.
    pub extent: (u64, u64),
    /// The buffer or image that holds the first byte, and its device address.
    pub place: Option<(Object, u64)>,
    /// What the host's cache of the machine holds, if it has one.
    pub cache: Option<InCache>,
}

/// What the host's cache of the machine holds of the first words that both access, when the finding is told.
pub struct InCache {
    /// The bytes: the device address of the first one, and that behind the last.
    pub bytes: Range,
    /// What memory holds at these addresses.
    pub memory: Vec<u8>,
    /// Those in the cache, and whether they are not written back; `None`: it has none that memory does not.
    pub held: Option<(Vec<u8>, bool)>,
}

/// Bytes in the order of their addresses, such as `2a 00 00 00`.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

impl HostReport<'_> {
    fn host(&self) -> String {
        let after = if self.since.is_empty() { String::new() } else { format!(" after {}", self.since) };
        format!("the host {}{after}", if self.hazard.writes { "writes" } else { "reads" })
    }

    fn device(&self) -> String {
        let operand = &self.hazard.operand;
        let does = match (operand.read.is_empty(), operand.write.is_empty()) {
            (false, true) => "reads",
            (true, _) => "writes",
            (false, false) => "reads and writes",
        };
        format!("{} {does}", self.command.title())
    }

    /// The bytes, counted from `start`.
    fn bytes(&self, start: u64) -> String {
        let told: Vec<String> = self
            .hazard
            .bytes
            .iter()
            .take(4)
            .map(|b| format!("{}..{}", b.start.saturating_sub(start), b.end.saturating_sub(start)))
            .collect();
        let more = self.hazard.bytes.len().saturating_sub(told.len());
        let more = if more > 0 { format!(" and {more} more runs") } else { String::new() };
        format!("{}{more}", told.join(", "))
    }

    /// What the write has to come before. The work may wait for a signal of the host behind such a call.
    fn start(&self) -> &'static str {
        match self.since {
            "vkQueueSubmit" | "vkQueueSubmit2" | "vkSignalSemaphore" | "vkSetEvent" => {
                "the submission, or before the host's signal that the work waits for"
            }
            _ => "the submission",
        }
    }

    /// The range of the memory that a flush or an invalidate has to name.
    fn range(&self) -> String {
        let (address, size) = self.extent;
        let first = self.hazard.bytes.first().map_or(0, |b| b.start.saturating_sub(address));
        let last = self.hazard.bytes.iter().map(|b| b.end.saturating_sub(address)).max().unwrap_or(0);
        let (first, last) = (first / ATOM * ATOM, last.next_multiple_of(ATOM).min(size));
        format!("offset {first}, size {}", last - first)
    }

    fn missing(&self) -> Note {
        let HostHazard { id, late, discarded, writes, .. } = *self.hazard;
        let (kind, text) = match id {
            FindingId::HostNotFlushed => (
                NoteKind::MissingFlush,
                match (discarded, late) {
                    (true, _) => "missing: the memory is not coherent, and an invalidate came between the write and any flush: the bytes are undefined",
                    (false, true) => "missing: the memory is not coherent, and the flush comes later than the submission",
                    (false, false) => "missing: the memory is not coherent, and nothing made the write available to the device before it read",
                }
                .to_owned(),
            ),
            FindingId::HostNotInvalidated if writes => (
                NoteKind::MissingInvalidate,
                format!("missing: an invalidate before the host wrote other bytes of the same atoms (nonCoherentAtomSize is {ATOM} bytes): the flush writes whole atoms back"),
            ),
            FindingId::HostNotInvalidated => (
                NoteKind::MissingInvalidate,
                "missing: the memory is not coherent, and nothing made the write visible to the host after the work completed: it reads bytes that nobody wrote".to_owned(),
            ),
            FindingId::HostNoBarrier => (
                NoteKind::MissingHostDependency,
                match late {
                    true => "missing: the work waits for a signal of the host, but no dependency from the host makes the write available to it",
                    false => "missing: the work has completed, but no dependency to the host makes the write available to it",
                }
                .to_owned(),
            ),
            _ => (
                NoteKind::MissingCompletion,
                "missing: nothing has told the host that the work has completed, and the work waits for no signal that the host makes afterwards".to_owned(),
            ),
        };
        Note::new(kind, text)
    }

    /// The barrier that is missing, or does not reach far enough.
    fn barrier(&self) -> String {
        let HostHazard { operand, at, late, writes, .. } = self.hazard;
        match &self.barrier {
            Some(barrier) => format!("extend the range of {barrier} to these bytes"),
            None if *late => format!(
                "put a barrier from HOST (HOST_WRITE) to {} ({}) between the wait and {}, or write before the submission",
                stages(at.1),
                accesses(operand.read),
                self.command.command
            ),
            None => format!(
                "after {}, put a barrier from {} ({}) to HOST ({})",
                self.command.command,
                stages(at.1),
                accesses(operand.write),
                if *writes { "HOST_WRITE" } else { "HOST_READ" }
            ),
        }
    }
}

impl ApiFinding for HostReport<'_> {
    fn id(&self) -> FindingId {
        self.hazard.id
    }

    /// The name of the memory's object, and what the host and the device did. What depends on how far the
    /// device had come when the host was looked at, or on whether the buffer was still there, makes no other
    /// finding: of work that is pending only the object counts.
    fn key(&self) -> String {
        let (object, start) = match &self.place {
            Some((object, start)) => (object, *start),
            None => (&self.memory, self.extent.0),
        };
        let HostHazard { id, operand, late, discarded, .. } = self.hazard;
        if *id == FindingId::HostInFlight {
            return if object.name.is_empty() { format!("{start:#x}") } else { object.name.clone() };
        }
        let shader = self.command.dispatch.as_ref().map_or("", |d| d.shader.name.as_str());
        let accesses = (operand.read, operand.write, late, discarded);
        format!("{}|{}|{}|{shader}|{accesses:?}", object.name, self.host(), self.command.command)
    }

    fn subject(&self) -> Subject {
        let mut names: Vec<String> = self.objects().into_iter().map(|object| object.name).collect();
        names.push(self.command.command.to_owned());
        let dispatch = self.command.dispatch.as_ref();
        Subject { shaders: dispatch.map(|d| d.shader.name.clone()).into_iter().collect(), names }
    }

    /// The buffer or image, where there is one, and the memory.
    fn objects(&self) -> Vec<Object> {
        self.place.iter().map(|(object, _)| object).chain([&self.memory]).cloned().collect()
    }

    fn notes(&self) -> Vec<Note> {
        let mut out =
            vec![Note::new(NoteKind::Access, format!("(1) {}, (2) {}", self.host(), self.device()))];
        out.extend(self.caller.map(|caller| {
            Note::new(NoteKind::Caller, format!("{} was called by {}", self.since, caller.text()))
        }));
        let memory = self.memory.called();
        let place = match &self.place {
            Some((object, start)) => {
                format!(
                    "bytes {} of {}, bytes {} of {memory}",
                    self.bytes(*start),
                    object.called(),
                    self.bytes(self.extent.0)
                )
            }
            None => format!("bytes {} of {memory}", self.bytes(self.extent.0)),
        };
        out.push(Note::new(NoteKind::Place, place));
        out.extend(self.cache.as_ref().map(|cache| {
            let (start, end) = (cache.bytes.start - self.extent.0, cache.bytes.end - self.extent.0);
            let held = match &cache.held {
                Some((bytes, true)) => format!("holds {}, not written back", hex(bytes)),
                Some((bytes, false)) => format!("still holds {}", hex(bytes)),
                None => "holds nothing else".to_owned(),
            };
            let there = hex(&cache.memory);
            let text =
                format!("bytes {start}..{end} of {memory} are {there} in memory; the host's cache {held}");
            Note::new(NoteKind::Caches, text)
        }));
        out.push(self.missing());
        out
    }

    fn help(&self) -> Note<FixKind> {
        let memory = self.memory.called();
        let (kind, text) = match self.hazard.id {
            FindingId::HostNotFlushed => {
                let before = match self.hazard.discarded {
                    true => "the invalidate",
                    false => self.start(),
                };
                let range = self.range();
                let text = format!(
                    "call vkFlushMappedMemoryRanges on {memory}, {range}, after the write and before {before}"
                );
                (FixKind::Flush, text)
            }
            FindingId::HostNotInvalidated => {
                let before = if self.hazard.writes { "write" } else { "read" };
                let range = self.range();
                let text = format!(
                    "call vkInvalidateMappedMemoryRanges on {memory}, {range}, after the wait and before the {before}"
                );
                (FixKind::Invalidate, text)
            }
            FindingId::HostNoBarrier => (FixKind::PipelineBarrier, self.barrier()),
            _ => {
                let access = if self.hazard.writes {
                    format!("write, or write before {}", self.start())
                } else {
                    "read".to_owned()
                };
                let text = format!(
                    "wait for the submission's fence, for a timeline semaphore that it signals, or for the queue to be idle before the {access}"
                );
                (FixKind::Wait, text)
            }
        };
        Note::new(kind, text)
    }

    fn members(&self) -> Value {
        let runs = |start: u64| -> Vec<Value> {
            let run = |b: &Range| json!([b.start.saturating_sub(start), b.end.saturating_sub(start)]);
            self.hazard.bytes.iter().map(run).collect()
        };
        let object = |o: &Object, start| json!({ "what": o.what, "name": o.name, "bytes": runs(start) });
        let (read, write): (Accesses, Accesses) = (self.hazard.operand.read, self.hazard.operand.write);
        let stage: Stages = self.hazard.at.1;
        json!({
            "host": {
                "access": if self.hazard.writes { "write" } else { "read" },
                "after": self.since,
                "caller": self.caller.map(Caller::json),
            },
            "commands": [{
                "command": self.command.command,
                "position": self.command.position,
                "stage": stages(stage),
                "access": accesses(read | write),
            }],
            "memory": object(&self.memory, self.extent.0),
            "object": self.place.as_ref().map(|(o, start)| object(o, *start)),
            "cache": self.cache.as_ref().map(|cache| json!({
                "bytes": [cache.bytes.start - self.extent.0, cache.bytes.end - self.extent.0],
                "memory": hex(&cache.memory),
                "held": cache.held.as_ref().map(|(bytes, _)| hex(bytes)),
                "written_back": cache.held.as_ref().map(|(_, dirty)| !dirty),
            })),
        })
    }
}
