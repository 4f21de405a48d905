//! How far a run is: one line that is redrawn on a terminal, a line now and then elsewhere.

use crate::journal::CaseResult;
use crate::status::Class;
use std::io::Write;
use std::time::{Duration, Instant};

/// Shows progress on a writer.
pub struct Progress<'a> {
    out: &'a mut dyn Write,
    /// Redraw in place.
    terminal: bool,
    /// The longest time between two lines.
    interval: Duration,
    label: String,
    total: usize,
    held: usize,
    counts: [usize; 4],
    begun: Instant,
    shown: Option<Instant>,
}

impl<'a> Progress<'a> {
    /// Of `total` cases, of which `held` have their results from before.
    pub fn new(
        out: &'a mut dyn Write,
        terminal: bool,
        interval: Duration,
        label: &str,
        total: usize,
        held: usize,
    ) -> Progress<'a> {
        let interval = if terminal { Duration::from_millis(200) } else { interval };
        Progress {
            out,
            terminal,
            interval,
            label: label.to_string(),
            total,
            held,
            counts: [0; 4],
            begun: Instant::now(),
            shown: None,
        }
    }

    /// Counts a result and shows the state if it is time to.
    pub fn add(&mut self, result: &CaseResult) {
        let column = match result.status.class() {
            Class::Good => 0,
            Class::NotSupported | Class::Skip => 1,
            Class::Flake => 2,
            Class::Failed | Class::Lost => 3,
        };
        self.counts[column] += 1;
        self.tick();
    }

    /// Shows the state if it is time to.
    pub fn tick(&mut self) {
        let due = match self.shown {
            Some(shown) => shown.elapsed() >= self.interval,
            None => self.terminal || self.begun.elapsed() >= self.interval,
        };
        if due {
            self.show();
        }
    }

    /// Shows the last state and ends the line.
    pub fn finish(&mut self) {
        self.show();
        if self.terminal {
            let _ = writeln!(self.out);
        }
    }

    fn show(&mut self) {
        self.shown = Some(Instant::now());
        let done: usize = self.counts.iter().sum();
        let seconds = self.begun.elapsed().as_secs_f64();
        let left = self.total - (self.held + done).min(self.total);
        let rest = if done == 0 || left == 0 {
            String::new()
        } else {
            format!(", about {} left", clock(seconds / done as f64 * left as f64))
        };
        let [good, not_supported, flaky, bad] = self.counts;
        let flaky = if flaky == 0 { String::new() } else { format!(", {flaky} flaky") };
        let line = format!(
            "{}{}/{}: {good} pass, {not_supported} not supported, {bad} bad{flaky} in {}{rest}",
            self.label,
            self.held + done,
            self.total,
            clock(seconds)
        );
        let _ =
            if self.terminal { write!(self.out, "\r\x1b[2K{line}") } else { writeln!(self.out, "{line}") };
        let _ = self.out.flush();
    }
}

fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    if seconds < 3600 {
        format!("{}:{:02}", seconds / 60, seconds % 60)
    } else {
        format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    #[test]
    fn lines_without_a_terminal_have_no_control_characters() {
        let mut out = Vec::new();
        let mut progress = Progress::new(&mut out, false, Duration::ZERO, "x: ", 3, 1);
        let result = CaseResult {
            name: "n".into(),
            status: Status::Pass,
            micros: 1,
            tries: 1,
            message: String::new(),
        };
        progress.add(&result);
        progress.finish();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("x: 2/3: 1 pass, 0 not supported, 0 bad in 0:00"), "{text}");
        assert!(!text.contains(['\r', '\x1b']));
    }
}
