//! Documents name files, tests and commands that exist.

use crate::command_line::command;
use deskbell_engine::acp::agents::{AGENTS, AcpAgent, AskingHabit, Proof, Restriction};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Markdown documents of the project: at the top, and below `docs`.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/design", "docs/guide"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
        let paths = entries.map(|entry| entry.expect("the folder can be read").path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a document is text")
}

/// The targets of links and pictures, without anchors and without addresses.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
        (!target.is_empty() && !target.contains("://") && !target.starts_with("mailto:")).then_some(target)
    })
}

#[test]
fn links_lead_to_files() {
    let documents = documents();
    assert!(documents.len() >= 10, "{documents:?}");
    let mut broken = Vec::new();
    for document in &documents {
        let folder = document.parent().expect("a document is in a folder");
        for target in targets(&read(document)).map(|target| folder.join(target)) {
            if !target.exists() {
                broken.push(format!("{}: {}", document.display(), target.display()));
            }
        }
    }
    assert_eq!(broken, [""; 0]);
}

#[test]
fn the_glossary_names_places_that_exist() {
    let glossary = read(&root().join("docs/words.md"));
    let rows = glossary.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |"));
    let places: Vec<String> = rows
        .filter_map(|row| row.rsplit('`').nth(1))
        .map(|place| place.replace("…/", "src-tauri/engine/src/"))
        .collect();
    assert!(places.len() >= 40, "{} places", places.len());
    let missing: Vec<&String> = places.iter().filter(|place| !root().join(place).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn only_links_to_files_are_targets() {
    let text = "[a](docs/a.md#part) ![b](b.png) [c](https://example.org/x) [d](#here)";
    assert_eq!(targets(text).collect::<Vec<_>>(), ["docs/a.md", "b.png"]);
}

#[test]
fn the_security_page_names_tests_that_exist() {
    let page = read(&root().join("SECURITY.md"));
    let rows: Vec<(&str, &str)> = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.ends_with("` |"))
        .filter_map(|line| line.rsplit_once(" | `")?.1.strip_suffix("` |")?.split_once("`: `"))
        .collect();
    assert!(rows.len() >= 15, "{rows:?}");
    for (file, test) in rows {
        let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        assert!(text.contains(&format!("fn {test}(")), "{file} has no test {test}");
    }
}

/// The code in a document: indented and fenced lines, and code within a line.
fn code(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced || line.starts_with("    ") {
            // A comment is prose.
            found.push(line.split("  #").next().unwrap_or_default().trim().to_owned());
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// The commands of a program in a piece of code, each as the words after its name.
fn commands<'a>(code: &'a str, program: &str) -> Vec<Vec<&'a str>> {
    let pieces = code.split(['|', ';', '(', ')', '&']);
    let all_words = pieces.map(|piece| piece.split_whitespace().collect::<Vec<_>>());
    all_words
        .filter_map(|words| {
            let at = words
                .iter()
                .position(|word| *word == program || word.ends_with(&format!("debug/{program}")))?;
            // Before it there may be variables: `NAME=value deskbell`.
            let is_command =
                words[..at].iter().all(|word| word.contains('=') || ["$", "sudo", "then"].contains(word));
            is_command.then(|| words[at + 1..].to_vec())
        })
        .collect()
}

/// The names of the options among words: `--agent` of `[--agent=PATH`.
fn option_names<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let options = words.iter().map(|word| word.trim_start_matches('[')).filter(|word| word.starts_with("--"));
    options.map(|word| word.split(['=', '[', ']', '…', '.', ',']).next().unwrap_or_default()).collect()
}

/// Why this is no command of the app; `None` if it is one.
fn wrong_deskbell(words: &[&str]) -> Option<String> {
    // After a machine comes a command of its own; an ellipsis stands for any.
    if let ["on", machine, command @ ..] = words
        && !machine.starts_with('-')
    {
        return if command == ["COMMAND…"] { None } else { wrong_deskbell(command) };
    }
    let mut command = &command();
    let mut path = vec!["deskbell"];
    let is_name = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
    for word in words.iter().take_while(|word| is_name(word)) {
        match command.find_subcommand(word) {
            Some(sub) => command = sub,
            None if command.get_positionals().next().is_none() || path.len() == 1 => {
                return Some(format!("{} has no command {word}", path.join(" ")));
            }
            None => break,
        }
        path.push(word);
    }
    let has = |name: &str| command.get_arguments().any(|arg| arg.get_long() == Some(name));
    let unknown = option_names(words).into_iter().find(|name| !has(name.trim_start_matches("--")));
    unknown.map(|name| format!("{} has no option {name}", path.join(" ")))
}

/// Why this is no command of cargo in this workspace.
fn wrong_cargo(words: &[&str]) -> Option<String> {
    let usage = read(&root().join("xtask/src/main.rs"));
    let usage = usage
        .split_once("const USAGE: &str = ")
        .expect("xtask has a usage")
        .1
        .split_once("\";")
        .expect("it ends")
        .0;
    if let [xtask, command, rest @ ..] = words
        && *xtask == "xtask"
    {
        if !usage.contains(&format!("\n  {command} ")) {
            return Some(format!("cargo xtask has no command {command}"));
        }
        let parts = usage
            .split_once("named parts: ")
            .map_or("", |(_, parts)| parts.lines().next().unwrap_or_default());
        let is_part = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase());
        let unknown = (*command == "test")
            .then(|| rest.iter().filter(is_part).find(|part| !parts.split(' ').any(|known| known == **part)));
        if let Some(part) = unknown.flatten() {
            return Some(format!("cargo xtask test has no part {part}"));
        }
        return option_names(rest)
            .into_iter()
            .find(|name| !usage.contains(name))
            .map(|name| format!("cargo xtask has no option {name}"));
    }
    let after = |names: [&str; 2]| words.windows(2).find(|pair| names.contains(&pair[0])).map(|pair| pair[1]);
    let lock = read(&root().join("Cargo.lock"));
    if let Some(package) = after(["-p", "--package"])
        && !lock.contains(&format!("name = \"{package}\"\n"))
    {
        return Some(format!("there is no package {package}"));
    }
    let manifest = read(&root().join("tests/Cargo.toml"));
    let test = after(["--test", "--test"]).filter(|test| !manifest.contains(&format!("name = \"{test}\"")));
    let example = after(["--example", "--example"]).filter(|example| {
        !EXAMPLES.iter().any(|folder| root().join(format!("{folder}/{example}.rs")).exists())
    });
    test.or(example).map(|name| format!("there is no {name}"))
}

/// The folders of the crates' examples.
const EXAMPLES: [&str; 2] = ["src-tauri/engine/examples", "src-tauri/document/examples"];

/// Why this is no script of the page's packages.
fn wrong_npm(words: &[&str]) -> Option<String> {
    let scripts = read(&root().join("ui/package.json"));
    let script = match words {
        ["run", script, ..] => script,
        ["test", ..] => &"test",
        _ => return None,
    };
    (!scripts.contains(&format!("\"{script}\": "))).then(|| format!("npm has no script {script}"))
}

#[test]
fn every_command_in_the_documents_exists() {
    let (mut wrong, mut n_commands) = (Vec::new(), 0);
    for document in documents() {
        for code in code(&read(&document)) {
            for (program, check) in [
                ("deskbell", wrong_deskbell as fn(&[&str]) -> Option<String>),
                ("cargo", wrong_cargo),
                ("npm", wrong_npm),
            ] {
                for words in commands(&code, program) {
                    n_commands += 1;
                    wrong.extend(check(&words).map(|reason| format!("{}: {reason}", document.display())));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(n_commands >= 60, "{n_commands}");
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    let found = |text: &str, program: &str| {
        code(text)
            .iter()
            .flat_map(|code| {
                commands(code, program).into_iter().map(|words| words.join(" ")).collect::<Vec<_>>()
            })
            .collect::<Vec<_>>()
    };
    let text = "Run `deskbell relay --x=1 | jq` and\n\n    A=1 deskbell --demo .   # a folder\n\nnot deskbell itself.";
    assert_eq!(found(text, "deskbell"), ["relay --x=1", "--demo ."]);
    for (words, is_wrong) in [
        ("relay --project=. --agent=demo", false),
        ("relay --projects=.", true),
        ("sessions list --filter=x", false),
        ("--demo FOLDER", false),
        ("replay FILE --line", true),
        ("stop", true),
    ] {
        assert_eq!(wrong_deskbell(&words.split(' ').collect::<Vec<_>>()).is_some(), is_wrong, "{words}");
    }
    for (words, is_wrong) in [
        ("xtask test habits", false),
        ("xtask test habit", true),
        ("xtask tests", true),
        ("xtask fuzz --minutes 5", false),
        ("xtask fuzz --hours 5", true),
        ("test -p deskbell-engine", false),
        ("test -p deskbell-engin", true),
        ("test --package deskbell-tests --test real_cli", false),
        ("test --package deskbell-tests --test real_api", true),
    ] {
        assert_eq!(wrong_cargo(&words.split(' ').collect::<Vec<_>>()).is_some(), is_wrong, "{words}");
    }
    assert!(wrong_npm(&["run", "dev"]).is_none() && wrong_npm(&["run", "develop"]).is_some());
}

#[test]
fn the_guide_lists_every_page_and_every_key() {
    let summary = read(&root().join("docs/guide/SUMMARY.md"));
    for page in
        documents().iter().filter(|path| path.parent().is_some_and(|folder| folder.ends_with("docs/guide")))
    {
        let name = page.file_name().expect("a page has a name").to_string_lossy();
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name}");
    }
    let keys = read(&root().join("docs/guide/settings-and-keys.md"));
    let sources = crate::architecture::sources("ui/src/lib", &["svelte"]);
    let used = sources.iter().flat_map(|(_, text)| text.split("withCtrl('").skip(1));
    let mut n_keys = 0;
    for key in used.filter_map(|rest| rest.split_once("')").map(|(key, _)| key)) {
        let key = key.replace('+', "Plus").replace('−', "Minus").replace("ShiftPlus", "Shift+");
        assert!(keys.contains(&format!("Ctrl+{key}")), "Ctrl+{key}");
        n_keys += 1;
    }
    // Most keys are in the table of actions; a test of the window compares that table with the guide.
    assert!(n_keys > 0);
}

/// The agent's row in the guide.
fn agent_row(agent: &AcpAgent) -> String {
    let install = match agent.package {
        Some(package) => format!("`npm install -g {package}`"),
        None => "as its makers describe".to_owned(),
    };
    let needs = agent.node.map_or_else(|| "–".to_owned(), |node| format!("Node {node}"));
    let tested = match agent.proof {
        Proof::Recorded { version, .. } => version,
        Proof::NotRun => "**not tested**",
    };
    let asks = match agent.asking {
        AskingHabit::Mode(mode) => format!("its mode `{mode}`"),
        AskingHabit::Setting(name, value) => format!("its setting `{name}` is `{value}`"),
        AskingHabit::Configured => "if you configured it so; Deskbell cannot check".to_owned(),
        AskingHabit::Unknown => "not known".to_owned(),
    };
    let without_trust = match agent.restriction {
        Restriction::ByItself => "starts, and runs nothing of the folder".to_owned(),
        Restriction::TrustedOnly(reason) => {
            format!("does not start. {}", reason.trim_end_matches('.'))
        }
    };
    let lacks = agent.lacks().reports;
    let is_known = agent.reports != deskbell_engine::acp::agents::UNKNOWN.reports;
    let lacks = match (is_known, lacks.is_empty()) {
        (false, _) => "not known".to_owned(),
        (true, true) => "–".to_owned(),
        (true, false) => lacks.join(", "),
    };
    format!("| {} | {install} | {needs} | {tested} | {asks} | {without_trust} | {lacks} |\n", agent.name)
}

/// The text between two marks of a page has to be this. `UPDATE_GUIDE=1` writes it.
fn holds(page: &str, (start, end): (&str, &str), expected: &str) {
    let path = root().join(page);
    let text = read(&path);
    let (before, rest) = text.split_once(start).expect("the table begins");
    let (table, after) = rest.split_once(end).expect("the table ends");
    if std::env::var_os("UPDATE_GUIDE").is_some() {
        std::fs::write(&path, format!("{before}{start}{expected}{end}{after}")).expect("the page is written");
        return;
    }
    assert!(table == expected, "{page} is out of date: UPDATE_GUIDE=1 writes it");
}

#[test]
fn the_guide_has_every_agent_of_the_table() {
    let head = "| Agent | Install | Needs | Tested with | Asks | Without trust | Does not report |\n\
                |---|---|---|---|---|---|---|\n";
    let expected = head.to_owned() + &AGENTS.iter().map(agent_row).collect::<String>();
    holds("docs/guide/other-agents.md", ("<!-- agents -->\n", "<!-- end of agents -->"), &expected);
}

#[test]
fn the_design_has_the_matrix_of_agents_and_cases() {
    let marks = ("<!-- matrix -->\n", "<!-- end of matrix -->");
    holds("docs/design/acp.md", marks, &crate::agent_matrix::table());
}

/// The pages that a newcomer reads first name the agents, or the page that does.
#[test]
fn no_page_says_that_there_is_one_agent() {
    for page in ["README.md", "docs/faq.md", "docs/compare.md", "docs/guide/install.md"] {
        let text = read(&root().join(page));
        assert!(text.contains("guide/other-agents.md") || text.contains("](other-agents.md"), "{page}");
    }
}
