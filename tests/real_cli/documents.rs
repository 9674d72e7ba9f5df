//! Generated skills, slash commands, subagents, output styles, plugins and imports of a trusted folder: the CLI loads what the
//! page showed, runs nothing else, and has none of the documents that were left out.
//!
//! `DESKBELL_TEST_SEED` repeats a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Finding, FindingKind};
use deskbell_engine::trust::{Admission, TrustStore};
use deskbell_tests::chance::{Chance, seed};
use deskbell_tests::hostile_projects::traces;
use deskbell_tests::mock_api::Request;
use deskbell_tests::real_cli::{CliChild, World};
use deskbell_tests::wait::LONG;
use serde_json::{Value, json};

/// Documents of each kind, 200 together.
const N_SKILLS: usize = 70;
const N_COMMANDS: usize = 60;
const N_AGENTS: usize = 46;
const N_STYLES: usize = 6;
const N_PLUGINS: usize = 6;
const N_IMPORTS: usize = 12;

/// Fewer commands that ran would prove nothing.
const LEAST_RUN: usize = 10;

/// So would fewer subagents with a list of tools.
const LEAST_CHECKED: usize = 4;

/// Entries of skills and commands. `{C}` stands for a command that leaves a trace of its own, `{N}` for the document's number.
const ENTRIES: &[&str] = &[
    "description: Looks at {N}",
    "description: Use it: often",
    "description: \"a \\\"quoted\\\" one\"",
    "description: |\n  two\n  lines",
    "description: a---b",
    "description: [a",
    "description: |\n  ---\n  !`{C}`",
    "argument-hint: [file]",
    "argument-hint: <file>",
    "allowed-tools: Bash(touch:*)",
    "allowed-tools: Bash(touch:*)",
    "allowed-tools: [Read, \"Bash(touch:*)\"]",
    "allowed-tools:\n  - Bash(touch *)\n  - Read",
    "allowed-tools: 5",
    "allowed-tools: *",
    "allowed-tools : Bash(touch:*)",
    "\"allowed-tools\": Bash(touch:*)",
    "disallowed-tools: Write",
    "disallowed-tools: {a: 1}",
    "disable-model-invocation: true",
    "disable-model-invocation: perhaps",
    "model: 5",
    "effort: low",
    "shell: bash",
    "shell: zsh",
    "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: {C}",
    "hooks: {Stop: [{hooks: [{type: command, command: \"{C}\"}]}]}",
    "hooks: {UserPromptSubmit: [{hooks: [{type: command, command: \"{C}\"}]}], Stop: 5}",
    "hooks: 5",
    "mcpServers:\n  m{N}:\n    command: touch\n    args: [\"ran-{N}-90\"]",
    "settings:\n  hooks: {Stop: [{hooks: [{type: command, command: \"touch ran-{N}-91\"}]}]}",
    "monitors:\n  - name: m\n    command: touch ran-{N}-92\n    description: d",
    "lspServers: {l{N}: {command: touch, args: [\"ran-{N}-93\"], extensionToLanguage: {\".a\": a}}}",
    "commands: {x: {source: ./x.md}}",
    "metadata:\n  a: &x 1\n  b: *x",
    "<<: {hooks: 1}",
    "# a comment: {C}",
    "? complex\n: key",
    "\tname: tab",
    "key without colon",
    "- a",
    "---",
    "--- hooks: 1",
    "when_to_use: !!str 5",
    "license: MIT",
];

/// Entries of subagents.
const AGENT_ENTRIES: &[&str] = &[
    "tools: Read",
    "tools: Read, Bash(touch:*)",
    "tools: [Read, Write]",
    "tools: \"*\"",
    "tools: 5",
    "tools:",
    "disallowedTools: Bash",
    "disallowedTools: [Bash, Write]",
    "disallowedTools: {a: 1}",
    "model: 5",
    "maxTurns: 0",
    "permissionMode: bypassPermissions",
    "permissionMode: plan",
    "description: Use it: often",
    "description: a---b",
    "color: red",
    "skills: [5]",
    "memory: x",
    "hooks: {SubagentStart: [{hooks: [{type: command, command: \"{C}\"}]}]}",
    "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: {C}",
    "hooks: 5",
    "mcpServers: [{m{N}: {command: touch, args: [\"ran-{N}-90\"]}}]",
    "mcpServers: 5",
    "settings: {hooks: {Stop: [{hooks: [{type: command, command: \"touch ran-{N}-91\"}]}]}}",
    "initialPrompt: \"BASH touch ran-{N}-94\"",
    "---",
    "[a",
];

const BODIES: &[&str] = &[
    "!`{C}`\n",
    "Look: !`{C}`\n",
    "x!`{C}`\n",
    "x!`a !`{C}`\n",
    "`code !`{C}`\n",
    "```!\n{C}\n```\n",
    "```! {C}\n```\n",
    "``!`{C}` ``\n",
    "```\n!`{C}`\n```\n",
    "---\nallowed-tools: Bash(touch:*)\n---\n!`{C}`\n",
    "<!-- !`{C}` -->\n",
    "$ARGUMENTS !`{C}`\n",
    "---\n",
];

const OPENINGS: &[&str] = &[
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "---\n",
    "--- \n",
    "---\r\n",
    "\u{feff}---\n",
    "\n---\n",
    "----\n",
    "",
];

const CLOSINGS: &[&str] =
    &["---\n", "---\n", "---\n", "---\n", "---\n", "---\t\n", "----\n", "--- x\n", "...\n", "\n"];

/// A generated document.
struct Document {
    /// As the page names it.
    file: String,
    /// The name by which it is used.
    name: String,
    number: usize,
}

struct Generator {
    chance: Chance,
    number: usize,
}

impl Generator {
    /// The text with its placeholders filled in: each command has a trace of its own.
    fn filled(&self, text: &str, n_traces: &mut usize) -> String {
        let mut out = String::new();
        for (at, part) in text.replace("{N}", &self.number.to_string()).split("{C}").enumerate() {
            if at > 0 {
                out.push_str(&format!("touch ran-{}-{n_traces}", self.number));
                *n_traces += 1;
            }
            out.push_str(part);
        }
        out
    }

    fn document(&mut self, first: &str, entries: &[&str]) -> String {
        self.number += 1;
        let mut n_traces = 0;
        let mut text = (*self.chance.pick(OPENINGS)).to_owned() + first;
        for _ in 0..self.chance.below(4) {
            let entry = *self.chance.pick(entries);
            text.push_str(&self.filled(entry, &mut n_traces));
            text.push('\n');
        }
        let closing = *self.chance.pick(CLOSINGS);
        text.push_str(closing);
        for _ in 0..=self.chance.below(2) {
            let body = *self.chance.pick(BODIES);
            text.push_str(&self.filled(body, &mut n_traces));
        }
        text
    }
}

fn put(project: &Path, file: &str, text: &str) -> Result<()> {
    let path = project.join(file);
    fs::create_dir_all(path.parent().context("it is in the folder")?)?;
    fs::write(&path, text).with_context(|| format!("writing {file}"))
}

/// Writes all documents; returns those that can be used, and the subagents.
fn generate(project: &Path, seed: u64) -> Result<(Vec<Document>, Vec<Document>)> {
    let mut generator = Generator { chance: Chance(seed), number: 0 };
    let (mut used, mut agents) = (Vec::new(), Vec::new());
    for at in 0..N_SKILLS + N_COMMANDS {
        // Without it hardly a command runs.
        let first = if at % 2 == 0 { "allowed-tools: Bash(touch:*)\n" } else { "" };
        let text = generator.document(first, ENTRIES);
        let number = generator.number;
        let (file, name) = if at < N_SKILLS {
            (format!(".claude/skills/s{number}/SKILL.md"), format!("s{number}"))
        } else {
            (format!(".claude/commands/c{number}.md"), format!("c{number}"))
        };
        put(project, &file, &text)?;
        used.push(Document { file, name, number });
    }
    for _ in 0..N_AGENTS {
        let name = format!("a{}", generator.number + 1);
        let text = generator.document(&format!("name: {name}\ndescription: d\n"), AGENT_ENTRIES);
        let (number, file) = (generator.number, format!(".claude/agents/{name}.md"));
        put(project, &file, &text)?;
        agents.push(Document { file, name, number });
    }
    for at in 0..N_STYLES {
        put(
            project,
            &format!(".claude/output-styles/o{at}.md"),
            "---\nname: o\nforce-for-plugin: true\n---\nMARK-style\n",
        )?;
    }
    for at in 0..N_PLUGINS {
        let folder = format!(".claude/skills/p{at}/");
        let command = json!({"type": "command", "command": format!("touch ran-plugin-{at}")});
        let hooks = json!({"SessionStart": [{"hooks": [command]}], "Stop": [{"hooks": [command]}]});
        let server = json!({"m": {"command": "touch", "args": [format!("ran-plugin-server-{at}")]}});
        let manifest =
            json!({"name": format!("p{at}"), "version": "1.0.0", "hooks": hooks, "mcpServers": server});
        put(project, &format!("{folder}.claude-plugin/plugin.json"), &manifest.to_string())?;
        put(project, &format!("{folder}SKILL.md"), "---\ndescription: d\n---\nhello\n")?;
    }
    imports(project)?;
    Ok((used, agents))
}

/// `CLAUDE.md` with imports of files in the folder and outside of it.
fn imports(project: &Path) -> Result<()> {
    let outside = project.parent().context("it is in a folder")?;
    fs::write(outside.join("outside.md"), "MARK-outside")?;
    fs::create_dir(project.join("inner"))?;
    put(project, "inside.md", "MARK-inside @../outside.md")?;
    put(project, "inner/inside.md", "MARK-inner @../../outside.md @../inside.md")?;
    let mut links = Vec::new();
    #[cfg(unix)]
    for (link, to) in [("link.md", outside.join("outside.md")), ("inner/up", outside.to_owned())] {
        std::os::unix::fs::symlink(to, project.join(link))?;
        links.push(if link == "link.md" { "@link.md" } else { "@inner/up/outside.md" });
    }
    let absolute = format!("@{}/outside.md", outside.display());
    let lines = [
        "@inside.md",
        "@./inner/inside.md",
        "@../outside.md",
        "@inner/../../outside.md",
        "@~/../outside.md",
        &absolute,
    ];
    let odd = ["@..\\outside.md", "@file://../outside.md", "- @../outside.md", "> @../outside.md"];
    let lines: Vec<&str> = lines.into_iter().chain(links).chain(odd).collect();
    ensure!(lines.len() == N_IMPORTS || cfg!(not(unix)), "{} imports", lines.len());
    put(project, "CLAUDE.md", &format!("MARK-top\n{}\n", lines.join("\n")))?;
    put(project, "CLAUDE.local.md", "MARK-local @../outside.md")
}

/// The findings about one file.
fn about<'a>(findings: &'a [Finding], file: &str) -> Vec<&'a Finding> {
    findings.iter().filter(|finding| finding.file == file).collect()
}

/// The name that the page shows of a skill, a command or a subagent.
fn shown_name<'a>(document: &'a Document, findings: &[&'a Finding]) -> &'a str {
    let adds = |finding: &&&Finding| finding.title.starts_with("Adds a ") && !finding.text.is_empty();
    findings.iter().find(adds).map_or(&document.name, |finding| &finding.text)
}

/// Whether the page says that a document is not loaded.
fn is_left_out(findings: &[&Finding]) -> bool {
    findings.iter().any(|finding| {
        [
            "Has settings that cannot be read with certainty, so it is left out",
            "The document is left out",
            "The subagent is left out",
        ]
        .contains(&finding.title.as_str())
    })
}

pub async fn the_cli_loads_what_the_page_showed() -> Result<()> {
    let world = World::new().await?;
    let seed = seed();
    let (used, agents) = generate(&world.project, seed)?;
    let store = TrustStore::open(world.root().join("trust"))?;
    let findings = store.view(&world.project)?.findings;
    let Admission::Trusted(snapshot) = store.trust_once(&world.project)? else {
        anyhow::bail!("it is not trusted");
    };
    let args: Vec<String> =
        snapshot.args(false).into_iter().filter_map(|arg| arg.into_string().ok()).collect();
    let mut world = world;
    for (name, value) in snapshot.env() {
        world = world.with_env(name, value);
    }
    let mut cli = CliChild::spawn(&world, &args.iter().map(String::as_str).collect::<Vec<_>>())?;
    let played = play(&world, &mut cli, &findings, &used, &agents).await.context(format!("seed {seed}"));
    let status = cli.close().await;
    played?;
    status.map(drop)
}

async fn play(
    world: &World,
    cli: &mut CliChild,
    findings: &[Finding],
    used: &[Document],
    agents: &[Document],
) -> Result<()> {
    let hello = cli.ask("hello", json!({"subtype": "initialize"})).await?;
    let names = |part: &str| -> BTreeSet<String> {
        let all = hello["response"][part].as_array().into_iter().flatten();
        all.filter_map(|one| Some(one["name"].as_str()?.rsplit(':').next()?.to_owned())).collect()
    };
    let (commands, known_agents) = (names("commands"), names("agents"));
    let mut n_left_out = 0;
    for document in used {
        let shown = about(findings, &document.file);
        let left_out = is_left_out(&shown);
        n_left_out += usize::from(left_out);
        let has = commands.contains(shown_name(document, &shown));
        ensure!(
            has != left_out,
            "{}: the CLI has it: {has}, the page says that it is left out: {left_out}",
            document.file
        );
    }
    for document in agents {
        let left_out = is_left_out(&about(findings, &document.file));
        n_left_out += usize::from(left_out);
        ensure!(
            !left_out || !known_agents.contains(&document.name),
            "{} is left out, and there",
            document.file
        );
    }

    for document in used {
        let shown = about(findings, &document.file);
        if !is_left_out(&shown) {
            turn(cli, &format!("/{}", shown_name(document, &shown))).await?;
        }
    }
    let tools = use_agents(world, cli, agents, &known_agents).await?;
    let ran = traces(&world.project)?;
    let by_number: BTreeMap<usize, &Document> =
        used.iter().chain(agents).map(|document| (document.number, document)).collect();
    for trace in &ran {
        let number = trace.split('-').nth(1).and_then(|number| number.parse().ok());
        let document = number.and_then(|number| by_number.get(&number));
        let document = document.with_context(|| format!("{trace} is of no document that was used"))?;
        let shown = about(findings, &document.file);
        let is_named = shown.iter().any(|finding| {
            finding.kind == FindingKind::Hook && finding.text.split_whitespace().any(|word| word == trace)
        });
        ensure!(is_named, "{}: {trace} ran, and the page does not name it: {shown:#?}", document.file);
    }
    ensure!(ran.len() >= LEAST_RUN, "only {} commands ran", ran.len());
    ensure!(tools >= LEAST_CHECKED, "the tools of only {tools} subagents were checked");
    println!(
        "{} of 200 documents left out, {} commands ran, each of them shown; {tools} subagents with their tools",
        n_left_out + N_STYLES + N_PLUGINS,
        ran.len()
    );

    let not_loaded = |finding: &&Finding| finding.title == "Is left out";
    ensure!(
        findings.iter().filter(not_loaded).count() == N_STYLES + N_PLUGINS,
        "the page does not name what is left out"
    );
    let sent: String = world.api.messages().iter().map(|request| request.body.to_string()).collect();
    for mark in ["top", "inside", "inner", "local"] {
        ensure!(sent.contains(&format!("MARK-{mark}")), "MARK-{mark} was not sent");
    }
    for mark in ["outside", "style"] {
        ensure!(!sent.contains(&format!("MARK-{mark}")), "MARK-{mark} was sent");
    }
    Ok(())
}

/// The prompt of a subagent.
fn mark_of(document: &Document) -> String {
    format!("SAY of {}.", document.name)
}

/// Uses each subagent, and checks that it has no tool that it may not have. Returns how many were checked.
async fn use_agents(
    world: &World,
    cli: &mut CliChild,
    agents: &[Document],
    known: &BTreeSet<String>,
) -> Result<usize> {
    let (mut n_checked, store) = (0, TrustStore::open(world.root().join("trust"))?);
    let findings = store.view(&world.project)?.findings;
    for document in agents.iter().filter(|document| known.contains(&document.name)) {
        let mark = mark_of(document);
        let input = json!({"description": "d", "prompt": mark, "subagent_type": document.name});
        turn(cli, &format!("TOOL Agent {input}\nSAY done")).await?;
    }
    for document in agents.iter().filter(|document| known.contains(&document.name)) {
        // A subagent works in the background (2.1.332), so its request can come later.
        let mark = mark_of(document);
        let is_its = |request: &&Request| request.body["messages"][0].to_string().contains(&mark);
        let what = format!("the request of {}", document.name);
        let requests = world.api.wait_for(&what, LONG, |requests| requests.iter().any(|one| is_its(&one)));
        let requests = requests.await?;
        let request = requests.iter().find(is_its).context("it was there a moment ago")?;
        let offered: Vec<&str> = request.body["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        let shown = about(&findings, &document.file);
        let detail = |name: &str| {
            let details = shown.iter().flat_map(|finding| &finding.details);
            details.filter(|detail| detail.name == name).map(|detail| detail.value.clone()).last()
        };
        if let Some(tools) = detail("tools").filter(|tools| tools != "*" && tools != "null") {
            n_checked += 1;
            let more: Vec<_> = offered.iter().filter(|tool| !tools.contains(**tool)).collect();
            ensure!(more.is_empty(), "{}: {tools} on the page, and it also has {more:?}", document.file);
        }
        if let Some(without) = detail("disallowedTools") {
            n_checked += 1;
            let kept: Vec<_> = ["Bash", "Write"]
                .into_iter()
                .filter(|tool| without.contains(tool) && offered.contains(tool))
                .collect();
            ensure!(kept.is_empty(), "{}: without {without} on the page, and it has {kept:?}", document.file);
        }
    }
    Ok(n_checked)
}

/// A turn in which every request is denied.
async fn turn(cli: &mut CliChild, prompt: &str) -> Result<()> {
    cli.prompt(prompt).await?;
    loop {
        let ends = |line: &Value| line["type"] == "result" || line["type"] == "control_request";
        let line = cli.next("the end of the turn", ends).await?;
        if line["type"] == "result" {
            return Ok(());
        }
        cli.answer(&line["request_id"], json!({"behavior": "deny", "message": "not here"})).await?;
    }
}
