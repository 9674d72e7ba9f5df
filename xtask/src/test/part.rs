//! The parts of the test run: their names, their order, and the needs of each.

use crate::Outcome;
use crate::packages::Need;
use crate::project;

/// One kind of check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Install,
    Formatting,
    Habits,
    UiBuild,
    Clippy,
    Rust,
    Ui,
    Looks,
    RealCli,
    Agents,
    RealWindow,
    Cost,
    Package,
}

/// All parts, in the order they run.
pub const PARTS: [Part; 13] = [
    Part::Install,
    Part::Formatting,
    Part::Habits,
    Part::UiBuild,
    Part::Clippy,
    Part::Rust,
    Part::Ui,
    Part::Looks,
    Part::RealCli,
    Part::Agents,
    Part::RealWindow,
    Part::Cost,
    Part::Package,
];

impl Part {
    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Install => "Install",
            Self::Formatting => "Formatting",
            Self::Habits => "Habits",
            Self::UiBuild => "UI build",
            Self::Clippy => "Clippy",
            Self::Rust => "Rust tests",
            Self::Ui => "UI types and tests",
            Self::Looks => "UI looks and reach",
            Self::RealCli => "Real CLI",
            Self::Agents => "Other agents",
            Self::RealWindow => "Real window",
            Self::Cost => "Cost of an event",
            Self::Package => "Package",
        }
    }

    /// Its name on the command line, if it can be selected.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Install | Self::UiBuild => None,
            Self::Formatting => Some("fmt"),
            Self::Habits => Some("habits"),
            Self::Clippy => Some("clippy"),
            Self::Rust => Some("rust"),
            Self::Ui => Some("ui"),
            Self::Looks => Some("looks"),
            Self::RealCli => Some("cli"),
            Self::Agents => Some("agents"),
            Self::RealWindow => Some("window"),
            Self::Cost => Some("cost"),
            Self::Package => Some("package"),
        }
    }

    /// The parts without which it cannot run.
    pub fn needed(self) -> &'static [Part] {
        match self {
            Self::Install => &[],
            Self::Formatting | Self::Habits | Self::UiBuild | Self::Ui | Self::Cost => &[Self::Install],
            Self::Looks => &[Self::Install, Self::UiBuild],
            // The built user interface is compiled into the app.
            Self::Clippy | Self::Rust | Self::RealCli | Self::Agents | Self::RealWindow | Self::Package => {
                &[Self::Install, Self::UiBuild]
            }
        }
    }

    /// Whether the part is long and spends much of its time waiting.
    pub fn leaves_time(self) -> bool {
        matches!(self, Self::Rust | Self::RealCli | Self::RealWindow)
    }

    /// Whether what it builds is made ahead, while other parts wait, so that it runs last. Locally Clippy uses what is
    /// built, and fails early.
    pub fn is_built_ahead(self) -> bool {
        self == Self::Clippy && cfg!(target_os = "linux") && project::is_ci()
    }

    /// The needs of the part on the system.
    pub fn packages(self) -> &'static [Need] {
        match self {
            Self::Install | Self::Formatting | Self::UiBuild => &[],
            Self::Habits => &[Need::Python],
            Self::Clippy => &[Need::Build],
            Self::Rust if project::is_ci() => &[Need::Build, Need::Tests, Need::Ssh],
            Self::RealCli if project::is_ci() => &[Need::Build, Need::Tests, Need::Ssh, Need::Shells],
            Self::Rust | Self::RealCli | Self::Agents => &[Need::Build, Need::Tests],
            Self::Ui => &[Need::Tests],
            Self::Looks => &[Need::Browser],
            Self::RealWindow => &[Need::Build, Need::Tests, Need::Window],
            Self::Cost => &[Need::Build, Need::Count],
            Self::Package => &[Need::Build, Need::Display, Need::Package, Need::Recipe],
        }
    }
}

/// The parts with these names, and those they need, in order. Without names: all but two that would be many minutes of a
/// run that is long already. The other agents are covered by their recordings and by a double; the cost of an event is
/// measured by a workflow on every push, in a release build that nothing else needs.
pub fn chosen(names: &[&str]) -> Outcome<Vec<Part>> {
    if names.is_empty() {
        return Ok(PARTS.into_iter().filter(|part| !matches!(part, Part::Agents | Part::Cost)).collect());
    }
    let known: Vec<&str> = PARTS.iter().filter_map(|part| part.name()).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!("no part is called {name}; they are: {}", known.join(" ")));
    }
    let is_named = |part: &Part| part.name().is_some_and(|name| names.contains(&name));
    let is_needed = |part: &Part| PARTS.iter().any(|other| is_named(other) && other.needed().contains(part));
    Ok(PARTS.into_iter().filter(|part| is_named(part) || is_needed(part)).collect())
}

/// The needs of the parts on the system.
pub fn needs(parts: &[Part]) -> Vec<Need> {
    parts.iter().flat_map(|part| part.packages()).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_name_every_part_runs_but_two() {
        let all = chosen(&[]).unwrap();
        assert_eq!(all.len(), PARTS.len() - 2);
        assert!(!all.contains(&Part::Agents) && !all.contains(&Part::Cost));
        assert_eq!(chosen(&["agents"]), Ok(vec![Part::Install, Part::UiBuild, Part::Agents]));
    }

    #[test]
    fn a_part_brings_what_it_needs_and_nothing_else() {
        assert_eq!(chosen(&["fmt"]), Ok(vec![Part::Install, Part::Formatting]));
        assert_eq!(chosen(&["window"]), Ok(vec![Part::Install, Part::UiBuild, Part::RealWindow]));
        assert_eq!(
            chosen(&["cli", "rust"]),
            Ok(vec![Part::Install, Part::UiBuild, Part::Rust, Part::RealCli])
        );
        assert!(chosen(&["rust", "everything"]).is_err());
    }

    #[test]
    fn a_part_needs_only_parts_that_run_before_it() {
        for (idx, part) in PARTS.iter().enumerate() {
            assert!(part.needed().iter().all(|needed| PARTS[..idx].contains(needed)), "{part:?}");
        }
    }

    #[test]
    fn formatting_installs_no_package() {
        assert_eq!(needs(&[Part::Install, Part::Formatting]), []);
    }
}
