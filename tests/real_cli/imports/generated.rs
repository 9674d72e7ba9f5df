//! Files of instructions, each with an import that is made from a seed of its own.

use std::collections::BTreeMap;

use deskbell_tests::chance::Chance;

/// Import `n` has the seed `SEED + n`: the imports are the same in every run.
const SEED: u64 = 37_000;

const N_IMPORTS: usize = 240;

/// The place of the imported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Inside,
    Outside,
    Home,
    /// In the folder, by its whole path.
    Absolute,
    /// A link in the folder, which leads outside.
    Link,
}

/// A file that imports another one. Its number is in both texts, with three digits.
pub struct Import {
    pub number: usize,
    pub source: &'static str,
    pub line: &'static str,
    pub target: Target,
    /// The imported file, below the root of the world.
    pub path: String,
}

impl Import {
    pub fn is_of_user(&self) -> bool {
        self.source.starts_with("user")
    }

    pub fn is_of_folder_above(&self) -> bool {
        self.source.starts_with("above")
    }
}

/// All imports, and the files and links that they consist of: paths below the root of the world, with their texts or their
/// targets. `{ROOT}` is the root's path.
#[derive(Default)]
pub struct Imports {
    pub list: Vec<Import>,
    pub files: BTreeMap<String, String>,
    pub links: BTreeMap<String, String>,
}

pub fn imports() -> Imports {
    let mut all = Imports::default();
    for number in 0..N_IMPORTS {
        add(&mut all, number);
    }
    all
}

fn add(all: &mut Imports, number: usize) {
    use Target::{Absolute, Home, Inside, Link, Outside};
    let mut chance = Chance(SEED + number as u64);
    let n = format!("{number:03}");
    let (source, place) = *chance.pick(SOURCES);
    let target = *chance.pick(&[Inside, Outside, Home, Absolute, Link]);
    // Half of the lines are ordinary.
    let line = if chance.below(2) == 0 { "@{T}" } else { *chance.pick(LINES) };
    let place = place.replace("{N}", &n);
    let up = "../".repeat(place.matches('/').count());
    let (reference, path) = match target {
        Inside => (format!("{up}project/docs/t{n}.md"), format!("project/docs/t{n}.md")),
        Outside => (format!("{up}outside/t{n}.md"), format!("outside/t{n}.md")),
        Home => (format!("~/t{n}.md"), format!("home/t{n}.md")),
        Absolute => (format!("{{ROOT}}/project/docs/t{n}.md"), format!("project/docs/t{n}.md")),
        Link => (format!("{up}project/docs/t{n}.md"), format!("outside/t{n}.md")),
    };
    all.files.insert(path.clone(), format!("TARGET-{n}\n"));
    if target == Link {
        all.links.insert(format!("project/docs/t{n}.md"), format!("../../outside/t{n}.md"));
    }
    let mut text = format!("BODY-{n}\n\n{}\n\n", line.replace("{T}", &reference));
    match source {
        "rule of some files" => text = format!("---\npaths: \"**/*.rs\"\n---\n{text}"),
        "imported" => {
            all.files.insert(format!("project/.claude/rules/n{n}.md"), format!("@../../docs/n{n}.md\n"));
        }
        _ => {}
    }
    let file = match source {
        "linked rule" => {
            all.links.insert(place, format!("../../../outside/r{n}.md"));
            format!("outside/r{n}.md")
        }
        "rule linked inside" => {
            all.links.insert(place, format!("../../docs/r{n}.md"));
            format!("project/docs/r{n}.md")
        }
        _ => place,
    };
    all.files.entry(file).or_default().push_str(&text);
    all.list.push(Import { number, source, line, target, path });
}

const SOURCES: &[(&str, &str)] = &[
    ("rule", "project/.claude/rules/r{N}.md"),
    ("rule in a folder", "project/.claude/rules/a/b/r{N}.md"),
    ("rule of some files", "project/.claude/rules/r{N}.md"),
    ("linked rule", "project/.claude/rules/r{N}.md"),
    ("rule linked inside", "project/.claude/rules/r{N}.md"),
    ("imported", "project/docs/n{N}.md"),
    ("own", "project/CLAUDE.md"),
    ("own in .claude", "project/.claude/CLAUDE.md"),
    ("local", "project/CLAUDE.local.md"),
    ("above", "CLAUDE.md"),
    ("above in .claude", ".claude/CLAUDE.md"),
    ("above local", "CLAUDE.local.md"),
    ("above rule", ".claude/rules/r{N}.md"),
    ("below", "project/below/CLAUDE.md"),
    ("other agents", "project/AGENTS.md"),
    ("user", "config/CLAUDE.md"),
    ("user rule", "config/rules/r{N}.md"),
];

const LINES: &[&str] = &[
    "@./{T}",
    "@{T}.",
    "see @{T} now",
    "x@{T}",
    "(@{T})",
    "`@{T}`",
    "\"@{T}\"",
    "**@{T}**",
    "- @{T}",
    "> @{T}",
    "# @{T}",
    "[a](@{T})",
    "<!-- @{T} -->",
    "```\n@{T}\n```",
    "    @{T}",
    "~~~\n@{T}\n~~~",
    "@{T}#part",
    "@{T},",
    "\\@{T}",
    "@ {T}",
    "@\"{T}\"",
    "@<{T}>",
    "a\n@{T}\nb",
    "@{T} @{T}",
    "| @{T} |\n|---|",
    "<b>@{T}</b>",
    "<div>\n@{T}\n</div>",
    "\t@{T}",
    "@{T}\r",
    "1. @{T}",
    "- [ ] @{T}",
    "[r]: @{T}",
    "![a](@{T})",
    "``@{T}``",
    "&#64;{T}",
    "@{T}\u{200b}",
    "@{T}\\",
    "_@{T}_",
    "~~@{T}~~",
    ":@{T}",
    "@{T}:",
    "\u{a0}@{T}",
    "@@{T}",
];
