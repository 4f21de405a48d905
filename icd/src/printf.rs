//! DebugPrintf: what shaders print, to standard output and to debug messengers.
//!
//! As with the Khronos validation layer, standard output gets the text alone, ended by a newline if it has
//! none, and messengers that hear INFO and VALIDATION get it by the id that programs filter on. The messages
//! of a dispatch come when it has ended, in whatever way, in the order that [`PrintLog`] defines.

use crate::config::Printf;
use crate::device::Device;
use crate::message::Message;
use crate::report::context::location;
use ash::vk;
use pellucid_shader_interp::Program;
use pellucid_shader_interp::exec::prints::PrintLog;
use std::io::Write;

/// `pMessageIdName` of what a shader prints.
const ID: &str = "VVL-DEBUG-PRINTF";
/// `messageIdNumber`: the layer's hash of it.
const NUMBER: i32 = 0x4fe1_fef9;
/// `pMessageIdName` of what is wrong with a format.
const FORMATTING: &str = "DEBUG-PRINTF-FORMATTING";

fn message(severity: vk::DebugUtilsMessageSeverityFlagsEXT, id: &str, number: i32, text: &str) -> Message {
    let kind = vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION;
    Message { severity, kind, id: id.into(), number, ..Message::error(text) }
}

/// A log for a dispatch of `program`, if that prints and somebody wants it.
pub fn log(device: &Device, program: &Program) -> Option<PrintLog> {
    let config = &device.instance.config;
    let wanted = !program.prints.is_empty() && config.printf != Printf::Off;
    wanted.then(|| PrintLog::new(config.printf_limit))
}

/// Prints what dispatch `number` printed.
pub fn print(device: &Device, log: PrintLog, number: u32) {
    let config = &device.instance.config;
    let (printed, left_out) = log.finish();
    if matches!(config.printf, Printf::Both | Printf::Stdout) {
        let mut text = String::new();
        for message in &printed {
            text.push_str(&message.text);
            if !text.ends_with('\n') {
                text.push('\n');
            }
        }
        // A closed standard output is no reason to fail.
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
    if matches!(config.printf, Printf::Both | Printf::Messengers) {
        let severity = vk::DebugUtilsMessageSeverityFlagsEXT::INFO;
        for printed in &printed {
            device.instance.deliver(&message(severity, ID, NUMBER, &printed.text));
        }
    }
    if left_out > 0 {
        let most = config.printf_limit;
        let text = format!(
            "dispatch {number}: {left_out} messages of debugPrintf after the first {most} are left out (printf-limit)"
        );
        device.instance.say(&text);
    }
}

/// Says which DebugPrintf instructions of a new program print nothing, and why.
pub fn tell_malformed(device: &Device, program: &Program) {
    for (site, format, error) in &program.shader.malformed_prints {
        let at = location(&program.shader, *site);
        let text = format!("debugPrintf {format:?} at {at} prints nothing: {error}");
        crate::report::say(&text);
        let severity = vk::DebugUtilsMessageSeverityFlagsEXT::ERROR;
        device.instance.deliver(&message(severity, FORMATTING, 0, &text));
    }
}
