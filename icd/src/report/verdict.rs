//! What becomes of a report: a message, and whether the device goes on.

use super::context::Object;
use pellucid_memory::finding::Severity;

/// What the driver does after a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// To be handed to debug-utils messengers.
    pub message: Option<ReportMessage>,
    /// The device is to be lost (`halt-on-error`).
    pub halt: bool,
}

/// A VK_EXT_debug_utils message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportMessage {
    /// `pMessageIdName`: the finding's id.
    pub id_name: &'static str,
    /// `messageIdNumber`: FNV-1a of the id's bytes.
    pub id_number: i32,
    /// `pMessage`: the diagnostic.
    pub text: String,
    /// `pObjects`.
    pub objects: Vec<Object>,
    /// How bad it is: a finding is an error.
    pub severity: Severity,
}

impl ReportMessage {
    pub(super) fn new(
        id_name: &'static str,
        text: String,
        objects: Vec<Object>,
        severity: Severity,
    ) -> ReportMessage {
        ReportMessage { id_name, id_number: fnv(id_name).cast_signed(), text, objects, severity }
    }
}

/// FNV-1a, 32 bits.
pub fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
