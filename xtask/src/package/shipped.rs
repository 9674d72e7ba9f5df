//! The crates and npm packages that are compiled into the app, with the texts of their licences.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::command::{cargo, read};
use crate::project::{self, APP};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    Cargo,
    Npm,
}

/// A package that is part of the app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shipped {
    pub origin: Origin,
    pub name: String,
    pub version: String,
    /// An SPDX expression.
    pub licence: String,
    pub authors: Vec<String>,
    /// Licences and notices: the file's name and its text.
    pub texts: Vec<(String, String)>,
    /// The packages that it uses, by `key`.
    pub uses: Vec<String>,
}

impl Shipped {
    /// Its package URL, which names it in an inventory.
    pub fn key(&self) -> String {
        key(self.origin, &self.name, &self.version)
    }
}

fn key(origin: Origin, name: &str, version: &str) -> String {
    match origin {
        Origin::Cargo => format!("pkg:cargo/{name}@{version}"),
        Origin::Npm => format!("pkg:npm/{}@{version}", name.replace('@', "%40")),
    }
}

/// Everything that is shipped, by origin, name and version.
pub fn shipped() -> Outcome<Vec<Shipped>> {
    let mut all = crates(APP, &host()?)?;
    all.extend(packages(&project::ui())?);
    all.sort_by(|a, b| (a.origin, &a.name, &a.version).cmp(&(b.origin, &b.name, &b.version)));
    Ok(all)
}

/// What is compiled into the program without windows for this target, by name and version.
pub fn shipped_in_relay(target: &str) -> Outcome<Vec<Shipped>> {
    let mut all = crates("deskbell-cli", target)?;
    all.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(all)
}

/// The target that packages are built for.
pub fn host() -> Outcome<String> {
    let version = read(Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not name its host".to_owned())
}

/// The crates that are linked into a crate of the project for a target. Procedural macros and build scripts run while it is built and are not.
fn crates(root: &str, target: &str) -> Outcome<Vec<Shipped>> {
    let metadata =
        read(cargo().args(["metadata", "--format-version=1", "--locked", "--filter-platform", target]))?;
    let metadata: Value =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo's metadata: {error}"))?;
    let (packages, nodes) = (list(&metadata["packages"]), list(&metadata["resolve"]["nodes"]));
    let by_id: BTreeMap<&str, &Value> =
        packages.iter().map(|package| (text(&package["id"]), package)).collect();
    let nodes: BTreeMap<&str, &Value> = nodes.iter().map(|node| (text(&node["id"]), node)).collect();
    let root = packages.iter().find(|package| package["name"] == root);
    let mut waiting = vec![text(&root.ok_or("cargo does not know the crate to be shipped")?["id"])];
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    while let Some(id) = waiting.pop() {
        if found.contains_key(id) {
            continue;
        }
        let node = nodes.get(id).ok_or_else(|| format!("cargo did not resolve {id}"))?;
        let is_linked = |dependency: &&Value| {
            let is_normal = list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            is_normal && by_id.get(text(&dependency["pkg"])).is_some_and(|package| !is_macro(package))
        };
        let uses: Vec<&str> =
            list(&node["deps"]).iter().filter(is_linked).map(|dependency| text(&dependency["pkg"])).collect();
        waiting.extend(&uses);
        found.insert(id, uses);
    }
    let name = |id: &&str| {
        by_id.get(id).map(|package| key(Origin::Cargo, text(&package["name"]), text(&package["version"])))
    };
    let mut crates = Vec::new();
    for (id, uses) in &found {
        let package = by_id.get(id).ok_or_else(|| format!("cargo does not describe {id}"))?;
        let folder = Path::new(text(&package["manifest_path"])).parent().ok_or("a crate without a folder")?;
        let is_own = package["source"].is_null();
        crates.push(Shipped {
            origin: Origin::Cargo,
            name: text(&package["name"]).to_owned(),
            version: text(&package["version"]).to_owned(),
            licence: text(&package["license"]).replace('/', " OR "),
            authors: list(&package["authors"]).iter().map(|author| text(author).to_owned()).collect(),
            // The project's own licences are at its root.
            texts: texts(&if is_own { project::root() } else { folder.to_path_buf() })?,
            uses: uses.iter().filter_map(name).collect(),
        });
    }
    Ok(crates)
}

fn is_macro(package: &Value) -> bool {
    let mut kinds = list(&package["targets"]).iter().flat_map(|target| list(&target["kind"]));
    kinds.any(|kind| kind == "proc-macro")
}

/// The npm packages that the page is built from: the dependencies of `package.json`, and Svelte, whose parts are compiled
/// into the components.
fn packages(ui: &Path) -> Outcome<Vec<Shipped>> {
    let manifest = package_json(ui)?;
    let names = dependencies(&manifest).chain(["svelte"]);
    let mut waiting = names.map(|name| folder_of(ui, ui, name)).collect::<Outcome<Vec<PathBuf>>>()?;
    let mut found: BTreeMap<PathBuf, Shipped> = BTreeMap::new();
    while let Some(folder) = waiting.pop() {
        if found.contains_key(&folder) {
            continue;
        }
        let manifest = package_json(&folder)?;
        let mut uses = Vec::new();
        for name in dependencies(&manifest) {
            let folder = folder_of(ui, &folder, name)?;
            uses.push(key(Origin::Npm, name, text(&package_json(&folder)?["version"])));
            waiting.push(folder);
        }
        let author = &manifest["author"];
        let author = author.as_str().or_else(|| author["name"].as_str());
        let package = Shipped {
            origin: Origin::Npm,
            name: text(&manifest["name"]).to_owned(),
            version: text(&manifest["version"]).to_owned(),
            licence: text(&manifest["license"]).to_owned(),
            authors: author.map(str::to_owned).into_iter().collect(),
            texts: texts(&folder)?,
            uses,
        };
        found.insert(folder, package);
    }
    Ok(found.into_values().collect())
}

/// The names of the packages that a manifest depends on.
fn dependencies(manifest: &Value) -> impl Iterator<Item = &str> {
    manifest["dependencies"].as_object().into_iter().flatten().map(|(name, _)| name.as_str())
}

/// A text; empty if the value is something else.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A list; empty if the value is something else.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn package_json(folder: &Path) -> Outcome<Value> {
    let file = folder.join("package.json");
    let text =
        fs::read_to_string(&file).map_err(|error| format!("could not read {}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
}

/// The folder of a package as Node finds it from another one.
fn folder_of(ui: &Path, from: &Path, name: &str) -> Outcome<PathBuf> {
    let folders = from.ancestors().take_while(|folder| folder.starts_with(ui));
    let mut there = folders.map(|folder| folder.join("node_modules").join(name));
    there.find(|folder| folder.is_dir()).ok_or_else(|| format!("the npm package {name} is not installed"))
}

/// The licences and notices at the top of a package, by name.
fn texts(folder: &Path) -> Outcome<Vec<(String, String)>> {
    let error = |error| format!("could not read {}: {error}", folder.display());
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let upper = name.to_uppercase();
        let is_licence = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|start| upper.starts_with(start));
        let is_text = !["RS", "JSON", "TOML", "SPDX"].iter().any(|end| upper.ends_with(&format!(".{end}")));
        if is_licence && is_text && path.is_file() {
            let bytes =
                fs::read(&path).map_err(|error| format!("could not read {}: {error}", path.display()))?;
            texts.push((name, String::from_utf8_lossy(&bytes).replace('\r', "")));
        }
    }
    texts.sort();
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_crate_that_is_linked_is_missing() {
        let host = host().unwrap();
        for (root, target, at_least) in [
            (APP, host.as_str(), 100),
            ("deskbell-cli", host.as_str(), 50),
            ("deskbell-cli", "aarch64-unknown-linux-gnu", 50),
        ] {
            check_linked(root, target, at_least);
        }
    }

    fn check_linked(root: &str, target: &str, at_least: usize) {
        let tree = read(
            cargo()
                .args([
                    "tree",
                    "--locked",
                    "--offline",
                    "--package",
                    root,
                    "--target",
                    target,
                    "--prefix=none",
                ])
                .args(["--edges=normal,no-proc-macro", "--format={p}"]),
        )
        .unwrap();
        let linked: BTreeSet<String> = tree
            .lines()
            .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ").replace(" v", "@"))
            .filter(|line| !line.is_empty())
            .collect();
        assert!(linked.len() > at_least, "{linked:?}");
        let crates: BTreeSet<String> = crates(root, target)
            .unwrap()
            .into_iter()
            .map(|shipped| format!("{}@{}", shipped.name, shipped.version))
            .collect();
        assert_eq!(linked.difference(&crates).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn every_package_of_the_page_is_found_from_its_user() {
        let folder = crate::scratch::Scratch::new().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let package = |name: &str, version: &str, uses: &str| {
            format!(
                r#"{{"name":"{name}","version":"{version}","license":"MIT","author":{{"name":"A"}},"dependencies":{uses}}}"#
            )
        };
        write("package.json", r#"{"dependencies":{"@a/b":"1"},"devDependencies":{"tool":"1"}}"#);
        write("node_modules/@a/b/package.json", &package("@a/b", "1.0.0", r#"{"c":"1"}"#));
        write("node_modules/@a/b/LICENSE.md", "Copyright A\r\n");
        write("node_modules/@a/b/node_modules/c/package.json", &package("c", "1.0.0", "{}"));
        write("node_modules/c/package.json", &package("c", "2.0.0", "{}"));
        write("node_modules/tool/package.json", &package("tool", "1.0.0", "{}"));
        write("node_modules/svelte/package.json", &package("svelte", "5.0.0", r#"{"c":"2"}"#));
        let mut keys: Vec<String> = packages(folder.path()).unwrap().iter().map(Shipped::key).collect();
        keys.sort();
        assert_eq!(
            keys,
            ["pkg:npm/%40a/b@1.0.0", "pkg:npm/c@1.0.0", "pkg:npm/c@2.0.0", "pkg:npm/svelte@5.0.0"]
        );
        let first =
            packages(folder.path()).unwrap().into_iter().find(|package| package.name == "@a/b").unwrap();
        assert_eq!(first.texts, [("LICENSE.md".to_owned(), "Copyright A\n".to_owned())]);
        assert_eq!(first.uses, ["pkg:npm/c@1.0.0"]);
        fs::remove_dir_all(folder.path().join("node_modules/c")).unwrap();
        assert!(packages(folder.path()).unwrap_err().contains("c is not installed"));
    }
}
