//! Cells of halves, split and united.

use super::super::cell::Nearness;
use super::*;

#[test]
fn halves_are_united_where_one_cell_has_room_for_them() {
    let mut split = Split::default();
    let record = |agent| Record { agent, time: 3, kind: 1 };
    let mut cell = Cell { write: record(7), before: 0x0005_0006, ..Cell::EMPTY };
    let halves = split.of(&mut cell, |_| true).expect("no history");
    halves[0].read(record(1), 15, [Nearness::Elsewhere; 2]);
    halves[1].read(record(1), 15, [Nearness::Elsewhere; 2]);
    halves[1].read(record(2), 15, [Nearness::Elsewhere; 2]);
    assert!(split.unite(&mut cell) && !cell.is_split());
    assert_eq!((cell.write, cell.before), (record(7), 0x0005_0006));
    assert_eq!((cell.readers, cell.reader_bytes), ([record(1), record(2)], [15, 12]));
    split.of(&mut cell, |_| true).expect("no history")[0].read(record(3), 15, [Nearness::Elsewhere; 2]);
    assert!(!split.unite(&mut cell), "three readers");
    split.join(&mut cell);
    split.of(&mut cell, |_| true).expect("no history")[0].write = record(4);
    assert!(!split.unite(&mut cell), "one half is written");
}

#[test]
fn halves_begin_with_what_was_known_of_the_word_and_go_their_own_ways() {
    let mut split = Split::default();
    let record = |agent| Record { agent, time: 3, kind: 1 };
    let mut cell = Cell { write: record(7), before: 0x0005_0006, ..Cell::EMPTY };
    let halves = split.of(&mut cell, |_| true).expect("no history");
    assert_eq!(halves.map(|half| (half.write, half.before)), [(record(7), 0x0005_0006); 2]);
    halves[1].overwrite(record(8), 9 << 16);
    assert!(cell.is_split());
    let mut other = Cell { write: record(2), ..Cell::EMPTY };
    assert_eq!(split.of(&mut other, |_| true).expect("no history")[0].write, record(2));
    assert_eq!(split.of(&mut cell, |_| true).expect("split").map(|half| half.write), [record(7), record(8)]);
    split.join(&mut cell);
    assert!(!cell.is_split() && cell.write == NOBODY && split.peek(&cell).is_none());
    let mut third = Cell::EMPTY;
    split.of(&mut third, |_| true).expect("no history");
    assert_eq!(third.before, 0, "the place is used again");
    assert!(unwritten(split.peek(&third).expect("split")));
    let mut read = Cell { readers: [record(1), record(2)], reader_bytes: [3, 12], ..Cell::EMPTY };
    let readers = split.of(&mut read, |_| true).expect("no history").map(|half| half.readers);
    assert_eq!(readers, [[record(1), NOBODY], [record(2), NOBODY]]);
    let mut byte = Cell { readers: [record(1), NOBODY], reader_bytes: [1, 0], ..Cell::EMPTY };
    assert!(split.of(&mut byte, |_| true).is_none() && !byte.is_split());
    assert!(split.of(&mut Cell { history: 4, ..Cell::EMPTY }, |_| true).is_none());
    assert!(split.of(&mut Cell::EMPTY.clone(), |_| false).is_none());
}
