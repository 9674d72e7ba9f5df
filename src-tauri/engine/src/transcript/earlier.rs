//! Earlier items of a subagent. A window has the last ones and requests those before them in pages.

use super::Transcript;
use super::rows::SENT;
use crate::api::{Item, ItemId};

/// Maximum number of items returned when a certain item is requested.
const MOST: usize = SENT * 10;

impl Transcript {
    /// The items in the row of `id` before number `before`: the last `SENT` of them. Extends this page back to `until`,
    /// up to `MOST` items.
    pub fn earlier(
        &self,
        id: &ItemId,
        before: u32,
        until: Option<&ItemId>,
    ) -> impl Iterator<Item = &Item> + use<'_> {
        let row = self.row_of(id);
        let inside = row.map(|row| self.rows.inside(row)).unwrap_or_default();
        let below = |nr: u32| inside.partition_point(|place| self.items[*place as usize].nr < nr);
        let end = below(before);
        let wanted = until.and_then(|id| self.item(id)).filter(|item| Some(item.row) == row);
        let first = wanted.map_or(end, |item| below(item.nr)).min(end.saturating_sub(SENT));
        let first = first.max(end.saturating_sub(MOST));
        inside[first..end].iter().map(|place| self.items[*place as usize].as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;
    use serde_json::{Value, json};
    use std::path::Path;

    fn calls(parent: Option<&str>, ids: impl Iterator<Item = String>) -> Value {
        let content: Vec<Value> =
            ids.map(|id| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}})).collect();
        json!({"type": "assistant", "parent_tool_use_id": parent, "message": {"id": "m", "content": content}})
    }

    /// A subagent that made 10,000 calls. The second call is a nested subagent that made the last ten of them.
    fn transcript() -> Transcript {
        let mut transcript = Transcript::new(Path::new("/p"));
        for line in [
            calls(None, std::iter::once("agent".to_owned())),
            calls(Some("agent"), (1..=9_990).map(|nr| format!("c{nr}"))),
            calls(Some("c2"), (9_991..=10_000).map(|nr| format!("c{nr}"))),
        ] {
            transcript.line(0, wire::parse(line.to_string().as_bytes()));
        }
        transcript
    }

    fn nrs<'a>(items: impl Iterator<Item = &'a Item>) -> Vec<u32> {
        items.map(|item| item.nr).collect()
    }

    #[test]
    fn a_window_has_the_last_items_of_a_subagent_and_asks_for_the_others() {
        let transcript = transcript();
        assert_eq!(transcript.n_rows(), 1);
        let shown = nrs(transcript.items_of(0, 1));
        assert_eq!((shown.len(), shown[0], shown[1], shown[50]), (51, 0, 9_951, 10_000));
        let agent = ItemId::new("agent");
        let mut before = 9_951;
        let mut n_pages = 0;
        while before > 1 {
            let page = nrs(transcript.earlier(&agent, before, None));
            assert!(page.len() <= SENT && page.last() == Some(&(before - 1)), "{page:?}");
            before = page[0];
            n_pages += 1;
        }
        assert_eq!(n_pages, 199);
        assert_eq!(nrs(transcript.earlier(&agent, 1, None)), [0; 0]);
    }

    #[test]
    fn a_certain_item_comes_with_all_that_is_behind_it_unless_that_is_too_much() {
        let transcript = transcript();
        let agent = ItemId::new("agent");
        let until = |id: &str| {
            let page = nrs(transcript.earlier(&agent, 9_951, Some(&ItemId::new(id))));
            (page[0], page.len())
        };
        assert_eq!(until("c9700"), (9_700, 251));
        assert_eq!(until("c9920"), (9_901, SENT));
        assert_eq!(until("c2"), (9_451, MOST));
        assert_eq!(until("nobody"), (9_901, SENT));
        assert_eq!(nrs(transcript.earlier(&ItemId::new("nobody"), 9, None)), [0; 0]);
    }
}
