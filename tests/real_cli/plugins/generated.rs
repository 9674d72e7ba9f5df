//! Plugins in a folder, each made from a seed of its own.

use std::collections::BTreeMap;

use deskbell_tests::chance::Chance;
use serde_json::{Value, json};

/// Plugin `n` has the seed `SEED + n`: the plugins are the same in every run.
const SEED: u64 = 3_700_000;

const N_PLUGINS: usize = 100;

/// A plugin. Its number is in the names of all its parts and in its traces, with three digits.
pub struct Plugin {
    pub number: usize,
    /// Its folder, below the project.
    pub folder: String,
    pub manifest: String,
    /// The files in its folder.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// The plugins of a marketplace in the folder, which its settings turn on. Their numbers are the next ones.
const N_OF_MARKET: usize = 12;

/// The folder of that marketplace, which is also its name.
pub const MARKET: &str = "market";

pub fn plugins() -> Vec<Plugin> {
    (0..N_PLUGINS).map(plugin).collect()
}

pub fn plugins_of_market() -> Vec<Plugin> {
    let of_market = |number| Plugin { folder: format!("{MARKET}/p{number:03}"), ..plugin(number) };
    (N_PLUGINS..N_PLUGINS + N_OF_MARKET).map(of_market).collect()
}

fn plugin(number: usize) -> Plugin {
    let mut chance = Chance(SEED + number as u64);
    let n = format!("{number:03}");
    // Most are where the CLI looks for them.
    let place = if chance.below(3) < 2 { PLACES[0] } else { *chance.pick(PLACES) };
    let manifest_file =
        if chance.below(6) > 0 { ".claude-plugin/plugin.json" } else { *chance.pick(MANIFEST_FILES) };
    let manifest =
        (if chance.below(3) == 0 { MANIFESTS[0] } else { *chance.pick(MANIFESTS) }).replace("{N}", &n);
    let touch = |what: &str| format!("touch ran-{n}-{what}");
    let hook =
        json!({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": touch("hook")}]}]}});
    let server = |what: &str| json!({"command": "touch", "args": [format!("ran-{n}-{what}")]});
    let document = |name: &str| format!("---\nname: {name}{n}\ndescription: d\n---\nBODY-{n}\n").into_bytes();
    let bytes = |value: Value| value.to_string().into_bytes();
    let parts: Vec<(&str, Vec<u8>)> = vec![
        ("hooks/hooks.json", bytes(hook.clone())),
        ("hooks.json", bytes(hook)),
        (".mcp.json", bytes(json!({"mcpServers": {format!("server{n}"): server("server")}}))),
        (
            ".lsp.json",
            bytes(json!({format!("lsp{n}"): {"command": "touch", "args": [format!("ran-{n}-lsp")],
            "extensionToLanguage": {".txt": "text"}}})),
        ),
        ("commands/typed.md", document("typed")),
        ("skills/used/SKILL.md", document("used")),
        ("agents/a.md", document("agent")),
        ("output-styles/o.md", document("style")),
        (
            "settings.json",
            bytes(json!({"hooks": {"SessionStart": [{"hooks": [{"type": "command",
            "command": touch("settings")}]}]}})),
        ),
        ("SKILL.md", document("whole")),
    ];
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for (name, content) in parts {
        if chance.below(2) == 0 {
            files.insert(name.to_owned(), content);
        }
    }
    if chance.below(4) == 0 {
        let one = json!({"name": format!("plugin{n}"), "source": "./"});
        let market = json!({"name": format!("market{n}"), "owner": {"name": "x"}, "plugins": [one]});
        files.insert(".claude-plugin/marketplace.json".to_owned(), bytes(market));
    }
    files.insert(manifest_file.to_owned(), encoded(&mut chance, manifest.clone()));
    Plugin { number, folder: place.replace("{N}", &n), manifest, files }
}

/// The bytes of a manifest: mostly UTF-8.
fn encoded(chance: &mut Chance, text: String) -> Vec<u8> {
    match chance.below(12) {
        0 => format!("\u{feff}{text}").into_bytes(),
        1 => {
            let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            [&[0xFF, 0xFE], &units[..]].concat()
        }
        2 => text.replace(':', ": \n\t").into_bytes(),
        _ => text.into_bytes(),
    }
}

const PLACES: &[&str] = &[
    ".claude/skills/p{N}",
    ".claude/skills/deep/p{N}",
    ".claude/plugins/p{N}",
    ".claude/agents/p{N}",
    ".claude/commands/p{N}",
    ".claude/output-styles/p{N}",
    ".claude/hooks/p{N}",
    ".claude-plugin/p{N}",
    "plugins/p{N}",
    "p{N}",
];

const MANIFEST_FILES: &[&str] =
    &["plugin.json", ".claude-plugin/PLUGIN.json", ".claude-plugin/plugin.jsonc", ".claude/plugin.json"];

const MANIFESTS: &[&str] = &[
    r#"{"name": "p{N}", "version": "1.0.0"}"#,
    r#"{"name": "p{N}"}"#,
    r#"{"name": "other{N}", "description": "d"}"#,
    r#"{"name": "p{N}", "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran-{N}-inline"}]}]}}"#,
    r#"{"name": "p{N}", "hooks": {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran-{N}-inline"}]}]}}}"#,
    r#"{"name": "p{N}", "hooks": "./hooks.json"}"#,
    r#"{"name": "p{N}", "hooks": ["./hooks.json", "./hooks/hooks.json"]}"#,
    r#"{"name": "p{N}", "hooks": "../../settings.json"}"#,
    r#"{"name": "p{N}", "mcpServers": {"m{N}": {"command": "touch", "args": ["ran-{N}-inline"]}}}"#,
    r#"{"name": "p{N}", "mcpServers": "./.mcp.json"}"#,
    r#"{"name": "p{N}", "mcpServers": ["./.mcp.json", {"m{N}": {"command": "touch", "args": ["ran-{N}-inline"]}}]}"#,
    r#"{"name": "p{N}", "lspServers": {"l{N}": {"command": "touch", "args": ["ran-{N}-lsp"], "extensionToLanguage": {".txt": "text"}}}}"#,
    r#"{"name": "p{N}", "lspServers": "./.lsp.json"}"#,
    r#"{"name": "p{N}", "commands": "./commands", "agents": "./agents/a.md", "skills": "./skills"}"#,
    r#"{"name": "p{N}", "commands": {"run{N}": {"content": "BODY-{N}"}}}"#,
    r#"{"name": "p{N}", "commands": ["./commands/typed.md", "./skills/used/SKILL.md"]}"#,
    r#"{"name": "p{N}", "outputStyles": "./output-styles"}"#,
    r#"{"name": "p{N}", "settings": {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran-{N}-inline"}]}]}}}"#,
    r#"{"name": "p{N}", "monitors": [{"name": "m", "command": "touch ran-{N}-monitor"}]}"#,
    r#"{"name": "p{N}", "channels": [{"server": "m{N}"}], "dependencies": ["p000"]}"#,
    r#"{"name": "p{N}", "strict": false, "unknown": {"a": [1]}}"#,
    r#"{"name": "p {N}"}"#,
    r#"{"name": "../p{N}"}"#,
    r#"{"name": 5}"#,
    r#"{"name": ""}"#,
    r#"{"version": "1.0.0"}"#,
    r#"{"name": "p{N}", "name": "twin{N}"}"#,
    r#"{"name": "p{N}", "version": 1}"#,
    r#"{"name": "p{N}", "hooks": 5, "mcpServers": 5}"#,
    r#"["p{N}"]"#,
    "",
    "{",
    r#"{"name": "p{N}",}"#,
    "// c\n{\"name\": \"p{N}\"}",
];
