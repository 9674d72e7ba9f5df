//! The command line of `deskbell edit`.

use super::{Problem, split};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A file to open in the user's editor.
#[derive(Debug, PartialEq, Eq)]
pub struct EditOptions {
    /// The absolute path.
    pub file: PathBuf,
    /// Counted from 1.
    pub line: Option<u32>,
}

/// Parses the arguments after `edit`. After `--` comes a file, whatever its name.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<EditOptions, Problem> {
    let (mut file, mut line, mut only_files) = (None, None, false);
    for arg in args {
        let (name, value) = split(arg);
        match name.as_str() {
            "--" if !only_files && value.is_none() => only_files = true,
            "--line" if !only_files => {
                let number = value.and_then(|value| value.to_str()?.parse().ok()).filter(|&line| line > 0);
                line = Some(number.ok_or(Problem::BadLine)?);
            }
            _ if !only_files && name.starts_with('-') => {
                return Err(Problem::UnknownOption(arg.to_string_lossy().into_owned()));
            }
            _ if file.is_some() => return Err(Problem::SecondFile(arg.into())),
            _ => file = Some(arg).filter(|arg| !arg.is_empty()),
        }
    }
    Ok(EditOptions { file: cwd.join(file.ok_or(Problem::NoFile)?), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<EditOptions, Problem> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), Path::new("/p"))
    }

    #[test]
    fn one_file_is_opened_at_a_line() {
        let of = |file: &str, line| Ok(EditOptions { file: file.into(), line });
        assert_eq!(parsed(&["a=b"]), of("/p/a=b", None));
        assert_eq!(parsed(&["--line=7", "/a b"]), of("/a b", Some(7)));
        assert_eq!(parsed(&["--line=7", "--", "--line=8"]), of("/p/--line=8", Some(7)));
        assert_eq!(parsed(&["--", "--"]), of("/p/--", None));
        for line in ["--line", "--line=", "--line=0", "--line=-1", "--line=x", "--line=4294967296"] {
            assert_eq!(parsed(&["a", line]), Err(Problem::BadLine), "{line}");
        }
        for args in [&[][..], &["--line=1"], &[""], &["--"]] {
            assert_eq!(parsed(args), Err(Problem::NoFile), "{args:?}");
        }
        assert_eq!(parsed(&["a", "b"]), Err(Problem::SecondFile("b".into())));
        assert_eq!(parsed(&["-x"]), Err(Problem::UnknownOption("-x".into())));
    }
}
