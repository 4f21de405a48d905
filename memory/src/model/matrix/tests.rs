//! Operations on relations against their definitions, row width by row width.

use super::*;

fn chain<R: Row>(n: usize) -> Matrix<R> {
    Matrix::from_fn(n, |a, b| b == a + 1)
}

#[test]
fn closing_a_chain_relates_every_earlier_to_every_later() {
    for n in [5, 64] {
        let closed = chain::<u64>(n).closure();
        assert_eq!(closed, Matrix::from_fn(n, |a, b| a < b));
        assert!(closed.acyclic());
    }
    let closed = chain::<Wide<3>>(150).closure();
    assert_eq!(closed, Matrix::from_fn(150, |a, b| a < b));
    assert!(closed.irreflexive());
}

#[test]
fn one_back_edge_makes_a_cycle() {
    let mut wide = chain::<Wide<2>>(100);
    assert!(wide.acyclic());
    wide.add(99, 70);
    assert!(!wide.acyclic());
    assert!(!wide.closure().irreflexive());
}

#[test]
fn composition_and_inverse_agree_with_their_definition() {
    let a = Matrix::<u64>::from_fn(20, |x, y| (x * 7 + y * 3) % 5 == 0);
    let b = Matrix::<u64>::from_fn(20, |x, y| (x + y * 2) % 7 == 1);
    let composed = Matrix::from_fn(20, |x, z| (0..20).any(|y| a.has(x, y) && b.has(y, z)));
    assert_eq!(a.compose(&b), composed);
    assert_eq!(a.inverse(), Matrix::from_fn(20, |x, y| a.has(y, x)));
}
