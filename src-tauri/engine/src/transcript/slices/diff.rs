//! Slices of a diff, which end between lines, or in a line that is too long for one slice.

use super::{BYTES, NODES};
use crate::api::{DiffLine, DiffPart, Hunk};

/// The slices of one diff: the hunks of each.
#[derive(Debug)]
pub struct DiffSlices {
    /// Never empty.
    slices: Vec<Vec<Hunk>>,
}

impl DiffSlices {
    pub fn of(hunks: &[Hunk]) -> Self {
        let mut slices = vec![Vec::<Hunk>::new()];
        let (mut bytes, mut nodes) = (0, 0);
        for hunk in hunks {
            let mut is_begun = false;
            for line in hunk.lines.iter().flat_map(cut) {
                let (n_bytes, n_nodes) = (length(&line), 1 + line.parts.len());
                if nodes > 0 && (bytes + n_bytes > BYTES || nodes + n_nodes > NODES) {
                    slices.push(Vec::new());
                    (bytes, nodes) = (0, 0);
                }
                (bytes, nodes) = (bytes + n_bytes, nodes + n_nodes);
                let Some(slice) = slices.last_mut() else { break };
                match slice.last_mut().filter(|_| is_begun) {
                    Some(hunk) => hunk.lines.push(line),
                    None => slice.push(Hunk { lines: vec![line] }),
                }
                is_begun = true;
            }
        }
        Self { slices }
    }

    /// At least 1.
    pub fn count(&self) -> u32 {
        self.slices.len() as u32
    }

    pub fn content(&self, nr: u32) -> &[Hunk] {
        self.slices.get(nr as usize).map(Vec::as_slice).unwrap_or_default()
    }
}

fn length(line: &DiffLine) -> usize {
    line.parts.iter().map(|part| part.text.len()).sum()
}

/// Splits a line into lines that fit into a slice. Only the first one has the numbers.
fn cut(line: &DiffLine) -> Vec<DiffLine> {
    let mut lines = vec![DiffLine { parts: Vec::new(), ..line.clone() }];
    let (mut bytes, mut nodes) = (0, 1);
    for part in &line.parts {
        let mut rest = part.text.as_str();
        while !rest.is_empty() {
            if bytes == BYTES || nodes == NODES {
                lines.push(DiffLine { kind: line.kind, old_line: None, new_line: None, parts: Vec::new() });
                (bytes, nodes) = (0, 1);
            }
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(BYTES - bytes));
            if let Some(line) = lines.last_mut().filter(|_| !piece.is_empty()) {
                line.parts.push(DiffPart { text: piece.to_owned(), ..part.clone() });
                nodes += 1;
            }
            // A character that does not fit begins the next line.
            bytes = if behind.is_empty() { bytes + piece.len() } else { BYTES };
            rest = behind;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    fn text(hunks: &[Hunk]) -> String {
        let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.flat_map(|line| &line.parts).map(|part| part.text.as_str()).collect()
    }

    #[test]
    fn slices_are_never_long_and_together_are_the_diff() {
        let lines: String = (0..5_000).map(|nr| format!("line {nr}\n")).collect();
        let changed = lines.replace("7\n", "seven\n");
        for (old, new) in [
            (String::new(), lines.clone()),
            (lines, changed),
            (String::new(), "x".repeat(100_000)),
            (String::new(), "é\u{1f600}".repeat(20_000)),
            ("a\n".to_owned(), "a \n".repeat(3_000)),
            (String::new(), String::new()),
        ] {
            let diff = document::diff("a.txt", &old, &new);
            let slices = DiffSlices::of(&diff.hunks);
            let mut all = String::new();
            for nr in 0..slices.count() {
                let hunks = slices.content(nr);
                let n_nodes: usize =
                    hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| 1 + line.parts.len()).sum();
                assert!(text(hunks).len() <= BYTES && n_nodes <= NODES, "{n_nodes} elements");
                all.push_str(&text(hunks));
            }
            assert_eq!(all, text(&diff.hunks));
        }
    }
}
