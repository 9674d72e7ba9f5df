//! Fuzz target for Markdown: a streamed document equals that of the whole text, however it is split, at a cost linear
//! in its length.

use super::text_in_pieces;
use crate::api::Block;
use crate::document::{self, Stream};

/// Streams the text in pieces to a model of a window, and compares the result with the document of the whole text.
pub fn markdown(data: &[u8]) {
    let (text, pieces) = text_in_pieces(data);
    let mut stream = Stream::default();
    let mut window = Vec::new();
    for piece in &pieces {
        stream.push(piece);
        take(&mut stream, &mut window);
    }
    stream.finish();
    take(&mut stream, &mut window);
    let whole = document::markdown(&text);
    assert_eq!(stream.blocks(), whole, "{text:?} in {pieces:?}");
    assert_eq!(stream.text(), text);
    assert_eq!(stream.take_change(), None);
    let (cost, most) = (stream.bytes_parsed(), 5 * text.len() + 8192);
    assert!(cost <= most, "{cost} bytes were parsed of {}: {text:?}", text.len());
    // Setting the same text again, as happens at the end of a reply, changes nothing.
    stream.set_text(&text);
    stream.finish();
    assert_eq!(stream.blocks(), whole, "{text:?} told again");
    readable(&whole);
}

fn take(stream: &mut Stream, window: &mut Vec<Block>) {
    if let Some(change) = stream.take_change() {
        assert!(change.fits(window), "{change:?} of {} blocks", window.len());
        change.apply(window);
    }
    assert_eq!(window.as_slice(), stream.blocks(), "{:?}", stream.text());
}

/// A window must be able to parse the blocks as JSON, even nested as deeply as a plan in a request.
fn readable(blocks: &[Block]) {
    let event = serde_json::json!({ "a": [{ "b": [{ "c": [{ "d": { "e": blocks } }] }] }] }).to_string();
    serde_json::from_str::<serde_json::Value>(&event).expect("a document is JSON that can be read");
}
