//! Tests of exports: with hostile text in every place, with images, and of the files that are written.

use super::*;
use crate::api::CopyOf;
use crate::history::{Additions, Kept};
use crate::transcript::{Transcript, TranscriptEvent};
use crate::wire;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use deskbell_agent::PastPrompt;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn heading(title: &str) -> Heading {
    Heading {
        title: title.to_owned(),
        project: format!("/home/{title}"),
        agent: AgentKind::Claude,
        agent_session_id: Some(title.to_owned()),
    }
}

/// A transcript that has `text` wherever an agent or a tool can put one.
fn transcript(text: &str) -> Transcript {
    let mut transcript = Transcript::new(Path::new("/p"));
    let mut fold = |line: Value| transcript.line(1_000, wire::parse(line.to_string().as_bytes()));
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let blocks = [
        json!({"type": "text", "text": text}),
        json!({"type": "text", "text": format!("# {text}\n\n[{text}](https://example.org/)\n\n| {text} |\n|--|\n| {text} |\n\n```{text}\n{text}\n```\n")}),
        json!({"type": "thinking", "thinking": text}),
        call("bash", "Bash", json!({"command": text, "description": text})),
        call(
            "edit",
            "Edit",
            json!({"file_path": format!("/p/{text}"), "old_string": text, "new_string": format!("{text}!")}),
        ),
        call("mcp", &format!("mcp__{text}__{text}"), json!({ "a": text })),
        call(
            "todo",
            "TodoWrite",
            json!({"todos": [{"content": text, "status": "pending", "activeForm": text}]}),
        ),
        call("agent", "Task", json!({"description": text, "prompt": text, "subagent_type": text})),
    ];
    for (nr, block) in blocks.into_iter().enumerate() {
        let message = json!({"id": format!("m{nr}"), "role": "assistant", "content": [block]});
        fold(json!({"type": "assistant", "uuid": format!("a{nr}"), "message": message}));
    }
    let inner = json!({"id": "inner", "role": "assistant", "content": [{"type": "text", "text": text}]});
    fold(json!({"type": "assistant", "uuid": "s", "parent_tool_use_id": "agent", "message": inner}));
    for (id, is_error) in [("bash", true), ("mcp", false), ("edit", false), ("agent", false)] {
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
        fold(
            json!({"type": "user", "uuid": format!("r{id}"), "message": {"role": "user", "content": [result]}}),
        );
    }
    transcript.past_prompt(
        1_000,
        "prompt",
        PastPrompt { text: text.to_owned(), n_images: 2, n_documents: 1 },
    );
    let notice =
        |level| TranscriptEvent::Notice { level, text: text.to_owned(), detail: Some(text.to_owned()) };
    transcript.apply(1_000, notice(crate::api::Level::Warning));
    transcript
}

fn page_of(title: &str, transcript: &Transcript) -> String {
    let conversation = transcript.exported(title, ExportFormat::Html);
    let bytes = conversation.render(ExportFormat::Html, &heading(title), &Images::default()).unwrap();
    String::from_utf8(bytes).unwrap()
}

const ELEMENTS: [&str; 45] = [
    "!doctype",
    "a",
    "b",
    "blockquote",
    "body",
    "br",
    "code",
    "details",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "img",
    "li",
    "main",
    "meta",
    "ol",
    "p",
    "pre",
    "s",
    "section",
    "span",
    "strong",
    "style",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "ul",
    "main",
    "p",
];
const ATTRIBUTES: [&str; 14] = [
    "alt",
    "charset",
    "class",
    "content",
    "datetime",
    "href",
    "html",
    "http-equiv",
    "lang",
    "name",
    "rel",
    "src",
    "start",
    "title",
];

/// Reads a page as strictly as possible: only these elements with only these attributes, all quoted and closed.
/// Returns the visible text.
fn checked(page: &str) -> String {
    let style = page.find("<style>").unwrap() + "<style>".len()..page.find("</style>").unwrap();
    assert!(!page[style.clone()].contains('<'));
    assert_eq!(&page[style.clone()], include_str!("page.css"));
    let mut text = String::new();
    let mut open: Vec<String> = Vec::new();
    let rest = format!("{}{}", &page[..style.start], &page[style.end..]);
    let mut rest = rest.as_str();
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        // The attributes of a page are all in quotes, and contain no `>`.
        let end = at + rest[at..].find('>').expect("a tag is closed");
        let tag = &rest[at + 1..end];
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        assert!(ELEMENTS.contains(&name), "<{tag}>");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "</{name}>");
        } else if !["!doctype", "br", "hr", "img", "meta"].contains(&name) {
            open.push(name.to_owned());
        }
        let mut attributes = tag[name.len().min(tag.len())..].trim();
        while let Some((name, value)) = attributes.split_once("=\"").filter(|_| !tag.starts_with('/')) {
            assert!(ATTRIBUTES.contains(&name), "{name} in <{tag}>");
            let (value, behind) = value.split_once('"').expect("a value is closed");
            let starts = |starts: &[&str]| starts.iter().any(|start| value.starts_with(start));
            match name {
                "href" => assert!(starts(&["https://", "http://", "mailto:"]), "{value}"),
                "src" => assert!(starts(&["data:image/"]), "{value}"),
                _ => {}
            }
            attributes = behind.trim();
        }
        rest = &rest[end + 1..];
    }
    assert_eq!(open, [""; 0]);
    assert!(!rest.contains('>'));
    text.push_str(rest);
    let odd =
        |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!page.contains(odd), "a control character is in the page");
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// The texts of `tests/hostile/output`, and some that are meant for a page.
fn hostile() -> BTreeSet<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/hostile/output");
    let mut texts = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        texts.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    assert!(texts.len() > 100);
    let own = [
        "</style><script>alert(1)</script>",
        "</title></head><body onload=alert(1)>",
        "--></pre></details><img src=x onerror=alert(1)>",
        "\" onmouseover=\"alert(1)\" x='",
        "[a](javascript:alert(1)) [b](data:text/html,x) [c](https://example.org/\"onclick=x)",
        "![a](https://example.org/beacon.png)",
        "safe\u{202e}txt.exe\u{2066}x\u{0}\u{7}\u{1b}[31m\r\n\u{2028}",
        "&lt;script&gt;",
    ];
    texts.extend(own.map(str::to_owned));
    texts
}

#[test]
fn no_text_becomes_markup_wherever_it_comes_from() {
    for text in hostile() {
        checked(&page_of(&text, &transcript(&text)));
    }
}

#[test]
fn what_was_written_is_there_to_read() {
    let text = checked(&page_of("A & <b>", &transcript("</style><script>x</script>")));
    // Title and heading, prompt, text, thought, command, output, notice …
    assert!(text.matches("</style><script>x</script>").count() > 12, "{text}");
    assert!(text.contains("A & <b>"));
    assert!(text.contains("2 images are not in the agent’s transcript"));
    let odd = checked(&page_of("t", &transcript("safe\u{202e}txt\u{0}")));
    assert!(odd.contains("safe⟨U+202E⟩txt⟨U+0000⟩"), "{odd}");
}

#[test]
fn a_page_forbids_everything_but_its_own_style() {
    let page = page_of("t", &transcript("x"));
    let digest = <sha2::Sha256 as sha2::Digest>::digest(include_str!("page.css"));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        BASE64_STANDARD.encode(digest)
    );
    assert!(page.contains(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">")));
    assert!(page.find("Content-Security-Policy").unwrap() < page.find("<title>").unwrap());
    let style = include_str!("page.css");
    assert!(!["url(", "@import", "http", "expression"].iter().any(|word| style.contains(word)));
}

#[test]
fn a_subagents_items_are_inside_its_call() {
    let page = page_of("t", &transcript("needle"));
    let inside = page.split_once("<div class=\"inside\">").unwrap().1.split_once("</div>").unwrap().0;
    assert!(inside.contains("needle"), "{inside}");
}

#[test]
fn code_has_its_colours_without_a_style_of_its_own() {
    // A window opens a conversation with the colours that it shows; an export has all.
    let transcript = transcript("```rust\nlet a = \"b\";\n```");
    let page = page_of("t", &transcript);
    assert!(page.contains("<span class=\"tk\">let</span>"), "{page}");
    assert!(!page.contains(" style="));
}

#[test]
fn an_export_as_markdown_is_what_is_copied() {
    let transcript = transcript("*a*");
    let conversation = transcript.exported("T", ExportFormat::Markdown);
    let bytes = conversation.render(ExportFormat::Markdown, &heading("T"), &Images::default()).unwrap();
    assert_eq!(String::from_utf8(bytes).ok(), transcript.text_of("T", &CopyOf::Conversation));
}

#[test]
fn programs_get_all_items_with_their_sources_and_outputs() {
    let transcript = transcript("\u{1b}[31m*red*\u{1b}[0m");
    let conversation = transcript.exported("T", ExportFormat::Json);
    let bytes = conversation.render(ExportFormat::Json, &heading("T"), &Images::default()).unwrap();
    let file: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!((&file["format"], &file["version"]), (&json!("deskbell-session"), &json!(1)));
    assert_eq!((&file["title"], &file["agent"]), (&json!("T"), &json!("claude")));
    let items = file["items"].as_array().unwrap();
    assert_eq!(items.len(), transcript.items().len());
    let of = |id: &str| items.iter().find(|one| one["item"]["id"] == id).unwrap();
    assert_eq!(of("m0.0")["text"], "\u{1b}[31m*red*\u{1b}[0m");
    assert_eq!(of("bash")["output"], "*red*", "without terminal sequences");
    assert_eq!(of("bash")["item"]["body"]["type"], "toolCall");
}

fn png() -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend([0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0]);
    BASE64_STANDARD.encode(bytes)
}

#[test]
fn images_come_from_the_agents_transcript_if_they_are_images() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let image = |data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": "text/html", "data": data}});
    let lines = [
        json!({"type": "user", "uuid": "u1", "message": {"content": [image(&png()), image("PHNjcmlwdD4="), {"type": "text", "text": "see"}]}}),
        json!({"type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": {"id": "m", "content":
            [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/p/a.png"}}]}}),
        json!({"type": "user", "uuid": "u2", "parentUuid": "a1", "message": {"content":
            [{"type": "tool_result", "tool_use_id": "t1", "content": [image(&png())]}]}}),
    ];
    fs::write(&path, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let kept = Kept::load(&path).unwrap();
    let transcript = kept.transcript(Path::new("/p"), &Additions::default());
    let found = Images::of(&kept);
    let conversation = transcript.exported("T", ExportFormat::Html);
    let page = conversation.render(ExportFormat::Html, &heading("T"), &found).unwrap();
    let page = String::from_utf8(page).unwrap();
    let text = checked(&page);
    assert_eq!(page.matches(&format!("src=\"data:image/png;base64,{}\"", png())).count(), 2, "{page}");
    assert!(
        text.contains("1 image is not in the agent’s transcript"),
        "what is no image is not embedded: {text}"
    );
    let json = transcript.exported("T", ExportFormat::Json).render(ExportFormat::Json, &heading("T"), &found);
    let file: Value = serde_json::from_slice(&json.unwrap()).unwrap();
    assert_eq!(file["items"][0]["images"][0], json!({"mediaType": "image/png", "data": png()}));
}

#[test]
fn a_file_is_private_and_replaced_only_if_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.html");
    Conversation::save(&path, b"one", false).unwrap();
    assert_eq!(Conversation::save(&path, b"two", false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"one");
    Conversation::save(&path, b"two", true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/no/such", &link).unwrap();
        assert_eq!(Conversation::save(&link, b"x", false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }
    assert!(Conversation::save(&folder.path().join("no/such/a.md"), b"x", true).is_err());
}

#[test]
fn a_file_is_named_for_its_session() {
    let name = |title: &str| Conversation::file_name(title, ExportFormat::Html);
    assert_eq!(name("Fix the tests"), "Fix the tests.html");
    assert_eq!(name("../../etc/passwd\u{202e}"), "etc passwd.html");
    assert_eq!(name("…"), "Session.html");
    assert!(name(&"a".repeat(500)).len() < 80);
    assert_eq!(Conversation::file_name("日本語 x", ExportFormat::Markdown), "日本語 x.md");
}

#[test]
fn a_large_output_is_exported_whole() {
    let text = "word <b> \u{1b}[31mred\u{1b}[0m\n".repeat(400_000);
    let mut transcript = Transcript::new(Path::new("/p"));
    let call = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x"}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": text});
    for line in [
        json!({"type": "assistant", "message": {"id": "m", "content": [call]}}),
        json!({"type": "user", "message": {"content": [result]}}),
    ] {
        transcript.line(0, wire::parse(line.to_string().as_bytes()));
    }
    let page = page_of("t", &transcript);
    assert_eq!(page.matches("word &lt;b&gt; <span class=\"ar\">red</span>").count(), 400_000);
}
