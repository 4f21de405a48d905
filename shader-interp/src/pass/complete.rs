//! Which private objects are written in full, with constants, before anything reads them: tables, and
//! variables with initializers.

use super::builder::Builder;
use super::defined::FOLLOWED;
use crate::ir::{Node, Op, OpKind, Place, PrivateObject, Region, Shader};

/// Components that a shader may access of the objects that stay in memory. Following takes as many accesses
/// again, of which a program has 65535: nothing is refused because it is checked.
const MOST: usize = 1 << 14;

/// What is known about an object.
struct State {
    /// The region whose stores count: a later access inside of it, however deep, comes after them.
    region: Option<u32>,
    /// Bytes that they wrote.
    written: Vec<bool>,
    left: u32,
    /// Components that are accessed.
    accesses: usize,
    /// It was accessed at offsets that are not constant.
    dynamic: bool,
    /// Something may read it earlier.
    early: bool,
}

struct Survey<'a> {
    b: &'a Builder,
    objects: &'a [PrivateObject],
    states: Vec<State>,
    /// The regions that are open.
    open: Vec<u32>,
    regions: u32,
}

/// True for the objects that are not to be followed: those that are complete before they are read, and all
/// that stay in memory where they are accessed too often. Others than arrays that an index chooses from are
/// followed as values, which costs nothing where they are complete.
pub(super) fn find(shader: &Shader, b: &Builder) -> Vec<bool> {
    let survey = survey(shader, b);
    let too_many = survey.followed() > MOST;
    let stays = |state: &State| state.is_complete() || (state.dynamic && too_many);
    survey.states.iter().map(stays).collect()
}

/// Whether objects are not followed because they are accessed too often.
pub(super) fn too_many(shader: &Shader, b: &Builder) -> bool {
    survey(shader, b).followed() > MOST
}

fn survey<'a>(shader: &'a Shader, b: &'a Builder) -> Survey<'a> {
    let states = shader.private.iter().map(|object| State {
        region: None,
        written: Vec::new(),
        left: object.size,
        accesses: 0,
        dynamic: object.size > 4096,
        early: object.size > FOLLOWED,
    });
    let mut survey =
        Survey { b, objects: &shader.private, states: states.collect(), open: Vec::new(), regions: 0 };
    survey.region(&shader.body);
    survey
}

impl State {
    fn is_complete(&self) -> bool {
        self.dynamic && !self.early && self.left == 0
    }
}

impl Survey<'_> {
    /// Components that are accessed of the objects that stay in memory and are followed.
    fn followed(&self) -> usize {
        let followed = self.states.iter().filter(|state| state.dynamic && !state.is_complete());
        followed.map(|state| state.accesses).sum()
    }

    fn region(&mut self, region: &Region) {
        self.regions += 1;
        self.open.push(self.regions);
        for node in region {
            match node {
                Node::Op(op) => self.op(op),
                Node::If { then, otherwise, .. } => {
                    self.region(then);
                    self.region(otherwise);
                }
                Node::Block { body, .. } | Node::Loop { body, .. } => self.region(body),
                _ => {}
            }
        }
        self.open.pop();
    }

    fn op(&mut self, op: &Op) {
        let (place, access, store) = match &op.kind {
            OpKind::Load { place, access } => (place, access, false),
            OpKind::Store { place, access } => (place, access, true),
            _ => return,
        };
        let Place::Private { object, offset, immediate } = *place else { return };
        let state = &mut self.states[object as usize];
        state.dynamic |= offset.is_some();
        state.accesses += if store { op.arguments.len() } else { op.results.len() };
        if state.early {
            return;
        }
        if state.left == 0 {
            state.early = state.region.is_none_or(|region| !self.open.contains(&region));
            return;
        }
        if !store {
            state.early = true;
            return;
        }
        let here = *state.region.get_or_insert(self.open.last().copied().unwrap_or(0));
        let constant = op.arguments.iter().all(|&value| self.b.constant_bits(value).is_some());
        if offset.is_some() || self.open.last() != Some(&here) || !constant {
            return;
        }
        let of = &self.objects[object as usize];
        state.written.resize(of.size as usize, false);
        let start = immediate.wrapping_sub(of.offset) as usize;
        let bytes = usize::from(access.size) * op.arguments.len();
        for byte in state.written.iter_mut().skip(start).take(bytes) {
            state.left -= u32::from(!std::mem::replace(byte, true));
        }
    }
}
