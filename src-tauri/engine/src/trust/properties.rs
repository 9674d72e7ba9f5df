//! Property tests: for any contents of a folder, a survey ends and misses no change.

use super::*;
use crate::claude::trust::json;
use proptest::prelude::*;
use std::fs;

const FILES: [&str; 4] =
    [".claude/settings.json", ".claude/settings.local.json", ".mcp.json", "../.mcp.json"];

fn write(project: &Path, files: &[Vec<u8>]) {
    fs::create_dir_all(project.join(".claude")).unwrap();
    for (name, bytes) in FILES.iter().zip(files) {
        fs::write(project.join(name), bytes).unwrap();
    }
}

/// JSON with known keys, in places where they have a meaning and where they have none.
fn settings() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "hooks",
        "SessionStart",
        "matcher",
        "type",
        "command",
        "http",
        "url",
        "args",
        "env",
        "PATH",
        "ANTHROPIC_BASE_URL",
        "permissions",
        "allow",
        "defaultMode",
        "mcpServers",
        "headersHelper",
        "statusLine",
        "enabledPlugins",
        "extraKnownMarketplaces",
        "sandbox",
        "apiKeyHelper",
        "\\u0068ooks",
        "",
        "…",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(|word| format!("\"{word}\"")),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1.5e3".to_owned()),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let entry = (word.clone(), inner.clone()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(entry, 0..6).prop_map(|entries| format!("{{{}}}", entries.join(","))),
        ]
    })
}

fn any_file() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        settings().prop_map(String::into_bytes),
        settings().prop_map(|settings| format!("{{\"hooks\":{settings},}} // {settings}").into_bytes()),
        "[\\[\\]{}\",:/*\\\\ a\n]{0,60}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_files_are_surveyed_and_any_change_is_noticed(
        files in prop::collection::vec(any_file(), 4),
        which in 0..4usize,
        at in any::<prop::sample::Index>(),
        bit in 0..8u32,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        write(&project, &files);
        let before = survey(&project);
        prop_assert_eq!(&survey(&project), &before);

        let mut files = files;
        if files[which].is_empty() {
            files[which].push(b' ');
        } else {
            let at = at.index(files[which].len());
            files[which][at] ^= 1 << bit;
        }
        write(&project, &files);
        prop_assert_ne!(survey(&project).fingerprint, before.fingerprint.clone());

        fs::remove_file(project.join(FILES[which])).unwrap();
        prop_assert_ne!(survey(&project).fingerprint, before.fingerprint);
    }

    #[test]
    fn nothing_that_is_said_is_left_out(text in settings()) {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        let file = format!("{{\"mark\":0,\"other\":{text}}}");
        write(&project, &[file.into_bytes()]);
        let survey = survey(&project);
        let Ok(document) = json::parse(&text) else { unreachable!("it was made as JSON") };
        let said = Some(document.root.text());
        let other = survey.findings.iter().find(|finding| finding.name.as_deref() == Some("other"));
        prop_assert_eq!(other.map(|finding| finding.text.clone()), said);
    }
}

#[test]
fn moving_bytes_from_one_file_to_another_is_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    let fingerprint = |files: &[&str]| {
        write(&project, &files.iter().map(|text| text.as_bytes().to_owned()).collect::<Vec<_>>());
        survey(&project).fingerprint.unwrap()
    };
    let fingerprints =
        [fingerprint(&["{}", "", ""]), fingerprint(&["", "{}", ""]), fingerprint(&["{", "}", ""])];
    assert!(fingerprints[0] != fingerprints[1] && fingerprints[1] != fingerprints[2]);
    assert_ne!(fingerprints[0], fingerprints[2]);
}
