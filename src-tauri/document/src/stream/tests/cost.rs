//! What a stream costs: how often each byte is parsed, and how often it is sent to a window.

use super::{DocumentChange, Stream, Window, markdown, pieces};

/// A typical agent answer of about 200 KB.
fn answer() -> String {
    let part = r#"## Why the queue stalls

The reader holds the **only** sender, so `recv()` never returns `None`; see [the docs](https://docs.rs/tokio/latest/tokio/sync/mpsc/index.html)
for the details. When the child closes its pipe, the task *should* end, but a second clone of the sender is kept in the supervisor, which waits for the task. That is a cycle, and it explains why the process never exits.

1. **Find the clone.** It is made in `Supervisor::new`, before the first child starts:

   ```rust
   let (sender, receiver) = mpsc::channel::<Event>(64);
   let reader = tokio::spawn(read(child.stdout.take(), sender.clone()));
   ```

2. **Drop it early.** Moving the sender into the task is enough:
   - the channel closes with the task,
   - the supervisor sees `None`, and
   - nothing else has to change.
3. Add a test that fails without the change.

| Case | Before | After |
|------|:------:|------:|
| child exits | hangs | 12 ms |
| child is killed | hangs | 9 ms |
| pipe closed, child alive | *hangs* | waits for `grace` |

> Note that the drain is bounded: a grandchild may keep the pipe open for as long as it likes.

```rust
impl Supervisor {
    /// Starts the child and reads it until its pipe closes.
    pub async fn run(mut self, mut child: Child) -> Result<ExitReport, Error> {
        let (sender, mut receiver) = mpsc::channel(64);
        let reader = tokio::spawn(read(child.stdout.take().expect("piped"), sender));
        while let Some(event) = receiver.recv().await {
            match event {
                Event::Line(line) => self.handle(line)?,
                Event::Skipped { bytes, .. } => tracing::warn!(bytes, "a line was too long"),
            }
        }
        reader.await.map_err(Error::Reader)?;
        Ok(ExitReport { code: child.wait().await?.code(), ..Default::default() })
    }
}
```

Run it with `cargo test -p engine supervisor` - it takes about 0.3 s. If it still hangs, look at https://github.com/tokio-rs/tokio/issues and tell me what `lsof` says.

"#;
    part.repeat(200_000 / part.len())
}

/// Pushes the text in `n_deltas` pieces, taking every change, and returns how often each byte was parsed before the
/// end.
fn work_of(text: &str, n_deltas: usize) -> f64 {
    let len = text.len().div_ceil(n_deltas);
    let mut stream = Stream::default();
    for piece in pieces(text, len) {
        stream.push(piece);
        stream.take_change();
    }
    stream.finish();
    assert_eq!(stream.blocks(), markdown(text));
    stream.bytes_parsed() as f64 / text.len() as f64
}

#[test]
fn work_is_in_proportion_to_the_text() {
    let text = answer();
    for n_deltas in [1, 10, 1_000, 10_000] {
        let work = work_of(&text, n_deltas);
        assert!(work <= 4.0, "{n_deltas} deltas: each byte parsed {work:.2} times");
    }
}

/// How often each byte is sent to a window that takes every change.
fn told_of(text: &str) -> f64 {
    let (mut stream, mut window, mut n_told) = (Stream::default(), Window::default(), 0);
    let mut take = |stream: &mut Stream, window: &mut Window| {
        let Some(change) = stream.take_change() else { return };
        n_told += match &change {
            DocumentChange::Blocks { blocks, .. } => serde_json::to_string(blocks).unwrap().len(),
            DocumentChange::Code { lines, .. } => serde_json::to_string(lines).unwrap().len(),
            DocumentChange::Entries { entries, .. } => serde_json::to_string(entries).unwrap().len(),
        };
        window.apply(change);
    };
    for piece in pieces(text, 50) {
        stream.push(piece);
        take(&mut stream, &mut window);
    }
    stream.finish();
    take(&mut stream, &mut window);
    assert_eq!(window.blocks, markdown(text));
    n_told as f64 / text.len() as f64
}

/// Of a list only its last entries are sent, however it is written and however long it is.
#[test]
fn of_a_long_list_each_entry_is_told_a_few_times() {
    let entry = |nr: usize| format!("- entry {nr} of one list\n");
    let number = |nr: usize| format!("{}. entry {nr} of one list\n", nr + 1);
    let loose = |nr: usize| format!("- entry {nr} of one list\n\n  with more\n\n");
    let task = |nr: usize| format!("- [ ] entry {nr} of `one` list\n");
    let kinds: [&dyn Fn(usize) -> String; 4] = [&entry, &number, &loose, &task];
    for kind in kinds {
        let told = |n: usize| told_of(&(0..n).map(kind).collect::<String>());
        let (few, many) = (told(1_000), told(4_000));
        assert!(
            many < 12.0 && many < 1.1 * few,
            "{:?}: each byte told {few:.1} and {many:.1} times",
            kind(0)
        );
    }
}

/// The entries of a list in a list are sent with the entry that they are in, which is sent again only when it has grown enough:
/// the bytes stay in proportion to the text.
#[test]
fn of_a_long_list_in_a_list_the_bytes_told_are_in_proportion_to_it() {
    let told = |n: usize| {
        let entries: String = (0..n).map(|nr| format!("  - entry {nr} of the inner list\n")).collect();
        told_of(&format!("- the outer list\n{entries}"))
    };
    let (few, many) = (told(1_500), told(3_000));
    assert!(many < 1.3 * few, "each byte told {few:.0} times, of twice as many {many:.0} times");
}

/// A change contains the whole last block, however long it is.
#[test]
fn what_is_told_of_one_long_block_is_in_proportion_to_it() {
    for part in ["one paragraph that never comes to its end, ", "unbroken", "- an item of one long list\n"] {
        let short = told_of(&part.repeat(50_000 / part.len()));
        let long = told_of(&part.repeat(200_000 / part.len()));
        assert!(
            long < 1.5 * short,
            "{part:?}: each byte told {short:.0} times, of four times as many {long:.0}"
        );
    }
}
