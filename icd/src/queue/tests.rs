//! Submissions and waiting, apart from devices.

mod held_work;
mod progress;
