//! The commands of a test file.

use anyhow::{Context, Result, bail};
use ash::vk::{AccessFlags2 as A, ImageLayout, PipelineStageFlags2 as S};

/// One step of the host, or one command that it records.
#[derive(Clone, Debug)]
pub enum Step {
    /// vkCmdDispatch, with the first push constants changed.
    Dispatch {
        /// Which pipeline.
        shader: String,
        /// Workgroups.
        groups: [u32; 3],
        /// Words that replace the first push constants.
        push: Vec<u32>,
    },
    /// vkCmdDispatchIndirect.
    Indirect {
        /// Which pipeline.
        shader: String,
        /// The parameters.
        buffer: String,
        /// Bytes from the start of the buffer to the parameters.
        offset: u64,
    },
    /// vkCmdFillBuffer, or vkCmdClearColorImage, of all bytes.
    Fill {
        /// Which buffer or image.
        buffer: String,
        /// Every word.
        value: u32,
    },
    /// vkCmdCopyBuffer of all bytes of the smaller one; vkCmdCopyBufferToImage and vkCmdCopyImageToBuffer of
    /// all texels.
    Copy {
        /// Source.
        from: String,
        /// Destination.
        to: String,
    },
    /// vkCmdUpdateBuffer at offset 0.
    Update {
        /// Name of the destination buffer.
        buffer: String,
        /// Words.
        values: Vec<u32>,
    },
    /// vkCmdPipelineBarrier2 with one memory or buffer barrier for each element.
    Barrier(Vec<Dependency>),
    /// vkCmdPipelineBarrier, whose barriers share their stages.
    SharedBarrier(Vec<Dependency>),
    /// vkCmdSetEvent.
    SetEvent(String, S),
    /// vkCmdWaitEvents.
    WaitEvent(String, Dependency),
    /// vkQueueSubmit2 of what was recorded, with the semaphores to wait for and to signal.
    Submit {
        /// Semaphore and stages.
        wait: Vec<(String, S)>,
        /// Semaphore and stages.
        signal: Vec<(String, S)>,
    },
    /// The queue of the submissions that follow.
    Queue(u32),
    /// Submits what was recorded and waits for it with a fence.
    Fence,
    /// vkSignalSemaphore of a timeline semaphore.
    HostSignal(String),
    /// vkDestroyBuffer and vkFreeMemory.
    Free(String),
    /// vkCmdBeginDebugUtilsLabelEXT.
    Label(String),
    /// vkCmdEndDebugUtilsLabelEXT.
    EndLabel,
}

/// A memory dependency.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// srcStageMask
    pub source: S,
    /// srcAccessMask
    pub available: A,
    /// dstStageMask
    pub destination: S,
    /// dstAccessMask
    pub visible: A,
    /// A buffer or an image, if it is not for all memory.
    pub on: Option<String>,
    /// The layouts of an image before and after.
    pub layouts: Option<Layouts>,
}

/// The layouts before and after a transition.
pub type Layouts = (ImageLayout, ImageLayout);

fn layout(name: &str) -> Result<ImageLayout> {
    Ok(match name {
        "undefined" => ImageLayout::UNDEFINED,
        "general" => ImageLayout::GENERAL,
        "transfer-src" => ImageLayout::TRANSFER_SRC_OPTIMAL,
        "transfer-dst" => ImageLayout::TRANSFER_DST_OPTIMAL,
        "read-only" => ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        other => bail!("no layout {other}"),
    })
}

/// A text with what it is about: `TEXT [on RESOURCE [from LAYOUT to LAYOUT]]`.
fn place(text: &str) -> Result<(&str, Option<String>, Option<Layouts>)> {
    let Some((text, place)) = text.split_once(" on ") else { return Ok((text, None, None)) };
    let words: Vec<&str> = place.split_whitespace().collect();
    let layouts = match words[..] {
        [_] => None,
        [_, "from", from, "to", to] => Some((layout(from)?, layout(to)?)),
        _ => bail!("on RESOURCE [from LAYOUT to LAYOUT]"),
    };
    Ok((text, words.first().map(|w| (*w).to_owned()), layouts))
}

/// A set of stages, `compute|copy`.
///
/// # Errors
/// A name that is not one.
pub fn stages(text: &str) -> Result<S> {
    let mut all = S::NONE;
    for name in text.split('|') {
        all |= match name {
            "none" => S::NONE,
            "top" => S::TOP_OF_PIPE,
            "bottom" => S::BOTTOM_OF_PIPE,
            "compute" => S::COMPUTE_SHADER,
            "copy" => S::COPY,
            "clear" => S::CLEAR,
            "transfer" => S::ALL_TRANSFER,
            "indirect" => S::DRAW_INDIRECT,
            "host" => S::HOST,
            "all" => S::ALL_COMMANDS,
            other => bail!("no stage {other}"),
        };
    }
    Ok(all)
}

/// A set of accesses, `shader-read|shader-write`.
///
/// # Errors
/// A name that is not one.
pub fn accesses(text: &str) -> Result<A> {
    let mut all = A::NONE;
    for name in text.split('|') {
        all |= match name {
            "none" => A::NONE,
            "shader-read" => A::SHADER_READ,
            "shader-write" => A::SHADER_WRITE,
            "storage-read" => A::SHADER_STORAGE_READ,
            "storage-write" => A::SHADER_STORAGE_WRITE,
            "uniform-read" => A::UNIFORM_READ,
            "transfer-read" => A::TRANSFER_READ,
            "transfer-write" => A::TRANSFER_WRITE,
            "indirect-read" => A::INDIRECT_COMMAND_READ,
            "host-read" => A::HOST_READ,
            "host-write" => A::HOST_WRITE,
            "memory-read" => A::MEMORY_READ,
            "memory-write" => A::MEMORY_WRITE,
            other => bail!("no access {other}"),
        };
    }
    Ok(all)
}

/// `compute/shader-write -> copy/transfer-read [on RESOURCE [from LAYOUT to LAYOUT]]`.
///
/// # Errors
/// Anything else.
pub fn dependency(text: &str) -> Result<Dependency> {
    let (text, on, layouts) = place(text)?;
    let (source, destination) = text.split_once("->").context("a barrier is A/B -> C/D")?;
    let half = |text: &str| -> Result<(S, A)> {
        let text = text.trim();
        let (stage, access) = text.split_once('/').unwrap_or((text, "none"));
        Ok((stages(stage)?, accesses(access)?))
    };
    let (source, available) = half(source)?;
    let (destination, visible) = half(destination)?;
    Ok(Dependency { source, available, destination, visible, on, layouts })
}

fn shared_barrier(text: &str) -> Result<Step> {
    let (stage_part, elements) = text.split_once(':').unwrap_or((text, ""));
    let (source, destination) = stage_part.split_once("->").context("barrier1 is A -> B: C -> D, E -> F")?;
    let (source, destination) = (stages(source.trim())?, stages(destination.trim())?);
    let elements = elements
        .split(',')
        .map(str::trim)
        .filter(|m| !m.is_empty())
        .map(|m| {
            let (text, on, layouts) = place(m)?;
            let (a, b) = text.split_once("->").context("accesses are A -> B")?;
            let (available, visible) = (accesses(a.trim())?, accesses(b.trim())?);
            Ok(Dependency { source, available, destination, visible, on, layouts })
        })
        .collect::<Result<_>>()?;
    Ok(Step::SharedBarrier(elements))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse().ok().with_context(|| format!("no number: {text}"))
}

/// `dispatch [SHADER] X [Y [Z]] [push W...]`
fn dispatch(rest: &str) -> Result<Step> {
    let (head, push) = rest.split_once("push").unwrap_or((rest, ""));
    let mut words: Vec<&str> = head.split_whitespace().collect();
    let shader = match words.first() {
        Some(word) if word.parse::<u32>().is_err() => words.remove(0).to_owned(),
        _ => "main".to_owned(),
    };
    let mut groups = [1; 3];
    for (slot, word) in groups.iter_mut().zip(&words) {
        *slot = number(word)?;
    }
    let push = push.split_whitespace().map(number).collect::<Result<_>>()?;
    Ok(Step::Dispatch { shader, groups, push })
}

/// `submit [wait NAME STAGES]... [signal NAME [STAGES]]...`
fn submit(rest: &str) -> Result<Step> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let (mut wait, mut signal) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < words.len() {
        let name = words.get(at + 1).context("submit: a semaphore's name")?;
        let stage = words.get(at + 2).and_then(|w| stages(w).ok());
        match words[at] {
            "wait" => wait.push(((*name).to_owned(), stage.unwrap_or(S::ALL_COMMANDS))),
            "signal" => signal.push(((*name).to_owned(), stage.unwrap_or(S::ALL_COMMANDS))),
            other => bail!("submit {other}"),
        }
        at += if stage.is_some() { 3 } else { 2 };
    }
    Ok(Step::Submit { wait, signal })
}

/// The step that a directive is, if it is one.
///
/// # Errors
/// It is one, but not well formed.
pub fn step(word: &str, rest: &str) -> Result<Option<Step>> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let name = |i: usize| words.get(i).map(|w| (*w).to_owned()).with_context(|| format!("{word}: a name"));
    Ok(Some(match word {
        "dispatch" => dispatch(rest)?,
        "indirect" => {
            let shader = if words.len() > 1 { name(0)? } else { "main".to_owned() };
            Step::Indirect { shader, buffer: name(words.len().saturating_sub(1))?, offset: 0 }
        }
        "fill" => Step::Fill { buffer: name(0)?, value: number(&name(1)?)? },
        "copy" => Step::Copy { from: name(0)?, to: name(1)? },
        "update" => Step::Update {
            buffer: name(0)?,
            values: words[1..].iter().map(|w| number(w)).collect::<Result<_>>()?,
        },
        "barrier" => Step::Barrier(rest.split(',').map(dependency).collect::<Result<_>>()?),
        "barrier1" => shared_barrier(rest)?,
        "set-event" => Step::SetEvent(name(0)?, stages(&name(1)?)?),
        "wait-event" => {
            let (event, rest) = rest.trim().split_once(' ').context("wait-event NAME A/B -> C/D")?;
            Step::WaitEvent(event.to_owned(), dependency(rest)?)
        }
        "submit" => submit(rest)?,
        "queue" => Step::Queue(number(&name(0)?)?),
        "fence" => Step::Fence,
        "host-signal" => Step::HostSignal(name(0)?),
        "free" => Step::Free(name(0)?),
        "label" => Step::Label(rest.trim().to_owned()),
        "end-label" => Step::EndLabel,
        _ => return Ok(None),
    }))
}
