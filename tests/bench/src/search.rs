//! Searching a store of stored sessions, next to `grep` and ripgrep on the same files: the time to the first result and to
//! the end.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use deskbell_engine::search::{Absent, Query, Searching, Today};
use deskbell_engine::stored::Store;
use serde_json::json;

use crate::statistics::median;

const ROUNDS: usize = 5;

/// Where it is, the query, and the same in JSON.
const WORDS: [(&str, &str, &str); 4] = [
    ("in each file", "error", "error"),
    ("in the oldest file", "raregem", "raregem"),
    ("in no file", "wombat", "wombat"),
    ("escaped", r#""say \"raregem\"""#, r#"say \"raregem\""#),
];

/// Makes a store of this many megabytes and searches it.
pub fn bench(megabytes: usize) -> Result<()> {
    let root = tempfile::tempdir()?;
    let folder = root.path().join("projects/-project");
    fs::create_dir_all(&folder)?;
    let (n_files, bytes) = write(&folder, megabytes as u64 * 1_000_000)?;
    println!("{n_files} files, {:.0} MB, medians of {ROUNDS} rounds in ms", bytes as f64 / 1e6);
    println!(
        "{:>30} {:>9} {:>9} {:>9} {:>14} {:>9} {:>9}",
        "word", "grep -li", "rg -li", "rg -ci", "first result", "all", "× rg -ci"
    );
    for (name, word, in_json) in WORDS {
        compare(name, word, in_json, root.path(), &folder, false)?;
    }
    let (_, word, in_json) = WORDS[2];
    compare("in no file, from the disk", word, in_json, root.path(), &folder, true)?;
    typing(root.path())
}

/// Compares one word. `-l` stops at the first hit of each file, `-c` reads all of it. `from_disk`: the page cache is
/// dropped before each search.
fn compare(
    name: &str,
    word: &str,
    in_json: &str,
    config: &Path,
    folder: &Path,
    from_disk: bool,
) -> Result<()> {
    let forget = || if from_disk { forget(folder) } else { Ok(()) };
    let [mut grep, mut rg, mut rg_all, mut first, mut all] = [(); 5].map(|()| Vec::new());
    for _ in 0..if from_disk { 3 } else { ROUNDS } {
        forget()?;
        grep.push(other("grep", &["-rliF"], in_json, folder)?);
        forget()?;
        rg.push(other("rg", &["-uuuliF"], in_json, folder)?);
        forget()?;
        rg_all.push(other("rg", &["-uuuciF"], in_json, folder)?);
        forget()?;
        let (found_first, took) = ours(config, word, false, Arc::default())?;
        first.push(found_first);
        all.push(took);
    }
    let (rg_all, all) = (median(&rg_all), median(&all));
    println!(
        "{name:>30} {:>9.0} {:>9.0} {rg_all:>9.0} {:>14.0} {all:>9.0} {:>9.2}",
        median(&grep),
        median(&rg),
        median(&first),
        all / rg_all
    );
    Ok(())
}

/// Writes the files to the disk and drops them from the page cache.
fn forget(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let file = format!("of={}", entry?.path().display());
        let status = Command::new("dd")
            .args([&file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"])
            .status();
        ensure!(status.context("starting dd")?.success(), "dd failed");
    }
    Ok(())
}

/// Each letter of words, as the user types them, with what is remembered between the searches: when nothing is known, and
/// when the search was prepared, as it is while the panel is open. To all results, and to the newest ones, as in the window.
fn typing(config: &Path) -> Result<()> {
    println!("typed, first result/all in ms, medians of {ROUNDS} rounds:");
    for word in ["raregem", "wombat", "error"] {
        type_out(config, word, false, false)?;
        type_out(config, word, true, false)?;
        type_out(config, word, true, true)?;
    }
    Ok(())
}

fn type_out(config: &Path, word: &str, is_prepared: bool, is_newest: bool) -> Result<()> {
    let mut times = vec![(Vec::new(), Vec::new()); word.len()];
    let mut prepared = Vec::new();
    for _ in 0..ROUNDS {
        let absent = Arc::<Absent>::default();
        if is_prepared {
            prepared.push(prepare(config, absent.clone())?);
        }
        for (end, (firsts, alls)) in times.iter_mut().enumerate() {
            let (first, all) = ours(config, &word[..=end], is_newest, absent.clone())?;
            firsts.push(first);
            alls.push(all);
        }
    }
    let how = match &prepared[..] {
        [] => "nothing known".to_owned(),
        prepared => format!("prepared in {:.0} ms", median(prepared)),
    };
    let which = if is_newest { "newest" } else { "all" };
    print!("{how:>20}, {which:>6}:");
    for (end, (firsts, alls)) in times.iter().enumerate() {
        print!("  {} {:.0}/{:.0}", &word[..=end], median(firsts), median(alls));
    }
    println!();
    Ok(())
}

/// Milliseconds until the search is prepared.
fn prepare(config: &Path, absent: Arc<Absent>) -> Result<f64> {
    let stores = vec![Store { config: config.to_owned(), profile: None }];
    crate::runtime()?.block_on(async {
        let started_at = Instant::now();
        Searching::prepare(stores, None, absent).prepared().await;
        Ok(ms(started_at.elapsed()))
    })
}

/// Milliseconds to the first result, or to the end without one, and to the end.
fn ours(config: &Path, word: &str, is_newest: bool, absent: Arc<Absent>) -> Result<(f64, f64)> {
    let query = Query::parse(word, Today { now: 0, utc_offset_minutes: 0 })?;
    let stores = vec![Store { config: config.to_owned(), profile: None }];
    let runtime = crate::runtime()?;
    runtime.block_on(async {
        let started_at = Instant::now();
        let start = if is_newest { Searching::newest } else { Searching::start };
        let (_searching, mut changes) = start(stores, Vec::new(), None, query, absent);
        let (mut first, mut is_complete) = (None, false);
        while let Some(change) = changes.recv().await {
            if !change.found.is_empty() {
                first.get_or_insert_with(|| started_at.elapsed());
            }
            ensure!(change.problem.is_none(), "{:?}", change.problem);
            is_complete |= change.is_complete;
        }
        ensure!(is_complete, "the search did not end");
        let all = started_at.elapsed();
        Ok((ms(first.unwrap_or(all)), ms(all)))
    })
}

/// Milliseconds that another program takes.
fn other(program: &str, options: &[&str], word: &str, folder: &Path) -> Result<f64> {
    let started_at = Instant::now();
    let status =
        Command::new(program).args(options).args(["-e", word]).arg(folder).stdout(Stdio::null()).status();
    let status = status.with_context(|| format!("starting {program}"))?;
    ensure!(status.code().is_some_and(|code| code < 2), "{program} ended with {status}");
    Ok(ms(started_at.elapsed()))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

const VOCABULARY: &str = "the of and session file error build test function return let mut struct impl async await \
    window agent prompt cargo check path value string option result match some none vec push iter map filter collect \
    clone read write open close line text item list config change update delete create state event handler server";

/// Writes sessions of 0.2 to 2 MB, in the agent's format, the oldest one first. Returns their number and size.
fn write(folder: &Path, wanted: u64) -> Result<(u32, u64)> {
    let words: Vec<&str> = VOCABULARY.split_whitespace().collect();
    let mut seed = 88_172_645_463_325_252_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let (mut n_files, mut bytes) = (0_u32, 0);
    while bytes < wanted {
        let path = folder.join(format!("00000000-0000-4000-8000-{n_files:012}.jsonl"));
        let most = 200_000 + random(1_800_000) as u64;
        let mut file =
            BufWriter::new(File::create(&path).with_context(|| format!("making {}", path.display()))?);
        let (mut written, mut nr) = (0, 0);
        while written < most {
            let mut text = String::new();
            for _ in 0..20 + random(400) {
                text.push_str(words[random(words.len())]);
                text.push(if random(12) == 0 { '\n' } else { ' ' });
            }
            if (n_files, nr) == (0, 4) {
                text.push_str("say \"raregem\"");
            }
            let line = line(nr, &text);
            writeln!(file, "{line}")?;
            written += line.len() as u64 + 1;
            nr += 1;
        }
        file.flush()?;
        // Later files changed later.
        let at = std::time::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + u64::from(n_files));
        file.into_inner().context("closing a file")?.set_modified(at)?;
        n_files += 1;
        bytes += written;
    }
    Ok((n_files, bytes))
}

/// A prompt, an answer, a call and its output, in turn.
fn line(nr: usize, text: &str) -> String {
    let (uuid, parent) = (format!("u{nr}"), nr.checked_sub(1).map(|nr| format!("u{nr}")));
    let reply = |content| json!({"id": format!("m{nr}"), "role": "assistant", "content": [content]});
    let (kind, message, result) = match nr % 4 {
        0 => ("user", json!({"role": "user", "content": text}), json!(null)),
        1 => ("assistant", reply(json!({"type": "text", "text": text})), json!(null)),
        2 => {
            let input = json!({"command": text});
            let call = json!({"type": "tool_use", "id": format!("t{nr}"), "name": "Bash", "input": input});
            ("assistant", reply(call), json!(null))
        }
        _ => {
            let output =
                json!({"type": "tool_result", "tool_use_id": format!("t{}", nr - 1), "content": text});
            ("user", json!({"role": "user", "content": [output]}), json!({"stdout": text, "stderr": ""}))
        }
    };
    json!({
        "parentUuid": parent, "isSidechain": false, "type": kind, "message": message, "uuid": uuid,
        "toolUseResult": result, "timestamp": "2026-11-21T07:13:20.750Z", "cwd": "/project", "version": "2.1.329",
    })
    .to_string()
}
