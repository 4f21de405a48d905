//! The host's side of an allocation that is checked: what the application writes to mapped memory, and when
//! it and the device see each other's bytes.
//!
//! **Coherent memory.** The application's mapping and the device view show the same pages. The driver keeps
//! what they held when it last looked; what differs in pages that the application has written
//! ([`watch`]), the host wrote.
//!
//! **Non-coherent memory.** The application's mapping shows other pages than the device view.
//! A flush moves what the host wrote, an invalidate what the device wrote, in units of
//! [`ATOM`](crate::device::ATOM); nothing else moves a byte, so that a missing call shows every time. Bytes
//! that the device has written and the host has not invalidated, nobody may read: they are *unseen*, and
//! filled with bytes that are neither what the host had there nor what the device wrote. So a store to them
//! is noticed whatever it stores, and a read of them shows.
//!
//! Reads are seen by the page. Where the device wrote all of a page, a read of it is one of unseen bytes
//! until an invalidate; so it is where the host has never written to the page and no invalidate has shown it
//! anything there: what is not unseen then, nobody ever wrote.
//!
//! A machine ([`crate::machine`]) may have a cache for it, which writes back and fetches lines as well, where
//! no call says so: [`cache`] says when, and what shows.
//!
//! **Cost.** A page that is written for the first time after it was looked at is a fault. So where the host
//! goes on after a wait, the pages that it changed the last time are admitted in one call, and count as
//! written.
//! Nothing is listed while the process takes no fault. What was written is compared and copied in one go, by
//! several threads where it is much.
//!
//! Pages of coherent memory can be *left alone*: no pending work uses them, and all that earlier work did to
//! them is ordered before what the host does now. Any write of the host is right there, so nothing has to be
//! known about it. Where the host has written many such pages in a row, they are neither protected nor listed
//! as written, neither compared nor copied. This ends when work is submitted that may use them: they are
//! protected then, and what they hold is what that work finds, because a submission comes after all that the
//! host wrote before.
//!
//! Where very many bytes changed, those between them that are less than a word, and did not change, count as
//! written, too: numbers are seldom new in all of their bytes.
//!
//! What is left to chance: a store to unseen bytes of exactly the bytes that fill them goes unnoticed if the
//! host writes nothing else in the atom. That is one store in 2^32 for a word, but one in 254 for a single
//! byte that the device wrote alone in its atom.
//!
//! An atom with unseen bytes in which the host wrote others, and which is then flushed, is a lost update on a
//! device that writes back whole lines. The unseen bytes keep what the device wrote, and are told.

mod cache;
mod forecast;
mod mapping;
mod noted;
mod parts;
mod runs;
mod spans;
mod view;
mod watch;

pub use cache::{HostBytes, HostLines};
pub(crate) use mapping::{Mapping, PAGE};
pub(crate) use spans::Spans;
pub use view::{Flushed, Invalidated};
pub(crate) use view::{View, atoms};
pub use watch::{Faults, refusal};
