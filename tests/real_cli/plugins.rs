//! Plugins in a folder: the copy has none of them, and the trust page says so of each that the folder itself has.

mod generated;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use deskbell_engine::api::{Finding, FindingKind};
use deskbell_engine::trust::{Admission, TrustStore};
use deskbell_tests::hostile_projects::traces;
use deskbell_tests::real_cli::{CliChild, World};
use serde_json::{Map, Value, json};

use generated::{MARKET, Plugin, plugins, plugins_of_market};

/// The parts that a run had of each plugin, by its number: names and traces.
type Parts = BTreeMap<usize, Vec<String>>;

pub async fn a_plugin_of_a_folder_is_left_out_and_said_to_be() -> Result<()> {
    let world = World::new().await?;
    let of_market = plugins_of_market();
    let plugins: Vec<Plugin> = plugins().into_iter().chain(plugins_of_market()).collect();
    for plugin in &plugins {
        for (name, bytes) in &plugin.files {
            let path = world.project.join(&plugin.folder).join(name);
            fs::create_dir_all(path.parent().context("it is in a folder")?)?;
            fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
        }
    }
    write_market(&world.project, &of_market)?;
    // The CLI loads a plugin of a folder only after its own question about trust.
    let folder = world.project.display().to_string();
    let state = json!({"projects": {folder: {"hasTrustDialogAccepted": true}}});
    fs::write(world.config.join(".claude.json"), state.to_string())?;

    let store = TrustStore::open(world.root().join("trust"))?;
    let findings = store.view(&world.project)?.findings;
    let Admission::Trusted(snapshot) = store.trust_once(&world.project)? else { bail!("it is not trusted") };
    let arguments: Vec<String> =
        snapshot.args(false).into_iter().filter_map(|argument| argument.into_string().ok()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let own = parts(&world, &["--setting-sources=user,project,local"]).await.context("with the folder")?;
    let copy = parts(&world, &arguments).await.context("with the copy")?;
    let restricted = parts(&world, &["--setting-sources=user"]).await.context("restricted")?;

    let mut faults = String::new();
    let (mut n_loaded, mut n_ran) = (0, 0);
    for plugin in &plugins {
        let of = |parts: &Parts| parts.get(&plugin.number).cloned().unwrap_or_default();
        let Plugin { number, folder, manifest, files } = plugin;
        let mut fault = |text: String| {
            let names: Vec<&String> = files.keys().collect();
            writeln!(faults, "{number:03}, {folder}: {text}\n  {manifest}\n  {names:?}")
        };
        let (own, copy, restricted) = (of(&own), of(&copy), of(&restricted));
        let is_of_plugin = |part: &&String| !is_document(&findings, plugin, part);
        let left_out: Vec<&String> = own.iter().filter(is_of_plugin).collect();
        let more: Vec<&String> = copy.iter().filter(is_of_plugin).collect();
        n_loaded += usize::from(!left_out.is_empty());
        n_ran += usize::from(own.iter().any(|part| part.starts_with("ran-")));
        if !more.is_empty() {
            fault(format!("the copy has {more:?}"))?;
        }
        if !restricted.is_empty() {
            fault(format!("a restricted session has {restricted:?}"))?;
        }
        if !left_out.is_empty() && !is_said_to_be_left_out(&findings, plugin) {
            fault(format!("the page does not say that {left_out:?} is left out"))?;
        }
    }
    println!("{n_loaded} of {} plugins were loaded from the folder, and {n_ran} ran", plugins.len());
    ensure!(faults.is_empty(), "{faults}");
    ensure!(n_loaded > LEAST_LOADED && n_ran > LEAST_LOADED, "{n_loaded} were loaded, {n_ran} ran");
    for Plugin { number, .. } in of_market {
        let name = format!("p{number:03}@{MARKET}");
        let is_it = |finding: &Finding| finding.kind == FindingKind::Plugin && finding.text == name;
        ensure!(findings.iter().any(is_it), "the page does not have {name}");
    }
    Ok(())
}

/// Fewer plugins would compare nothing.
const LEAST_LOADED: usize = 10;

/// A marketplace of these plugins, and settings that turn them on.
fn write_market(project: &Path, plugins: &[Plugin]) -> Result<()> {
    let name = |plugin: &Plugin| format!("p{:03}", plugin.number);
    let listed = |plugin: &Plugin| json!({"name": name(plugin), "source": format!("./{}", name(plugin))});
    let listed: Value = plugins.iter().map(listed).collect();
    let market = json!({"name": MARKET, "owner": {"name": "x"}, "plugins": listed});
    let folder = project.join(MARKET);
    fs::create_dir_all(folder.join(".claude-plugin"))?;
    fs::write(folder.join(".claude-plugin/marketplace.json"), market.to_string())?;
    let on: Map<String, Value> =
        plugins.iter().map(|plugin| (format!("{}@{MARKET}", name(plugin)), json!(true))).collect();
    let markets = json!({MARKET: {"source": {"source": "directory", "path": folder}}});
    let settings = json!({"enabledPlugins": on, "extraKnownMarketplaces": markets});
    Ok(fs::write(project.join(".claude/settings.json"), settings.to_string())?)
}

/// Whether a part is a skill, a command or a subagent in its own right, as the page shows it: it is loaded without the plugin,
/// too.
fn is_document(findings: &[Finding], plugin: &Plugin, part: &str) -> bool {
    let name = part.strip_prefix("project:").unwrap_or(part);
    findings
        .iter()
        .any(|finding| finding.title.starts_with("Adds a ") && finding.text == name && is_in(finding, plugin))
}

fn is_said_to_be_left_out(findings: &[Finding], plugin: &Plugin) -> bool {
    let is_market = plugin.folder.starts_with(&format!("{MARKET}/"));
    findings.iter().any(|finding| match is_market {
        true => {
            finding.name.as_deref() == Some(MARKET) && finding.title.ends_with("whose plugins are left out")
        }
        false => finding.title == "Is left out" && is_in(finding, plugin),
    })
}

fn is_in(finding: &Finding, plugin: &Plugin) -> bool {
    finding.file.starts_with(&format!("{}/", plugin.folder))
}

/// Starts the CLI, and returns what it has of each plugin.
async fn parts(world: &World, arguments: &[&str]) -> Result<Parts> {
    let mut cli = CliChild::spawn(world, arguments)?;
    let known = cli.ask("known", json!({"subtype": "initialize"})).await?;
    cli.prompt("SAY done").await?;
    cli.result().await?;
    let init = cli.heard.iter().find(|line| line["subtype"] == "init").cloned().unwrap_or_default();
    cli.close().await?;
    let mut found = Parts::new();
    let mut add = |text: &str| {
        let mut runs = text.split(|c: char| !c.is_ascii_digit());
        if let Some(number) = runs.find(|run| run.len() == 3).and_then(|run| run.parse().ok()) {
            found.entry(number).or_default().push(text.to_owned());
        }
    };
    let response = &known["response"];
    for list in [&response["commands"], &response["agents"], &init["mcp_servers"], &init["plugins"]] {
        for one in list.as_array().into_iter().flatten() {
            add(one["name"].as_str().unwrap_or_default());
        }
    }
    for one in response["available_output_styles"].as_array().into_iter().flatten() {
        add(one.as_str().unwrap_or_default());
    }
    for trace in traces(&world.project)? {
        fs::remove_file(Path::new(&world.project).join(&trace))?;
        add(&trace);
    }
    Ok(found)
}
