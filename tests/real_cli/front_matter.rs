//! Documents with hostile front matter: the CLI loads from the copy what the trust page shows, and nothing else.

mod generated;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use deskbell_claude::trust::json::decode;
use deskbell_engine::api::{Finding, FindingKind};
use deskbell_engine::trust::{Admission, TrustStore};
use deskbell_tests::hostile_projects::traces;
use deskbell_tests::mock_api::Request;
use deskbell_tests::real_cli::{CliChild, World};
use serde_json::{Value, json};

use generated::{Document, Kind, documents};

/// One document as the CLI has it.
#[derive(Clone, Debug, Default)]
struct Loaded {
    name: String,
    description: String,
    hint: String,
    /// The text that it gives to the model.
    text: Option<String>,
    /// Its rule allows a call that is asked about otherwise.
    allows: bool,
    /// Its hook ran.
    ran: bool,
    /// The tools of a subagent.
    tools: Vec<String>,
}

/// What one process of the CLI had.
#[derive(Default)]
struct Run {
    documents: BTreeMap<usize, Vec<Loaded>>,
    output_styles: Vec<String>,
    /// The names of all that it loaded.
    names: Vec<String>,
    /// The traces of hooks that belong to no document.
    other_traces: Vec<String>,
}

/// Subagents that run at the same time: 2.1.332 refuses the twenty-first.
const MOST_SUBAGENTS: usize = 15;

/// The version in which a skill that the model used allows nothing: only `/name` does.
const ALLOWS_BY_NAME: &str = "2.1.197";

/// A skill whose text is the script after the other skills are used.
const LAST: &str = "last";

pub async fn a_document_is_loaded_as_it_is_shown() -> Result<()> {
    let world = World::new().await?;
    let documents = documents();
    prepare(&world, &documents)?;
    let store = TrustStore::open(world.root().join("trust"))?;
    let findings = store.view(&world.project)?.findings;
    let Admission::Trusted(snapshot) = store.trust_once(&world.project)? else { bail!("it is not trusted") };
    let arguments: Vec<String> =
        snapshot.args(false).into_iter().filter_map(|argument| argument.into_string().ok()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_old = world.cli.version().await? == ALLOWS_BY_NAME;
    let acts = |number: usize| {
        documents
            .get(number)
            .is_some_and(|document| document.has_a_hook() || !is_old && document.has_a_rule())
    };
    let own =
        run(&world, &["--setting-sources=user,project,local"], acts).await.context("with the folder")?;
    let copy = run(&world, &arguments, |number| !is_old || acts(number)).await.context("with the copy")?;

    let mut faults = String::new();
    let mut counts = Counts::default();
    for document in &documents {
        let shown = Shown::of(document, &findings);
        let of = |run: &Run| run.documents.get(&document.number).cloned().unwrap_or_default();
        if let Err(fault) = compare(document, &shown, &of(&own), &of(&copy), &mut counts) {
            let text = String::from_utf8_lossy(&document.bytes);
            writeln!(faults, "seed {}, {}: {fault:#}\n{text:?}", document.seed, document.path)?;
            for finding in &shown.0 {
                writeln!(faults, "  shown: {} = {:?} {:?}", finding.title, finding.text, finding.details)?;
            }
            writeln!(faults, "  in the folder: {:?}\n  in the copy: {:?}", of(&own), of(&copy))?;
        }
    }
    println!("{counts:?}");
    ensure!(faults.is_empty(), "{faults}");
    let Counts { n_understood, n_left_out, n_texts, n_allow, n_ran, n_subagents } = counts;
    ensure!(n_understood > 100 && n_left_out > 30, "{n_understood} were understood, {n_left_out} were not");
    ensure!(n_texts > if is_old { 10 } else { 60 }, "{n_texts} texts were compared");
    ensure!(
        (is_old || n_allow > 25) && n_ran > 10 && n_subagents > 8,
        "{n_allow} allow, {n_ran} ran, {n_subagents} subagents"
    );
    parts_of_no_document(&findings, &own, &copy)
}

/// How much there was to compare.
#[derive(Debug, Default)]
struct Counts {
    n_understood: usize,
    n_left_out: usize,
    n_texts: usize,
    n_allow: usize,
    n_ran: usize,
    n_subagents: usize,
}

/// The findings of one document.
struct Shown<'a>(Vec<&'a Finding>);

impl<'a> Shown<'a> {
    fn of(document: &Document, findings: &'a [Finding]) -> Self {
        Self(findings.iter().filter(|finding| finding.file == document.path).collect())
    }

    fn is_left_out(&self) -> bool {
        let says_so = |finding: &&&Finding| {
            finding.kind == FindingKind::Unreadable
                || finding.title.ends_with("left out") && finding.title.starts_with("The ")
        };
        self.0.iter().any(|finding| says_so(&finding))
    }

    /// The finding about the document itself.
    fn main(&self) -> Result<&Finding> {
        let main = self.0.iter().find(|finding| finding.title.starts_with("Adds a "));
        main.copied().context("the page does not show it")
    }

    fn detail(&self, name: &str) -> Option<&str> {
        let details = self.main().ok()?.details.iter();
        details.rev().find(|detail| detail.name == name).map(|detail| &*detail.value)
    }

    /// Whether the page says that a part of this entry is not understood.
    fn refuses(&self, key: &str) -> bool {
        let is_about = |place: &str| place == key || place.starts_with(&format!("{key}."));
        let refused = self.0.iter().filter(|finding| finding.title.starts_with("Is not understood"));
        refused.filter_map(|finding| finding.text.split_once(" = ")).any(|(place, _)| is_about(place))
    }

    /// Whether the page names the rule of this document.
    fn allows(&self, number: usize) -> bool {
        let rule = format!("Read(//none/{number:03})");
        self.0.iter().any(|finding| finding.kind == FindingKind::AllowRule && finding.text.contains(&rule))
    }

    /// Whether the page has the command of this document's hook, with words that begin like this.
    fn runs(&self, number: usize, words: &str) -> bool {
        let command = format!("ran-{number:03}");
        let is_it = |finding: &&Finding| {
            finding.kind == FindingKind::Hook
                && finding.title.starts_with(words)
                && finding.text.contains(&command)
        };
        self.0.iter().any(is_it)
    }
}

/// Fails where the CLI has another document than the page.
fn compare(
    document: &Document,
    shown: &Shown<'_>,
    own: &[Loaded],
    copy: &[Loaded],
    counts: &mut Counts,
) -> Result<()> {
    let number = document.number;
    if document.kind == Kind::OutputStyle {
        let titles: Vec<&str> = shown.0.iter().map(|finding| &*finding.title).collect();
        ensure!(titles == ["Is left out"], "the page does not say that it is left out: {titles:?}");
        ensure!(copy.is_empty(), "it is loaded");
        return Ok(());
    }
    ensure!(own.is_empty() || !shown.0.is_empty(), "the folder has it, and the page does not");
    if shown.is_left_out() || shown.0.is_empty() {
        counts.n_left_out += 1;
        ensure!(copy.is_empty(), "it is left out, and loaded");
        return Ok(());
    }
    counts.n_understood += 1;
    // The page also shows what the folder itself would give the agent.
    let more =
        own.iter().any(|own| own.allows && !shown.allows(number) || own.ran && !shown.runs(number, ""));
    ensure!(!more, "the folder's own document allows or runs more than is shown");

    let [copy] = copy else { bail!("it is loaded {} times", copy.len()) };
    let main = shown.main()?;
    ensure!(copy.name == main.text, "its name is {:?}", copy.name);
    if let Some(description) = shown.detail("description").filter(|_| !shown.refuses("description")) {
        ensure!(plain(&copy.description) == plain(description), "its description is {:?}", copy.description);
    }
    if let Some(hint) = shown.detail("argument-hint").filter(|_| !shown.refuses("argument-hint")) {
        ensure!(document.kind == Kind::Agent || copy.hint == hint, "its hint is {:?}", copy.hint);
    }
    let text = decode(&document.bytes).text;
    let (n_bytes, _) =
        shown.detail("instructions").and_then(|size| size.split_once(' ')).context("no size")?;
    let instructions = text.get(text.len() - n_bytes.parse::<usize>()?..).context("they are its end")?.trim();
    if instructions.contains("BODY-") {
        // The CLI adds to that of a subagent.
        let is_it = |said: &str| match document.kind {
            Kind::Agent => said.starts_with(instructions),
            _ => said.trim() == instructions,
        };
        ensure!(copy.text.as_deref().is_none_or(is_it), "its text is {:?}", copy.text);
        counts.n_texts += usize::from(copy.text.is_some());
    }
    ensure!(!copy.allows || shown.allows(number), "it allows more than is shown");
    ensure!(!copy.ran || shown.runs(number, ""), "it runs more than is shown");
    counts.n_allow += usize::from(copy.allows);
    counts.n_ran += usize::from(copy.ran);
    if document.kind == Kind::Agent {
        counts.n_subagents += 1;
        let tools = shown.detail("tools").filter(|tools| *tools != "*" && *tools != "null");
        let other = copy.tools.iter().find(|tool| tools.is_some_and(|tools| !tools.contains(&***tool)));
        ensure!(other.is_none(), "it has {other:?}");
    } else {
        ensure!(
            copy.ran || shown.refuses("hooks") || !shown.runs(number, "Runs when a turn ends"),
            "its hook did not run"
        );
    }
    Ok(())
}

/// A description without what the CLI makes of its spaces, marks and invisible characters.
fn plain(text: &str) -> String {
    let text = text.strip_prefix("(project) ").or(text.strip_suffix(" (project)")).unwrap_or(text);
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.chars().filter(|c| c.is_alphanumeric() || c.is_ascii_punctuation()).collect()
}

/// Output styles and plugins: the folder has them, the copy does not, and the page says so.
fn parts_of_no_document(findings: &[Finding], own: &Run, copy: &Run) -> Result<()> {
    let of_documents = |run: &Run| run.output_styles.iter().filter(|style| number(style).is_some()).count();
    ensure!(of_documents(own) > 10, "the folder has the output styles {:?}", own.output_styles);
    ensure!(of_documents(copy) == 0, "the copy has the output styles {:?}", copy.output_styles);

    ensure!(own.other_traces == ["ran-plugin-of-skill"], "of the folder's plugins {:?}", own.other_traces);
    ensure!(copy.other_traces.is_empty(), "of the copy's plugins {:?}", copy.other_traces);
    ensure!(!copy.names.iter().any(|name| name.contains("plugged")), "loaded: {:?}", copy.names);
    let manifest = ".claude/skills/plugged/.claude-plugin/plugin.json";
    let said: Vec<&Finding> = findings.iter().filter(|finding| finding.file == manifest).collect();
    ensure!(
        said.iter().any(|finding| finding.title == "Is left out"),
        "the page says of the plugin: {said:?}"
    );
    Ok(())
}

/// Writes the documents, and plugins among them.
fn prepare(world: &World, documents: &[Document]) -> Result<()> {
    let put = |path: &str, bytes: &[u8]| -> Result<()> {
        let path = world.file(path);
        fs::create_dir_all(path.parent().context("it is in a folder")?)?;
        fs::write(path, bytes).context("writing it")
    };
    for document in documents {
        put(&document.path, &document.bytes)?;
    }
    for (folder, name) in
        [("skills", "skill"), ("output-styles", "style"), ("commands", "command"), ("agents", "agent")]
    {
        let plugin = format!(".claude/{folder}/plugged");
        put(&format!("{plugin}/.claude-plugin/plugin.json"), br#"{"name": "plugged", "version": "1.0.0"}"#)?;
        let hook =
            json!([{"hooks": [{"type": "command", "command": format!("touch ran-plugin-of-{name}")}]}]);
        put(
            &format!("{plugin}/hooks/hooks.json"),
            json!({"hooks": {"SessionStart": hook}}).to_string().as_bytes(),
        )?;
    }
    let with_a_rule = documents.iter().filter(|document| document.has_a_rule());
    let read =
        |document: &Document| json!({"name": "Read", "input": {"file_path": path_to_read(document.number)}});
    let script = format!("TOOLS {}\nSAY done", with_a_rule.map(read).collect::<Value>());
    put(
        &format!(".claude/skills/{LAST}/SKILL.md"),
        format!("---\nname: {LAST}\ndescription: d\n---\n{script}\n").as_bytes(),
    )?;
    // The CLI loads a plugin of a folder only after its own question about trust.
    let folder = world.project.display().to_string();
    let state = json!({"projects": {folder: {"hasTrustDialogAccepted": true}}});
    Ok(fs::write(world.config.join(".claude.json"), state.to_string())?)
}

/// A file that is not there, outside of the project: reading it is asked about.
fn path_to_read(number: usize) -> String {
    format!("/none/{number:03}")
}

/// The number of a document in one of its texts: exactly three digits.
fn number(text: &str) -> Option<usize> {
    let mut runs = text.split(|c: char| !c.is_ascii_digit());
    runs.find(|run| run.len() == 3)?.parse().ok()
}

/// Starts the CLI, and uses skills, commands and subagents once: those of these numbers.
async fn run(world: &World, arguments: &[&str], is_used: impl Fn(usize) -> bool) -> Result<Run> {
    let n_before = world.api.messages().len();
    // It denies what it would ask about.
    let flags = ["--allowedTools=Skill,Agent", "--permission-mode=dontAsk"];
    let mut cli = CliChild::spawn(world, &[arguments, &flags].concat())?;
    let known = cli.ask("known", json!({"subtype": "initialize"})).await?["response"].take();
    let mut run = Run::default();
    let used = |names: Vec<(usize, String)>| {
        names.into_iter().filter(|(number, _)| is_used(*number)).map(|(_, name)| name).collect::<Vec<_>>()
    };
    let skills = used(run.add(&known["commands"]));
    let agents = used(run.add(&known["agents"]));
    let styles = known["available_output_styles"].as_array().into_iter().flatten();
    run.output_styles = styles.map(text).collect();

    let last = run.names.iter().find(|name| name.ends_with(LAST));
    let call = |name: &String| json!({"name": "Skill", "input": {"skill": name}});
    let calls: Value = skills.iter().chain(last).map(call).collect();
    turn(&mut cli, &format!("TOOLS {calls}")).await?;
    let input = |name: &String| json!({"subagent_type": name, "description": "d", "prompt": "SAY x"});
    let call = |name: &String| json!({"name": "Agent", "input": input(name)});
    let calls = |some: &[String]| some.iter().map(call).collect::<Value>();
    let steps: Vec<String> =
        agents.chunks(MOST_SUBAGENTS).map(|some| format!("TOOLS {}", calls(some))).collect();
    turn(&mut cli, &format!("{}\nSAY done", steps.join("\n"))).await?;

    run.add_blocks(&cli.heard);
    run.add_subagents(&world.api.messages()[n_before..]);
    cli.close().await?;
    run.add_traces(&world.project)?;
    Ok(run)
}

async fn turn(cli: &mut CliChild, prompt: &str) -> Result<()> {
    cli.prompt(prompt).await?;
    let result = cli.result().await?;
    ensure!(result["is_error"] == false, "{result}");
    Ok(())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The texts under a key of these objects.
fn texts(objects: &Value, key: &str) -> Vec<String> {
    objects.as_array().into_iter().flatten().map(|object| text(&object[key])).collect()
}

impl Run {
    /// Adds the documents of a list, and returns their numbers and names.
    fn add(&mut self, list: &Value) -> Vec<(usize, String)> {
        let mut names = Vec::new();
        for one in list.as_array().into_iter().flatten().filter(|one| one["builtin"] != true) {
            let [name, description, hint] =
                ["name", "description", "argumentHint"].map(|key| text(&one[key]));
            self.names.push(name.clone());
            let texts = [&name, &one["aliases"].to_string(), &description];
            let Some(number) = texts.into_iter().find_map(|text| number(text)) else { continue };
            let own_name = name.strip_prefix("project:").unwrap_or(&name).to_owned();
            let loaded = Loaded { name: own_name, description, hint, ..Loaded::default() };
            self.documents.entry(number).or_default().push(loaded);
            names.push((number, name));
        }
        names
    }

    fn each(&mut self, number: usize, change: impl Fn(&mut Loaded)) {
        self.documents.entry(number).or_default().iter_mut().for_each(change);
    }

    /// Adds the texts of skills, and the calls that were allowed.
    fn add_blocks(&mut self, lines: &[Value]) {
        let blocks = lines.iter().filter_map(|line| line["message"]["content"].as_array()).flatten();
        // The file of an allowed call is not there.
        let is_missing = |block: &&Value| text(&block["content"]).contains("does not exist");
        let allowed: Vec<&Value> =
            blocks.clone().filter(is_missing).map(|block| &block["tool_use_id"]).collect();
        for block in blocks {
            let said = text(&block["text"]);
            if let Some(number) = said.find("BODY-").and_then(|at| number(&said[at..])) {
                let skill = said.strip_prefix("Base directory for this skill: ");
                let said = skill.and_then(|rest| rest.split_once("\n\n")).map_or(&*said, |(_, said)| said);
                self.each(number, |loaded| loaded.text = Some(said.to_owned()));
            }
            let path = text(&block["input"]["file_path"]);
            if let Some(number) = number(&path).filter(|_| allowed.contains(&&block["id"])) {
                self.each(number, |loaded| loaded.allows = true);
            }
        }
    }

    /// Adds what subagents sent to the model.
    fn add_subagents(&mut self, requests: &[Request]) {
        for request in requests {
            let blocks = texts(&request.body["system"], "text");
            let Some(own) = blocks.iter().find(|text| text.contains("BODY-")) else { continue };
            let Some(number) = own.find("BODY-").and_then(|at| number(&own[at..])) else { continue };
            let tools = texts(&request.body["tools"], "name");
            self.each(number, |loaded| (loaded.text, loaded.tools) = (Some(own.clone()), tools.clone()));
        }
    }

    /// Adds the traces of hooks, and removes them.
    fn add_traces(&mut self, project: &Path) -> Result<()> {
        for trace in traces(project)? {
            fs::remove_file(project.join(&trace))?;
            match number(&trace) {
                Some(number) => self.each(number, |loaded| loaded.ran = true),
                None => self.other_traces.push(trace),
            }
        }
        Ok(())
    }
}
