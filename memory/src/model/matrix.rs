//! Square bit matrices over the events of one execution, generic in the width of a row.
//!
//! Up to 64 events a row is one machine word; wider executions use [`Wide`] rows. All operations are exact;
//! none allocates beyond its result.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// A set of events.
pub trait Row:
    Copy
    + Eq
    + std::hash::Hash
    + std::fmt::Debug
    + Default
    + BitAnd<Output = Self>
    + BitAndAssign
    + BitOr<Output = Self>
    + BitOrAssign
    + Not<Output = Self>
{
    /// The set of one event.
    fn bit(index: usize) -> Self;

    /// Whether the event is in the set.
    fn has(&self, index: usize) -> bool;

    /// Whether the set is empty.
    fn is_empty(&self) -> bool;

    /// The lowest member.
    fn first(&self) -> Option<usize>;

    /// Removes the lowest member.
    fn drop_first(&mut self);

    /// How many members.
    fn count(&self) -> usize;

    /// The members as 64-bit words, lowest first.
    fn words(&self) -> &[u64];

    /// The members, ascending.
    fn members(self) -> Members<Self> {
        Members(self)
    }
}

/// Iterator over the members of a [`Row`].
pub struct Members<R>(R);

impl<R: Row> Iterator for Members<R> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let index = self.0.first()?;
        self.0.drop_first();
        Some(index)
    }
}

impl Row for u64 {
    #[inline]
    fn bit(index: usize) -> u64 {
        1 << index
    }

    #[inline]
    fn has(&self, index: usize) -> bool {
        self >> index & 1 != 0
    }

    #[inline]
    fn is_empty(&self) -> bool {
        *self == 0
    }

    #[inline]
    fn first(&self) -> Option<usize> {
        if *self == 0 { None } else { Some(self.trailing_zeros() as usize) }
    }

    #[inline]
    fn drop_first(&mut self) {
        *self &= self.wrapping_sub(1);
    }

    #[inline]
    fn count(&self) -> usize {
        self.count_ones() as usize
    }

    fn words(&self) -> &[u64] {
        std::slice::from_ref(self)
    }
}

/// A row of `N` words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Wide<const N: usize>([u64; N]);

impl<const N: usize> Default for Wide<N> {
    fn default() -> Wide<N> {
        Wide([0; N])
    }
}

impl<const N: usize> BitAnd for Wide<N> {
    type Output = Wide<N>;
    #[inline]
    fn bitand(self, other: Wide<N>) -> Wide<N> {
        Wide(std::array::from_fn(|k| self.0[k] & other.0[k]))
    }
}

impl<const N: usize> BitAndAssign for Wide<N> {
    #[inline]
    fn bitand_assign(&mut self, other: Wide<N>) {
        *self = *self & other;
    }
}

impl<const N: usize> BitOr for Wide<N> {
    type Output = Wide<N>;
    #[inline]
    fn bitor(self, other: Wide<N>) -> Wide<N> {
        Wide(std::array::from_fn(|k| self.0[k] | other.0[k]))
    }
}

impl<const N: usize> BitOrAssign for Wide<N> {
    #[inline]
    fn bitor_assign(&mut self, other: Wide<N>) {
        *self = *self | other;
    }
}

impl<const N: usize> Not for Wide<N> {
    type Output = Wide<N>;
    #[inline]
    fn not(self) -> Wide<N> {
        Wide(self.0.map(|word| !word))
    }
}

impl<const N: usize> Row for Wide<N> {
    #[inline]
    fn bit(index: usize) -> Wide<N> {
        let mut row = Wide::default();
        row.0[index / 64] = 1 << (index % 64);
        row
    }

    #[inline]
    fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 != 0
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    #[inline]
    fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    #[inline]
    fn drop_first(&mut self) {
        if let Some(word) = self.0.iter_mut().find(|word| **word != 0) {
            *word &= *word - 1;
        }
    }

    #[inline]
    fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn words(&self) -> &[u64] {
        &self.0
    }
}

/// A relation between events: row `a` is the set of the `b` with `a -> b`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix<R> {
    rows: Vec<R>,
}

impl<R: Row> Matrix<R> {
    /// The empty relation over `n` events.
    pub fn empty(n: usize) -> Matrix<R> {
        Matrix { rows: vec![R::default(); n] }
    }

    /// The relation with these pairs.
    pub fn from_fn(n: usize, mut related: impl FnMut(usize, usize) -> bool) -> Matrix<R> {
        let mut matrix = Matrix::empty(n);
        for (a, row) in matrix.rows.iter_mut().enumerate() {
            for b in 0..n {
                if related(a, b) {
                    *row |= R::bit(b);
                }
            }
        }
        matrix
    }

    /// How many events the relation is over.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The successors of `a`.
    #[inline]
    pub fn row(&self, a: usize) -> R {
        self.rows[a]
    }

    /// The successors of `a`, to be changed.
    #[inline]
    pub fn row_mut(&mut self, a: usize) -> &mut R {
        &mut self.rows[a]
    }

    /// Whether `a -> b`.
    #[inline]
    pub fn has(&self, a: usize, b: usize) -> bool {
        self.rows[a].has(b)
    }

    /// Adds `a -> b`.
    #[inline]
    pub fn add(&mut self, a: usize, b: usize) {
        self.rows[a] |= R::bit(b);
    }

    /// Adds every pair of `other`.
    #[inline]
    pub fn unite(&mut self, other: &Matrix<R>) {
        for (a, b) in self.rows.iter_mut().zip(&other.rows) {
            *a |= *b;
        }
    }

    /// Keeps the pairs that are also in `other`.
    #[inline]
    pub fn intersect(&mut self, other: &Matrix<R>) {
        for (a, b) in self.rows.iter_mut().zip(&other.rows) {
            *a &= *b;
        }
    }

    /// Drops the pairs that are in `other`.
    #[inline]
    pub fn subtract(&mut self, other: &Matrix<R>) {
        for (a, b) in self.rows.iter_mut().zip(&other.rows) {
            *a &= !*b;
        }
    }

    /// Keeps the pairs whose source is in `from` and whose target is in `to`.
    #[inline]
    pub fn restrict(&mut self, from: R, to: R) {
        for (a, row) in self.rows.iter_mut().enumerate() {
            *row = if from.has(a) { *row & to } else { R::default() };
        }
    }

    /// The pairs whose source is in `from` and whose target is in `to`.
    #[inline]
    pub fn between(&self, from: R, to: R) -> Matrix<R> {
        let mut matrix = self.clone();
        matrix.restrict(from, to);
        matrix
    }

    /// Adds the identity.
    pub fn reflexive(mut self) -> Matrix<R> {
        for (a, row) in self.rows.iter_mut().enumerate() {
            *row |= R::bit(a);
        }
        self
    }

    /// Every event that a member of `from` is related to.
    #[inline]
    pub fn image(&self, from: R) -> R {
        let mut image = R::default();
        for a in from.members() {
            image |= self.rows[a];
        }
        image
    }

    /// Relational composition: `a -> c` when `a -> b` here and `b -> c` in `then`.
    pub fn compose(&self, then: &Matrix<R>) -> Matrix<R> {
        Matrix { rows: self.rows.iter().map(|row| then.image(*row)).collect() }
    }

    /// The converse.
    pub fn inverse(&self) -> Matrix<R> {
        let mut inverse = Matrix::empty(self.len());
        for (a, row) in self.rows.iter().enumerate() {
            for b in row.members() {
                inverse.rows[b] |= R::bit(a);
            }
        }
        inverse
    }

    /// Warshall's transitive closure, in place.
    pub fn close(&mut self) {
        for middle in 0..self.rows.len() {
            let through = self.rows[middle];
            if through.is_empty() {
                continue;
            }
            for row in &mut self.rows {
                if row.has(middle) {
                    *row |= through;
                }
            }
        }
    }

    /// The transitive closure.
    pub fn closure(&self) -> Matrix<R> {
        let mut closure = self.clone();
        closure.close();
        closure
    }

    /// Whether no event is related to itself.
    pub fn irreflexive(&self) -> bool {
        self.rows.iter().enumerate().all(|(a, row)| !row.has(a))
    }

    /// Whether no event reaches itself. Cheaper than closing: repeatedly drops the events without successors.
    pub fn acyclic(&self) -> bool {
        let mut left = R::default();
        for (a, row) in self.rows.iter().enumerate() {
            if !row.is_empty() {
                left |= R::bit(a);
            }
        }
        loop {
            let mut next = left;
            for a in left.members() {
                if (self.rows[a] & next).is_empty() {
                    next &= !R::bit(a);
                }
            }
            if next.is_empty() {
                return true;
            }
            if next == left {
                return false;
            }
            left = next;
        }
    }

    /// Whether the relation has no pair.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(Row::is_empty)
    }

    /// All pairs, by source and then target.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.rows.iter().enumerate().flat_map(|(a, row)| row.members().map(move |b| (a, b)))
    }
}

#[cfg(test)]
mod tests;
