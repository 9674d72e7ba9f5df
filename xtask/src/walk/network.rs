//! The settings by which this machine reaches the registries of cargo, npm and apt, in a new system.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::Outcome;
use crate::command::{find, read};
use crate::root::CleanRoot;

/// Name servers, and the names that are known without one.
const NAMES: [&str; 2] = ["/etc/resolv.conf", "/etc/hosts"];

/// Variables that name a file with the certificates to trust.
const CERTIFICATES: [&str; 6] = [
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "CARGO_HTTP_CAINFO",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "npm_config_cafile",
];

/// Variables that name a proxy or a registry, in small letters.
const ADDRESSES: [&str; 4] = ["_proxy", "cargo_http_", "cargo_registries_", "cargo_source_"];

/// A folder there for the copied certificates. The package ca-certificates writes its own list elsewhere.
const COPIES: &str = "/etc/certificates-of-the-host";

/// Copies the settings into the new system, and returns the variables of a user there.
pub fn give_to(root: &CleanRoot, user: &str) -> Outcome<Vec<(String, String)>> {
    for file in NAMES {
        copy(Path::new(file), &root.path(file))?;
    }
    give_apt(root)?;
    give_cargo(root, user)?;
    let mut variables = variables(root)?;
    // Never a file of npm: it may contain a token.
    if let Some(npm) = find("npm")
        && let Ok(registry) = read(Command::new(npm).args(["config", "get", "registry"]))
    {
        variables.push(("npm_config_registry".to_owned(), registry));
    }
    Ok(variables)
}

fn variables(root: &CleanRoot) -> Outcome<Vec<(String, String)>> {
    let mut variables = Vec::new();
    for (name, value) in env::vars() {
        let small = name.to_lowercase();
        if CERTIFICATES.contains(&name.as_str()) {
            let place = format!("{COPIES}/{name}");
            copy(Path::new(&value), &root.path(&place))?;
            variables.push((name, place));
        } else if ADDRESSES.iter().any(|part| small.ends_with(part) || small.starts_with(part))
            && !small.ends_with("token")
        {
            variables.push((name, value));
        }
    }
    Ok(variables)
}

/// The proxies of apt.
fn give_apt(root: &CleanRoot) -> Outcome {
    let Ok(settings) = read(Command::new("apt-config").arg("dump")) else { return Ok(()) };
    let lines = settings.lines().filter(|line| line.starts_with("Acquire::http"));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    let place = root.path("/etc/apt/apt.conf.d/90host");
    fs::write(&place, text).map_err(|error| format!("could not write {}: {error}", place.display()))
}

/// The mirrors of cargo, without the file that has its tokens.
fn give_cargo(root: &CleanRoot, user: &str) -> Outcome {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let Some(file) = home.map(|home| home.join("config.toml")).filter(|file| file.is_file()) else {
        return Ok(());
    };
    let folder = format!("/home/{user}/.cargo");
    read(root.as_user(user).args(["mkdir", &folder]))?;
    copy(&file, &root.path(&folder).join("config.toml"))
}

fn copy(file: &Path, place: &Path) -> Outcome {
    let copied = place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(file, place));
    copied.map(drop).map_err(|error| format!("could not copy {}: {error}", file.display()))
}
