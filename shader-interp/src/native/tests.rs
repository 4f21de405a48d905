//! Random programs in both tiers: all registers, masks, the running lanes, the place and the fuel are the
//! same wherever either stops.

mod generator;

use self::generator::*;
use super::*;
use crate::code::{Opcode, Program};
use crate::exec::context::Context;
use crate::exec::entry::run;
use crate::exec::run::Control;
use crate::exec::strand::{Step, Strand};
use crate::interface::{Grid, Resources};
use pellucid_memory::access::Reference;
use pellucid_memory::device::MemoryRange;
use pellucid_memory::plain::PlainMemory;
use pellucid_memory::system::{Lanes, MemorySystem, MemoryView};

/// Everything of a strand but its own counts.
fn state(strand: &Strand) -> (Vec<Lanes>, Vec<u32>, [u32; 4], Vec<Lanes>) {
    let vectors = strand.vectors[..LOADED as usize].to_vec();
    let place = [strand.pc, strand.mask, strand.live, strand.fuel];
    (vectors, strand.masks.clone(), place, strand.private.clone())
}

/// One tier's strand and memory.
struct Side<'a> {
    strand: Strand,
    memory: PlainMemory<'a>,
    /// What has addresses.
    buffers: &'a [MemoryRange],
    words: [Vec<u32>; 2],
    /// Bytes of the last word of each view that are not in it.
    cut: u64,
}

impl Side<'_> {
    fn run(&mut self, level: Level, program: &Program, tier: Tier) -> Result<Step, String> {
        let resources = Resources::default();
        let mut context = Context::new(program, &Grid { base: [0; 3], groups: [1; 3] }, &resources);
        let views = self.words.iter_mut().map(|words| MemoryView::of_words(words));
        context.views = views.map(|view| view.part(0, view.size() - self.cut)).collect();
        context.tier = tier;
        let control = Control { alone: true, every: false };
        run(level, &context, &mut self.strand, &mut self.memory, &control).map_err(|_| "a trap".into())
    }

    fn workgroup(&mut self) -> Vec<u64> {
        let view = self.memory.workgroup_memory();
        let load = |at| pellucid_memory::raw::load(&view, at, 8, std::sync::atomic::Ordering::Relaxed);
        (0..view.size()).step_by(8).map(|at| load(at).unwrap_or(0)).collect()
    }
}

/// Runs a program in both tiers; how many marks it has.
///
/// # Errors
/// Where they differ.
fn differ(seed: u64, mut generator: Generator, level: Level) -> Result<usize, String> {
    let mut values: Vec<Lanes> =
        (0..ALL_VECTORS).map(|_| Lanes(std::array::from_fn(|_| generator.word()))).collect();
    values[VECTORS as usize] = Lanes(std::array::from_fn(|j| j as u32));
    values[VECTORS as usize + 1] = Lanes(std::array::from_fn(|j| j as u32 / 16 * 3));
    values[VECTORS as usize + 2] = Lanes(std::array::from_fn(|_| generator.random.below(90u32)));
    values[VECTORS as usize + 4] = Lanes(std::array::from_fn(|j| (j % 8 + j / 8 * 20) as u32));
    values[VECTORS as usize + 3] = Lanes([generator.random.below(9u32); 32]);
    for (kind, lane) in (0..ADDRESSES).flat_map(|kind| (0..32).map(move |lane| (kind, lane))) {
        let address = address(kind, lane as u64, &mut generator.random);
        let pair = usize::from(POINTERS + 2 * kind);
        (values[pair].0[lane], values[pair + 1].0[lane]) = (address as u32, (address >> 32) as u32);
    }
    let (program, mut random) = generator.program();
    let words: [Vec<u32>; 2] = std::array::from_fn(|k| (0..WORDS[k]).map(|_| random.bits() as u32).collect());
    let resources = Resources::default();
    let context = Context::new(&program, &Grid { base: [0; 3], groups: [1; 3] }, &resources);
    context.progress.compile(&context, level, Tier::Compiled);
    let marked = context.progress.code().ok_or("no code")?.marked();
    let marks = (0..program.code.len() as u32).filter(|k| marked.is_some_and(|code| code.is_mark(*k)));
    let marks = marks.count();
    let mut start = Strand::default();
    start.prepare(&context);
    start.start(&context, &context.launch.identity(context.launch.workgroup(0), 0));
    start.vectors[PINS as usize..].copy_from_slice(&values[PINS as usize..]);
    for mask in &mut start.masks[PARKS as usize + 2..] {
        *mask = random.bits() as u32;
    }
    if random.chance(50) {
        start.mask = random.bits() as u32 | 1;
        start.live = start.mask;
    }
    let filled: [Vec<u32>; 2] =
        std::array::from_fn(|_| (0..BUFFER_WORDS).map(|_| random.bits() as u32).collect());
    let buffers: [[MemoryRange; 2]; 2] = std::array::from_fn(|_| {
        std::array::from_fn(|k| {
            MemoryRange::of_words(&filled[k], BUFFERS[k], Reference(k as u32)).expect("memory")
        })
    });
    let [mut one, mut two] = std::array::from_fn(|side| {
        let buffers = &buffers[side];
        let mut memory = PlainMemory::new(buffers);
        memory.workgroup_begin(0, 4 * WORDS[2] as u32, true);
        Side { strand: start.clone(), memory, buffers, words: words.clone(), cut: seed % 8 / 2 }
    });
    for round in 0..6 {
        let fuel = 1 + random.below(30u32);
        (one.strand.fuel, two.strand.fuel) = (fuel, fuel);
        let left = one.run(level, &program, Tier::Interpreter)?;
        let right = two.run(level, &program, Tier::Compiled)?;
        let (is, should) = (state(&two.strand), state(&one.strand));
        let memories = one.words == two.words && one.workgroup() == two.workgroup();
        let in_buffers = |side: &Side<'_>| side.buffers.iter().map(MemoryRange::words).collect::<Vec<_>>();
        let (theirs, mine) = (in_buffers(&one), in_buffers(&two));
        let memories = memories && theirs == mine;
        if left == right && is == should && memories {
            if left == Step::Done {
                break;
            }
            continue;
        }
        let mut text = format!("seed {seed}, round {round}: {left:?} {right:?}\n{:?} {:?}\n", should.2, is.2);
        for k in 0..LOADED as usize {
            if let Some(j) = (0..32).find(|j| is.0[k].0[*j] != should.0[k].0[*j]) {
                text += &format!("v{k}[{j}]: {:08x}, not {:08x}\n", is.0[k].0[j], should.0[k].0[j]);
            }
        }
        for k in (0..MASKS as usize).filter(|k| is.1[*k] != should.1[*k]) {
            text += &format!("m{k}: {:08x}, not {:08x}\n", is.1[k], should.1[k]);
        }
        for k in (0..WORDS[1]).filter(|k| one.words[1][*k] != two.words[1][*k]) {
            text += &format!("view1[{k}]: {:08x}, not {:08x}\n", two.words[1][k], one.words[1][k]);
        }
        for (k, buffer) in theirs.iter().enumerate() {
            for at in (0..buffer.len()).filter(|at| mine[k][*at] != buffer[*at]) {
                text += &format!("buffer{k}[{at}]: {:08x}, not {:08x}\n", mine[k][at], buffer[at]);
            }
        }
        let (mine, theirs) = (two.workgroup(), one.workgroup());
        for k in (0..mine.len()).filter(|k| mine[*k] != theirs[*k]) {
            text += &format!("workgroup[{k}]: {:016x}, not {:016x}\n", mine[k], theirs[k]);
        }
        for k in (0..PRIVATE as usize).filter(|k| is.3[*k] != should.3[*k]) {
            text += &format!("private[{k}]: {:?}, not {:?}\n", is.3[k], should.3[k]);
        }
        return Err(text + &program.to_string());
    }
    Ok(marks)
}

/// How many marks so many random programs have, which compute the same in both tiers.
fn random_programs(few: u64, generator: impl Fn(u64) -> Generator) -> usize {
    let count = std::env::var("PELLUCID_RANDOM_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(few);
    let mut marks = 0;
    for level in Level::all() {
        for seed in 0..count {
            match differ(seed, generator(seed), level) {
                Ok(some) => marks += some,
                Err(text) => panic!("{level:?}: {text}"),
            }
        }
    }
    marks
}

#[test]
fn random_programs_compute_the_same_in_both_tiers() {
    assert_eq!(random_programs(600, |seed| Generator::new(seed, seed % 3 != 0)), 0);
}

#[test]
fn random_programs_compute_the_same_between_accesses() {
    let modelled = |seed| {
        let mut generator = Generator::new(seed, seed % 3 != 0);
        generator.modelled = true;
        generator
    };
    assert!(random_programs(300, modelled) > 60 || Level::all().is_empty());
}

#[test]
fn every_encoding_computes_what_its_row_says() {
    let rows = Opcode::ALL.iter().copied().filter(|op| is_encoded(*op));
    let mut wrong = Vec::new();
    for op in rows {
        for (level, seed) in Level::all().into_iter().flat_map(|level| (0..12).map(move |seed| (level, seed)))
        {
            let mut generator = Generator::new(seed, true);
            generator.rows = vec![op];
            if let Err(text) = differ(seed, generator, level) {
                wrong.push(format!("{op:?} {level:?}: {}", &text[..text.len().min(200)]));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
