//! One shader from the command line, without a host program of the user's.
//!
//! `pellucid exec` starts itself again as the program to run, so that options, findings, totals and exit
//! status are those of `pellucid run`.

use crate::assemble::{NumericIds, assemble_with_lines};
use crate::debug::types::Types;
use crate::host::buffers;
use crate::host::{self, Contents, HostError, HostProgram, reflect};
use crate::options::DriverOptions;
use crate::report::Report;
use crate::run::{self, Job};
use crate::source::{self, Given};
use crate::status;
use anyhow::{Context as _, bail};
use ash::vk;
use clap::Args;
use pellucid_memory::agent::runs;
use pellucid_memory::input;
use pellucid_shader_interp::ir::Shader;
use pellucid_shader_interp::{CompileOptions, Program, compile};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use vulkan_pellucid::report::element::Element;
use vulkan_pellucid::report::replay::quote;

/// What to execute.
#[derive(Args, Clone, Debug)]
pub struct ExecArgs {
    /// A SPIR-V binary, assembly text as spirv-as reads it, or source for an installed compiler:
    /// .comp, .glsl, .hlsl, .slang, .wgsl
    pub file: PathBuf,
    /// In assembly text %12 is id 12, not a name: findings then show the numbers of the text
    #[arg(long)]
    pub preserve_numeric_ids: bool,
    /// Entry point; the only one need not be named, and of HLSL and Slang main is meant
    #[arg(long)]
    pub entry: Option<String>,
    /// Workgroups: X, X,Y or X,Y,Z [default: 1]
    #[arg(long, value_name = "X,Y,Z", value_parser = groups)]
    pub groups: Option<[u32; 3]>,
    /// A macro of a GLSL, HLSL or Slang source, for its compiler: may be given several times
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = source::definition)]
    pub define: Vec<String>,
    /// A specialization constant: a number of its type (0x for bits), or true or false
    #[arg(long, value_name = "ID=VALUE")]
    pub spec: Vec<String>,
    /// A buffer: TYPExCOUNT[=zero|iota|v0,v1,...|file:PATH], or the buffer of another binding; what is
    /// not given is zero, with an element for each invocation where the shader leaves the length open
    #[arg(long, value_name = "SET:BINDING=TYPExCOUNT[=FILL]|alias:SET:BINDING")]
    pub buffer: Vec<String>,
    /// Push constants; what is not given is zero
    #[arg(long, value_name = "OFFSET=TYPE:v0,v1,...")]
    pub push: Vec<String>,
    /// Print a buffer afterwards
    #[arg(long, value_name = "SET:BINDING", value_parser = place)]
    pub dump: Vec<(u32, u32)>,
    /// Dispatch so often, with a barrier in between
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// The Vulkan library to use instead of this driver: a driver, or a loader
    #[arg(long, hide = true)]
    pub library: Option<PathBuf>,
}

fn groups(text: &str) -> Result<[u32; 3], String> {
    let mut out = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("at most three numbers".to_owned());
    }
    for (slot, part) in out.iter_mut().zip(parts) {
        *slot = part.parse().map_err(|_| format!("\"{part}\" is no number of workgroups"))?;
    }
    Ok(out)
}

fn place(text: &str) -> Result<(u32, u32), String> {
    let parsed =
        text.split_once(':').and_then(|(set, binding)| Some((set.parse().ok()?, binding.parse().ok()?)));
    parsed.ok_or_else(|| format!("\"{text}\" is not SET:BINDING"))
}

/// The words of a SPIR-V file: a binary in either byte order, or assembly text, whose lines findings then
/// name; or of a source that a compiler takes.
///
/// # Errors
/// The file cannot be read, or is no SPIR-V; or it has no macros.
fn read_spirv(path: &Path, numeric: NumericIds, given: Given<'_>) -> anyhow::Result<Vec<u32>> {
    let compiled = source::compiled(path, given)?;
    let path = compiled.as_ref().map_or(path, |(_, spirv)| spirv);
    let bytes = status::bytes(path, input::MOST_BYTES)?;
    let words = |convert: fn([u8; 4]) -> u32| -> Vec<u32> {
        bytes.chunks_exact(4).map(|c| convert([c[0], c[1], c[2], c[3]])).collect()
    };
    match bytes.get(..4) {
        Some([0x03, 0x02, 0x23, 0x07]) => return Ok(words(u32::from_le_bytes)),
        Some([0x07, 0x23, 0x02, 0x03]) => return Ok(words(u32::from_be_bytes)),
        _ => {}
    }
    let name = path.display();
    match std::str::from_utf8(&bytes) {
        Ok(text) if Report::parse(text).is_ok() => {
            bail!("{name}: a report, and no shader; debug --finding {name}, replay and report take it")
        }
        Ok(text) if text.contains("Op") => {
            let words = assemble_with_lines(text, &name.to_string(), numeric);
            words.map_err(|error| anyhow::anyhow!("{name}:{error}"))
        }
        _ if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"#!") => {
            let program = source::started(&name.to_string());
            bail!(
                "{name}: a program, and no shader; pellucid run -- {program} runs it, and debug --dispatch 0 -- \
                 {program} debugs its first dispatch"
            )
        }
        _ => bail!(
            "{name}: not a SPIR-V module: it does not begin with the magic number 0x07230203; sources that are \
             compiled are .comp, .glsl, .hlsl, .slang and .wgsl files"
        ),
    }
}

/// The bytes of the specialization constants that were given.
fn specialization(words: &[u32], given: &[String]) -> anyhow::Result<BTreeMap<u32, Vec<u8>>> {
    let constants = reflect::constants(words).map_err(anyhow::Error::msg)?;
    let mut found = BTreeMap::new();
    for text in given {
        let (id, value) = text.split_once('=').with_context(|| format!("--spec {text}: not ID=VALUE"))?;
        let id: u32 = id.parse().with_context(|| format!("--spec {text}: \"{id}\" is no number"))?;
        let Some(constant) = constants.get(&id) else {
            let known: Vec<String> = constants.keys().map(u32::to_string).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            bail!("--spec {text}: the shader has no specialization constant {id}; it has {known}");
        };
        let bytes = constant.encode(value).map_err(|error| anyhow::anyhow!("--spec {text}: {error}"))?;
        if found.insert(id, bytes).is_some() {
            bail!("--spec {text}: {id} is given twice");
        }
    }
    Ok(found)
}

/// The types of the buffers, for printing them.
type Elements = BTreeMap<(u32, u32), Element>;

/// The entry point that is meant.
fn entry(words: &[u32], named: Option<&String>) -> anyhow::Result<String> {
    let known = reflect::entry_points(words).map_err(anyhow::Error::msg)?;
    if let Some(name) = named {
        if !known.contains(name) {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            bail!("--entry {name}: the shader has no such entry point; it has {known}");
        }
        return Ok(name.clone());
    }
    match &known[..] {
        [] => Ok("main".to_owned()),
        [only] => Ok(only.clone()),
        several => {
            bail!("the shader has several entry points, choose one by --entry: {}", several.join(", "))
        }
    }
}

/// A buffer of the shader that was not given.
struct Implied {
    at: (u32, u32),
    /// As many as the shader declares, with an element for each invocation where it leaves a length open.
    bytes: u64,
    /// What its first values are.
    element: Element,
    /// What to say of it.
    told: Option<String>,
}

/// What the shader wants from its host and was not given.
#[derive(Default)]
struct Missing {
    buffers: Vec<Implied>,
    /// Where there are such, how many invocations there are.
    invocations: Option<u64>,
}

/// What the program's shader is compiled to, where what was given does not say all that it wants; `None` also
/// where it does not compile, which the driver tells.
///
/// # Errors
/// It does not compile with the specialization constants that were `given`.
fn compiled(program: &HostProgram, given: &[String]) -> anyhow::Result<Option<Program>> {
    let bound = reflect::bindings(&program.words).map_err(anyhow::Error::msg)?;
    let missing = bound.keys().any(|at| !program.buffers.contains_key(at));
    let pushed = reflect::has_push_constants(&program.words).map_err(anyhow::Error::msg)?;
    if !missing && !pushed && given.is_empty() {
        return Ok(None);
    }
    // The driver's options choose the size of subgroups: what fits some size is for the driver to judge.
    let with = |specialization: BTreeMap<u32, Vec<u8>>| {
        let sized = |subgroup_size: u32| {
            let (entry_point, specialization) = (program.entry.clone(), specialization.clone());
            let modelled = true;
            let options =
                CompileOptions { entry_point, specialization, subgroup_size, modelled, ..Default::default() };
            compile(&program.words, &options)
        };
        sized(32).or_else(|error| (0..5).find_map(|k| sized(1 << k).ok()).ok_or(error))
    };
    let error = match with(program.specialization.clone()) {
        Ok(compiled) => return Ok(Some(compiled)),
        Err(error) => error,
    };
    if !given.is_empty() && with(BTreeMap::new()).is_ok() {
        let helps = |text: &&String| {
            let mut others = program.specialization.clone();
            let id = text.split_once('=').and_then(|(id, _)| id.parse().ok());
            id.is_some_and(|id: u32| others.remove(&id).is_some()) && with(others).is_ok()
        };
        let mut wrong: Vec<&String> = given.iter().filter(helps).collect();
        if wrong.is_empty() {
            wrong = given.iter().collect();
        }
        let wrong: Vec<String> = wrong.into_iter().map(|text| format!("--spec {text}")).collect();
        bail!("{}: {error}", wrong.join(" "));
    }
    Ok(None)
}

/// What is missing of the program of a shader, as it compiles.
fn missing(program: &HostProgram, shader: Option<&Shader>) -> anyhow::Result<Missing> {
    let bound = reflect::bindings(&program.words).map_err(anyhow::Error::msg)?;
    let missing: Vec<(u32, u32)> = bound.into_keys().filter(|at| !program.buffers.contains_key(at)).collect();
    if missing.is_empty() {
        return Ok(Missing::default());
    }
    let Some(shader) = shader else {
        // None of it is ever read.
        let empty = |at| Implied { at, bytes: 4, element: Element::U32, told: None };
        return Ok(Missing { buffers: missing.into_iter().map(empty).collect(), invocations: None });
    };
    let module = Types::new(&program.words);
    let invocations = program.groups.iter().chain(&shader.local_size).map(|n| u64::from(*n)).product::<u64>();
    let sized = |at: (u32, u32)| {
        let index = shader.bindings.iter().position(|b| (b.set, b.binding) == at);
        let block = index.and_then(|index| shader.blocks.get(index)?.as_ref());
        let bytes = block.map_or(16, |block| block.shape.bytes(invocations)).max(4);
        let name = index.map_or("", |index| shader.bindings[index].name.as_str());
        let named = if name.is_empty() { String::new() } else { format!(" ({name})") };
        let (set, binding) = at;
        let element = module.element_at(at).unwrap_or(Element::U32);
        let told = format!(
            "buffer {set}:{binding}{named} is not given: {bytes} bytes of zero; --buffer {set}:{binding}={}x{} has others",
            element.name(),
            bytes.div_ceil(element.size() as u64)
        );
        Implied { at, bytes, element, told: Some(told) }
    };
    Ok(Missing { buffers: missing.into_iter().map(sized).collect(), invocations: Some(invocations) })
}

/// Makes those of a shader's `end` bytes of push constants zero that were not `given`: what to say of them.
///
/// # Errors
/// What was given goes beyond them.
fn complete_push(
    pushed: &mut Vec<(u32, Vec<u8>)>,
    given: &[String],
    end: u32,
) -> anyhow::Result<Option<String>> {
    let after = |(offset, bytes): &(u32, Vec<u8>)| offset + bytes.len() as u32;
    for (text, one) in given.iter().zip(&*pushed) {
        if after(one) > end {
            bail!("--push {text}: ends at byte {}; the shader has {end} bytes of push constants", after(one));
        }
    }
    let is_given = |word: &u32| pushed.iter().any(|one| (one.0..after(one)).contains(&(word * 4)));
    let zero = runs((0..end / 4).filter(|word| !is_given(word)));
    let Some((first, _)) = zero.first() else { return Ok(None) };
    let bytes: Vec<String> =
        zero.iter().map(|(first, last)| format!("{} to {}", first * 4, last * 4 + 3)).collect();
    let told = format!(
        "push constants are not given: bytes {} are zero; --push {}=u32:v0,v1,... has others",
        bytes.join(", "),
        first * 4
    );
    pushed.insert(0, (0, vec![0; end as usize]));
    Ok(Some(told))
}

/// A buffer that nobody gave is not larger than this.
const MOST_IMPLIED: u64 = 1 << 30;

fn program(arguments: &ExecArgs) -> anyhow::Result<(HostProgram, Elements, Vec<String>)> {
    let numeric = match arguments.preserve_numeric_ids {
        true => NumericIds::Preserved,
        false => NumericIds::Named,
    };
    let given = Given { macros: &arguments.define, entry: arguments.entry.as_deref() };
    let words = read_spirv(&arguments.file, numeric, given)?;
    let named = arguments.entry.as_ref().filter(|_| !source::names_entry(&arguments.file));
    let mut program = HostProgram {
        entry: entry(&words, named)?,
        words,
        groups: arguments.groups.unwrap_or([1; 3]),
        repeat: arguments.repeat,
        ..HostProgram::default()
    };
    let mut types = BTreeMap::new();
    program.specialization = specialization(&program.words, &arguments.spec)?;
    for text in &arguments.buffer {
        let (at, contents) =
            text.split_once('=').with_context(|| format!("--buffer {text}: not SET:BINDING=..."))?;
        let at = place(at).map_err(|error| anyhow::anyhow!("--buffer {text}: {error}"))?;
        let contents = match contents.strip_prefix("alias:") {
            Some(of) => {
                let (set, binding) =
                    place(of).map_err(|error| anyhow::anyhow!("--buffer {text}: {error}"))?;
                Contents::Alias { set, binding }
            }
            None => {
                let (kind, bytes) =
                    buffers::parse(contents).map_err(|error| anyhow::anyhow!("--buffer {text}: {error}"))?;
                types.insert(at, kind);
                Contents::Bytes(bytes)
            }
        };
        if program.buffers.insert(at, contents).is_some() {
            bail!("--buffer {text}: {}:{} is given twice", at.0, at.1);
        }
    }
    if let Some(text) = arguments.push.first()
        && !reflect::has_push_constants(&program.words).map_err(anyhow::Error::msg)?
    {
        bail!("--push {text}: the shader has no push constants");
    }
    for text in &arguments.push {
        program.push_constants.push(push(text).with_context(|| format!("--push {text}"))?);
    }
    let mut told = Vec::new();
    let compiled = compiled(&program, &arguments.spec)?;
    let shader = compiled.as_ref().map(|compiled| &compiled.shader);
    let pushed = shader.map_or(0, |shader| shader.push_constant_bytes.next_multiple_of(4));
    if pushed > 0 {
        told.extend(complete_push(&mut program.push_constants, &arguments.push, pushed)?);
    }
    let Missing { buffers, invocations } = missing(&program, shader)?;
    if invocations == Some(1) && arguments.groups.is_none() {
        told.push("one invocation runs, and none that could race with it; --groups 4 has more".to_owned());
    }
    for Implied { at, bytes, element, told: text } in buffers {
        if let Some(text) = text.as_ref().filter(|_| bytes > MOST_IMPLIED) {
            bail!("{text}: too many to take by themselves");
        }
        program.buffers.insert(at, Contents::Bytes(vec![0; bytes as usize]));
        types.insert(at, element);
        told.extend(text);
    }
    if let Some((set, binding)) = arguments.dump.iter().find(|at| !types.contains_key(at)) {
        let known: Vec<String> = types.keys().map(|(set, binding)| format!("{set}:{binding}")).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        bail!("--dump {set}:{binding}: no buffer of that set and binding; the shader has {known}");
    }
    Ok((program, types, told))
}

/// The offset and the bytes of a --push, as vkCmdPushConstants takes them: multiples of 4.
fn push(text: &str) -> anyhow::Result<(u32, Vec<u8>)> {
    let (offset, values) = text.split_once('=').context("not OFFSET=TYPE:v0,v1,...")?;
    let offset: u32 = offset.parse().context("the offset is no number")?;
    let (kind, values) = values.split_once(':').context("not OFFSET=TYPE:v0,v1,...")?;
    let kind = Element::parse(kind).map_err(anyhow::Error::msg)?;
    let mut encoded = Vec::new();
    for value in values.split(',') {
        encoded.extend(kind.encode(value).map_err(anyhow::Error::msg)?);
    }
    if !offset.is_multiple_of(4) {
        bail!("the offset {offset} is no multiple of 4, as vkCmdPushConstants asks for");
    }
    if !encoded.len().is_multiple_of(4) {
        bail!("{} bytes of values are no multiple of 4, as vkCmdPushConstants asks for", encoded.len());
    }
    if offset as usize + encoded.len() > 65536 {
        bail!("the offset is too large");
    }
    Ok((offset, encoded))
}

/// This executable as a program that runs a shader; `arguments` are those of `exec`.
///
/// # Errors
/// It does not find itself.
pub fn job(options: DriverOptions, arguments: Vec<OsString>) -> anyhow::Result<Job> {
    let mut command = vec![std::env::current_exe()?.into_os_string(), OsString::from("exec-here")];
    let words: Vec<String> = arguments.iter().map(|a| quote(&a.to_string_lossy())).collect();
    command.extend(arguments);
    Ok(Job { options, command, shown: Some(format!("pellucid exec {}", words.join(" "))) })
}

/// Checks the arguments, and that the file is SPIR-V, without running anything. Returns the buffers to print
/// as the option `outcomes` of the driver takes them.
///
/// # Errors
/// What is wrong with them.
pub fn check(arguments: &ExecArgs) -> anyhow::Result<String> {
    let (_, types, _) = program(arguments)?;
    let outcomes: Vec<String> =
        arguments.dump.iter().map(|at| format!("{}:{}={}", at.0, at.1, types[at].name())).collect();
    Ok(outcomes.join(","))
}

/// Runs the shader in this process and prints what was asked for: the status to exit with, [`run::LOST`]
/// where the device was lost.
///
/// # Errors
/// The arguments are wrong, or the program does not run.
pub fn run(arguments: &ExecArgs) -> anyhow::Result<u8> {
    let library = match &arguments.library {
        Some(library) => library.clone(),
        None => host::library()?,
    };
    let mut lost = false;
    let outcome = run_on(arguments, &mut std::io::stdout(), |program| {
        let outcome = host::run(&library, program);
        lost = matches!(outcome, Err(HostError::Vulkan { result: vk::Result::ERROR_DEVICE_LOST, .. }));
        outcome
    });
    match outcome {
        Err(error) if lost => {
            eprintln!("pellucid: {error:#}");
            Ok(run::LOST)
        }
        outcome => outcome.map(|()| 0),
    }
}

/// The same on the driver that is a part of this executable; what was asked for is written to `out`.
///
/// # Errors
/// As for [`run`].
pub fn run_linked(arguments: &ExecArgs, out: &mut dyn std::io::Write) -> anyhow::Result<()> {
    run_on(arguments, out, host::run_linked)
}

/// The words of the shader.
///
/// # Errors
/// The file cannot be read, or is no SPIR-V.
pub fn words(arguments: &ExecArgs) -> anyhow::Result<Vec<u32>> {
    let (program, ..) = program(arguments)?;
    Ok(program.words)
}

fn run_on(
    arguments: &ExecArgs,
    out: &mut dyn std::io::Write,
    run: impl FnOnce(&HostProgram) -> Result<BTreeMap<(u32, u32), Vec<u8>>, HostError>,
) -> anyhow::Result<()> {
    let (program, types, told) = program(arguments)?;
    for text in told {
        eprintln!("pellucid: {text}");
    }
    let buffers = match run(&program) {
        Ok(buffers) => buffers,
        Err(error @ HostError::Vulkan { .. }) => bail!("{}: {error}", arguments.file.display()),
        Err(error) => bail!("{error}"),
    };
    let mut out = std::io::BufWriter::new(out);
    for at in &arguments.dump {
        writeln!(out, "{}:{}", at.0, at.1)?;
        buffers::dump(types[at], &buffers[at], &mut out)?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_places_are_read() {
        assert_eq!(groups("4").unwrap(), [4, 1, 1]);
        assert_eq!(groups("4,2,3").unwrap(), [4, 2, 3]);
        assert!(groups("1,2,3,4").is_err() && groups("x").is_err());
        assert_eq!(place("1:2").unwrap(), (1, 2));
        assert!(place("1").is_err());
    }

    #[test]
    fn push_constants_are_whole_words() {
        assert_eq!(push("4=u32:7").unwrap(), (4, vec![7, 0, 0, 0]));
        assert_eq!(push("0=u16:1,2").unwrap(), (0, vec![1, 0, 2, 0]));
        let refused = |text| push(text).unwrap_err().to_string();
        assert!(refused("4=u32").contains("not OFFSET=TYPE"));
        assert!(refused("2=u32:7").contains("the offset 2 is no multiple of 4"));
        assert!(refused("0=u16:1").contains("2 bytes of values are no multiple of 4"));
        assert!(refused("65536=u32:1").contains("too large"));
    }
}
