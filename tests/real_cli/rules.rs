//! Permission rules of a trusted folder: Deskbell's copy denies, asks and allows the same calls as the folder's own
//! settings, or is stricter.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use deskbell_engine::trust::{Admission, TrustStore};
use deskbell_tests::real_cli::{CliChild, World};
use serde_json::{Value, json};

/// The forms of rules. `{D}` is a folder of the rule's own with the file `in.txt`, `{P}` the project's path, `{N}` the number
/// of the rule.
const FORMS: &[&str] = &[
    "Read({D}/**)",
    "Read(./{D}/**)",
    "Read(/{D}/**)",
    "Read(/{P}/{D}/**)",
    "Read({D})",
    "Read({D}/)",
    "Read(/{D})",
    "Read(/{D}/)",
    "Read({D}/*)",
    "Read({D}/in.txt)",
    "Read(/{D}/in.txt)",
    "Read(./{D}/in.txt)",
    "Read(**/{D}/**)",
    "Read(/**/{D}/**)",
    "Read(~/{D}/**)",
    "Read(~/../project/{D}/**)",
    "Read( {D}/** )",
    "Read( /{D}/** )",
    "Read ({D}/**)",
    "Read (/{D}/**)",
    "read(/{D}/**)",
    "Read(/{D}/**",
    "Read/{D}/**)",
    "Read(/{D}/[i]n.txt)",
    "Read(/{D}/i?.txt)",
    "Read(/{D}/i*)",
    "Read(/{D}\\/in.txt)",
    "Read(!/{D}/**)",
    "Read(/{D}/../{D}/**)",
    "Read(/./{D}/**)",
    "Read(///{D}/**)",
    "Read(/{D}:*)",
    "Read(/{D}/{in,out}.txt)",
    "Read(/{D}/IN.txt)",
    "Read(#/{D}/**)",
    "Read(/{D}/**) ",
    "Edit({D}/**)",
    "Edit(/{D}/**)",
    "Edit(./{D}/in.txt)",
    "Edit(/{P}/{D}/**)",
    "Write(/{D}/**)",
    "MultiEdit(/{D}/**)",
    "NotebookEdit(/{D}/**)",
    "Glob(/{D}/**)",
    "Grep(/{D}/**)",
    "Bash(touch t{N}:*)",
    "Bash(touch t{N} *)",
    "Bash(touch t{N})",
    "Bash(touch t{N}*)",
    "Bash( touch t{N} )",
    "Bash(touch t{N} a)",
    "Bash(*t{N}*)",
    "Bash(*)x{N}",
    "bash(touch t{N})",
    "Bash(touch t{N}",
    "Bash(\"touch\" t{N})",
    "Bash(touch  t{N})",
    "Bash(touch t{N} (a))",
    "Bash(touch t{N} \\(a\\))",
    "Bash(touch t{N} && true)",
];

/// The outcome of a call, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Denied,
    Asked,
    Ran,
}

/// The calls of one rule by their names, and their outcomes.
type Outcomes = BTreeMap<String, Outcome>;

fn folder(number: usize) -> String {
    format!("d{number}")
}

fn rule(form: &str, number: usize, project: &Path) -> String {
    let project = project.display().to_string();
    form.replace("{D}", &folder(number)).replace("{P}", &project).replace("{N}", &number.to_string())
}

/// Calls that show the scope of a rule.
fn calls(number: usize, world: &World) -> Vec<(&'static str, Value)> {
    let file = |root: &Path| root.join(folder(number)).join("in.txt").display().to_string();
    let form = FORMS[number];
    if form.to_ascii_lowercase().starts_with("bash") {
        // These rules do not have the project's path.
        let ends: &[&str] =
            if world.project.ends_with(PLAIN) { &["", " a", " (a)", " && true"] } else { &[] };
        let command =
            |end: &&str| ("Bash", json!({"command": format!("touch t{number}{end}"), "description": "d"}));
        return ends.iter().map(command).collect();
    }
    let inside = file(&world.project);
    let mut paths = vec![inside.clone()];
    if form.contains('~') {
        paths.push(file(&world.home));
    }
    if form.contains("**/") || !world.project.ends_with(PLAIN) {
        paths.push(file(world.root()));
    }
    let mut calls: Vec<_> = paths.into_iter().map(|path| ("Read", json!({"file_path": path}))).collect();
    if !form.to_ascii_lowercase().starts_with("read") {
        // A file that was read before may be edited.
        calls.push(("Edit", json!({"file_path": inside, "old_string": "in", "new_string": "IN"})));
        calls.push(("Write", json!({"file_path": inside.replace("in.txt", "new.txt"), "content": "x"})));
    }
    calls
}

/// A project name without pattern characters.
const PLAIN: &str = "project";

/// A world whose project has this name, with the folders of all rules in it, next to it and in the home folder.
async fn world(name: &str) -> Result<World> {
    let mut world = World::new().await?;
    world.project = world.root().join(name);
    fs::create_dir_all(&world.project)?;
    for root in [world.project.clone(), world.home.clone(), world.root().to_owned()] {
        for number in 0..FORMS.len() {
            let folder = root.join(folder(number));
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("in.txt"), "in")?;
        }
    }
    // The CLI applies a folder's allow rules only after its own trust dialog.
    let trusted =
        json!({"projects": {world.project.display().to_string(): {"hasTrustDialogAccepted": true}}});
    fs::write(world.config.join(".claude.json"), trusted.to_string())?;
    Ok(world)
}

fn write_rules(world: &World, list: &str) -> Result<()> {
    let rules: Vec<String> =
        FORMS.iter().enumerate().map(|(number, form)| rule(form, number, &world.project)).collect();
    fs::create_dir_all(world.file(".claude"))?;
    let settings = json!({"permissions": {list: rules}});
    Ok(fs::write(world.file(".claude/settings.json"), settings.to_string())?)
}

/// The CLI with the folder's own settings.
const OWN: &[&str] = &["--setting-sources=user,project,local"];

/// Makes every call in one model reply, and returns their outcomes.
async fn outcomes(world: &World, arguments: &[&str]) -> Result<Vec<Outcomes>> {
    let mut cli = CliChild::spawn(world, arguments)?;
    let all: Vec<(usize, &str, Value)> = (0..FORMS.len())
        .flat_map(|number| calls(number, world).into_iter().map(move |(tool, input)| (number, tool, input)))
        .collect();
    let blocks: Vec<Value> =
        all.iter().map(|(_, name, input)| json!({"name": name, "input": input})).collect();
    cli.prompt(&format!("TOOLS {}\nSAY done", Value::from(blocks))).await?;
    let mut asked: Vec<Value> = Vec::new();
    loop {
        let ends = |line: &Value| line["type"] == "result" || line["type"] == "control_request";
        let line = cli.next("the end of the turn", ends).await?;
        if line["type"] == "result" {
            break;
        }
        asked.push(line["request"]["tool_use_id"].clone());
        cli.answer(&line["request_id"], json!({"behavior": "deny", "message": "not here"})).await?;
    }
    let content = |line: &Value| line["message"]["content"].as_array().cloned().unwrap_or_default();
    let blocks: Vec<Value> = cli.heard.iter().flat_map(content).collect();
    let ids: Vec<&Value> =
        blocks.iter().filter(|block| block["type"] == "tool_use").map(|block| &block["id"]).collect();
    ensure!(ids.len() == all.len(), "{} of {} calls were made", ids.len(), all.len());
    let mut outcomes = vec![Outcomes::new(); FORMS.len()];
    for ((number, tool, input), id) in all.iter().zip(ids) {
        let result =
            blocks.iter().find(|block| block["tool_use_id"] == *id).context("a call has no result")?;
        let is_denied = result["is_error"] == true && is_denial(&result["content"]);
        let outcome = match (asked.contains(id), is_denied) {
            (true, _) => Outcome::Asked,
            (false, true) => Outcome::Denied,
            (false, false) => Outcome::Ran,
        };
        outcomes[*number].insert(format!("{tool} {input}"), outcome);
    }
    cli.close().await?;
    Ok(outcomes)
}

/// A rule denied it: the tool's own error has another text.
fn is_denial(content: &Value) -> bool {
    let text = content.to_string();
    text.contains("denied by your permission settings")
        || text.contains("has been denied")
        || text.contains("Permission to use")
}

/// The arguments of the CLI in a trusted folder.
fn copied(world: &World) -> Result<Vec<String>> {
    let store = TrustStore::open(world.root().join("trust"))?;
    let Admission::Trusted(snapshot) = store.trust_once(&world.project)? else {
        anyhow::bail!("it is not trusted");
    };
    Ok(snapshot.args(false).into_iter().filter_map(|argument| argument.into_string().ok()).collect())
}

async fn both(world: &World) -> Result<(Vec<Outcomes>, Vec<Outcomes>)> {
    let own = outcomes(world, OWN).await.context("with the folder's own settings")?;
    let arguments = copied(world)?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Ok((own, outcomes(world, &arguments).await.context("with the copy")?))
}

/// Checks that the copy is as strict as the folder's own settings for every call. Returns the number of equal rules.
fn compare(list: &str, own: &[Outcomes], copy: &[Outcomes]) -> Result<usize> {
    let (mut n_equal, mut wider) = (0, Vec::new());
    for (number, (own, copy)) in own.iter().zip(copy).enumerate() {
        n_equal += usize::from(own == copy);
        for (call, outcome) in copy {
            if own.get(call).is_some_and(|own| outcome > own) {
                wider.push(format!("{}: {call}: {:?}, in the copy {outcome:?}", FORMS[number], own[call]));
            }
        }
    }
    ensure!(wider.is_empty(), "{list}: the copy allows more:\n{}", wider.join("\n"));
    Ok(n_equal)
}

pub async fn a_rule_in_the_copy_is_as_strict_as_in_the_folder() -> Result<()> {
    ensure!(FORMS.len() == 60, "{} forms", FORMS.len());
    for list in ["deny", "ask", "allow"] {
        let world = world(PLAIN).await?;
        write_rules(&world, list)?;
        let (own, copy) = both(&world).await?;
        let n_equal = compare(list, &own, &copy)?;
        let wanted = match list {
            "deny" => Outcome::Denied,
            "ask" => Outcome::Asked,
            _ => Outcome::Ran,
        };
        let of_list = |all: &[Outcomes]| {
            all.iter().filter(|calls| calls.values().any(|outcome| *outcome == wanted)).count()
        };
        println!(
            "{list}: {n_equal} of 60 forms are equal; in force: {} in the folder, {} in the copy",
            of_list(&own),
            of_list(&copy)
        );
        ensure!(of_list(&own) > 15, "{list}: hardly a rule is in force: {own:#?}");
    }
    Ok(())
}

/// The CLI reads some characters of the project's own path as a pattern.
#[cfg(unix)]
pub async fn a_rule_holds_in_a_folder_with_any_name() -> Result<()> {
    for name in ["a[b]c", "a\\b", "a*b", "a\nb"] {
        let world = world(name).await?;
        write_rules(&world, "deny")?;
        let (own, copy) = both(&world).await.with_context(|| format!("{name:?}"))?;
        let n_equal = compare("deny", &own, &copy).with_context(|| format!("{name:?}"))?;
        for form in ["Read(/{D}/**)", "Read(./{D}/**)", "Read({D}/**)", "Edit(/{D}/**)"] {
            let number = FORMS.iter().position(|known| *known == form).context("it is a form")?;
            let inside = world.project.join(folder(number));
            let inside = json!(inside.display().to_string()).to_string();
            let inside = inside.trim_matches('"');
            let of_it: Vec<_> = copy[number].iter().filter(|(call, _)| call.contains(inside)).collect();
            let denied = of_it.iter().filter(|(_, outcome)| **outcome == Outcome::Denied).count();
            ensure!(denied > 0, "{name:?}: {form} denies nothing: {of_it:#?}");
        }
        write_rules(&world, "allow")?;
        let arguments = copied(&world)?;
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let allowed = outcomes(&world, &arguments).await?;
        for (number, outcomes) in allowed.iter().enumerate() {
            let beside = world.root().join(folder(number)).display().to_string();
            let is_wrong = |(call, outcome): (&String, &Outcome)| {
                call.contains(&*beside) && *outcome == Outcome::Ran && !FORMS[number].contains("**/{D}")
            };
            ensure!(
                !outcomes.iter().any(is_wrong),
                "{name:?}: {} allows a file next to the folder",
                FORMS[number]
            );
        }
        println!("{name:?}: {n_equal} of 60 forms are equal");
    }
    Ok(())
}
