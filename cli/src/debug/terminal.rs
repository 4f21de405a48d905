//! The debugger as a terminal program: a prompt with the position, a command a line.

use super::commands::{self, Answer};
use super::stop::{Front, Reason, Resume, Stop};
use std::io::{BufRead, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Reads commands from standard input.
#[derive(Debug, Default)]
pub struct Terminal {
    last: String,
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Has an interrupt from the keyboard stop the dispatch instead of the program.
pub fn catch_interrupts() {
    super::signal::on_interrupt(&INTERRUPTED);
}

/// Whether there was an interrupt since this was last asked, or since the last command.
pub fn interrupted() -> bool {
    INTERRUPTED.swap(false, Ordering::Relaxed)
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    if !text.is_empty() {
        let _ = writeln!(out, "{text}");
    }
    let _ = out.flush();
}

impl Front for Terminal {
    fn stopped(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>) -> Resume {
        if let Some(reason) = commands::reason(stop) {
            say(&reason);
        }
        if let Reason::Finding(_) = stop.reason {
            say(&format!("`findings {}` tells all of it", stop.findings().len()));
        }
        if !matches!(stop.reason, Reason::Ended(_)) {
            say(&commands::standing(stop));
        }
        loop {
            print!("({}) ", stop.here);
            let _ = std::io::stdout().flush();
            let mut line = String::new();
            match std::io::stdin().lock().read_line(&mut line) {
                Ok(0) | Err(_) => {
                    // The line of the prompt ends here.
                    let _ = writeln!(std::io::stdout());
                    return Resume::Quit;
                }
                Ok(_) => {}
            }
            INTERRUPTED.store(false, Ordering::Relaxed);
            let line = line.trim();
            if !std::io::stdin().is_terminal() {
                say(if line.is_empty() { &self.last } else { line });
            }
            if !line.is_empty() {
                line.clone_into(&mut self.last);
            } else if self.last.is_empty() {
                continue;
            }
            match commands::command(stop, &self.last) {
                Ok(Answer::Text(text)) => say(&text),
                Ok(Answer::Go(resume)) => return resume,
                Err(error) => say(&error),
            }
        }
    }

    fn interrupts(&mut self) -> bool {
        interrupted()
    }
}
