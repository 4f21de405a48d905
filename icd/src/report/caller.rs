//! Who made a call of the API: the application's thread and call stack, for findings about what the host does
//! between two calls.
//!
//! Taking a stack costs some microseconds, telling it milliseconds: addresses are kept, and only those of a
//! finding become functions and lines, by the debug information of the program where it has some. What is
//! told names no address.

use backtrace::SymbolName;
use cpp_demangle::DemangleOptions;
use serde_json::{Value, json};
use std::ffi::c_void;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Frames that are kept of one stack, the driver's own and those of a loader and its layers among them.
const KEPT: usize = 32;

/// Frames that a text names.
const SHOWN: usize = 4;

/// A thread at a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Caller {
    thread: Arc<str>,
    /// Return addresses, innermost first.
    stack: Box<[usize]>,
}

/// A function that was active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The file name of its program or library.
    pub module: String,
    /// Its name, where the module says it.
    pub function: Option<String>,
    /// Its file and line, where the module has debug information.
    pub source: Option<(String, u32)>,
}

/// A function's name as its language writes it, without the types of its parameters.
fn written(name: &SymbolName<'_>) -> String {
    let of_rust = format!("{name:#}");
    if of_rust.as_bytes() != name.as_bytes() {
        return of_rust;
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let of_cpp = cpp_demangle::Symbol::new(name.as_bytes()).ok();
    of_cpp.and_then(|symbol| symbol.demangle_with_options(&options).ok()).unwrap_or(of_rust)
}

/// What the kernel calls this thread: the program's name, unless the application chose another.
fn thread_name() -> Arc<str> {
    fn read() -> Arc<str> {
        std::fs::read_to_string("/proc/thread-self/comm").unwrap_or_default().trim_end().into()
    }
    thread_local! {
        static NAME: Arc<str> = read();
    }
    // A thread that ends may call on when this is gone: C++ has objects that outlive it.
    NAME.try_with(Arc::clone).unwrap_or_else(|_| read())
}

impl Caller {
    /// The thread that runs this, with its stack.
    pub fn here() -> Caller {
        let mut stack = Vec::with_capacity(KEPT);
        backtrace::trace(|frame| {
            stack.push(frame.ip() as usize);
            stack.len() < KEPT
        });
        Caller { thread: thread_name(), stack: stack.into() }
    }

    /// The application's functions, the innermost first, up to `main` or the thread's first one.
    pub fn frames(&self) -> Vec<Frame> {
        let modules = Modules::read();
        let mut frames = Vec::new();
        for address in &self.stack {
            let module = modules.of(*address).to_owned();
            let known = frames.len();
            // Functions that were inlined come first.
            backtrace::resolve(*address as *mut c_void, |symbol| {
                let function = symbol.name().map(|name| written(&name));
                let file = symbol.filename().map(|path| path.display().to_string());
                frames.push(Frame { module: module.clone(), function, source: file.zip(symbol.lineno()) });
            });
            if frames.len() == known {
                frames.push(Frame { module, function: None, source: None });
            }
        }
        of_application(frames)
    }

    /// `thread "app", in fill (app.c:41), in main (app.c:80)`.
    pub fn text(&self) -> String {
        format!("thread \"{}\"{}", self.thread, text_of(self.frames()))
    }

    /// For the report file.
    pub fn json(&self) -> Value {
        let frame = |frame: Frame| {
            let (file, line) = frame.source.unzip();
            json!({ "module": frame.module, "function": frame.function, "file": file, "line": line })
        };
        json!({ "thread": &*self.thread, "stack": self.frames().into_iter().map(frame).collect::<Vec<_>>() })
    }
}

/// `, in fill (app.c:41), in main (app.c:80)`. Functions without names, one below the other in one module,
/// are told once.
fn text_of(mut frames: Vec<Frame>) -> String {
    frames.dedup_by(|next, frame| frame.function.is_none() && next == frame);
    let more = if frames.len() > SHOWN { ", ..." } else { "" };
    let shown = frames.iter().take(SHOWN).map(|frame| format!(", in {}", frame.text()));
    shown.collect::<String>() + more
}

impl Frame {
    fn text(&self) -> String {
        let name =
            |path: &str| Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        match (&self.function, &self.source) {
            (Some(function), Some((file, line))) => format!("{function} ({}:{line})", name(file)),
            (Some(function), None) => format!("{function} ({})", self.module),
            (None, _) => self.module.clone(),
        }
    }

    fn is_called(&self, part: &str) -> bool {
        self.function.as_ref().is_some_and(|function| function.contains(part))
    }

    /// Of the driver, the Vulkan loader or a layer.
    fn is_below(&self) -> bool {
        let libraries = ["libvulkan", "libVkLayer"];
        self.is_called("vulkan_pellucid::") || libraries.iter().any(|name| self.module.starts_with(name))
    }

    /// What a runtime has below the first function of a program or thread.
    fn is_start(&self) -> bool {
        ["__libc_start", "start_thread", "__rust_begin_short_backtrace"]
            .iter()
            .any(|name| self.is_called(name))
    }
}

/// Without the driver and what is between it and the application, and without what starts programs.
fn of_application(mut frames: Vec<Frame>) -> Vec<Frame> {
    let first = frames.iter().rposition(Frame::is_below).map_or(0, |last| last + 1);
    frames.drain(..first);
    if let Some(start) = frames.iter().position(Frame::is_start) {
        frames.truncate(start);
    }
    while frames.last().is_some_and(|frame| frame.is_called("core::ops::function::FnOnce")) {
        frames.pop();
    }
    frames
}

/// What is mapped where in this process.
struct Modules(Vec<(Range<usize>, String)>);

impl Modules {
    fn read() -> Modules {
        let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let module = |line: &str| {
            let mut words = line.split_whitespace();
            let (start, end) = words.next()?.split_once('-')?;
            let at = |text| usize::from_str_radix(text, 16).ok();
            let name = Path::new(words.nth(4)?).file_name()?.to_string_lossy().into_owned();
            Some((at(start)?..at(end)?, name))
        };
        Modules(text.lines().filter_map(module).collect())
    }

    fn of(&self, address: usize) -> &str {
        let found = self.0.iter().find(|(range, _)| range.contains(&address));
        found.map_or("code made at run time", |(_, name)| name)
    }
}

#[cfg(test)]
mod tests;
