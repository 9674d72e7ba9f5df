//! The result of a call as one text: its output, and everything else that it returned in words.

use crate::event::Content;
use crate::output::MOST_OUTPUT;
use deskbell_agent::PartDescription;

/// What a call returned.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReturnedParts<'a> {
    pub output: &'a str,
    /// Bytes of the output that were not kept.
    pub left_out: u64,
    /// The text next to a terminal, which may be the same.
    pub beside: Option<&'a str>,
    /// What is shown if there is nothing else.
    pub otherwise: Option<&'a str>,
    pub attachments: &'a [Content],
}

/// All of it. The output comes first.
pub fn text(returned: &ReturnedParts<'_>) -> String {
    let ReturnedParts { output, left_out, beside, otherwise, attachments } = *returned;
    let mut text = output.to_owned();
    if left_out > 0 {
        add(&mut text, &format!("({left_out} more bytes were left out)"));
    }
    add(&mut text, beside.filter(|beside| !output.contains(beside.trim())).unwrap_or_default());
    let n_before = text.len();
    for attachment in attachments {
        if text.len() - n_before > MOST_OUTPUT {
            add(&mut text, "(The rest was left out)");
            break;
        }
        add(&mut text, &words(attachment));
    }
    if text.is_empty() { otherwise.unwrap_or_default().to_owned() } else { text }
}

fn add(text: &mut String, more: &str) {
    if !text.is_empty() && !text.ends_with('\n') && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

/// Content that is no text, in words: its kind, media type, size and source; and the text of a file.
pub fn words(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Image { media_type, n_bytes, uri, .. } => {
            let (media_type, source) = (Some(media_type.as_str()), uri.as_deref());
            PartDescription { kind: "Image", media_type, n_bytes: Some(*n_bytes), source }.words()
        }
        Content::Audio { media_type, n_bytes } => {
            let (media_type, n_bytes) = (Some(media_type.as_str()), Some(*n_bytes));
            PartDescription { kind: "Audio", media_type, n_bytes, source: None }.words()
        }
        Content::Link { uri, name, media_type, n_bytes } => {
            let source = format!("{name} {uri}");
            let (media_type, source) = (media_type.as_deref(), Some(source.trim()));
            PartDescription { kind: "Link", media_type, n_bytes: *n_bytes, source }.words()
        }
        Content::File { uri, media_type, text, n_bytes } => {
            let (media_type, source) = (media_type.as_deref(), Some(uri.as_str()));
            let words = PartDescription { kind: "File", media_type, n_bytes: Some(*n_bytes), source }.words();
            match text {
                Some(text) => format!("{words}\n{}", &text[..text.floor_char_boundary(MOST_OUTPUT)]),
                None => words,
            }
        }
        Content::Other(json) => format!("Content of an unknown kind: {json}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Content {
        let media_type = "image/png".to_owned();
        Content::Image { media_type, data: None, n_bytes: 70, uri: Some("file:///a.png".to_owned()) }
    }

    #[test]
    fn everything_that_a_call_returned_is_in_its_text() {
        let file = Content::File {
            uri: "file:///r".to_owned(),
            media_type: Some("text/plain".to_owned()),
            text: Some("one\ntwo".into()),
            n_bytes: 7,
        };
        let link =
            Content::Link { uri: "u:x".to_owned(), name: "N".to_owned(), media_type: None, n_bytes: None };
        let audio = Content::Audio { media_type: "audio/wav".to_owned(), n_bytes: 3 };
        let attachments = [image(), audio, link, file, Content::Other("{}".to_owned())];
        let all = ReturnedParts {
            output: "out",
            beside: Some("note"),
            attachments: &attachments,
            ..ReturnedParts::default()
        };
        assert_eq!(
            text(&all),
            "out\nnote\nImage (image/png, 70 bytes): file:///a.png\nAudio (audio/wav, 3 bytes)\nLink: N u:x\n\
             File (text/plain, 7 bytes): file:///r\none\ntwo\nContent of an unknown kind: {}"
        );
    }

    #[test]
    fn a_text_that_repeats_the_terminal_is_shown_once() {
        let shown = |output, beside| {
            text(&ReturnedParts { output, beside: Some(beside), ..ReturnedParts::default() })
        };
        assert_eq!((shown("a\nb\n", "a\nb").as_str(), shown("a\n", "b").as_str()), ("a\nb\n", "a\nb"));
    }

    #[test]
    fn what_is_left_out_is_said_and_another_form_is_the_last_choice() {
        let cut =
            ReturnedParts { output: "a", left_out: 5, otherwise: Some("{}"), ..ReturnedParts::default() };
        assert_eq!(text(&cut), "a\n(5 more bytes were left out)");
        assert_eq!(text(&ReturnedParts { output: "", left_out: 0, ..cut }), "{}");
        let images = [image()];
        assert!(
            text(&ReturnedParts { output: "", left_out: 0, attachments: &images, ..cut })
                .starts_with("Image")
        );
    }

    #[test]
    fn the_text_is_bounded() {
        let text_of = "x".repeat(MOST_OUTPUT + 1);
        let uri = String::new();
        let file = Content::File { uri, media_type: None, text: Some(text_of.into()), n_bytes: 0 };
        let files = vec![file; 5];
        let all = text(&ReturnedParts { attachments: &files, ..ReturnedParts::default() });
        assert!(all.len() < 3 * MOST_OUTPUT && all.ends_with("(The rest was left out)"), "{}", all.len());
    }
}
