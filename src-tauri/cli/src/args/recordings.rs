//! The command line of `deskbell recordings`.

use super::{Problem, split};
use crate::recordings::RecordingsMode;
use std::ffi::OsString;

pub fn parse(args: &[OsString]) -> Result<RecordingsMode, Problem> {
    let mut options = args.iter().map(|arg| split(arg));
    let mode = match options.next() {
        None => RecordingsMode::List,
        Some((name, None)) if name == "--clear" => RecordingsMode::Clear,
        Some((name, value)) if name == "--remove" => {
            let named = value.filter(|value| !value.is_empty()).ok_or(Problem::NoValue(name))?;
            RecordingsMode::Remove(named.to_string_lossy().into_owned())
        }
        Some((name, _)) => return Err(Problem::UnknownOption(name)),
    };
    match options.next() {
        None => Ok(mode),
        Some((name, _)) => Err(Problem::UnknownOption(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_removed_only_by_its_name() {
        let parsed = |args: &[&str]| parse(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(parsed(&[]), Ok(RecordingsMode::List));
        assert_eq!(parsed(&["--clear"]), Ok(RecordingsMode::Clear));
        assert_eq!(parsed(&["--remove=a"]), Ok(RecordingsMode::Remove("a".to_owned())));
        for wrong in [&["--remove"][..], &["--remove="], &["--clear=1"], &["a"], &["--clear", "--remove=a"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
