//! The command line of `deskbell update`.

use super::{Problem, split};
use std::ffi::OsString;

/// Whether to install a newer version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateOptions {
    /// Only says whether there is one.
    pub check: bool,
    /// Prints JSON.
    pub json: bool,
}

/// Parses the arguments after `update`.
pub fn parse(args: &[OsString]) -> Result<UpdateOptions, Problem> {
    let mut options = UpdateOptions::default();
    for arg in args {
        match split(arg) {
            (name, None) if name == "--check" => options.check = true,
            (name, None) if name == "--json" => options.json = true,
            (name, _) => return Err(Problem::UnknownOption(name)),
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_takes_no_address_and_no_version() {
        let parsed = |args: &[&str]| parse(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(parsed(&[]), Ok(UpdateOptions::default()));
        assert_eq!(parsed(&["--json", "--check"]), Ok(UpdateOptions { check: true, json: true }));
        for wrong in ["--url=https://example.org", "--check=1", "0.2.0", "--force"] {
            assert!(matches!(parsed(&[wrong]), Err(Problem::UnknownOption(_))), "{wrong}");
        }
    }
}
