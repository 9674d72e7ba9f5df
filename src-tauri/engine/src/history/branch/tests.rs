use super::*;
use serde_json::{Value, json};

/// A line: `u` a prompt, `a` a reply, `r` a result, `x` an attachment, `c` a compaction, `q` of a kind that is not known.
/// Its first letter says which.
fn line(uuid: &str, parent: impl Into<Value>) -> Value {
    let kind = match &uuid[..1] {
        "a" => "assistant",
        "x" => "attachment",
        "c" => "system",
        "q" => "new-kind",
        _ => "user",
    };
    let mut line = json!({"type": kind, "uuid": uuid, "parentUuid": parent.into()});
    match kind {
        "assistant" => line["message"] = json!({"id": format!("m-{uuid}"), "content": []}),
        "system" => line["subtype"] = "compact_boundary".into(),
        _ => line["message"] = json!({"content": uuid}),
    }
    line
}

fn chain(uuids: &str) -> Vec<Value> {
    let mut parent = Value::Null;
    let add = |uuid| {
        let line = line(uuid, parent.clone());
        parent = uuid.into();
        line
    };
    uuids.split(' ').map(add).collect()
}

fn with(mut line: Value, field: &str, value: impl Into<Value>) -> Value {
    line[field] = value.into();
    line
}

fn bytes(lines: &[Value]) -> Vec<u8> {
    lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

/// The uuids of the lines to show; a `|` stands for a gap.
fn shown(branch: &Branch<'_>) -> String {
    let word = |line: &Line<'_>| {
        format!("{}{}", if line.is_after_gap { "|" } else { "" }, line.place.uuid().unwrap_or("-"))
    };
    branch.lines.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn whole(lines: &[Value]) -> String {
    shown(&Branch::of(&bytes(lines), None))
}

#[test]
fn a_missing_parent_is_a_gap_and_ends_nothing() {
    let gap = |uuids: &str, lost: &str| {
        let mut lines = chain(uuids);
        lines.retain(|line| line["uuid"] != lost);
        whole(&lines)
    };
    for (lost, expected) in [
        ("u1", "|a1 u2 a2 u3 a3"),
        ("a1", "u1 |u2 a2 u3 a3"),
        ("u3", "u1 a1 u2 a2 |a3"),
        ("a3", "u1 a1 u2 a2 u3"),
        // An attachment is not shown, so the gap is before the next message.
        ("x1", "u1 a1 u2 |a2 u3 a3"),
    ] {
        assert_eq!(gap("u1 a1 u2 x1 x2 a2 u3 a3", lost), expected, "without {lost}");
    }
    let mut lines = chain("u1 a1 u2 a2 u3 a3");
    for at in [1, 3, 5] {
        lines[at]["parentUuid"] = "gone".into();
    }
    assert_eq!(whole(&lines), "u1 |a1 u2 |a2 u3 |a3");
}

#[test]
fn an_abandoned_branch_is_not_shown() {
    let mut lines = chain("u1 a1 u2 a2");
    lines.extend([line("u3", "a1"), line("a3", "u3")]);
    assert_eq!(whole(&lines), "u1 a1 u3 a3");
    lines.extend([line("u4", Value::Null), line("a4", "u4")]);
    assert_eq!(whole(&lines), "u4 a4", "rewound to its beginning");
    let bytes = bytes(&lines);
    assert_eq!(shown(&Branch::of(&bytes, Some("a2"))), "u1 a1 u2 a2");
    let gone = Branch::of(&bytes, Some("gone"));
    assert!(gone.has_no_leaf && gone.lines.is_empty());
}

#[test]
fn the_end_of_a_file_begins_after_its_first_gap() {
    let lines = [line("u0", "gone"), line("a1", "gone"), line("u2", "a1")];
    assert_eq!(shown(&Branch::of_end(&bytes(&lines))), "a1 u2");
}

#[test]
fn a_cycle_ends_and_loses_nothing() {
    let cycle = |changed: &[(usize, &str)]| {
        let mut lines = chain("u1 a1 u2 a2 u3");
        changed.iter().for_each(|(at, parent)| lines[*at]["parentUuid"] = (*parent).into());
        whole(&lines)
    };
    for (changed, expected) in [
        (&[(0, "u3")][..], "|u1 a1 u2 a2 u3"),
        (&[(0, "u1")][..], "|u1 a1 u2 a2 u3"),
        (&[(2, "u2")][..], "u1 a1 |u2 a2 u3"),
        (&[(2, "a2")][..], "u1 a1 |u2 a2 u3"),
        (&[(4, "u3"), (3, "a2"), (2, "u2"), (1, "a1"), (0, "u1")][..], "|u1 |a1 |u2 |a2 |u3"),
    ] {
        assert_eq!(cycle(changed), expected, "{changed:?}");
    }
}

/// Each line has a missing parent, or one further down: no line may be searched again for each gap.
#[test]
fn a_hundred_thousand_gaps_take_no_longer_than_a_hundred_thousand_lines() {
    let n = 100_000;
    let parent = |nr: usize| if nr.is_multiple_of(2) { "gone".to_owned() } else { format!("u{}", n - nr) };
    let lines: Vec<Value> = (0..n).map(|nr| line(&format!("u{nr}"), parent(nr))).collect();
    let bytes = bytes(&lines);
    let started = std::time::Instant::now();
    assert!(!Branch::of(&bytes, None).lines.is_empty());
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

/// 2.1.197 writes the whole conversation again when it compacts it for the second time, with another parent for the last
/// message.
#[test]
fn of_lines_with_one_uuid_the_first_one_counts() {
    let mut lines = chain("u1 a1 u2 a2");
    lines.extend([line("u1", Value::Null), line("a1", "u1"), line("a2", "a1")]);
    assert_eq!(whole(&lines), "u1 a1 u2 a2", "the process ended while it wrote them");
    lines.extend([line("u3", "a2"), line("a3", "u3")]);
    assert_eq!(whole(&lines), "u1 a1 u2 a2 u3 a3");
}

#[test]
fn calls_that_were_made_at_the_same_time_are_shown_with_their_results() {
    let block =
        |uuid: &str, parent: &str| with(line(uuid, parent), "message", json!({"id": "m", "content": []}));
    let result = |uuid: &str, call: &str| with(line(uuid, call), "sourceToolAssistantUUID", call);
    let lines = [
        line("u1", Value::Null),
        block("a1", "u1"),
        block("a2", "a1"),
        block("a3", "a2"),
        result("r3", "a3"),
        result("r2", "a2"),
        result("r1", "a1"),
        line("a4", "r1"),
        line("u2", "a4"),
    ];
    assert_eq!(whole(&lines), "u1 a1 a2 a3 r3 r2 r1 a4 u2");
    assert_eq!(whole(&lines[..6]), "u1 a1 a2 a3 r3 r2", "killed before the last result");
    // A result that the agent replaced is not shown.
    let replaced = [&lines[..2], &[result("r0", "a1"), result("r1", "a1"), line("a4", "r1")]].concat();
    assert_eq!(whole(&replaced), "u1 a1 r1 a4");
    let bytes = bytes(&lines);
    assert_eq!(shown(&Branch::of(&bytes, Some("a2"))), "u1 a1 a2", "a branch that ends within a reply");
}

#[test]
fn a_compaction_hides_nothing_before_it() {
    let compaction = |uuid: &str, before: &str| with(line(uuid, Value::Null), "logicalParentUuid", before);
    let before = chain("u1 a1 x1");
    // 2.1.329 continues after the summary.
    let new = [&before[..], &[compaction("c1", "x1"), line("u2", "c1"), line("x2", "u2"), line("u3", "x2")]]
        .concat();
    assert_eq!(whole(&new), "u1 a1 c1 u2 u3");
    // 2.1.197 continues after the last line before the compaction.
    let old = [&before[..], &[compaction("c1", "x1"), line("u2", "c1"), line("u3", "x1"), line("a3", "u3")]]
        .concat();
    assert_eq!(whole(&old), "u1 a1 c1 u2 u3 a3");
    // The compaction is on an abandoned branch.
    let abandoned = [&new[..], &[line("u4", "a1"), line("a4", "u4")]].concat();
    assert_eq!(whole(&abandoned), "u1 a1 u4 a4");
    let without_parent = [&before[..], &[line("c1", Value::Null), line("u2", "c1")]].concat();
    assert_eq!(whole(&without_parent), "u1 a1 c1 u2");
    let lost = [&before[..], &[compaction("c1", "gone"), line("u2", "c1")]].concat();
    assert_eq!(whole(&lost), "u1 a1 c1 u2");
    // A fork of a compacted conversation.
    let fork = [compaction("c1", "a1"), line("u2", "c1"), line("a1", "u2"), line("u3", "a1")];
    assert_eq!(whole(&fork), "c1 u2 a1 u3");
}

#[test]
fn lines_that_cannot_be_read_are_counted() {
    let mut bytes = bytes(&[line("u1", Value::Null), line("q1", "u1"), line("a1", "q1")]);
    bytes.extend(b"\n  \r\nno json\n[\"user\"]\n{\"type\":\"api-request\"}\n{\"type\":\"user\",\"uuid\":\"u2\",\"paren");
    let branch = Branch::of(&bytes, None);
    assert_eq!((shown(&branch).as_str(), branch.n_damaged, branch.n_unknown), ("u1 a1", 3, 1));
    assert!(branch.is_end_torn);
    bytes.push(b'\n');
    assert!(!Branch::of(&bytes, None).is_end_torn);
}

#[test]
fn a_field_of_another_type_costs_no_line() {
    let odd = [
        ("isSidechain", json!("no")),
        ("logicalParentUuid", json!(7)),
        ("message", json!({"id": 7, "content": "x"})),
        ("attachment", json!([])),
        ("subtype", json!({})),
    ];
    for (field, value) in odd {
        let mut lines = chain("u1 a1 u2");
        lines[1][field] = value;
        let bytes = bytes(&lines);
        let branch = Branch::of(&bytes, None);
        assert_eq!((shown(&branch).as_str(), branch.n_damaged), ("u1 a1 u2", 0), "{field}");
    }
    let twice = b"{\"type\":\"user\",\"uuid\":\"u1\",\"uuid\":\"u1\",\"message\":{\"content\":\"\\ud83d\"}}";
    assert_eq!(shown(&Branch::of(twice, None)), "u1");
}
