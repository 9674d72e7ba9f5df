//! The output of a task in the background, while it is written.

use crate::api::{CommandError, ErrorCode, TaskOutput};
use crate::disk;
use crate::transcript::output::terminal_lines;
use std::path::PathBuf;

/// The end of the output that is shown, in bytes: some 600 lines of a build.
const SHOWN: u64 = 64 << 10;

/// Reads the end of the file. The agent named it, so it is read as one of a program that is not trusted.
pub async fn read(path: PathBuf) -> Result<TaskOutput, CommandError> {
    let place = path.clone();
    let failed = |problem: String| CommandError {
        code: ErrorCode::Refused,
        message: "The output of the task could not be read.".to_owned(),
        detail: Some(problem),
    };
    let end = disk::run(&place, disk::DEADLINE, move || match disk::read_own_end(&path, SHOWN) {
        // The command has not written anything yet.
        Err(error) if error.is_missing() => Ok(disk::End::default()),
        read => read,
    });
    let disk::End { bytes, is_cut } = end.await?.map_err(|error| failed(error.to_string()))?;
    // The first line is whole, and so is its first character.
    let begin =
        if is_cut { bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1) } else { 0 };
    let text = String::from_utf8_lossy(&bytes[begin..]).into_owned();
    let lines = tokio::task::spawn_blocking(move || terminal_lines(&text)).await;
    Ok(TaskOutput { lines: lines.map_err(|error| failed(error.to_string()))?, is_cut })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    fn texts(output: &TaskOutput) -> Vec<String> {
        output
            .lines
            .iter()
            .map(|line| line.tokens.iter().map(|token| token.text.as_str()).collect())
            .collect()
    }

    #[tokio::test]
    async fn its_end_is_shown_as_it_grows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.output");
        assert_eq!(read(path.clone()).await.unwrap(), TaskOutput::default(), "nothing is written yet");
        let mut file = fs::File::create(&path).unwrap();
        write!(file, "one\n\u{1b}[31mtwo\u{1b}[0m\nth").unwrap();
        let output = read(path.clone()).await.unwrap();
        assert_eq!((texts(&output), output.is_cut), (vec!["one".into(), "two".into(), "th".into()], false));
        writeln!(file, "ree").unwrap();
        assert_eq!(texts(&read(path.clone()).await.unwrap()), ["one", "two", "three"]);
        for nr in 0..20_000 {
            writeln!(file, "line {nr} é").unwrap();
        }
        let output = read(path).await.unwrap();
        assert!(output.is_cut && output.lines.len() < 6_000);
        let texts = texts(&output);
        assert!(texts[0].starts_with("line ") && texts[0].ends_with('é'), "{}", texts[0]);
        assert_eq!(texts.last().map(String::as_str), Some("line 19999 é"));
    }

    /// A file of a gigabyte costs its end only, and what is no file of the user is not read.
    #[cfg(unix)]
    #[tokio::test]
    async fn what_is_no_output_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.output");
        let large = fs::File::create(&path).unwrap();
        large.set_len(1 << 30).unwrap();
        assert!(read(path.clone()).await.unwrap().is_cut);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for refused in [link, folder.path().to_owned(), PathBuf::from("/dev/zero")] {
            let error = read(refused).await.unwrap_err();
            assert_eq!(error.message, "The output of the task could not be read.");
            assert!(error.detail.is_some(), "{error:?}");
        }
    }
}
