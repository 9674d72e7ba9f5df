//! Finding words in a whole transcript, whether a window holds it or not.

use super::{Transcript, parts, words};
use crate::api::{Body, Found, Hit};
use regex::{Regex, RegexBuilder};

impl Transcript {
    /// The items that hold `query`, upper and lower case counting as the same. `index` says which of them is wanted,
    /// around the end if it must; without it the last.
    pub fn find(&self, query: &str, index: Option<i64>) -> Found {
        let Some(wanted) = pattern(query) else { return Found { count: 0, hit: None } };
        let mut buffer = String::new();
        let hits: Vec<(usize, bool)> = (0..self.items.len())
            .filter_map(|place| Some((place, self.holds(place, &wanted, &mut buffer)?)))
            .collect();
        let count = hits.len();
        let index = index.unwrap_or(-1).rem_euclid(count.max(1) as i64) as usize;
        let hit = hits.get(index).map(|(place, inside)| {
            let item = &self.items[*place];
            let part = part_with(&item.body, &wanted);
            Hit { index: index as u32, item_id: item.id.clone(), row: item.row, inside: *inside, part }
        });
        Found { count: count as u32, hit }
    }

    /// Whether an item holds the words, and whether it has to be unfolded to see them.
    fn holds(&self, place: usize, wanted: &Regex, buffer: &mut String) -> Option<bool> {
        let item = &self.items[place];
        buffer.clear();
        words::shown(&item.body, buffer);
        if wanted.is_match(buffer) {
            return Some(false);
        }
        buffer.clear();
        words::inside(&item.body, buffer);
        let output = self.output(&item.id);
        (wanted.is_match(buffer) || output.is_some_and(|output| wanted.is_match(output.raw())))
            .then_some(true)
    }
}

/// The first part of an item that holds the words; its first one where they stand across two, or in an output.
fn part_with(body: &Body, wanted: &Regex) -> u32 {
    let Some((_, n_parts)) = parts::part(body, 0) else { return 0 };
    let holds = |nr: &u32| {
        let Some((part, _)) = parts::part(body, *nr) else { return false };
        let mut buffer = String::new();
        words::shown(&part, &mut buffer);
        words::inside(&part, &mut buffer);
        wanted.is_match(&buffer)
    };
    (0..n_parts).find(holds).unwrap_or(0)
}

/// Nothing for nothing.
fn pattern(query: &str) -> Option<Regex> {
    if query.trim().is_empty() {
        return None;
    }
    // Words that are too long for a pattern are found nowhere.
    RegexBuilder::new(&regex::escape(query)).case_insensitive(true).build().ok()
}

#[cfg(test)]
mod tests {
    use crate::api::Level;
    use crate::session::machine::Note;
    use crate::transcript::Transcript;
    use std::path::Path;

    fn transcript(notices: &[(&str, Option<&str>)]) -> Transcript {
        let mut transcript = Transcript::new(Path::new("/p"));
        for (text, detail) in notices {
            let (text, detail) = ((*text).to_owned(), detail.map(str::to_owned));
            transcript.note(0, Note::Notice { level: Level::Info, text, detail });
        }
        transcript
    }

    #[test]
    fn words_are_found_wherever_they_stand_and_whatever_their_case() {
        let transcript =
            transcript(&[("Straße", None), ("b", Some("on the STRASSE")), ("c", Some("STRAßE"))]);
        let found = transcript.find("straße", None);
        assert_eq!(found.count, 2);
        let hit = found.hit.unwrap();
        assert_eq!((hit.index, hit.row, hit.inside), (1, 2, true));
        assert!(!transcript.find("straße", Some(0)).hit.unwrap().inside);
    }

    #[test]
    fn hits_go_around_at_both_ends() {
        let transcript = transcript(&[("one", None), ("two", None), ("one more", None)]);
        let at = |index| transcript.find("one", Some(index)).hit.unwrap().index;
        assert_eq!([at(0), at(1), at(2), at(-1)], [0, 1, 0, 1]);
    }

    #[test]
    fn words_in_a_long_item_are_found_in_their_part() {
        let long = format!("{}needle", "hay ".repeat(100_000));
        let found = transcript(&[("n", Some(&long))]).find("needle", None);
        assert_eq!(found.hit.unwrap().part, 12);
    }

    #[test]
    fn words_are_no_pattern() {
        let transcript = transcript(&[("a.b (c", None)]);
        assert_eq!(transcript.find(".B (", None).count, 1);
        assert_eq!(transcript.find("a b", None).count, 0);
        assert_eq!(transcript.find("  ", None).count, 0);
    }
}
