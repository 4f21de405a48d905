//! Pages of cells, runs, and what they expand to.

use super::super::cell::Dropped;
use super::*;

#[test]
fn pages_start_afresh_with_every_dispatch_and_untouched_ones_go() {
    let mut shadow = Shadow::default();
    shadow.forget();
    let record = Record { agent: 3, time: 1, kind: 1 };
    shadow.cell(5).write = record;
    shadow.cell(5000).write = record;
    assert_eq!((shadow.cell(5).write, shadow.cell(6).write), (record, NOBODY));
    shadow.forget();
    assert_eq!(shadow.cell(5).write, NOBODY);
    let both = shadow.bytes();
    shadow.shrink();
    assert!(shadow.bytes() <= both / 2, "{both}");
    assert_eq!(shadow.cell(5000).write, NOBODY);
}

#[test]
fn a_run_of_cells_expands_to_the_cells_it_stands_for() {
    let mut shadow = Shadow::default();
    shadow.forget();
    let run = shadow.run(16);
    let first = run.whole(1).unwrap();
    first.write = Record { agent: 32, time: 2, kind: 1 };
    first.read(Record { agent: 64, time: 3, kind: 2 }, 15, Dropped::Latest);
    run.before()[5] = 7;
    let mut told = Vec::new();
    shadow.touched(|start, end, cell| told.push((start, end, cell.write.agent)));
    assert_eq!(told, [(0, 64, 0), (64, 128, 32), (128, 1024, 0)]);
    let cell = *shadow.cell(21);
    assert_eq!(cell.write, Record { agent: 37, time: 2, kind: 1 });
    assert_eq!((cell.readers, cell.before), ([Record { agent: 69, time: 3, kind: 2 }, NOBODY], 7));
    assert_eq!(cell.reader_bytes, [15, 0]);
    assert!(shadow.run(16).whole(1).is_none() && shadow.run(32).whole(1).is_some());
}

#[test]
fn a_run_of_which_agents_access_several_words_each_expands_so() {
    for (words, agent) in [(1, 45), (2, 38), (4, 35)] {
        let mut shadow = Shadow::default();
        shadow.forget();
        let run = shadow.run(16);
        run.whole(words).unwrap().write = Record { agent: 32, time: 2, kind: 1 };
        run.before()[13] = 7;
        assert!(run.whole(3).is_none() && run.whole_of_parts(2, false).is_none());
        let cell = *shadow.cell(16 + 13);
        assert_eq!((cell.write, cell.before), (Record { agent, time: 2, kind: 1 }, 7));
    }
}

#[test]
fn a_run_of_halves_expands_to_words_that_are_split() {
    let mut shadow = Shadow::default();
    shadow.forget();
    let run = shadow.run(16);
    run.whole_of_parts(2, false).unwrap().write = Record { agent: 32, time: 2, kind: 1 };
    run.before()[5] = 0x0007_0008;
    assert!(run.whole(1).is_none());
    assert!(shadow.run(32).whole_of_parts(2, false).is_some() && shadow.run(32).whole(1).is_some());
    let (cell, split) = shadow.cell_and_split(21);
    let halves = split.peek(cell).unwrap().iter().map(|half| (half.write.agent, half.before));
    assert!(halves.eq([(42, 0x0007_0008), (43, 0x0007_0008)]));
    let mut told = Vec::new();
    shadow.touched(|start, end, cell| told.push((start, end, cell.write.agent)));
    assert_eq!(told[1..4], [(64, 66, 32), (66, 68, 33), (68, 70, 34)]);
    shadow.forget();
    assert!(shadow.run(16).whole(1).is_some());
}

#[test]
fn a_run_of_bytes_has_a_cell_for_each_half() {
    let mut shadow = Shadow::default();
    shadow.forget();
    let record = |agent| Record { agent, time: 2, kind: 1 };
    let run = shadow.run_to_write(16);
    run.whole_of_parts(1, true).expect("nobody was there").write = record(32);
    run.before()[9] = 0x0a0b_0c0d;
    assert!(shadow.run(16).whole(1).is_none() && shadow.run(16).whole_of_parts(2, false).is_none());
    assert!(shadow.run(16).whole_of_parts(1, false).is_some_and(|cell| cell.is_empty()));
    let mut told = Vec::new();
    shadow.touched(|start, end, cell| told.push((start, end, cell.write.agent)));
    assert!(told.contains(&(96, 128, 32)), "{told:?}");
    let (cell, split) = shadow.cell_and_split(25);
    let bytes = split.peek(cell).unwrap().iter().map(|byte| (byte.write.agent, byte.before));
    assert!(bytes.eq((36..40).map(|agent| (agent, 0x0a0b_0c0d))));
    assert!(shadow.cell(16).is_empty());
    assert!(shadow.run(16).whole_of_parts(1, true).is_none());
    shadow.forget();
    assert!(shadow.run(16).whole(1).is_some());
}

#[test]
fn a_cell_is_small_enough() {
    assert!(std::mem::size_of::<Cell>() <= 48);
}
