//! The releases in CHANGELOG.md, as Debian's changelog, as AppStream's releases and as the notes of a release.

use std::fmt::Write as _;

use super::MAINTAINER;
use super::dates::{iso, rfc_2822};

/// A release, or what follows the last one.
#[derive(Debug, PartialEq, Eq)]
pub struct Release {
    /// `None` for what was not released yet.
    pub version: Option<String>,
    /// `2026-11-21`.
    pub date: Option<String>,
    /// The entries, each with its heading: `Added`, `Fixed`.
    pub entries: Vec<(String, String)>,
    /// The section as it stands in the file.
    pub text: String,
}

/// The sections of the changelog, the newest first. A heading is `## Unreleased` or `## [0.1.0] - 2026-11-21`.
pub fn releases(changelog: &str) -> Vec<Release> {
    let mut releases: Vec<Release> = Vec::new();
    let mut heading = String::new();
    for line in changelog.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            let (name, date) =
                title.split_once(" - ").map_or((title, None), |(name, date)| (name, Some(date)));
            let name = name.trim_matches(['[', ']']);
            let version = (name != "Unreleased").then(|| name.to_owned());
            let date = date.map(|date| date.trim().to_owned());
            releases.push(Release { version, date, entries: Vec::new(), text: String::new() });
            continue;
        }
        let Some(release) = releases.last_mut() else { continue };
        release.text.push_str(line);
        release.text.push('\n');
        if let Some(title) = line.strip_prefix("### ") {
            heading = title.to_owned();
        } else if let Some(entry) = line.strip_prefix("- ") {
            release.entries.push((heading.clone(), entry.trim().to_owned()));
        } else if line.starts_with("  ")
            && let Some((_, entry)) = release.entries.last_mut()
        {
            entry.push(' ');
            entry.push_str(line.trim());
        }
    }
    releases
}

/// Debian's changelog of this version, and of the earlier ones: what changed in the package. The changes of the program are
/// in the project's own changelog, which is installed beside it. `seconds` dates what was not released.
pub fn debian(releases: &[Release], version: &str, revision: &str, seconds: u64) -> String {
    let mut text = String::new();
    for release in releases {
        let name = release.version.as_deref().unwrap_or(version);
        let _ = writeln!(text, "deskbell ({name}{revision}) unstable; urgency=medium\n");
        let _ = writeln!(text, "  * New release; changelog.gz lists its changes.");
        let seconds = release.date.as_deref().and_then(noon).unwrap_or(seconds);
        let _ = writeln!(text, "\n -- {MAINTAINER}  {}\n", rfc_2822(seconds));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// AppStream's `<release>` elements, with the first sentence of each entry: a software centre shows a summary. What was not released is a development release of the version that is built.
pub fn appstream(releases: &[Release], version: &str, seconds: u64) -> String {
    let mut text = String::new();
    for release in releases {
        let kind = if release.version.is_some() { "stable" } else { "development" };
        let name = release.version.as_deref().unwrap_or(version);
        let date = release.date.clone().unwrap_or_else(|| iso(seconds));
        let _ = writeln!(
            text,
            "    <release version=\"{name}\" date=\"{date}\" type=\"{kind}\">\n      <description>"
        );
        let mut headings: Vec<&String> = Vec::new();
        for (heading, _) in &release.entries {
            if !headings.contains(&heading) {
                headings.push(heading);
            }
        }
        for heading in headings {
            let _ = writeln!(text, "        <p>{heading}:</p>\n        <ul>");
            for (_, entry) in release.entries.iter().filter(|(of, _)| of == heading) {
                let _ = writeln!(
                    text,
                    "          <li>{}</li>",
                    escaped(first_sentence(&entry.replace(['`', '*'], "")))
                );
            }
            let _ = writeln!(text, "        </ul>");
        }
        let _ = writeln!(text, "      </description>\n    </release>");
    }
    text
}

/// The text to its first full stop or colon before a space, without that; all of it, if there is none.
fn first_sentence(text: &str) -> &str {
    let end = [". ", ": ", "; "].iter().filter_map(|end| text.find(end)).min();
    end.map_or_else(|| text.trim_end_matches('.'), |end| &text[..end])
}

/// Noon of a day, in seconds since 1970.
fn noon(date: &str) -> Option<u64> {
    // Days are few: searching them needs no second calendar.
    (0..100_000).map(|day| day * 86_400 + 43_200).find(|seconds| iso(*seconds) == date)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The text in lines of at most `width` characters, except for words that are longer.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n\nThe format.\n\n## Unreleased\n\n### Added\n\n- One `thing` <that>\n  goes on.\n- Two. It is more.\n\n\
                             ### Fixed\n\n- Three.\n\n## [0.1.0] - 2026-11-21\n\n### Added\n\n- All.\n";

    #[test]
    fn releases_are_read_with_their_entries() {
        let releases = releases(CHANGELOG);
        assert_eq!(releases.len(), 2);
        assert_eq!(releases[0].version, None);
        assert_eq!(releases[0].entries[0], ("Added".into(), "One `thing` <that> goes on.".into()));
        assert_eq!(releases[0].entries[2], ("Fixed".into(), "Three.".into()));
        assert_eq!(
            (releases[1].version.as_deref(), releases[1].date.as_deref()),
            (Some("0.1.0"), Some("2026-11-21"))
        );
        assert!(releases[1].text.contains("- All."));
    }

    #[test]
    fn debian_and_appstream_get_every_release() {
        let releases = releases(CHANGELOG);
        let debian = debian(&releases, "0.2.0", "-1", 1_795_358_293);
        assert!(debian.starts_with(
            "deskbell (0.2.0-1) unstable; urgency=medium\n\n  * New release; changelog.gz lists its changes.\n"
        ));
        assert!(debian.contains("  Sun, 22 Nov 2026 14:38:13 +0000\n"));
        assert!(debian.ends_with("  Sat, 21 Nov 2026 12:00:00 +0000\n"), "{debian}");
        let appstream = appstream(&releases, "0.2.0", 1_795_358_293);
        assert!(appstream.contains("<release version=\"0.2.0\" date=\"2026-11-22\" type=\"development\">"));
        assert!(appstream.contains("<release version=\"0.1.0\" date=\"2026-11-21\" type=\"stable\">"));
        assert!(appstream.contains("<li>One thing &lt;that&gt; goes on</li>"));
        assert!(appstream.contains("<li>Two</li>"), "{appstream}");
    }

    #[test]
    fn a_summary_ends_with_the_first_sentence() {
        for (text, summary) in [
            ("One. Two.", "One"),
            ("One: two. Three.", "One"),
            ("It takes 1.5 MB.", "It takes 1.5 MB"),
            ("`a.b` only", "`a.b` only"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), summary);
        }
    }

    #[test]
    fn the_project_s_own_changelog_has_releases() {
        let text = std::fs::read_to_string(crate::project::root().join("CHANGELOG.md")).unwrap();
        let releases = releases(&text);
        assert!(releases.iter().map(|release| release.entries.len()).sum::<usize>() > 20);
        assert!(releases.iter().all(|release| release.version.is_none() || release.date.is_some()));
    }
}
