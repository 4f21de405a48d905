//! Whether a motion has come to its goal, or a breakpoint is hit.

use super::super::stop::{Accesses, At, Motion, Place, Range, Reason, lane_of, who_is};
use super::super::target::Who;
use super::super::values::Eyes;
use super::{Goal, Runner};
use pellucid_memory::checked::CheckedMemory;
use pellucid_memory::finding::AccessKind;
use pellucid_memory::scope::StorageClasses;
use pellucid_shader_interp::exec::modelled::debugged::Moment;
use std::collections::BTreeSet;

impl Runner<'_, '_> {
    /// Whether a motion ends here; `back`: for the way back.
    pub(super) fn reached(
        &mut self,
        moment: &Moment<'_, '_, CheckedMemory>,
        motion: Motion,
        pc: u32,
        back: bool,
    ) -> Option<(Reason, Who)> {
        let (Goal::Forward(_, start) | Goal::Backward(_, start, _)) = &mut self.goal else { return None };
        let focus = self.session.focus;
        let current = moment.current();
        let step = Some((Reason::Step, focus));
        let spot = self.target.spot(pc);
        match motion {
            Motion::Continue | Motion::Wrote(_) => return None,
            Motion::Workgroup | Motion::Subgroup if current.identity.workgroup != focus.workgroup => {
                return None;
            }
            Motion::Subgroup => {
                let subgroup = current.identity.subgroup;
                let own = current.identity.lane(focus.local_index).is_some();
                let from = start.left.get(&subgroup).copied().flatten();
                let moved =
                    if back { self.target.begins(pc) } else { self.target.begins(pc) && spot != from };
                return if own && moved { step } else { None };
            }
            Motion::Workgroup => {
                if back {
                    return if self.target.begins(pc) { step } else { None };
                }
                let subgroup = current.identity.subgroup;
                if start.left.get(&subgroup).is_some_and(|from| *from != spot) {
                    start.left.remove(&subgroup);
                }
                let can: BTreeSet<u32> = moment
                    .strands()
                    .filter(|of| of.identity.workgroup == focus.workgroup && !of.at_barrier)
                    .map(|of| of.identity.subgroup)
                    .collect();
                start.left.retain(|subgroup, _| can.contains(subgroup));
                return if start.left.is_empty() { step } else { None };
            }
            Motion::In | Motion::Over | Motion::Out | Motion::Instruction => {}
        }
        if lane_of(&current, focus).is_none_or(|lane| current.strand.mask() >> lane & 1 == 0) {
            if !back && moment.index == 0 {
                let alive = moment.strands().any(|standing| lane_of(&standing, focus).is_some());
                if !alive {
                    let lane = current.strand.mask().trailing_zeros().min(31);
                    return Some((Reason::Gone, who_is(&current, lane)));
                }
            }
            return None;
        }
        if motion == Motion::Instruction {
            return step;
        }
        let (spot, from) = (spot?, start.spot);
        let outer =
            from.is_some_and(|from| from.call != spot.call && self.target.is_within(from.call, spot.call));
        let inner =
            from.is_some_and(|from| from.call != spot.call && self.target.is_within(spot.call, from.call));
        let before = start.pc.replace(pc);
        let moved = if back {
            self.target.begins(pc)
        } else {
            Some(spot) != from || (self.target.begins(pc) && before.is_some_and(|before| pc <= before))
        };
        let ends = match motion {
            Motion::Out => outer,
            Motion::Over => moved && !inner,
            _ => moved,
        };
        if ends { step } else { None }
    }

    /// The breakpoint that the instruction hits.
    pub(super) fn hit(
        &mut self,
        moment: &mut Moment<'_, '_, CheckedMemory>,
        pc: u32,
        motion: Motion,
    ) -> Result<Option<(Reason, Who)>, String> {
        if let Motion::Wrote(range) = motion {
            let who = touches(moment, &range, Accesses::Write, None).first().copied();
            return Ok(who.map(|who| (Reason::Wrote, who)));
        }
        let mut hit = None;
        for of in &self.session.breakpoints {
            if hit.is_some() && (of.condition.is_none() || of.told) {
                continue;
            }
            let (id, who) = (of.id, of.who);
            let (reason, lanes) = match &of.place {
                Place::Line { pcs, .. } if pcs.binary_search(&pc).is_ok() => {
                    (Reason::Breakpoint(id), running(moment, who))
                }
                Place::Line { .. } => continue,
                Place::Data { range, accesses, .. } => {
                    (Reason::Data(id), touches(moment, range, *accesses, who))
                }
            };
            let Some(first) = lanes.first().copied() else { continue };
            let Some(condition) = &of.condition else {
                let focus = self.session.focus;
                let who = if lanes.contains(&focus) { focus } else { first };
                hit = Some((reason, who));
                continue;
            };
            let mut at = At::Moment(moment);
            let mut eyes = Eyes { target: self.target, at: &mut at, who: first, frame: 0 };
            let judged = self.judged.entry((id, pc)).or_insert_with(|| eyes.judge(condition));
            let mut unjudged = None;
            match judged {
                Ok(condition) => {
                    for who in lanes {
                        eyes.who = who;
                        match eyes.holds(condition) {
                            Ok(true) => {
                                hit = hit.or(Some((reason, who)));
                                break;
                            }
                            Ok(false) => {}
                            Err(why) => unjudged = unjudged.or(Some((why, who))),
                        }
                    }
                }
                Err(why) => unjudged = (!of.told).then(|| (why.clone(), first)),
            }
            // Nobody is to wait for what may never be known; once is enough.
            if let Some((why, who)) = unjudged.filter(|_| !of.told) {
                return Ok(Some((Reason::Unjudged(id, why), who)));
            }
        }
        Ok(hit)
    }
}

/// The invocations that run the instruction.
fn running(moment: &Moment<'_, '_, CheckedMemory>, only: Option<Who>) -> Vec<Who> {
    let standing = moment.current();
    let mask = standing.strand.mask();
    let who = (0..32).filter(|lane| mask >> lane & 1 != 0).map(|lane| who_is(&standing, lane));
    who.filter(|who| only.is_none_or(|only| only == *who)).collect()
}

/// Those of them that access some of the bytes.
fn touches(
    moment: &Moment<'_, '_, CheckedMemory>,
    range: &Range,
    accesses: Accesses,
    only: Option<Who>,
) -> Vec<Who> {
    let standing = moment.current();
    let mask = standing.strand.mask();
    let within = |start: u64, end: u64| start < range.address + range.bytes && range.address < end;
    if !(0..32).any(|lane| mask >> lane & 1 != 0 && moment.access(standing.strand, lane).is_some()) {
        if accesses == Accesses::Write || range.workgroup.is_some() {
            return Vec::new();
        }
        let texels = moment.sampled_texels(standing.strand);
        let reads = |who: &Who| {
            let lane = lane_of(&standing, *who);
            let mut of = texels.iter().filter(|of| Some(of.lane) == lane);
            of.any(|of| within(of.address, of.address + of.bytes))
        };
        return running(moment, only).into_iter().filter(reads).collect();
    }
    let hits = |who: &Who| {
        let Some(lane) = lane_of(&standing, *who) else { return false };
        let Some(accessed) = moment.access(standing.strand, lane) else { return false };
        let operand = accessed.operand;
        let kind = match operand.kind {
            AccessKind::Read => accesses != Accesses::Write,
            AccessKind::Write => accesses != Accesses::Read,
            AccessKind::ReadModifyWrite(_) => true,
        };
        let shared = operand.place.class == StorageClasses::WORKGROUP;
        let space = shared.then_some(who.workgroup);
        let start = operand.place.address;
        kind && space == range.workgroup && within(start, start + u64::from(operand.place.size))
    };
    running(moment, only).into_iter().filter(hits).collect()
}
