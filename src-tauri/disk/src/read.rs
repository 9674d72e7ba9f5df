//! Reading of regular files, with an error that names what was found instead.

#![allow(clippy::disallowed_methods, reason = "this is where files are opened and folders listed")]

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The kind of file that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Regular,
    Folder,
    Pipe,
    Socket,
    Device,
    Other,
}

impl FileKind {
    pub fn of(metadata: &Metadata) -> Self {
        let kind = metadata.file_type();
        if kind.is_file() {
            return Self::Regular;
        }
        if kind.is_dir() {
            return Self::Folder;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt;
            if kind.is_fifo() {
                return Self::Pipe;
            }
            if kind.is_socket() {
                return Self::Socket;
            }
            if kind.is_char_device() || kind.is_block_device() {
                return Self::Device;
            }
        }
        Self::Other
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Regular => "a file",
            Self::Folder => "a folder",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "something that cannot be read",
        })
    }
}

/// The reason why a file was not read; the text completes a sentence about the file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("it does not exist")]
    Missing,
    #[error("it is a link to {}, which does not exist", target.display())]
    DanglingLink { target: PathBuf },
    #[error("it is {0}, not a file")]
    NotAFile(FileKind),
    #[error("it is too large: {size} bytes, and at most {limit} are read")]
    TooLarge { size: u64, limit: u64 },
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl ReadError {
    /// Nothing exists at the path, not even a link.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Classifies an error from opening or inspecting `path`.
    fn of(path: &Path, error: io::Error) -> Self {
        // `NotADirectory`: a parent of the path is a file, so the path cannot exist.
        if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
            return Self::Io(error);
        }
        match fs::read_link(path) {
            Ok(target) => Self::DanglingLink { target },
            Err(_) => Self::Missing,
        }
    }
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => error,
            ReadError::Missing => Self::new(io::ErrorKind::NotFound, error),
            ReadError::DanglingLink { .. } => Self::new(io::ErrorKind::NotFound, error),
            ReadError::TooLarge { .. } => Self::new(io::ErrorKind::FileTooLarge, error),
            ReadError::NotAFile(FileKind::Folder) => Self::new(io::ErrorKind::IsADirectory, error),
            ReadError::NotAFile(_) => Self::new(io::ErrorKind::InvalidInput, error),
        }
    }
}

/// The kind of file at a path; follows links.
pub fn kind(path: &Path) -> Result<FileKind, ReadError> {
    fs::metadata(path).map(|metadata| FileKind::of(&metadata)).map_err(|error| ReadError::of(path, error))
}

/// The size of the file at a path; follows links and opens nothing.
pub fn size(path: &Path) -> Result<u64, ReadError> {
    fs::metadata(path).map(|metadata| metadata.len()).map_err(|error| ReadError::of(path, error))
}

/// An open regular file.
#[derive(Debug)]
pub struct Regular {
    pub file: File,
    pub size: u64,
}

/// Opens a regular file; follows links. The kind is checked before opening, because opening a pipe or a device may
/// block or have side effects, and again on the open file, because it may have been replaced in between.
pub fn open_regular(path: &Path) -> Result<Regular, ReadError> {
    let kind = kind(path)?;
    if kind != FileKind::Regular {
        return Err(ReadError::NotAFile(kind));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    opened(path, &mut options)
}

/// Opens a regular file for writing without truncating it; creates an empty one that only its owner can read if it is
/// missing.
pub fn create_regular(path: &Path) -> Result<File, ReadError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    created(path, &mut options)
}

/// Opens a regular file for appending; creates one that only its owner can read if it is missing.
pub fn append_regular(path: &Path) -> Result<File, ReadError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    created(path, &mut options)
}

fn created(path: &Path, options: &mut OpenOptions) -> Result<File, ReadError> {
    match fs::metadata(path).map(|metadata| FileKind::of(&metadata)) {
        Ok(FileKind::Regular) => {}
        Ok(kind) => return Err(ReadError::NotAFile(kind)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(ReadError::of(path, error)),
    }
    Ok(opened(path, options)?.file)
}

/// The flag that refuses a link at the last component of a path.
#[cfg(unix)]
const NO_LINK: i32 = libc::O_NOFOLLOW;
#[cfg(not(unix))]
const NO_LINK: i32 = 0;

fn opened(path: &Path, options: &mut OpenOptions) -> Result<Regular, ReadError> {
    opened_with(path, options, 0)
}

#[cfg_attr(not(unix), allow(unused_variables, reason = "there are no such flags"))]
fn opened_with(path: &Path, options: &mut OpenOptions, flags: i32) -> Result<Regular, ReadError> {
    // Without `O_NONBLOCK`, opening a pipe waits for its other end. `O_NOCTTY` keeps a terminal from becoming our
    // controlling terminal. The standard library adds `O_CLOEXEC`. On Windows a pipe or a device has no file metadata,
    // which is an error below.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NONBLOCK | libc::O_NOCTTY | flags);
    let file = options.open(path).map_err(|error| ReadError::of(path, error))?;
    let metadata = file.metadata()?;
    match FileKind::of(&metadata) {
        FileKind::Regular => Ok(Regular { file, size: metadata.len() }),
        kind => Err(ReadError::NotAFile(kind)),
    }
}

/// The content of a regular file of at most `limit` bytes.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let Regular { file, size } = open_regular(path)?;
    if size > limit {
        return Err(ReadError::TooLarge { size, limit });
    }
    // The file may grow while it is read, and files of `/proc` report size 0.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    let size = bytes.len() as u64;
    if size > limit { Err(ReadError::TooLarge { size, limit }) } else { Ok(bytes) }
}

/// The content of a regular file of at most `limit` bytes, as UTF-8 text.
pub fn read_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    String::from_utf8(read_regular(path, limit)?)
        .map_err(|_| ReadError::Io(io::Error::new(io::ErrorKind::InvalidData, "it is not text")))
}

/// The first `limit` bytes of a regular file.
pub fn read_start(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    open_regular(path)?.file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Up to `limit` bytes of a regular file from `offset` on; `None` if the file is shorter than that.
pub fn read_from(path: &Path, offset: u64, limit: u64) -> Result<Option<Vec<u8>>, ReadError> {
    let Regular { mut file, size } = open_regular(path)?;
    if size < offset {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The last `limit` bytes of a regular file.
pub fn read_end(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let Regular { mut file, size } = open_regular(path)?;
    file.seek(SeekFrom::Start(size.saturating_sub(limit)))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The end of a file that another program writes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct End {
    pub bytes: Vec<u8>,
    /// The file has earlier content than `bytes`.
    pub is_cut: bool,
}

/// The last `limit` bytes of a regular file that belongs to the user. For a path from a program that is not trusted: a
/// link at the path itself is refused, and so are a file with a second name (a hard link) and one of another user.
pub fn read_own_end(path: &Path, limit: u64) -> Result<End, ReadError> {
    let refused = |why: &str| ReadError::Io(io::Error::new(io::ErrorKind::PermissionDenied, why));
    let found = fs::symlink_metadata(path).map_err(|error| ReadError::of(path, error))?;
    if found.file_type().is_symlink() {
        return Err(refused("it is a link"));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    let kind = FileKind::of(&found);
    if kind != FileKind::Regular {
        return Err(ReadError::NotAFile(kind));
    }
    // The link may also appear after the check above.
    let Regular { mut file, size } = opened_with(path, &mut options, NO_LINK)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let metadata = file.metadata()?;
        // SAFETY: it reads a number of this process and cannot fail.
        if metadata.uid() != unsafe { libc::geteuid() } {
            return Err(refused("it belongs to another user"));
        }
        if metadata.nlink() > 1 {
            return Err(refused("it has a second name"));
        }
    }
    let from = size.saturating_sub(limit);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(End { bytes, is_cut: from > 0 })
}

/// The beginning and the end of a regular file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends<'a> {
    pub start: &'a [u8],
    /// Empty if `start` is the whole file.
    pub end: &'a [u8],
}

/// Reads the ends of one file after the other into the same memory.
#[derive(Debug)]
pub struct EndsReader {
    limit: usize,
    memory: Vec<u8>,
}

impl EndsReader {
    /// Reads the first and the last `limit` bytes of each file.
    pub fn new(limit: usize) -> Self {
        Self { limit, memory: vec![0; limit.saturating_mul(2)] }
    }

    /// Reads the ends of a file. The caller has looked up its kind: anything but a regular file is not opened. A
    /// file of at most twice the limit is in `start` completely.
    pub fn read(&mut self, path: &Path, kind: FileKind) -> Result<Ends<'_>, ReadError> {
        if kind != FileKind::Regular {
            return Err(ReadError::NotAFile(kind));
        }
        let Regular { mut file, size } = opened(path, OpenOptions::new().read(true))?;
        if size <= self.memory.len() as u64 {
            let n = fill(&mut file, &mut self.memory)?;
            return Ok(Ends { start: &self.memory[..n], end: &[] });
        }
        let (start, end) = self.memory.split_at_mut(self.limit);
        let n_start = fill(&mut file, start)?;
        file.seek(SeekFrom::Start(size - self.limit as u64))?;
        let n_end = fill(&mut file, end)?;
        Ok(Ends { start: &start[..n_start], end: &end[..n_end] })
    }
}

/// Reads until the memory is full or the file ends. Returns the number of bytes.
fn fill(file: &mut File, memory: &mut [u8]) -> io::Result<usize> {
    let mut n = 0;
    while n < memory.len() {
        match file.read(&mut memory[n..]) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n)
}

/// Entries of a folder.
#[derive(Debug, Default)]
pub struct Listing {
    pub paths: Vec<PathBuf>,
    /// There are more entries than the limit.
    pub is_cut: bool,
}

/// The first `limit` entries of a folder, unordered.
pub fn list(folder: &Path, limit: usize) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if listing.paths.len() == limit {
            listing.is_cut = true;
            break;
        }
        listing.paths.push(path);
    }
    Ok(listing)
}

/// The entries of a folder with their kinds, see [`list_kinds`].
#[derive(Debug, Default)]
pub struct KindListing {
    pub entries: Vec<(PathBuf, FileKind)>,
    /// There are more entries than the limit.
    pub is_cut: bool,
}

/// At most `limit` entries of a folder with their kinds, in the order of their names. A link is not followed: its kind is
/// `Other`.
pub fn list_kinds(folder: &Path, limit: usize) -> io::Result<KindListing> {
    let mut listing = KindListing::default();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if listing.entries.len() == limit {
            listing.is_cut = true;
            break;
        }
        let kind = entry.file_type()?;
        let kind = match (kind.is_dir(), kind.is_file()) {
            (true, _) => FileKind::Folder,
            (_, true) => FileKind::Regular,
            _ => FileKind::Other,
        };
        listing.entries.push((entry.path(), kind));
    }
    listing.entries.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(listing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traps::{Trap, all, in_time};

    #[test]
    fn a_regular_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "0123456789").unwrap();
        assert_eq!(read_regular(&path, 10).unwrap(), b"0123456789");
        assert!(matches!(read_regular(&path, 9), Err(ReadError::TooLarge { size: 10, limit: 9 })));
        assert_eq!(
            (read_start(&path, 3).unwrap(), read_end(&path, 3).unwrap()),
            (b"012".into(), b"789".into())
        );
        assert_eq!(read_end(&path, 99).unwrap().len(), 10);
        assert_eq!(size(&path).unwrap(), 10);
        assert!(size(&folder.path().join("b")).unwrap_err().is_missing());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_whose_size_is_not_known_is_read_up_to_its_limit() {
        let path = Path::new("/proc/self/status");
        assert!(read_regular(path, 1 << 20).unwrap().starts_with(b"Name:"));
        assert!(matches!(read_regular(path, 9), Err(ReadError::TooLarge { size: 10, limit: 9 })));
    }

    #[test]
    fn nothing_but_a_regular_file_is_opened_and_what_is_there_is_said() {
        for trap in all() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            trap.put_at(&path);
            let (read, opened, created) = in_time(&format!("{trap:?}"), move || {
                (read_regular(&path, 1 << 20), open_regular(&path).map(drop), create_regular(&path).map(drop))
            });
            let said = read.unwrap_err().to_string();
            let expected = match trap {
                Trap::Pipe => "it is a named pipe, not a file",
                Trap::Socket => "it is a socket, not a file",
                Trap::Device => "it is a device, not a file",
                Trap::Folder => "it is a folder, not a file",
                Trap::DanglingLink => "it is a link to nowhere, which does not exist",
                Trap::Huge => "it is too large: 1073741824 bytes, and at most 1048576 are read",
                Trap::Unreadable => "Permission denied (os error 13)",
            };
            assert_eq!(said, expected);
            assert_eq!(opened.is_ok(), trap == Trap::Huge, "{trap:?}");
            assert_eq!(created.is_ok(), matches!(trap, Trap::Huge | Trap::DanglingLink), "{trap:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_takes_the_place_of_a_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        Trap::Pipe.put_at(&path);
        // Calls `opened` directly, as if the file had been replaced after the first check.
        let opened = in_time("the pipe", move || opened(&path, OpenOptions::new().read(true)));
        assert!(matches!(opened, Err(ReadError::NotAFile(FileKind::Pipe))), "{opened:?}");
    }

    #[test]
    fn a_folder_of_the_path_that_is_a_file_is_absence() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "").unwrap();
        assert!(read_regular(&folder.path().join("a/b"), 1).unwrap_err().is_missing());
        assert!(read_regular(&folder.path().join("c"), 1).unwrap_err().is_missing());
    }

    #[cfg(unix)]
    #[test]
    fn the_end_is_read_only_of_a_file_of_our_own_under_its_only_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "0123456789").unwrap();
        assert_eq!(read_own_end(&at("a"), 3).unwrap(), End { bytes: b"789".into(), is_cut: true });
        assert_eq!(read_own_end(&at("a"), 10).unwrap(), End { bytes: b"0123456789".into(), is_cut: false });
        assert!(read_own_end(&at("none"), 3).unwrap_err().is_missing());
        for target in [Path::new("/etc/passwd"), &at("a"), Path::new("/nowhere")] {
            let link = at("link");
            std::os::unix::fs::symlink(target, &link).unwrap();
            assert_eq!(read_own_end(&link, 3).unwrap_err().to_string(), "it is a link");
            // Also if it was put there after the check.
            assert!(opened_with(&link, OpenOptions::new().read(true), NO_LINK).is_err());
            fs::remove_file(link).unwrap();
        }
        fs::hard_link(at("a"), at("b")).unwrap();
        assert_eq!(read_own_end(&at("b"), 3).unwrap_err().to_string(), "it has a second name");
        for trap in all() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            trap.put_at(&path);
            let end = in_time(&format!("{trap:?}"), move || read_own_end(&path, 1 << 16));
            match end {
                Ok(end) => {
                    assert!(trap == Trap::Huge && end.is_cut && end.bytes.len() == 1 << 16, "{trap:?}")
                }
                Err(_) => assert!(trap != Trap::Huge, "{trap:?}"),
            }
        }
    }

    #[test]
    fn the_ends_of_a_file_are_read_and_a_short_one_is_read_completely() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut reader = EndsReader::new(3);
        // The memory still has the bytes of the file before.
        for (text, start, end) in [
            ("0123456789", "012", "789"),
            ("0123456", "012", "456"),
            ("012345", "012345", ""),
            ("01", "01", ""),
            ("", "", ""),
        ] {
            fs::write(&path, text).unwrap();
            let ends = reader.read(&path, FileKind::Regular).unwrap();
            assert_eq!((ends.start, ends.end), (start.as_bytes(), end.as_bytes()), "{text}");
        }
        for trap in all() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            trap.put_at(&path);
            let read = in_time(&format!("{trap:?}"), move || {
                let mut reader = EndsReader::new(1 << 16);
                let n = |ends: Ends<'_>| ends.start.len() + ends.end.len();
                let as_it_is = kind(&path).and_then(|kind| reader.read(&path, kind).map(n));
                // It was a regular file when it was looked at.
                let replaced = reader.read(&path, FileKind::Regular).map(n);
                [as_it_is, replaced]
            });
            for read in read {
                match read {
                    Ok(n) => assert!(trap == Trap::Huge && n == 2 << 16, "{trap:?}"),
                    Err(_) => assert!(trap != Trap::Huge, "{trap:?}"),
                }
            }
        }
    }

    #[test]
    fn a_listing_ends_at_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..5 {
            fs::write(folder.path().join(n.to_string()), "").unwrap();
        }
        let listing = list(folder.path(), 3).unwrap();
        assert_eq!((listing.paths.len(), listing.is_cut), (3, true));
        let listing = list(folder.path(), 5).unwrap();
        assert_eq!((listing.paths.len(), listing.is_cut), (5, false));
    }
}
