//! A small Vulkan program: one shader, its buffers, one dispatch, and the buffers' contents afterwards.
//!
//! It uses the driver as any application would, through ash, and enables every feature that the device has.
//! The driver is loaded directly, by its path, or through the Vulkan loader's library. It is the program
//! behind `pellucid exec`, `pellucid demo` and the tests of the driver.

pub mod buffers;
pub mod context;
pub mod reflect;
pub mod vulkan;

use ash::vk;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// A storage buffer.
    Storage,
    /// A uniform buffer.
    Uniform,
}

/// The buffer of one binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// These bytes, in a buffer of its own.
    Bytes(Vec<u8>),
    /// The buffer of another binding.
    Alias {
        /// Descriptor set of that one.
        set: u32,
        /// Number within it.
        binding: u32,
    },
}

/// A host program of one dispatch of one shader.
#[derive(Clone, Debug, Default)]
pub struct HostProgram {
    /// SPIR-V words.
    pub words: Vec<u32>,
    /// The entry point.
    pub entry: String,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Specialization constants: id and bytes.
    pub specialization: BTreeMap<u32, Vec<u8>>,
    /// Buffers by set and binding.
    pub buffers: BTreeMap<(u32, u32), Contents>,
    /// Push constants: bytes from an offset on, both multiples of 4.
    pub push_constants: Vec<(u32, Vec<u8>)>,
    /// How often it is dispatched, with a full barrier in between.
    pub repeat: u32,
}

/// Why a program did not run.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The library cannot be loaded or lacks the entry point.
    #[error("{0}")]
    Library(String),
    /// A Vulkan call failed.
    #[error("{call}: {result:?}")]
    Vulkan {
        /// Its name: `vkCreateDevice`.
        call: &'static str,
        /// What it returned.
        result: vk::Result,
    },
    /// The program does not fit the shader.
    #[error("{0}")]
    Program(String),
}

/// Runs a program on the driver, or loader, at `library`, and returns the bytes of every buffer that is not
/// an alias.
///
/// # Errors
/// The library does not load, a call fails, or the buffers do not fit the shader.
pub fn run(
    library: &std::path::Path,
    program: &HostProgram,
) -> Result<BTreeMap<(u32, u32), Vec<u8>>, HostError> {
    run_on(program, || context::load(library))
}

/// The same on the driver that is a part of this executable.
///
/// # Errors
/// A call fails, or the buffers do not fit the shader.
pub fn run_linked(program: &HostProgram) -> Result<BTreeMap<(u32, u32), Vec<u8>>, HostError> {
    run_on(program, || Ok(context::linked()))
}

/// What `with` makes of a device of the driver that is a part of this executable.
///
/// # Errors
/// There is none.
pub fn with_linked_device<T>(with: impl FnOnce(vk::Device) -> T) -> Result<T, HostError> {
    vulkan::with_device(&context::linked(), with)
}

fn run_on(
    program: &HostProgram,
    driver: impl FnOnce() -> Result<ash::Entry, HostError>,
) -> Result<BTreeMap<(u32, u32), Vec<u8>>, HostError> {
    let bindings = reflect::bindings(&program.words).map_err(HostError::Program)?;
    for ((set, binding), contents) in &program.buffers {
        if !bindings.contains_key(&(*set, *binding)) {
            let known: Vec<String> = bindings.keys().map(|(s, b)| format!("{s}:{b}")).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(HostError::Program(format!(
                "the shader has no buffer {set}:{binding}; it has {known}"
            )));
        }
        if let Contents::Alias { set: s, binding: b } = contents
            && !matches!(program.buffers.get(&(*s, *b)), Some(Contents::Bytes(_)))
        {
            return Err(HostError::Program(format!(
                "{set}:{binding} is an alias of {s}:{b}, which has no buffer of its own"
            )));
        }
    }
    if let Some((set, binding)) = bindings.keys().find(|key| !program.buffers.contains_key(key)) {
        return Err(HostError::Program(format!(
            "the shader's buffer {set}:{binding} has no contents; add --buffer {set}:{binding}=TYPExCOUNT"
        )));
    }
    vulkan::run(&driver()?, program, &bindings)
}

/// The driver's library: as [`crate::driver::library`] finds it.
///
/// # Errors
/// It is not there.
pub fn library() -> Result<PathBuf, HostError> {
    crate::driver::library().map_err(|error| HostError::Library(error.to_string()))
}
