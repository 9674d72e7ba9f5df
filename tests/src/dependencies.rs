//! The crates that Deskbell is built from: each one is used, and its licence is on the list in `licences.txt`.
//!
//! The packages of the user interface are checked in `ui/src/licences.test.ts` and with `npm run unused`.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Dependencies that a source need not name, with the reason.
const NOT_NAMED: &[(&str, &str)] = &[("gdkwayland-sys", "its library is gdk_wayland_sys")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The result of `cargo metadata` for this system. It reads only what cargo has already downloaded.
fn metadata() -> Value {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let version = Command::new("rustc").arg("-vV").output().expect("rustc runs").stdout;
    let version = String::from_utf8(version).expect("the version is text");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--offline", "--locked", "--filter-platform", host])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Whether this is a crate of the project.
fn is_own(package: &Value) -> bool {
    package["source"].is_null()
}

/// The sources of a target: its own file, and for anything but a build script all files next to it.
fn read_target(target: &Value, into: &mut String) {
    let file = Path::new(text(target, "src_path"));
    let is_build_script = list(target, "kind").iter().any(|kind| kind == "custom-build");
    if is_build_script {
        into.push_str(&fs::read_to_string(file).expect("a build script is text"));
        return;
    }
    let mut folders = vec![file.parent().expect("a file is in a folder").to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources can be read") {
            let path = entry.expect("a folder of sources can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                into.push_str(&fs::read_to_string(&path).expect("a source is text"));
            }
        }
    }
}

/// Whether a line that is no comment contains the name as a whole word.
fn names(sources: &str, name: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    sources.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
        line.match_indices(name).any(|(at, _)| {
            !is_word(line[..at].chars().next_back()) && !is_word(line[at + name.len()..].chars().next())
        })
    })
}

/// Whether an SPDX expression can be met with these licences.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    // Older crates separate alternatives with a slash.
    let expression = expression.replace('/', " OR ");
    let all_of = |part: &str| {
        part.split(" AND ").all(|licence| {
            let licence = licence.trim().trim_matches(['(', ')']).trim();
            allowed.contains(licence)
        })
    };
    // Without brackets around alternatives, `AND` binds closer than `OR`.
    match expression.split_once(") AND ") {
        Some((first, second)) => {
            is_allowed(first.trim_start_matches('('), allowed) && is_allowed(second, allowed)
        }
        None => expression.split(" OR ").any(all_of),
    }
}

fn allowed_licences(text: &str) -> BTreeSet<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn every_dependency_is_used() {
    let metadata = metadata();
    let mut unused = Vec::new();
    for package in list(&metadata, "packages").iter().filter(|package| is_own(package)) {
        let mut sources = String::new();
        list(package, "targets").iter().for_each(|target| read_target(target, &mut sources));
        for dependency in list(package, "dependencies") {
            let name = dependency["rename"].as_str().unwrap_or(text(dependency, "name"));
            let is_excepted = NOT_NAMED.iter().any(|(excepted, _)| *excepted == name);
            if !is_excepted && !names(&sources, &name.replace('-', "_")) {
                unused.push(format!("{} does not use {name}", text(package, "name")));
            }
        }
    }
    assert_eq!(unused, [""; 0]);
}

#[test]
fn every_shared_dependency_belongs_to_a_crate() {
    let read = |path: &Path| fs::read_to_string(path).expect("a manifest is text");
    let workspace = read(&root().join("Cargo.toml"));
    let shared = workspace.split_once("[workspace.dependencies]").expect("crates share dependencies").1;
    let shared = shared.split_once("\n[").map_or(shared, |(shared, _)| shared);
    let metadata = metadata();
    let packages = list(&metadata, "packages").iter().filter(|package| is_own(package));
    let manifests: String = packages.map(|package| read(Path::new(text(package, "manifest_path")))).collect();
    let unused: Vec<&str> = shared
        .lines()
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
        .filter(|name| !name.starts_with('#') && !manifests.contains(&format!("\n{name}.workspace = true")))
        .filter(|name| !manifests.contains(&format!("\n{name} = {{ workspace = true")))
        .collect();
    assert_eq!(unused, [""; 0]);
}

#[test]
fn every_licence_is_allowed() {
    let licences =
        fs::read_to_string(root().join("tests/licences.txt")).expect("there is a list of licences");
    let allowed = allowed_licences(&licences);
    let metadata = metadata();
    let packages = list(&metadata, "packages");
    assert!(packages.len() > 100, "cargo knows only {} crates", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !is_allowed(text(package, "license"), &allowed))
        .map(|package| format!("{}: {}", text(package, "name"), text(package, "license")))
        .collect();
    assert_eq!(refused, [""; 0]);
}

#[test]
fn an_expression_of_licences_is_understood() {
    let allowed = allowed_licences("# a comment\nMIT\nZlib\n");
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("MIT OR GPL-3.0", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("MIT AND Zlib", true),
        ("(GPL-3.0 OR MIT) AND Zlib", true),
        ("(GPL-3.0 OR MIT) AND GPL-3.0", false),
        ("GPL-3.0 OR MIT AND Zlib", true),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
}

#[test]
fn a_name_in_a_comment_or_in_another_word_is_no_use() {
    assert!(names("use uuid::Uuid;", "uuid"));
    assert!(!names("// uuid\nlet my_uuid = 1;", "uuid"));
}

/// The entries of `Cargo.lock`: name, source and checksum.
fn locked() -> Vec<(String, Option<String>, bool)> {
    let text = fs::read_to_string(root().join("Cargo.lock")).expect("there is a lock file");
    text.split("[[package]]")
        .skip(1)
        .map(|entry| {
            let field = |name: &str| {
                entry.lines().find_map(|line| {
                    line.strip_prefix(&format!("{name} = ")).map(|value| value.trim_matches('"').to_owned())
                })
            };
            (field("name").expect("a package has a name"), field("source"), field("checksum").is_some())
        })
        .collect()
}

#[test]
fn every_crate_comes_from_the_registry() {
    let own: BTreeSet<String> = list(&metadata(), "packages")
        .iter()
        .filter(|package| is_own(package))
        .map(|package| text(package, "name").to_owned())
        .collect();
    let registry = "registry+https://github.com/rust-lang/crates.io-index";
    let locked = locked();
    assert!(locked.len() > 300, "{}", locked.len());
    let foreign: Vec<_> = locked
        .iter()
        .filter(|(name, source, has_checksum)| match source {
            None => !own.contains(name),
            Some(source) => source != registry || !has_checksum,
        })
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

/// Crates that open connections to other computers, or encrypt them.
const CONNECTING: &[&str] = &[
    "reqwest",
    "ureq",
    "isahc",
    "curl",
    "attohttpc",
    "hyper-rustls",
    "hyper-tls",
    "native-tls",
    "openssl-sys",
    "rustls",
    "tokio-rustls",
    "tokio-tungstenite",
    "tungstenite",
    "quinn",
    "sentry",
];

#[test]
fn no_crate_opens_connections_of_its_own() {
    let metadata = metadata();
    let nodes = list(&metadata["resolve"], "nodes");
    let node = |id: &str| nodes.iter().find(|node| text(node, "id") == id).expect("cargo resolved it");
    let name = |id: &str| {
        let package = list(&metadata, "packages").iter().find(|package| text(package, "id") == id);
        text(package.expect("cargo describes it"), "name").to_owned()
    };
    let app = nodes.iter().map(|node| text(node, "id")).find(|id| name(id) == "deskbell");
    let mut waiting = vec![app.expect("the app is a package")];
    let mut linked = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if linked.insert(id) {
            let normal = list(node(id), "deps")
                .iter()
                .filter(|dependency| list(dependency, "dep_kinds").iter().any(|kind| kind["kind"].is_null()));
            waiting.extend(normal.map(|dependency| text(dependency, "pkg")));
        }
    }
    assert!(linked.len() > 100, "{}", linked.len());
    let connecting: Vec<String> =
        linked.into_iter().map(name).filter(|name| CONNECTING.contains(&name.as_str())).collect();
    assert_eq!(connecting, [""; 0]);
}
