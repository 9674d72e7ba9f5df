//! The rows of a window: as many for each row of the transcript as the slices of its text.

use crate::session::feed::RowCount;

/// The first row of each row of the transcript.
#[derive(Default)]
pub struct WindowRows {
    firsts: Vec<u32>,
    count: u32,
}

impl WindowRows {
    pub fn count(&self) -> RowCount {
        RowCount { all: self.count, continued: self.count - self.firsts.len() as u32 }
    }

    /// Adds a row for each row of the transcript up to `n`.
    pub fn extend(&mut self, n: u32) {
        while self.firsts.len() < n as usize {
            self.firsts.push(self.count);
            self.count += 1;
        }
    }

    /// The first row of row `row` of the transcript.
    pub fn first(&self, row: u32) -> u32 {
        self.firsts.get(row as usize).copied().unwrap_or(self.count)
    }

    /// The row of the transcript that has this row.
    pub fn inner(&self, row: u32) -> u32 {
        self.firsts.partition_point(|first| *first <= row).saturating_sub(1) as u32
    }

    /// Makes room for `n` rows of row `row` of the transcript. It keeps the rows that it has. Returns whether later
    /// rows got other numbers.
    pub fn make_room(&mut self, row: u32, n: u32) -> bool {
        n > self.n_rows(row) && self.set(row, n)
    }

    /// Gives row `row` of the transcript `n` rows. Returns whether later rows got other numbers.
    pub fn set(&mut self, row: u32, n: u32) -> bool {
        let before = self.n_rows(row);
        let moved = |first: u32| first - before + n;
        self.count = moved(self.count);
        let later = self.firsts.iter_mut().skip(row as usize + 1);
        let n_moved = later.map(|first| *first = moved(*first)).count();
        n_moved > 0 && n != before
    }

    fn n_rows(&self, row: u32) -> u32 {
        self.firsts.get(row as usize + 1).copied().unwrap_or(self.count) - self.first(row)
    }
}

#[cfg(test)]
mod tests {
    use super::WindowRows;

    fn firsts(rows: &WindowRows) -> Vec<u32> {
        (0..=rows.firsts.len() as u32).map(|row| rows.first(row)).collect()
    }

    #[test]
    fn a_text_at_the_end_gets_more_rows_and_no_other_number_changes() {
        let mut rows = WindowRows::default();
        rows.extend(3);
        assert!(!rows.make_room(2, 4));
        rows.extend(4);
        assert_eq!((firsts(&rows), rows.count), (vec![0, 1, 2, 6, 7], 7));
        assert_eq!((0..7).map(|row| rows.inner(row)).collect::<Vec<_>>(), [0, 1, 2, 2, 2, 2, 3]);
    }

    #[test]
    fn a_text_above_others_moves_them_and_never_gives_rows_back() {
        let mut rows = WindowRows::default();
        rows.extend(3);
        assert!(rows.make_room(0, 2));
        assert!(!rows.make_room(0, 1));
        assert_eq!((firsts(&rows), rows.count), (vec![0, 2, 3, 4], 4));
    }

    #[test]
    fn a_thought_that_is_folded_gives_its_rows_back() {
        let mut rows = WindowRows::default();
        rows.extend(3);
        assert!(rows.set(1, 5));
        assert_eq!((firsts(&rows), rows.count), (vec![0, 1, 6, 7], 7));
        assert!(rows.set(1, 1));
        assert_eq!((firsts(&rows), rows.count), (vec![0, 1, 2, 3], 3));
        assert!(!rows.set(2, 2));
    }
}
