//! Log files: one for each day and kind of process, bounded in size and number, without keys, tokens and names.
//!
//! Several processes of a kind append to the same file. Each line is written at once to a file that is open for
//! appending, so that lines do not mix, and names its process.

use crate::disk::{self, ReadError};
use crate::recorder::redacted_text;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use time::{Date, OffsetDateTime};

/// Size of a file from which on the next one of the day is begun.
const MOST_BYTES: u64 = 2 << 20;

/// Files that are kept of each kind of process.
const MOST_FILES: usize = 10;

/// Length of a line, in bytes. The rest is cut.
const MOST_LINE: usize = 16 << 10;

/// Entries of the folder that are looked at.
const MOST_ENTRIES: usize = 1_000;

/// Bytes that are read at the end of a file for its last lines.
const LAST_BYTES: u64 = 128 << 10;

/// The kinds of processes that write log files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogSource {
    App,
    Relay,
    Server,
}

impl LogSource {
    const ALL: [Self; 3] = [Self::App, Self::Relay, Self::Server];

    fn name(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Relay => "relay",
            Self::Server => "server",
        }
    }
}

/// Name of a log file: its kind, its day in UTC, and its number on that day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    source: LogSource,
    day: Date,
    nr: u32,
}

impl Name {
    fn parse(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_suffix(".log")?;
        let mut parts = name.split('.');
        let (source, day, nr) = (parts.next()?, parts.next()?, parts.next()?);
        let source = LogSource::ALL.into_iter().find(|one| one.name() == source)?;
        let mut numbers = day.split('-');
        let (year, month, date) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let month = time::Month::try_from(month.parse::<u8>().ok()?).ok()?;
        let day = Date::from_calendar_date(year.parse().ok()?, month, date.parse().ok()?).ok()?;
        let parsed = Self { source, day, nr: nr.parse().ok()? };
        (parsed.file() == path.file_name()?.to_str()?).then_some(parsed)
    }

    fn file(self) -> String {
        let Self { source, day, nr } = self;
        format!("{}.{:04}-{:02}-{:02}.{nr}.log", source.name(), day.year(), u8::from(day.month()), day.day())
    }
}

/// The log files of a folder, the oldest of each kind first.
fn listed(folder: &Path) -> io::Result<Vec<Name>> {
    let paths = match disk::list(folder, MOST_ENTRIES) {
        Ok(listing) => listing.paths,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut names: Vec<Name> = paths.iter().filter_map(|path| Name::parse(path)).collect();
    names.sort();
    Ok(names)
}

/// Limits of the files of one kind.
#[derive(Clone, Copy, Debug)]
struct Limits {
    bytes: u64,
    files: usize,
}

struct Open {
    file: File,
    day: Date,
}

/// Writes the log files of a process. Each call of `write` is one line. Writing may block as long as the disk does, so
/// it belongs on a thread of its own, behind a queue that drops lines when it is full.
pub struct LogFiles {
    folder: PathBuf,
    source: LogSource,
    limits: Limits,
    now: fn() -> SystemTime,
    /// Number of lines that the queue has dropped so far.
    dropped: Box<dyn Fn() -> u64 + Send>,
    n_dropped_said: u64,
    /// Lines that could not be written since the last one that was.
    n_failed: u64,
    open: Option<Open>,
}

impl LogFiles {
    /// The folder of log files in the app's data folder.
    pub fn folder(data: &Path) -> PathBuf {
        data.join("log")
    }

    /// Opens nothing before the first line. `dropped` returns how many lines the queue before this has dropped so far.
    pub fn new(folder: PathBuf, source: LogSource, dropped: impl Fn() -> u64 + Send + 'static) -> Self {
        Self {
            folder,
            source,
            limits: Limits { bytes: MOST_BYTES, files: MOST_FILES },
            now: SystemTime::now,
            dropped: Box::new(dropped),
            n_dropped_said: 0,
            n_failed: 0,
            open: None,
        }
    }

    /// The last lines of all log files together, at most `most`, in the order of their times.
    pub fn last_lines(folder: &Path, most: usize) -> io::Result<Vec<String>> {
        let names = listed(folder)?;
        let mut lines = Vec::new();
        for source in LogSource::ALL {
            let (mut left, mut of_source) = (LAST_BYTES, Vec::new());
            for name in names.iter().rev().filter(|name| name.source == source) {
                let bytes = match disk::read_end(&folder.join(name.file()), left) {
                    Ok(bytes) => bytes,
                    // Another process has removed it.
                    Err(error) if error.is_missing() => continue,
                    Err(error) => format!("{}: {error}\n", name.file()).into_bytes(),
                };
                let is_cut = bytes.len() as u64 == left;
                left -= bytes.len() as u64;
                let text = String::from_utf8_lossy(&bytes);
                let whole = text.lines().skip(usize::from(is_cut)).filter(|line| !line.is_empty());
                of_source.splice(0..0, whole.map(|line| redacted_text(line.to_owned())));
                if left == 0 || of_source.len() >= most {
                    break;
                }
            }
            lines.extend(of_source);
        }
        // Each begins with its time, to the microsecond.
        lines.sort_by(|a, b| a.split(' ').next().cmp(&b.split(' ').next()));
        lines.drain(..lines.len().saturating_sub(most));
        Ok(lines)
    }

    fn write_line(&mut self, line: &[u8]) {
        let dropped = (self.dropped)();
        let n_lost = dropped.saturating_sub(self.n_dropped_said) + self.n_failed;
        let mut text = String::new();
        if self.n_failed > 0 {
            // The last attempt may have written a part of its line.
            text.push('\n');
        }
        if n_lost > 0 {
            text +=
                &self.note(&format!("{n_lost} lines of the log are lost: the disk was full, slow or away"));
        }
        text += &prepared(&String::from_utf8_lossy(line));
        match self.append(&text) {
            Ok(()) => (self.n_dropped_said, self.n_failed) = (dropped, 0),
            Err(error) => {
                if self.n_failed == 0 {
                    // Not through the log, which is what fails.
                    eprintln!("deskbell: could not write to the log in {}: {error}", self.folder.display());
                }
                self.n_failed += 1;
                self.open = None;
            }
        }
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        let day = moment((self.now)()).date();
        let mut open = match self.open.take() {
            Some(open) if open.day == day && has_room(&open.file, self.limits.bytes)? => open,
            _ => self.next(day)?,
        };
        open.file.write_all(text.as_bytes())?;
        self.open = Some(open);
        Ok(())
    }

    /// Opens the file that is written now, and removes the oldest ones.
    fn next(&self, day: Date) -> io::Result<Open> {
        disk::own_folder(&self.folder)?;
        let mut names = listed(&self.folder)?;
        names.retain(|name| name.source == self.source);
        let last = names.iter().copied().rfind(|name| name.day == day);
        let mut name = last.unwrap_or(Name { source: self.source, day, nr: 1 });
        let mut file = self.open(name)?;
        if !has_room(&file, self.limits.bytes)? {
            name.nr += 1;
            file = self.open(name)?;
        }
        if !names.contains(&name) {
            names.push(name);
        }
        let n_surplus = names.len().saturating_sub(self.limits.files);
        for old in names.into_iter().filter(|old| *old != name).take(n_surplus) {
            match std::fs::remove_file(self.folder.join(old.file())) {
                Ok(()) => {}
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    let note = self.note(&format!("could not remove {}: {error}", old.file()));
                    file.write_all(note.as_bytes())?;
                }
            }
        }
        Ok(Open { file, day })
    }

    fn open(&self, name: Name) -> io::Result<File> {
        let path = self.folder.join(name.file());
        match disk::append_regular(&path) {
            Err(ReadError::NotAFile(_) | ReadError::DanglingLink { .. }) => {
                disk::set_aside(&path)?;
                Ok(disk::append_regular(&path)?)
            }
            opened => Ok(opened?),
        }
    }

    /// A line of the log's own, in the form of the others.
    fn note(&self, text: &str) -> String {
        let at = moment((self.now)());
        let (time, micros) = (at.time(), at.microsecond());
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        let day = Name { source: self.source, day: at.date(), nr: 1 }.file();
        let day = day.split('.').nth(1).unwrap_or_default();
        prepared(&format!(
            "{day}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z  WARN {}: {text}\n",
            module_path!()
        ))
    }
}

impl Write for LogFiles {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.write_line(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A time as a date. After the year 9999 it is the last day that has one, before the year −9999 the first.
fn moment(time: SystemTime) -> OffsetDateTime {
    let since = |earlier: SystemTime, later: SystemTime| {
        later.duration_since(earlier).ok().and_then(|since| i128::try_from(since.as_nanos()).ok())
    };
    let epoch = SystemTime::UNIX_EPOCH;
    let nanos = since(epoch, time).or_else(|| since(time, epoch).map(|before| -before)).unwrap_or_default();
    let limit = if nanos < 0 { Date::MIN.midnight() } else { Date::MAX.midnight() };
    OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(limit.assume_utc())
}

/// Whether the file takes more: it is still there, and smaller than this.
fn has_room(file: &File, most_bytes: u64) -> io::Result<bool> {
    let metadata = file.metadata()?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&metadata) == 0 {
        return Ok(false);
    }
    Ok(metadata.len() < most_bytes)
}

/// The line as it is written: one line, bounded, with the id of the process after its time, without secrets.
fn prepared(line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line).replace('\r', "\\r").replace('\n', "\\n");
    let (time, rest) = line.split_once(' ').unwrap_or(("", &line));
    let end = rest.floor_char_boundary(MOST_LINE);
    let cut = if end < rest.len() { "…" } else { "" };
    redacted_text(format!("{time} [{}] {}{cut}\n", std::process::id(), &rest[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traps::{all, in_time};
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    /// 2026-11-22, 23:59:59 UTC.
    const EVENING: u64 = 1_795_391_999;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn files(folder: &Path, source: LogSource) -> LogFiles {
        LogFiles { now: || at(EVENING), ..LogFiles::new(folder.to_owned(), source, || 0) }
    }

    fn line(files: &mut LogFiles, text: &str) {
        files.write_all(format!("2026-11-22T23:59:59.000001Z  INFO test: {text}\n").as_bytes()).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        listed(folder).unwrap().into_iter().map(Name::file).collect()
    }

    /// 10000-01-01 UTC.
    const AFTER_ALL_DATES: u64 = 253_402_300_800;

    #[test]
    fn a_clock_beyond_all_dates_is_written_as_the_last_one() {
        let data = tempfile::tempdir().unwrap();
        let folder = LogFiles::folder(data.path());
        let mut app = files(&folder, LogSource::App);
        app.now = || at(AFTER_ALL_DATES - 1);
        line(&mut app, "before");
        app.now = || at(AFTER_ALL_DATES);
        app.dropped = Box::new(|| 1);
        line(&mut app, "after");
        assert_eq!(names(&folder), ["app.9999-12-31.1.log"]);
        assert_eq!(fs::read_to_string(folder.join("app.9999-12-31.1.log")).unwrap().lines().count(), 3);
        assert_eq!(moment(at(EVENING)), OffsetDateTime::from(at(EVENING)));
        let early = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(moment(early), OffsetDateTime::from(early));
    }

    #[test]
    fn a_day_has_a_file_and_only_its_owner_reads_it() {
        let data = tempfile::tempdir().unwrap();
        let folder = LogFiles::folder(data.path());
        let mut app = files(&folder, LogSource::App);
        assert!(!folder.exists(), "nothing is made before the first line");
        line(&mut app, "one");
        line(&mut app, "two\nlines");
        app.now = || at(EVENING + 1);
        line(&mut app, "three");
        assert_eq!(names(&folder), ["app.2026-11-22.1.log", "app.2026-11-23.1.log"]);
        let written = fs::read_to_string(folder.join("app.2026-11-22.1.log")).unwrap();
        let start = format!("2026-11-22T23:59:59.000001Z [{}]  INFO test: ", std::process::id());
        assert_eq!(written, format!("{start}one\n{start}two\\nlines\n"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&folder), mode(&folder.join("app.2026-11-22.1.log"))), (0o700, 0o600));
        }
    }

    #[test]
    fn files_are_bounded_in_size_and_number_and_other_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes.log"), "mine").unwrap();
        line(&mut files(folder.path(), LogSource::Relay), "of another kind");
        let mut app =
            LogFiles { limits: Limits { bytes: 1_000, files: 3 }, ..files(folder.path(), LogSource::App) };
        for _ in 0..30 {
            line(&mut app, &"x".repeat(200));
        }
        let app_files: Vec<String> =
            names(folder.path()).into_iter().filter(|name| name.starts_with("app")).collect();
        let numbers: Vec<u32> =
            app_files.iter().map(|name| name.split('.').nth(2).unwrap().parse().unwrap()).collect();
        let last = *numbers.last().unwrap();
        assert!(last > 5, "{app_files:?}");
        assert_eq!(numbers, [last - 2, last - 1, last]);
        for name in app_files {
            assert!(fs::metadata(folder.path().join(name)).unwrap().len() < 1_400);
        }
        assert!(
            folder.path().join("notes.log").exists() && folder.path().join("relay.2026-11-22.1.log").exists()
        );
    }

    #[test]
    fn processes_of_a_kind_share_a_file_and_a_removed_one_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let [mut one, mut other] = [(); 2].map(|()| files(folder.path(), LogSource::Relay));
        for n in 0..50 {
            line(&mut one, &format!("one {n}"));
            line(&mut other, &format!("other {n}"));
        }
        let path = folder.path().join("relay.2026-11-22.1.log");
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 100);
        #[cfg(unix)]
        {
            fs::remove_file(&path).unwrap();
            line(&mut one, "again");
            assert!(fs::read_to_string(&path).unwrap().ends_with("again\n"));
        }
    }

    #[test]
    fn lost_lines_are_counted_and_said() {
        let data = tempfile::tempdir().unwrap();
        let in_the_way = data.path().join("disk");
        fs::write(&in_the_way, "").unwrap();
        let folder = in_the_way.join("log");
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = dropped.clone();
        let dropped_now = move || counted.load(Ordering::Relaxed);
        let mut app =
            LogFiles { now: || at(EVENING), ..LogFiles::new(folder.clone(), LogSource::App, dropped_now) };
        line(&mut app, "lost");
        line(&mut app, "lost too");
        fs::remove_file(&in_the_way).unwrap();
        dropped.store(5, Ordering::Relaxed);
        line(&mut app, "kept");
        line(&mut app, "kept too");
        let lines = LogFiles::last_lines(&folder, 10).unwrap();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(
            lines.iter().any(|line| line.contains("WARN") && line.contains("7 lines of the log are lost")),
            "{lines:?}"
        );
        assert!(!lines.iter().any(|line| line.ends_with("lost too")));
    }

    #[test]
    fn whatever_is_in_place_of_a_file_is_set_aside() {
        for trap in all() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("app.2026-11-22.1.log");
            trap.put_at(&path);
            let here = folder.path().to_owned();
            in_time(&format!("{trap:?}"), move || line(&mut files(&here, LogSource::App), "written"));
            let lines = LogFiles::last_lines(folder.path(), 10).unwrap();
            let is_written = lines.iter().any(|line| line.ends_with("written"));
            // What cannot be opened stays; the line is counted as lost.
            assert!(is_written || format!("{trap:?}") == "Unreadable", "{trap:?}: {lines:?}");
        }
    }

    #[test]
    fn a_line_is_bounded_and_has_no_secret() {
        let long = prepared(&format!("2026 INFO {}", "ü".repeat(MOST_LINE)));
        assert!(long.len() < MOST_LINE + 100 && long.ends_with("…\n"));
        let secret = prepared("2026 WARN x: API_KEY=abcdef123456 in /home/ines/p\n");
        assert!(!secret.contains("abcdef") && !secret.contains("ines"), "{secret}");
    }

    #[test]
    fn the_last_lines_are_in_the_order_of_their_times() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(LogFiles::last_lines(folder.path(), 3).unwrap(), [""; 0]);
        let [mut app, mut relay] =
            [LogSource::App, LogSource::Relay].map(|source| files(folder.path(), source));
        for n in 0..4 {
            let files = if n % 2 == 0 { &mut app } else { &mut relay };
            files.write_all(format!("2026-11-22T23:59:0{n}.000001Z  INFO line {n}\n").as_bytes()).unwrap();
        }
        let lines = LogFiles::last_lines(folder.path(), 3).unwrap();
        let ends: Vec<&str> = lines.iter().map(|line| &line[line.len() - 1..]).collect();
        assert_eq!(ends, ["1", "2", "3"]);
    }
}
