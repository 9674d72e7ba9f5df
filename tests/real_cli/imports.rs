//! Imports in instructions: the copy brings in what the folder does, and the trust page shows each file from outside.

mod generated;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use deskbell_engine::api::{Finding, FindingKind};
use deskbell_engine::trust::{Admission, TrustStore};
use deskbell_tests::real_cli::{CliChild, World};
use serde_json::json;

use generated::{Import, Target, imports};

/// The texts that reached the model: `BODY-` or `TARGET-`, with the number of an import.
type Texts = BTreeSet<String>;

pub async fn an_import_is_loaded_as_it_is_shown() -> Result<()> {
    let mut n_shown = 0;
    for is_allowed in [false, true] {
        n_shown +=
            compare(is_allowed).await.with_context(|| format!("outside files allowed: {is_allowed}"))?;
    }
    ensure!(n_shown > 20, "{n_shown} files from outside were loaded");
    Ok(())
}

/// `is_allowed`: the user allowed imports from outside in a terminal. Returns the number of files from outside that the copy
/// brings in.
async fn compare(is_allowed: bool) -> Result<usize> {
    let imports = imports();
    let world = World::new().await?;
    let root = world.root().to_owned();
    for (path, text) in &imports.files {
        put(&root.join(path), &text.replace("{ROOT}", &root.display().to_string()))?;
    }
    for (path, target) in &imports.links {
        fs::create_dir_all(root.join(path).parent().context("it is in a folder")?)?;
        symlink(target, root.join(path))?;
    }
    let project = json!({"hasTrustDialogAccepted": true, "hasClaudeMdExternalIncludesApproved": is_allowed});
    let state = json!({"projects": {world.project.display().to_string(): project}});
    put(&world.config.join(".claude.json"), &state.to_string())?;

    let store = TrustStore::open(root.join("trust"))?;
    let findings = store.view(&world.project)?.findings;
    let Admission::Trusted(snapshot) = store.trust_once(&world.project)? else { bail!("it is not trusted") };
    let arguments: Vec<String> =
        snapshot.args(false).into_iter().filter_map(|argument| argument.into_string().ok()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let own = loaded(&world, &["--setting-sources=user,project,local"]).await?;
    let [(name, value)] = snapshot.env();
    let world = world.with_env(name, value);
    let copy = loaded(&world, &arguments).await?;
    let restricted = loaded(&world, &["--setting-sources=user"]).await?;

    let mut faults = String::new();
    let (mut n_loaded, mut n_shown) = (0, 0);
    for import in &imports.list {
        let has = |texts: &Texts, what: &str| texts.contains(&format!("{what}-{:03}", import.number));
        let mut fault = |text: &str| {
            let Import { number, source, line, target, .. } = import;
            writeln!(faults, "{number:03}, {source}, {line:?}, {target:?}: {text}")
        };
        n_loaded += usize::from(has(&copy, "TARGET"));
        let is_outside = !import.path.starts_with("project/");
        if !import.is_of_user() {
            if has(&restricted, "BODY") || has(&restricted, "TARGET") {
                fault("a restricted session has it")?;
            }
            if has(&copy, "TARGET") && is_outside {
                n_shown += 1;
                // The page of this process has another home folder.
                if import.target != Target::Home && !is_shown(&findings, &root.join(&import.path)) {
                    fault("it is loaded, and not shown")?;
                }
            }
        }
        for what in ["BODY", "TARGET"] {
            // The text of a folder above is in another file of the copy: a path from its own place leads elsewhere.
            let is_known =
                what == "TARGET" && import.is_of_folder_above() && import.target != Target::Absolute;
            match (has(&own, what), has(&copy, what)) {
                (false, true) => fault(&format!("the copy brings in the {what}, and the folder does not"))?,
                (true, false) if !is_known => fault(&format!("the copy lacks the {what}"))?,
                _ => {}
            }
        }
    }
    println!("{n_loaded} imports were loaded, {n_shown} of them from outside");
    ensure!(faults.is_empty(), "{faults}");
    ensure!(n_loaded > 40, "{n_loaded} imports were loaded");
    Ok(n_shown)
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().context("it is in a folder")?)?;
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

fn is_shown(findings: &[Finding], path: &Path) -> bool {
    let is_it = |finding: &Finding| {
        finding.kind == FindingKind::Directory && finding.text == path.display().to_string()
    };
    findings.iter().any(is_it)
}

/// The texts of these files that one turn sends to the model.
async fn loaded(world: &World, arguments: &[&str]) -> Result<Texts> {
    let n_before = world.api.messages().len();
    let mut cli = CliChild::spawn(world, arguments)?;
    cli.prompt("SAY done").await?;
    cli.result().await?;
    cli.close().await?;
    let requests = world.api.messages();
    let sent = requests.get(n_before..).filter(|sent| !sent.is_empty()).context("no request arrived")?;
    let mut texts = Texts::new();
    for request in sent {
        let text = request.body.to_string();
        for what in ["BODY-", "TARGET-"] {
            let found = text.match_indices(what).filter_map(|(at, _)| text.get(at..at + what.len() + 3));
            texts.extend(found.map(str::to_owned));
        }
    }
    Ok(texts)
}
