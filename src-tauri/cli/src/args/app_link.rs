//! `deskbell://` links: `deskbell://open?folder=/abs/path` opens a project, and `&session=ID` a session in it.
//!
//! Any page and any program can open one, so it can do nothing else: it sends no prompt, allows and trusts nothing, and
//! passes no arguments. A folder that is new to Deskbell leads to the trust page, like any other.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf, Prefix};

/// Maximum length of a link, in bytes.
const MOST: usize = 4096;

/// The only beginning of a link that opens something.
const OPEN: &str = "deskbell://open?";

/// A link that was read. The folder may be missing, or be none.
#[derive(Debug, PartialEq, Eq)]
pub struct AppLink {
    /// An absolute path in its shortest form.
    pub folder: PathBuf,
    /// Deskbell's id of a session.
    pub session: Option<String>,
}

/// Why a link opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLink {
    #[error("it is longer than {MOST} bytes")]
    TooLong,
    #[error("it does not begin with {OPEN}")]
    NotOpen,
    #[error("it has a character that a link writes as % and two digits")]
    BadCharacter,
    #[error("a % in it is not followed by two digits, or the result is not text")]
    BadEncoding,
    #[error("it has another part than folder and session, or one of them twice")]
    BadPart,
    #[error("it names no folder")]
    NoFolder,
    #[error("its folder is not an absolute path in its shortest form on this computer")]
    BadFolder,
    #[error("its folder has a character that is not shown, or that changes the order of others")]
    HiddenCharacter,
    #[error("its session is not an id of Deskbell")]
    BadSession,
}

/// Whether an argument is a link, possibly a bad one. A folder with such a name is opened as `./deskbell:…`.
pub fn is_link(arg: &OsStr) -> bool {
    let bytes = arg.as_encoded_bytes();
    let scheme = &OPEN.as_bytes()[..OPEN.find(':').map_or(0, |colon| colon + 1)];
    bytes.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

impl AppLink {
    /// Reads a link. There is one way to write each, and any other is refused.
    pub fn parse(link: &OsStr) -> Result<Self, BadLink> {
        if link.len() > MOST {
            return Err(BadLink::TooLong);
        }
        let link = link.to_str().ok_or(BadLink::BadCharacter)?;
        let parts = link.strip_prefix(OPEN).ok_or(BadLink::NotOpen)?;
        if !parts.bytes().all(is_written_plainly) {
            return Err(BadLink::BadCharacter);
        }
        let (mut folder, mut session) = (None, None);
        for part in parts.split('&') {
            let place = match part.split_once('=') {
                Some(("folder", _)) => &mut folder,
                Some(("session", _)) => &mut session,
                _ => return Err(BadLink::BadPart),
            };
            let value = part.split_once('=').map(|(_, value)| value).unwrap_or_default();
            if value.contains('=') || place.replace(decoded(value)?).is_some() {
                return Err(BadLink::BadPart);
            }
        }
        let folder = folder.filter(|folder| !folder.is_empty()).ok_or(BadLink::NoFolder)?;
        Ok(Self { folder: checked_folder(folder)?, session: session.map(checked_session).transpose()? })
    }
}

/// Whether a link may have this byte: letters, digits, and the marks of its own syntax. A `#` would begin a fragment,
/// and a `+` is a space for some programs.
fn is_written_plainly(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!*'()/:@,;$%&=".contains(&byte)
}

fn decoded(value: &str) -> Result<String, BadLink> {
    let bytes = decoded_bytes(value.as_bytes()).ok_or(BadLink::BadEncoding)?;
    String::from_utf8(bytes).map_err(|_| BadLink::BadEncoding)
}

/// Decodes `%41` and the like, once.
fn decoded_bytes(value: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.iter();
    while let Some(&byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(*rest.next()?).to_digit(16);
        bytes.push((digit()? * 16 + digit()?) as u8);
    }
    Some(bytes)
}

/// The path of a `file:///` address of this computer, whose name may be any. `None` for another text.
#[cfg(unix)]
pub fn file_of(address: &OsStr) -> Option<PathBuf> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let path = address.as_bytes().strip_prefix(b"file://")?;
    let decoded = decoded_bytes(path).filter(|_| path.starts_with(b"/"))?;
    Some(std::ffi::OsString::from_vec(decoded).into())
}

/// No desktop of another system passes one.
#[cfg(not(unix))]
pub fn file_of(_address: &OsStr) -> Option<PathBuf> {
    None
}

fn checked_folder(folder: String) -> Result<PathBuf, BadLink> {
    if folder.chars().any(is_hidden) {
        return Err(BadLink::HiddenCharacter);
    }
    let path = Path::new(&folder);
    // What is left out or written in another way here is `.`, a slash too many, or a share of another computer.
    let is_here = |part: Component<'_>| match part {
        Component::Prefix(prefix) => matches!(prefix.kind(), Prefix::Disk(_)),
        Component::RootDir | Component::Normal(_) => true,
        Component::CurDir | Component::ParentDir => false,
    };
    let shortest: PathBuf = path.components().collect();
    let is_shortest = shortest.as_os_str() == path.as_os_str();
    if !path.is_absolute() || !is_shortest || !path.components().all(is_here) {
        return Err(BadLink::BadFolder);
    }
    Ok(shortest)
}

/// Control characters, and the marks that change the direction of text.
fn is_hidden(char: char) -> bool {
    let is_direction = matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_invisible = matches!(char, '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}');
    char.is_control() || is_direction || is_invisible
}

/// Ids are UUIDs, or those of an agent in the same characters. The id is only compared with those of known sessions.
fn checked_session(id: String) -> Result<String, BadLink> {
    let is_id = (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if is_id { Ok(id) } else { Err(BadLink::BadSession) }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::BadLink::*;
    use super::*;
    use crate::args::{Args, Mode, Problem, parse};
    use std::ffi::OsString;

    const ID: &str = "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab";

    fn read(link: &str) -> Result<AppLink, BadLink> {
        AppLink::parse(OsStr::new(link))
    }

    /// What follows `deskbell://open?folder=` and why it is refused.
    const BAD_FOLDERS: &[(&str, BadLink)] = &[
        ("", NoFolder),
        ("a", BadFolder),
        ("a/b", BadFolder),
        (".", BadFolder),
        ("..", BadFolder),
        ("~", BadFolder),
        ("~/a", BadFolder),
        ("./a", BadFolder),
        ("/a/..", BadFolder),
        ("/a/../b", BadFolder),
        ("/..", BadFolder),
        ("/a/%2e%2e/b", BadFolder),
        ("/a%2F..%2Fb", BadFolder),
        ("%2e%2e/a", BadFolder),
        ("/a/./b", BadFolder),
        ("/a/", BadFolder),
        ("/a//b", BadFolder),
        ("//server/share", BadFolder),
        ("%2f%2fserver/share", BadFolder),
        ("%5C%5Cserver%5Cshare", BadFolder),
        ("%5C%5C%3F%5CC%3A%5C", BadFolder),
        ("file:///a", BadFolder),
        ("https://a/b", BadFolder),
        ("-rf", BadFolder),
        ("--prompt%3Dx", BadFolder),
        ("C:/a", BadFolder),
        ("\\\\server\\share", BadCharacter),
        ("/a b", BadCharacter),
        ("/a+b", BadCharacter),
        ("/a#b", BadCharacter),
        ("/a?b", BadCharacter),
        ("/a\"b", BadCharacter),
        ("/a\" --prompt=\"x", BadCharacter),
        ("/a`b`", BadCharacter),
        ("/a{b}", BadCharacter),
        ("/a|b", BadCharacter),
        ("/a<b>", BadCharacter),
        ("/a\nb", BadCharacter),
        ("/a\0b", BadCharacter),
        ("/a\u{202e}b", BadCharacter),
        ("/ä", BadCharacter),
        ("/a%00", HiddenCharacter),
        ("/a%0a", HiddenCharacter),
        ("/a%0D%0Ab", HiddenCharacter),
        ("/a%1b[31m", BadCharacter),
        ("/a%1b", HiddenCharacter),
        ("/a%7f", HiddenCharacter),
        ("/a%C2%85", HiddenCharacter),
        ("/a%E2%80%AEb", HiddenCharacter),
        ("/a%E2%81%A6b", HiddenCharacter),
        ("/a%E2%80%8Bb", HiddenCharacter),
        ("/a%EF%BB%BF", HiddenCharacter),
        ("/a%", BadEncoding),
        ("/a%4", BadEncoding),
        ("/a%4g", BadEncoding),
        ("/a%+1", BadCharacter),
        ("/a%u0041", BadEncoding),
        ("/%c0%ae%c0%ae/b", BadEncoding),
        ("/a%ff", BadEncoding),
        ("/a%ed%a0%80", BadEncoding),
        ("/a=b", BadPart),
        ("/a&", BadPart),
        ("/a&&session=", BadPart),
        ("/a&folder=/b", BadPart),
        ("/a&prompt=x", BadPart),
        ("/a&allow", BadPart),
        ("/a&trust=true", BadPart),
        ("/a&agent=/bin/sh", BadPart),
        ("/a&mode=bypassPermissions", BadPart),
        ("/a&demo", BadPart),
        ("/a&Session=x", BadPart),
        ("/a&session%3Dx", BadPart),
        ("/a&session=", BadSession),
        ("/a&session=a%20b", BadSession),
        ("/a&session=../../x", BadSession),
        ("/a&session=--prompt%3Dx", BadSession),
        ("/a&session=%C3%A4", BadSession),
        ("/a&session=a%00", BadSession),
        ("/a&session=%7B0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab%7D", BadSession),
    ];

    /// Whole links that are refused.
    const BAD_LINKS: &[&str] = &[
        "deskbell:",
        "deskbell:/a",
        "deskbell://",
        "deskbell:///a",
        "deskbell://open",
        "deskbell://open/",
        "deskbell://open/?folder=/a",
        "deskbell:open?folder=/a",
        "DESKBELL://open?folder=/a",
        "deskbell://OPEN?folder=/a",
        "deskbell://open:80?folder=/a",
        "deskbell://me@open?folder=/a",
        "deskbell://me:pw@open?folder=/a",
        "deskbell://open.evil.example?folder=/a",
        "deskbell://evil.example/open?folder=/a",
        "deskbell://run?folder=/a",
        "deskbell://prompt?folder=/a",
        "deskbell://open/../run?folder=/a",
        "deskbell://open%3Ffolder=/a",
        "deskbell://open#?folder=/a",
        " deskbell://open?folder=/a",
        "deskbell://open?",
        "deskbell://open?session=0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab",
    ];

    #[test]
    fn each_hostile_link_is_refused_with_its_reason() {
        for (folder, reason) in BAD_FOLDERS {
            assert_eq!(read(&format!("{OPEN}folder={folder}")), Err(*reason), "{folder:?}");
        }
        for link in BAD_LINKS {
            let refused = read(link);
            assert!(matches!(refused, Err(NotOpen | NoFolder | BadPart)), "{link:?}: {refused:?}");
        }
        let long = format!("{OPEN}folder=/{}", "a".repeat(MOST));
        assert_eq!(read(&long), Err(TooLong));
        let not_text = std::os::unix::ffi::OsStrExt::from_bytes(b"deskbell://open?folder=/\xff");
        assert_eq!(AppLink::parse(not_text), Err(BadCharacter));
    }

    #[test]
    fn a_link_names_exactly_one_folder_and_at_most_one_session() {
        for (folder, expected) in [
            ("/", "/"),
            ("/a/b", "/a/b"),
            ("%2Fa%2Fb", "/a/b"),
            ("/a%20b%2Bc%3D%26%23", "/a b+c=&#"),
            ("/%252e%252e", "/%2e%2e"),
            ("/-rf%20*", "/-rf *"),
            ("/%C3%A4%F0%9F%90%9E", "/ä🐞"),
            ("/$(touch%20x)%3B%60y%60", "/$(touch x);`y`"),
        ] {
            let link = AppLink { folder: expected.into(), session: None };
            assert_eq!(read(&format!("{OPEN}folder={folder}")), Ok(link), "{folder}");
            let link = AppLink { folder: expected.into(), session: Some(ID.to_owned()) };
            assert_eq!(read(&format!("{OPEN}folder={folder}&session={ID}")), Ok(link));
        }
        let turned = read(&format!("{OPEN}session={ID}&folder=/a"));
        assert_eq!(turned, Ok(AppLink { folder: "/a".into(), session: Some(ID.to_owned()) }));
    }

    fn start(args: &[&str]) -> Result<Mode, Problem> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        parse(&args, Path::new("/"))
    }

    #[test]
    fn a_link_stands_alone_and_leads_to_a_folder_that_is_there() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let of = |name: &str| format!("{OPEN}folder={}", root.join(name).display());
        let opened = Args { folder: Some(root.clone()), launcher: true, ..Args::default() };
        let link = of("").trim_end_matches('/').to_owned();
        assert_eq!(start(&[&link]).unwrap(), Mode::Window(opened.clone()));
        assert_eq!(start(&["--open", &link]).unwrap(), Mode::Window(opened));
        for others in [
            &[&link, "--demo"][..],
            &["--prompt=x", &link],
            &["--demo", &link],
            &[&link, &link],
            &["/", &link],
        ] {
            assert!(matches!(start(others), Err(Problem::LinkWithOthers)), "{others:?}");
            let launched = start(&[&["--open"], others].concat());
            assert!(matches!(launched, Err(Problem::LinkWithOthers)), "{others:?}");
        }
        std::fs::write(root.join("file"), "").unwrap();
        std::fs::create_dir(root.join("folder")).unwrap();
        std::os::unix::fs::symlink(root.join("folder"), root.join("link")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
        assert!(made.success());
        for name in ["file", "pipe", "missing", "file/below"] {
            assert!(matches!(start(&[&of(name)]), Err(Problem::Folder(_))), "{name}");
        }
        let Ok(Mode::Window(args)) = start(&[&of("link")]) else { panic!("a link to a folder is opened") };
        assert_eq!(args.folder, Some(root.join("folder")));
    }

    /// No text in a link becomes an option, a prompt or an action.
    #[test]
    fn a_link_made_of_any_pieces_opens_a_folder_or_nothing() {
        let pieces = [
            "deskbell:",
            "//",
            "open",
            "run",
            "?",
            "&",
            "=",
            "folder",
            "session",
            "prompt",
            "folder=/",
            "folder=/tmp",
            "folder=%2Ftmp",
            "&session=",
            ID,
            "/",
            "..",
            ".",
            "%",
            "%2e",
            "%2F",
            "%00",
            "#",
            "@",
            ":",
            "+",
            " ",
            "\"",
            "--prompt=x",
            "--demo",
            "--open",
            "relay",
            "\u{202e}",
            "ä",
            "\n",
            "tmp",
            "deskbell://open?folder=/tmp",
        ];
        let mut seed = uuid::Uuid::new_v4().as_u128() as u64 | 1;
        println!("seed {seed}");
        let mut below = |most: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % most as u64) as usize
        };
        let mut n_opened = 0;
        for _ in 0..50_000 {
            let start_of = if below(2) == 0 { OPEN } else { "deskbell:" };
            let n_pieces = below(8);
            let link = (0..n_pieces).fold(start_of.to_owned(), |link, _| link + pieces[below(pieces.len())]);
            match start(&["--open", &link]) {
                Ok(Mode::Window(args)) => {
                    n_opened += 1;
                    let Args { folder, session, demo, prompt, launcher, hidden } = args;
                    assert!(folder.is_some_and(|folder| folder.is_absolute()), "{link:?}");
                    let is_id = |id: &str| {
                        id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
                    };
                    assert!(session.is_none_or(|session| is_id(&session)), "{link:?}");
                    assert_eq!((demo, prompt, launcher, hidden), (false, None, true, false), "{link:?}");
                }
                Ok(other) => panic!("{link:?} is {other:?}"),
                Err(Problem::Link(_) | Problem::Folder(_)) => {}
                Err(other) => panic!("{link:?}: {other}"),
            }
        }
        assert!(n_opened > 50, "only {n_opened} links opened a folder");
    }
}
