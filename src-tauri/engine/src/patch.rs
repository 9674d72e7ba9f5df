//! Events as patches: applying them to items, and merging the events of one frame so that fewer are sent to a window.
//!
//! Merging is lossless: applying the merged events gives the same items as applying the single ones.

use crate::api::{Block, Body, CallProgress, CodeLine, Event, Item, ItemId, ListItem};
use std::collections::HashMap;

/// Applies an event to the items of a complete transcript. Ignores events that change no item.
pub fn apply(items: &mut Vec<Item>, event: &Event) {
    match event {
        Event::ItemAdded { item } | Event::ItemChanged { item } => match find(items, &item.id) {
            Some(known) => *known = item.clone(),
            None => items.push(item.clone()),
        },
        Event::ItemRemoved { item_id } => items.retain(|item| item.id != *item_id),
        Event::BlocksChanged { item_id, keep, blocks } => {
            if let Some(item) = find(items, item_id) {
                replace_blocks(item, *keep, blocks);
            }
        }
        Event::CodeGrew { item_id, keep, lines } => {
            if let Some(item) = find(items, item_id) {
                grow_code(item, *keep, lines);
            }
        }
        Event::EntriesGrew { item_id, keep, entries } => {
            if let Some(item) = find(items, item_id) {
                grow_entries(item, *keep, entries);
            }
        }
        Event::ThoughtGrew { item_id, keep, text } => {
            if let Some(item) = find(items, item_id) {
                grow_thought(&mut item.body, *keep, text);
            }
        }
        Event::TextFinished { item_id } => {
            if let Some(item) = find(items, item_id) {
                finish_text(item);
            }
        }
        Event::CallChanged { item_id, call } => {
            if let Some(item) = find(items, item_id) {
                change_call(&mut item.body, (**call).clone());
            }
        }
        _ => {}
    }
}

fn find<'a>(items: &'a mut [Item], id: &ItemId) -> Option<&'a mut Item> {
    // Search from the end: changes almost always affect recent items.
    items.iter_mut().rev().find(|item| item.id == *id)
}

fn replace_blocks(item: &mut Item, keep: u32, new: &[Block]) {
    if let Body::Text { blocks, .. } = &mut item.body {
        blocks.truncate(keep as usize);
        blocks.extend_from_slice(new);
    }
}

fn grow_code(item: &mut Item, keep: u32, new: &[CodeLine]) {
    if let Body::Text { blocks, .. } = &mut item.body
        && let Some(Block::Code { lines, .. }) = blocks.last_mut()
    {
        lines.truncate(keep as usize);
        lines.extend_from_slice(new);
    }
}

fn grow_entries(item: &mut Item, keep: u32, new: &[ListItem]) {
    if let Body::Text { blocks, .. } = &mut item.body
        && let Some(Block::List { items, .. }) = blocks.last_mut()
    {
        items.truncate(keep as usize);
        items.extend_from_slice(new);
    }
}

/// Keeps the first `keep` bytes of a thought, and appends `new`.
pub(crate) fn grow_thought(body: &mut Body, keep: u32, new: &str) {
    if let Body::Thinking { text, .. } = body {
        text.truncate(text.floor_char_boundary(keep as usize));
        text.push_str(new);
    }
}

pub(crate) fn change_call(body: &mut Body, progress: CallProgress) {
    if let Body::ToolCall(call) = body {
        call.apply(progress);
    }
}

fn finish_text(item: &mut Item) {
    if let Body::Text { streaming, .. } = &mut item.body {
        *streaming = false;
    }
}

/// Events queued for the next frame.
#[derive(Default)]
pub(crate) struct Pending {
    waiting: Vec<Waiting>,
    /// Index in `waiting` of the last event of each subject.
    of_subject: HashMap<Subject, usize>,
}

struct Waiting {
    event: Event,
    /// The row of the event's item.
    row: Option<u32>,
}

impl Waiting {
    fn is_from(&self, first: u32) -> bool {
        self.row.is_none_or(|row| row >= first)
    }
}

/// The subject of an event. A later event can only be merged into an earlier one of the same subject.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Subject {
    Session,
    Tasks,
    File(String),
    Item(ItemId),
}

impl Subject {
    fn of(event: &Event) -> Option<Self> {
        match event {
            Event::SessionChanged { .. } => Some(Self::Session),
            Event::TasksChanged { .. } => Some(Self::Tasks),
            Event::FileChanged { file } => Some(Self::File(file.path.clone())),
            event => item_of(event).cloned().map(Self::Item),
        }
    }
}

impl Pending {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Number of queued events.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Takes all queued events, without those of items in rows above `first`.
    pub fn take_from(&mut self, first: u32) -> Vec<Event> {
        self.of_subject.clear();
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        waiting.filter(|waiting| waiting.is_from(first)).map(|waiting| waiting.event).collect()
    }

    /// Queues an event, merging it into a queued one if possible. `row`: the row of its item.
    pub fn push(&mut self, event: Event, row: Option<u32>) {
        let Some(subject) = Subject::of(&event) else {
            return self.waiting.push(Waiting { event, row });
        };
        let apart = match self.of_subject.get(&subject) {
            Some(at) => merge(&mut self.waiting[*at].event, event),
            None => Some(event),
        };
        if let Some(event) = apart {
            self.of_subject.insert(subject, self.waiting.len());
            self.waiting.push(Waiting { event, row });
        }
    }

    /// Drops events of items in rows above `first`.
    pub fn drop_above(&mut self, first: u32) {
        self.waiting.retain(|waiting| waiting.is_from(first));
        self.of_subject.clear();
        for (at, waiting) in self.waiting.iter().enumerate() {
            if let Some(subject) = Subject::of(&waiting.event) {
                self.of_subject.insert(subject, at);
            }
        }
    }
}

/// The item that an event changes.
pub(crate) fn item_of(event: &Event) -> Option<&ItemId> {
    match event {
        Event::ItemAdded { item } | Event::ItemChanged { item } => Some(&item.id),
        Event::ItemRemoved { item_id }
        | Event::BlocksChanged { item_id, .. }
        | Event::CodeGrew { item_id, .. }
        | Event::EntriesGrew { item_id, .. }
        | Event::ThoughtGrew { item_id, .. }
        | Event::CallChanged { item_id, .. }
        | Event::TextFinished { item_id } => Some(item_id),
        _ => None,
    }
}

/// Merges a later event into an earlier one of the same subject; returns it if they cannot be merged.
fn merge(earlier: &mut Event, later: Event) -> Option<Event> {
    match (&mut *earlier, later) {
        (Event::ItemAdded { item: known } | Event::ItemChanged { item: known }, later) => match later {
            // An item that a window requested may be new to that window.
            later @ Event::ItemAdded { .. } => *earlier = later,
            Event::ItemChanged { item } => *known = item,
            Event::BlocksChanged { keep, blocks, .. } => replace_blocks(known, keep, &blocks),
            Event::CodeGrew { keep, lines, .. } => grow_code(known, keep, &lines),
            Event::EntriesGrew { keep, entries, .. } => grow_entries(known, keep, &entries),
            Event::ThoughtGrew { keep, text, .. } => grow_thought(&mut known.body, keep, &text),
            Event::CallChanged { call, .. } => change_call(&mut known.body, *call),
            Event::TextFinished { .. } => finish_text(known),
            // The item may have been added in an earlier batch, so the removal must be kept.
            later => *earlier = later,
        },
        (Event::BlocksChanged { keep: known_keep, blocks: known, .. }, later) => match later {
            Event::BlocksChanged { keep, blocks, .. } if keep >= *known_keep => {
                known.truncate((keep - *known_keep) as usize);
                known.extend(blocks);
            }
            Event::CodeGrew { keep, lines, item_id } => match known.last_mut() {
                Some(Block::Code { lines: known, .. }) => {
                    known.truncate(keep as usize);
                    known.extend(lines);
                }
                _ => return Some(Event::CodeGrew { keep, lines, item_id }),
            },
            Event::EntriesGrew { keep, entries, item_id } => match known.last_mut() {
                Some(Block::List { items: known, .. }) => {
                    known.truncate(keep as usize);
                    known.extend(entries);
                }
                _ => return Some(Event::EntriesGrew { keep, entries, item_id }),
            },
            later @ Event::TextFinished { .. } => return Some(later),
            later => *earlier = later,
        },
        (Event::CodeGrew { keep: known_keep, lines: known, .. }, later) => match later {
            Event::CodeGrew { keep, lines, .. } if keep >= *known_keep => {
                known.truncate((keep - *known_keep) as usize);
                known.extend(lines);
            }
            Event::CodeGrew { keep, lines, item_id } => *earlier = Event::CodeGrew { keep, lines, item_id },
            // The blocks start after the code that grew, or replace it; both events are needed.
            later
            @ (Event::BlocksChanged { .. } | Event::EntriesGrew { .. } | Event::TextFinished { .. }) => {
                return Some(later);
            }
            later => *earlier = later,
        },
        (Event::EntriesGrew { keep: known_keep, entries: known, .. }, later) => match later {
            Event::EntriesGrew { keep, entries, .. } if keep >= *known_keep => {
                known.truncate((keep - *known_keep) as usize);
                known.extend(entries);
            }
            later @ Event::EntriesGrew { .. } => *earlier = later,
            // The blocks start after the list that grew, or replace it; both events are needed.
            later @ (Event::BlocksChanged { .. } | Event::CodeGrew { .. } | Event::TextFinished { .. }) => {
                return Some(later);
            }
            later => *earlier = later,
        },
        (Event::ThoughtGrew { keep: known_keep, text: known, .. }, later) => match later {
            Event::ThoughtGrew { keep, text, .. } if keep >= *known_keep => {
                known.truncate(known.floor_char_boundary((keep - *known_keep) as usize));
                known.push_str(&text);
            }
            later => *earlier = later,
        },
        // A later change refers to the finished text; both events are needed.
        (
            Event::TextFinished { .. },
            later @ (Event::BlocksChanged { .. }
            | Event::CodeGrew { .. }
            | Event::EntriesGrew { .. }
            | Event::TextFinished { .. }),
        ) => return Some(later),
        // An item that is removed and added again moves to its new place; both events are needed.
        (Event::ItemRemoved { .. }, later) => return Some(later),
        (Event::SessionChanged { session: known }, Event::SessionChanged { session: later }) => {
            known.merge(*later);
        }
        // Tasks and files: the later event replaces the earlier one.
        (earlier, later) => *earlier = later,
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{PromptState, Span};
    use proptest::prelude::*;

    fn paragraph(text: u8) -> Block {
        Block::Paragraph { spans: vec![Span::Text { text: text.to_string() }] }
    }

    fn line(text: u8) -> CodeLine {
        CodeLine { tokens: vec![crate::api::Token { text: text.to_string(), style: Default::default() }] }
    }

    fn text_item(id: u8, blocks: Vec<Block>) -> Item {
        Item::new(id.to_string(), Body::Text { blocks, streaming: true })
    }

    fn block() -> impl Strategy<Value = Block> {
        prop_oneof![
            any::<u8>().prop_map(paragraph),
            prop::collection::vec(any::<u8>(), 0..3).prop_map(|lines| Block::Code {
                language: None,
                lines: lines.into_iter().map(line).collect()
            }),
            prop::collection::vec(any::<u8>(), 0..3).prop_map(|entries| Block::List {
                start: None,
                items: entries.into_iter().map(entry).collect()
            }),
        ]
    }

    fn entry(text: u8) -> ListItem {
        ListItem { checked: None, blocks: vec![paragraph(text)] }
    }

    fn thought(id: u8, text: &str) -> Item {
        Item::new(
            id.to_string(),
            Body::Thinking { text: text.to_owned(), streaming: true, duration_ms: None },
        )
    }

    fn grew(keep: u32, text: &str) -> Event {
        Event::ThoughtGrew { item_id: ItemId::new("0"), keep, text: text.to_owned() }
    }

    #[test]
    fn a_thought_grows_and_a_repeated_part_counts_once() {
        let mut items = vec![thought(0, "\u{e4}b")];
        apply(&mut items, &grew(3, "c"));
        apply(&mut items, &grew(3, "cd"));
        assert_eq!(items, [thought(0, "\u{e4}bcd")]);
        // Of a server that is not ours: in the middle of a character, and beyond the end.
        apply(&mut items, &grew(1, "x"));
        apply(&mut items, &grew(99, "y"));
        assert_eq!(items, [thought(0, "xy")]);
    }

    #[test]
    fn merged_growth_of_a_thought_gives_the_same_thought() {
        let events = [grew(1, "b"), grew(2, "\u{e4}"), grew(2, "\u{e4}c"), grew(5, "d")];
        let mut merged = Pending::default();
        let mut one_by_one = vec![thought(0, "a")];
        for event in &events {
            apply(&mut one_by_one, event);
            merged.push(event.clone(), None);
        }
        let merged = merged.take_from(0);
        let mut at_once = vec![thought(0, "a")];
        merged.iter().for_each(|event| apply(&mut at_once, event));
        assert_eq!((merged.len(), &at_once), (1, &one_by_one));
        assert_eq!(at_once, [thought(0, "ab\u{e4}cd")]);
    }

    /// Steps of a model of one text item, from which valid events are built.
    #[derive(Clone, Debug)]
    enum Act {
        Add(u8),
        Change(u8, Vec<Block>),
        Blocks(u8, u32, Vec<Block>),
        Code(u8, u32, Vec<u8>),
        Entries(u8, u32, Vec<u8>),
        Finish(u8),
        Remove(u8),
        Prompt,
    }

    fn act() -> impl Strategy<Value = Act> {
        let id = || 0u8..3;
        prop_oneof![
            id().prop_map(Act::Add),
            (id(), prop::collection::vec(block(), 0..3)).prop_map(|(id, blocks)| Act::Change(id, blocks)),
            (id(), 0u32..4, prop::collection::vec(block(), 0..3))
                .prop_map(|(id, keep, b)| Act::Blocks(id, keep, b)),
            (id(), 0u32..4, prop::collection::vec(any::<u8>(), 0..3))
                .prop_map(|(id, keep, l)| Act::Code(id, keep, l)),
            (id(), 0u32..4, prop::collection::vec(any::<u8>(), 0..3))
                .prop_map(|(id, keep, entries)| Act::Entries(id, keep, entries)),
            id().prop_map(Act::Finish),
            id().prop_map(Act::Remove),
            Just(Act::Prompt),
        ]
    }

    /// Builds only events that an engine can send: changes of existing items, with a valid `keep`.
    fn events(acts: Vec<Act>) -> Vec<Event> {
        let mut items: Vec<Item> = Vec::new();
        let mut events = Vec::new();
        let mut removed = Vec::new();
        for (nr, act) in acts.into_iter().enumerate() {
            let blocks_of = |items: &[Item], id: u8| {
                items.iter().find(|item| item.id.0 == id.to_string()).and_then(|item| match &item.body {
                    Body::Text { blocks, .. } => Some(blocks.clone()),
                    _ => None,
                })
            };
            let event = match act {
                Act::Add(id) if blocks_of(&items, id).is_none() && !removed.contains(&id) => {
                    Event::ItemAdded { item: text_item(id, vec![]) }
                }
                Act::Change(id, blocks) if blocks_of(&items, id).is_some() => {
                    Event::ItemChanged { item: text_item(id, blocks) }
                }
                Act::Blocks(id, keep, blocks) => match blocks_of(&items, id) {
                    Some(known) => Event::BlocksChanged {
                        item_id: ItemId(id.to_string()),
                        keep: keep.min(known.len() as u32),
                        blocks,
                    },
                    None => continue,
                },
                Act::Code(id, keep, lines) => match blocks_of(&items, id).as_deref() {
                    Some([.., Block::Code { lines: known, .. }]) => Event::CodeGrew {
                        item_id: ItemId(id.to_string()),
                        keep: keep.min(known.len() as u32),
                        lines: lines.into_iter().map(line).collect(),
                    },
                    _ => continue,
                },
                Act::Entries(id, keep, entries) => match blocks_of(&items, id).as_deref() {
                    Some([.., Block::List { items: known, .. }]) => Event::EntriesGrew {
                        item_id: ItemId(id.to_string()),
                        keep: keep.min(known.len() as u32),
                        entries: entries.into_iter().map(entry).collect(),
                    },
                    _ => continue,
                },
                Act::Finish(id) if blocks_of(&items, id).is_some() => {
                    Event::TextFinished { item_id: ItemId(id.to_string()) }
                }
                Act::Remove(id) if blocks_of(&items, id).is_some() => {
                    removed.push(id);
                    Event::ItemRemoved { item_id: ItemId(id.to_string()) }
                }
                Act::Prompt => Event::ItemAdded {
                    item: Item::new(
                        format!("p{nr}"),
                        Body::Prompt {
                            text: String::new(),
                            n_images: 0,
                            n_documents: 0,
                            state: PromptState::Sent,
                        },
                    ),
                },
                _ => continue,
            };
            apply(&mut items, &event);
            events.push(event);
        }
        events
    }

    proptest! {
        #[test]
        fn merged_events_give_the_same_items(acts in prop::collection::vec(act(), 0..40), cut in 0usize..40) {
            let events = events(acts);
            let cut = cut.min(events.len());
            let mut one_by_one = Vec::new();
            events.iter().for_each(|event| apply(&mut one_by_one, event));
            let mut merged = Vec::new();
            for part in [&events[..cut], &events[cut..]] {
                let mut pending = Pending::default();
                part.iter().for_each(|event| pending.push(event.clone(), None));
                pending.take_from(0).iter().for_each(|event| apply(&mut merged, event));
            }
            prop_assert_eq!(one_by_one, merged);
        }
    }
}
