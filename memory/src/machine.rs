//! Descriptions of machines for the value policy `caches`: which caches lie between the compute units and
//! the point of coherency.
//!
//! A description is a text with one key a line; `#` begins a comment:
//!
//! ```text
//! units 8                                        # compute units; workgroup W runs on unit W mod 8
//! first write-back line 64 lines 256             # a first level for each unit, 256 lines of 64 bytes
//! second write-back line 128 lines 1024 units 4  # one for every 4 units; left out where all units share it
//! texture line 64 lines 128                      # what images are read through; left out: the first level
//! constant line 64 lines 64 units 4              # what uniform buffers are read through; left out: likewise
//! host write-back line 64                        # the host's, in front of memory that is not HOST_COHERENT
//! traffic 256                                    # an access in 256 evicts a line, which the seed picks
//! ```
//!
//! What all units share is the point of coherency: operations of queue family scope and wider end there. The
//! host's cache lies on its other side ([`crate::host`]).

use crate::access::Reference;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use thiserror::Error;

/// What a cache does with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePolicy {
    /// Keeps it until the line is written back.
    Back,
    /// Passes it on at once, and updates its own copy.
    Through,
    /// Passes it on at once, and the other caches of the level drop the line.
    Coherent,
}

/// The accesses that go through a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CacheKind {
    /// Loads and stores, beside the compute units.
    First,
    /// What the others are filled from, in front of the point of coherency.
    Second,
    /// Reads of images and texel buffers that are not atomic.
    Texture,
    /// Reads of uniform buffers.
    Constant,
    /// What the host does to memory that is not coherent.
    Host,
}

impl CacheKind {
    /// Those between the compute units and the point of coherency.
    pub const OF_UNITS: [CacheKind; 4] =
        [CacheKind::First, CacheKind::Second, CacheKind::Texture, CacheKind::Constant];
}

/// The caches of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// What it does with stores; those for textures and constants see none.
    pub writes: WritePolicy,
    /// Bytes of a line: a power of two from 4 to 1024.
    pub line: u32,
    /// Lines that one cache of the level holds.
    pub lines: u32,
    /// Compute units that share one.
    pub units: u32,
}

/// Compute units, and the caches between them and what they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Number of compute units; workgroups are spread over them.
    pub units: u32,
    /// The caches in front of the point of coherency, by [`CacheKind`].
    pub levels: [Option<Level>; 4],
    /// Cache between the host and memory that is not host coherent; `None`: it has none.
    pub host: Option<HostCache>,
    /// An access in so many evicts a line; 0: only where a cache is full.
    pub traffic: u32,
}

/// The host's cache: as many lines as it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCache {
    /// What it does with the host's stores. [`WritePolicy::Coherent`]: it passes them on, and drops what the
    /// device writes.
    pub writes: WritePolicy,
    /// Bytes of a line: a power of two from 4 to 1024.
    pub line: u32,
}

/// What a cache holds of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CachedCopy {
    /// The accesses that go through the cache that has the copy.
    pub kind: CacheKind,
    /// Through which it was read, in a cache of images.
    pub through: Option<Reference>,
    /// The first compute unit that has it, and how many share it; none has the host's.
    pub units: (u32, u32),
    /// The word's bits, where `held` says so.
    pub value: u32,
    /// Which bytes: bit `b` for byte `b`.
    pub held: u8,
    /// Which of these are not written back.
    pub dirty: u8,
}

/// What a machine holds of a word.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cached {
    /// The compute unit of the reader.
    pub unit: u32,
    /// The caches that hold some of it, by [`CacheKind`] and unit.
    pub copies: Vec<CachedCopy>,
    /// What the point of coherency holds.
    pub coherent: u32,
    /// Loads for which the caches had a value that the model forbids.
    pub overruled: u64,
}

/// What is wrong with a description.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MachineError {
    /// A part of real machines that is not modelled.
    #[error("line {0}: not implemented in Pellucid: {1} of a machine")]
    NotImplemented(usize, String),
    /// A line that is no such description.
    #[error(
        "line {0}: \"{1}\" is none of units N, first|second POLICY line BYTES lines N [units N], \
         texture|constant line BYTES lines N [units N], host POLICY line BYTES, traffic N"
    )]
    Line(usize, String),
    /// A number that is none of the sizes of a machine.
    #[error("line {0}: {1} is not in the range from {first} to {last}", first = SIZES.start(), last = SIZES.end())]
    Size(usize, String),
    /// A number of bytes that no line of a cache has.
    #[error(
        "line {0}: a line of {1} bytes is no power of two from {first} to {last}",
        first = LINE_SIZES.start(), last = LINE_SIZES.end()
    )]
    LineSize(usize, String),
    /// What is said by an earlier line as well.
    #[error("line {0}: {1} is given twice")]
    Twice(usize, String),
    /// A level or a number that is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
}

/// The machines that have a name, and their descriptions.
pub const MACHINES: [(&str, &str); 3] = [
    ("desktop", include_str!("../machines/desktop.machine")),
    ("tiled", include_str!("../machines/tiled.machine")),
    ("integrated", include_str!("../machines/integrated.machine")),
];

impl Default for Machine {
    /// The machine `tiled`, which shows the most.
    fn default() -> Machine {
        let level = |writes, lines, units| Some(Level { writes, line: 64, lines, units });
        let first = level(WritePolicy::Back, 256, 1);
        let texture = level(WritePolicy::Through, 128, 1);
        let constant = level(WritePolicy::Through, 64, 2);
        let host = Some(HostCache { writes: WritePolicy::Back, line: 64 });
        Machine { units: 4, levels: [first, None, texture, constant], host, traffic: 256 }
    }
}

/// Numbers of a description that are sizes.
const SIZES: std::ops::RangeInclusive<u32> = 1..=1 << 20;

/// Bytes of a line: the powers of two among these.
const LINE_SIZES: std::ops::RangeInclusive<u32> = 4..=1024;

/// Why words are no part of a description.
enum Wrong {
    Form,
    Size(String),
    LineSize(String),
}

impl Machine {
    /// The machine of a name in [`MACHINES`].
    pub fn named(name: &str) -> Option<Machine> {
        let (_, text) = MACHINES.iter().find(|(other, _)| *other == name)?;
        Machine::parse(text).ok()
    }

    /// Its caches of a kind; the host's is none of the compute units'.
    pub fn level(&self, kind: CacheKind) -> Option<Level> {
        self.levels.get(kind as usize).copied().flatten()
    }

    /// The machine of a description.
    ///
    /// # Errors
    /// The first line that is wrong, or what is missing.
    pub fn parse(text: &str) -> Result<Machine, MachineError> {
        let mut units = None;
        let mut machine = Machine { units: 1, levels: [None; 4], host: None, traffic: 0 };
        let mut keys = BTreeSet::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            let form = || MachineError::Line(number, line.trim().to_owned());
            let wrong = |wrong| match wrong {
                Wrong::Form => form(),
                Wrong::Size(word) => MachineError::Size(number, word),
                Wrong::LineSize(word) => MachineError::LineSize(number, word),
            };
            if let Some(key) = words.first().filter(|key| !keys.insert((**key).to_owned())) {
                return Err(MachineError::Twice(number, (*key).to_owned()));
            }
            match words[..] {
                [] => {}
                ["units", count] => units = Some(size(count).map_err(wrong)?),
                ["traffic", count] => machine.traffic = count.parse().map_err(|_| form())?,
                ["first", policy, ref rest @ ..] => {
                    machine.levels[0] = Some(level(policy, rest, 1).map_err(wrong)?);
                }
                ["second", policy, ref rest @ ..] => {
                    machine.levels[1] = Some(level(policy, rest, 0).map_err(wrong)?);
                }
                ["texture", ref rest @ ..] => {
                    machine.levels[2] = Some(level("write-through", rest, 1).map_err(wrong)?);
                }
                ["constant", ref rest @ ..] => {
                    machine.levels[3] = Some(level("write-through", rest, 1).map_err(wrong)?);
                }
                ["host", policy, "line", bytes] => {
                    let writes = write_policy(policy).map_err(wrong)?;
                    machine.host = Some(HostCache { writes, line: line_size(bytes).map_err(wrong)? });
                }
                ["third", ..] => {
                    return Err(MachineError::NotImplemented(number, "the third cache".to_owned()));
                }
                _ => return Err(form()),
            }
        }
        machine.units = units.ok_or(MachineError::Missing("units"))?;
        machine.levels[0].ok_or(MachineError::Missing("first"))?;
        // What all units share is the point of coherency itself.
        let units = machine.units;
        machine.levels[1] = machine.levels[1].filter(|level| level.units > 0 && level.units < units);
        Ok(machine)
    }
}

fn size(word: &str) -> Result<u32, Wrong> {
    let count: u64 = word.parse().map_err(|_| Wrong::Form)?;
    let size = u32::try_from(count).ok().filter(|count| SIZES.contains(count));
    size.ok_or_else(|| Wrong::Size(word.to_owned()))
}

fn write_policy(word: &str) -> Result<WritePolicy, Wrong> {
    match word {
        "write-back" => Ok(WritePolicy::Back),
        "write-through" => Ok(WritePolicy::Through),
        "coherent" => Ok(WritePolicy::Coherent),
        _ => Err(Wrong::Form),
    }
}

/// Bytes of a line.
fn line_size(word: &str) -> Result<u32, Wrong> {
    let bytes: u64 = word.parse().map_err(|_| Wrong::Form)?;
    let size = u32::try_from(bytes).ok().filter(|line| line.is_power_of_two() && LINE_SIZES.contains(line));
    size.ok_or_else(|| Wrong::LineSize(word.to_owned()))
}

/// A level; `units`: the compute units that share one, where it does not say.
fn level(policy: &str, words: &[&str], units: u32) -> Result<Level, Wrong> {
    let ["line", line, "lines", lines, rest @ ..] = words else { return Err(Wrong::Form) };
    let (writes, line) = (write_policy(policy)?, line_size(line)?);
    let units = match rest {
        [] => units,
        ["units", count] => size(count)?,
        _ => return Err(Wrong::Form),
    };
    Ok(Level { writes, line, lines: size(lines)?, units })
}

#[cfg(test)]
mod tests;
