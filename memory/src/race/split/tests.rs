//! Cells of parts, split and united.

use super::super::cell::Dropped;
use super::*;

fn halves<'a>(split: &'a mut Split, cell: &mut Cell) -> &'a mut [Cell] {
    split.part(cell, (0, 2), |_| true).expect("no history");
    split.get(cell).expect("split")
}

#[test]
fn halves_are_united_where_one_cell_has_room_for_them() {
    let mut split = Split::default();
    let record = |agent| Record { agent, time: 3, kind: 1 };
    let mut cell = Cell { write: record(7), before: 0x0005_0006, ..Cell::EMPTY };
    let parts = halves(&mut split, &mut cell);
    parts[0].read(record(1), 15, Dropped::Latest);
    parts[1].read(record(1), 15, Dropped::Latest);
    parts[1].read(record(2), 15, Dropped::Latest);
    assert!(split.unite(&mut cell) && !cell.is_split());
    assert_eq!((cell.write, cell.before), (record(7), 0x0005_0006));
    assert_eq!((cell.readers, cell.reader_bytes), ([record(1), record(2)], [15, 12]));
    halves(&mut split, &mut cell)[0].read(record(3), 15, Dropped::Latest);
    assert!(!split.unite(&mut cell), "three readers");
    split.join(&mut cell);
    halves(&mut split, &mut cell)[0].write = record(4);
    assert!(!split.unite(&mut cell), "one half is written");
}

#[test]
fn parts_begin_with_what_was_known_of_the_word_and_go_their_own_ways() {
    let mut split = Split::default();
    let record = |agent| Record { agent, time: 3, kind: 1 };
    let mut cell = Cell { write: record(7), before: 0x0005_0006, ..Cell::EMPTY };
    let parts = halves(&mut split, &mut cell);
    assert_eq!(
        parts.iter().map(|half| (half.write, half.before)).collect::<Vec<_>>(),
        [(record(7), 0x0005_0006), (record(7), 0x0005_0006)]
    );
    parts[1].overwrite(record(8), 9 << 16);
    assert!(cell.is_split());
    let mut other = Cell { write: record(2), ..Cell::EMPTY };
    assert_eq!(halves(&mut split, &mut other)[0].write, record(2));
    assert_eq!(writes(halves(&mut split, &mut cell))[..], [(record(7), 3, 6), (record(8), 12, 9 << 16)]);
    // Who accesses a byte has the halves split, too; who accesses a half then gets the bytes.
    let (byte, size) = split.part(&mut cell, (2, 1), |_| true).expect("no history");
    assert_eq!((byte.write, size), (record(8), 1));
    byte.overwrite(record(9), 7 << 16);
    assert_eq!(
        split.part(&mut cell, (2, 2), |_| true).map(|(cell, size)| (cell.write, size)),
        Some((record(9), 1))
    );
    let parts = split.get(&cell).expect("split");
    assert_eq!(writes(parts)[..], [(record(7), 3, 6), (record(9), 4, 7 << 16), (record(8), 8, 0)]);
    split.join(&mut cell);
    assert!(!cell.is_split() && cell.write == NOBODY && split.peek(&cell).is_none());
    let (mut third, mut fourth) = (Cell::EMPTY, Cell::EMPTY);
    halves(&mut split, &mut third);
    split.part(&mut fourth, (3, 1), |_| true).expect("no history");
    assert_eq!((third.before, fourth.before), (0, 4), "the places are used again");
    assert!(unwritten(split.peek(&third).expect("split")));
    let mut read = Cell { readers: [record(1), record(2)], reader_bytes: [3, 12], ..Cell::EMPTY };
    let readers: Vec<_> = halves(&mut split, &mut read).iter().map(|half| half.readers).collect();
    assert_eq!(readers, [[record(1), NOBODY], [record(2), NOBODY]]);
    let mut byte = Cell { readers: [record(1), NOBODY], reader_bytes: [1, 0], ..Cell::EMPTY };
    assert_eq!(
        split.part(&mut byte, (2, 2), |_| true).map(|(part, size)| (part.readers[0], size)),
        Some((NOBODY, 1))
    );
    assert_eq!(super::readers(split.get(&byte).expect("split"))[..], [(record(1), 1)]);
    assert!(split.part(&mut Cell { history: 4, ..Cell::EMPTY }, (0, 2), |_| true).is_none());
    assert!(split.part(&mut Cell::EMPTY.clone(), (0, 1), |_| false).is_none());
}
