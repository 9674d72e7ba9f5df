//! Times the highlighting of a file, as a whole and line by line, twice: the first run compiles the patterns.
//! `cargo run --release -p deskbell-document --example highlight -- FILE`

#![allow(clippy::disallowed_methods, reason = "it reads the file that its caller names")]

use deskbell_document::{Stream, highlight, language_of_path};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a file")?;
    let text = std::fs::read_to_string(&path)?;
    let language = language_of_path(&path).ok_or("no grammar is known for this file")?;
    println!("{} bytes, {} lines, {language}", text.len(), text.lines().count());
    for run in ["first", "second"] {
        let started_at = Instant::now();
        let lines = highlight(Some(&language), &text);
        let n_tokens: usize = lines.iter().map(|line| line.tokens.len()).sum();
        println!("{run} run, whole text: {:.1?}, {n_tokens} tokens", started_at.elapsed());
    }
    let (mut stream, mut n_jobs) = (Stream::default(), 0);
    let started_at = Instant::now();
    stream.push(&format!("```{language}\n"));
    for line in text.split_inclusive('\n') {
        stream.push(line);
        while let Some(uncoloured) = stream.uncoloured() {
            n_jobs += 1;
            stream.colour(uncoloured.colour());
        }
    }
    println!("streamed line by line: {:.1?}, {n_jobs} jobs", started_at.elapsed());
    Ok(())
}
