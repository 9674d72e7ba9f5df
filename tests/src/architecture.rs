//! Invariants of ARCHITECTURE.md that can be checked by reading the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a folder with one of these extensions, each with its text.
pub fn sources(folder: &str, endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if endings
                .iter()
                .any(|ending| path.extension().is_some_and(|extension| extension == *ending))
            {
                let name = path.strip_prefix(root()).expect("it is below the root").display().to_string();
                found.push((name, std::fs::read_to_string(&path).expect("a source is text")));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} has no sources");
    found
}

/// Files that contain one of these words and are not on the allow list.
fn offenders(sources: &[(String, String)], words: &[&str], may: &[&str]) -> Vec<String> {
    sources
        .iter()
        .filter(|(name, _)| !may.iter().any(|may| name.contains(may)))
        .filter(|(_, text)| words.iter().any(|word| text.contains(word)))
        .map(|(name, _)| name.clone())
        .collect()
}

#[test]
fn only_the_host_seam_imports_tauri() {
    let ui = sources("ui/src", &["ts", "svelte"]);
    // The UI's own test of the same rule names it too.
    assert_eq!(offenders(&ui, &["@tauri-apps"], &["lib/host/", ".test.ts"]), [""; 0]);
}

#[test]
fn no_html_string_reaches_the_page() {
    let ui: Vec<_> = sources("ui/src", &["ts", "svelte"])
        .into_iter()
        .filter(|(name, _)| !name.ends_with(".test.ts"))
        .collect();
    let words = ["{@html", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "srcdoc"];
    assert_eq!(offenders(&ui, &words, &[]), [""; 0]);
}

#[test]
fn the_engine_knows_nothing_of_tauri() {
    for (folder, _) in CRATES {
        assert_eq!(offenders(&sources(folder, &["rs", "toml"]), &["tauri::", "tauri ="], &[]), [""; 0]);
    }
}

/// The crates from the bottom to the top, each with the crates of ours that it may use.
const CRATES: [(&str, &[&str]); 12] = [
    ("src-tauri/api", &[]),
    ("src-tauri/document", &["deskbell-api"]),
    ("src-tauri/disk", &["deskbell-api"]),
    ("src-tauri/server", &["deskbell-api"]),
    ("src-tauri/agent", &["deskbell-api"]),
    ("src-tauri/claude", &["deskbell-agent", "deskbell-api"]),
    ("src-tauri/acp", &["deskbell-agent", "deskbell-api"]),
    (
        "src-tauri/engine",
        &[
            "deskbell-acp",
            "deskbell-agent",
            "deskbell-api",
            "deskbell-claude",
            "deskbell-disk",
            "deskbell-document",
            "deskbell-server",
        ],
    ),
    ("src-tauri/awake", &[]),
    ("src-tauri/notifications", &["deskbell-api"]),
    ("src-tauri/sessions", &["deskbell-engine", "deskbell-server"]),
    ("src-tauri/cli", &["deskbell-demo-agent", "deskbell-engine", "deskbell-server", "deskbell-sessions"]),
];

#[test]
fn crates_use_only_those_below_them() {
    for (folder, allowed) in CRATES {
        let manifest =
            std::fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a crate has a manifest");
        let names = manifest.lines().filter(|line| line.starts_with("deskbell-"));
        let used: Vec<&str> = names.map(|line| line.split(['.', ' ']).next().unwrap_or_default()).collect();
        assert_eq!(used, allowed, "{folder}");
    }
}

/// Modules directly below `src`, each with those that it uses: `use crate::{a, b::C}`, `crate::a::b`.
fn modules(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let module_of = |name: &str| {
        let path = name.rsplit("/src/").next().unwrap_or_default();
        path.split(['/', '.']).next().unwrap_or_default().to_owned()
    };
    let sources = sources(folder, &["rs"]);
    let names: BTreeSet<String> = sources.iter().map(|(name, _)| module_of(name)).collect();
    let mut modules = BTreeMap::<String, BTreeSet<String>>::new();
    for (name, text) in &sources {
        let module = module_of(name);
        // Tests may look at everything, and the crate's root holds everything together.
        if ["lib", "main", "tests"].contains(&module.as_str()) {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let mut code = code.collect::<Vec<_>>().join(" ");
        if name.ends_with(&format!("/src/{module}.rs")) {
            code = code.replace("super::", "crate::");
        }
        let used = modules.entry(module.clone()).or_default();
        for path in code.split("crate::").skip(1) {
            // Of a group only the first level counts.
            let mut depth = 0;
            let group: String = path
                .strip_prefix('{')
                .unwrap_or(path)
                .chars()
                .take_while(|letter| {
                    depth += i32::from(*letter == '{') - i32::from(*letter == '}');
                    *letter != ';' && depth >= 0
                })
                .collect();
            let firsts = if path.starts_with('{') { group.split(',').collect() } else { vec![path] };
            let firsts = firsts.into_iter().filter_map(|path| {
                path.trim().split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
            });
            used.extend(firsts.filter(|first| names.contains(*first) && *first != module).map(str::to_owned));
        }
    }
    modules
}

/// The modules that are left when those that use no module that is left are taken away: the circles, and what leads
/// to them.
fn in_circles(mut modules: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    loop {
        let names: BTreeSet<String> = modules.keys().cloned().collect();
        let n_before = modules.len();
        modules.retain(|_, used| used.iter().any(|name| names.contains(name)));
        if modules.len() == n_before {
            return names.into_iter().collect();
        }
    }
}

#[test]
fn modules_use_each_other_in_one_direction() {
    for folder in [
        "src-tauri/src",
        "src-tauri/cli/src",
        "src-tauri/demo-agent/src",
        "src-tauri/document/src",
        "src-tauri/agent/src",
        "src-tauri/claude/src",
        "src-tauri/acp/src",
        "src-tauri/desktop/src",
        "src-tauri/dialogs/src",
        "src-tauri/disk/src",
        "src-tauri/server/src",
        "src-tauri/sessions/src",
        "xtask/src",
    ] {
        assert_eq!(in_circles(modules(folder)), [""; 0], "{folder}");
    }
}

#[test]
fn a_circle_is_found() {
    let module =
        |name: &str, used: &[&str]| (name.to_owned(), used.iter().map(|used| (*used).to_owned()).collect());
    assert_eq!(in_circles([module("a", &["b"]), module("b", &["c"]), module("c", &[])].into()), [""; 0]);
    assert_eq!(in_circles([module("a", &["b"]), module("b", &["a"]), module("c", &[])].into()), ["a", "b"]);
    let document = modules("src-tauri/document/src");
    assert!(document["markdown"].contains("link"), "{document:?}");
    let shell = modules("src-tauri/src");
    assert!(shell["shell"].contains("windows"), "{shell:?}");
}

#[test]
fn documents_and_the_agents_format_are_pure() {
    let words = ["std::fs", "std::process", "std::net", "std::thread", "tokio::spawn(", "SystemTime::now"];
    for folder in
        ["src-tauri/document/src", "src-tauri/agent/src", "src-tauri/claude/src", "src-tauri/acp/src"]
    {
        assert_eq!(
            offenders(
                &sources(folder, &["rs"]),
                &words,
                &["/tests.rs", "/tests/cost.rs", "/hostile.rs", "/fuzzed.rs"]
            ),
            [""; 0]
        );
    }
}

/// The engine's sources without their unit tests, which may use the system directly.
fn engine_without_tests() -> Vec<(String, String)> {
    let engine = sources("src-tauri/engine/src", &["rs"]).into_iter();
    let tested = |text: &str| text.find("\nmod tests {").unwrap_or(text.len());
    engine
        .filter(|(name, _)| !name.ends_with("tests.rs") && !name.contains("/tests/"))
        .map(|(name, text)| (name, text[..tested(&text)].to_owned()))
        .collect()
}

#[test]
fn only_the_local_host_spawns_and_signals() {
    // The guard is Deskbell's own second process; orphans are ended through a handle of the process; the user's own
    // commands are no agents.
    let may = ["src/host/local", "src/process/guard.rs", "src/process/orphans.rs", "src/user_command.rs"];
    let words = ["process::Command", "Command::new(", "tokio::process", "libc::kill", "pidfd_send_signal"];
    assert_eq!(offenders(&engine_without_tests(), &words, &may), [""; 0]);
}

/// A terminal gets no commands from what is printed (`output.rs`).
#[test]
fn little_writes_to_stdout_by_itself() {
    let may = [
        // The way out itself, and its doubles: of another machine, and of matches, which are bold.
        "src/output.rs",
        "src/on.rs",
        "src/search.rs",
        // Constant words, an answer for ssh, and the seed of a test.
        "src/args/app_link.rs",
        "src/lib.rs",
        "src/serve.rs",
        "src/far/askpass.rs",
        // JSON for the program that holds the other end of a pipe.
        "src/attach.rs",
        "tests",
    ];
    let words = ["io::stdout()", "println!(", " print!("];
    let cli: Vec<_> = sources("src-tauri/cli/src", &["rs"])
        .into_iter()
        .map(|(name, text)| (name, text.replace("eprintln!(", "")))
        .collect();
    assert_eq!(offenders(&cli, &words, &may), [""; 0]);
}

#[test]
fn a_session_is_given_its_host() {
    // The doctor runs a session of its own, on the machine that it tests. The crate's root only names the host.
    let may = ["src/host", "src/doctor.rs", "src/lib.rs"];
    assert_eq!(offenders(&engine_without_tests(), &["LocalHost"], &may), [""; 0]);
}

/// `clippy.toml` lets only `deskbell-disk` open files and list folders. These are all the modules that touch the file
/// system in another way; each is a question about the machine beside the engine, asked on a thread of `disk`.
#[test]
fn few_modules_touch_the_file_system_without_disk() {
    let may = [
        // The seam of machines.
        "src/host/local",
        // Metadata: the program to start, the root of a repository, links, the folder of an orphan, a folder's identity.
        "src/locate.rs",
        "src/projects/seen.rs",
        "src/rule_files.rs",
        "src/changes/content.rs",
        "src/changes/revert.rs",
        "src/stored/files.rs",
        "src/files/ignored.rs",
        "src/history.rs",
        "src/trust/files.rs",
        "src/trust/git.rs",
        "src/trust/git/repositories.rs",
        "src/process/orphans.rs",
        // Files of Deskbell's own: made, renamed, locked, removed.
        "src/changes/commit.rs",
        "src/changes/commit/journal.rs",
        "src/doctor",
        "src/log_files.rs",
        "src/owner.rs",
        "src/process/app_runs.rs",
        "src/projects.rs",
        "src/recorder.rs",
        "src/recorder/writer.rs",
        "src/rewind/copies.rs",
        "src/settings.rs",
        "src/store.rs",
        "src/stored/marks.rs",
        "src/trust/snapshot.rs",
        // Tests.
        "src/bindings.rs",
        "src/every_file.rs",
        "src/fuzzed/",
        "/corpus.rs",
        "src/transcript/states.rs",
        "src/trust/properties.rs",
    ];
    assert_eq!(offenders(&engine_without_tests(), &["std::fs", "tokio::fs"], &may), [""; 0]);
}

#[test]
fn the_core_has_no_clock_no_io_and_no_chance() {
    let is_core = |name: &str| {
        ["session/core", "session/machine", "src/transcript"].iter().any(|part| name.contains(part))
    };
    let core: Vec<_> =
        sources("src-tauri/engine/src", &["rs"]).into_iter().filter(|(name, _)| is_core(name)).collect();
    let words = ["tokio", "Instant", "SystemTime", "std::fs", "uuid::", "rand::"];
    // A test of the transcript writes files of the agent.
    assert_eq!(offenders(&core, &words, &["transcript/states.rs", "transcript/keys/tests.rs"]), [""; 0]);
}

/// A part of the machine owns its data: it has no access to the machine or to the step in progress.
#[test]
fn the_parts_of_the_machine_know_no_machine() {
    let parts = sources("src-tauri/engine/src/session/machine/parts", &["rs"]);
    assert!(parts.len() > 10, "the parts are elsewhere");
    assert_eq!(offenders(&parts, &["Machine", "Step<", "pub(super)"], &[]), [""; 0]);
}

/// The transcript, the store, the recorder and everything else below a session know nothing of it.
#[test]
fn only_what_drives_sessions_imports_them() {
    let engine = sources("src-tauri/engine/src", &["rs"]);
    // A test follows a line through a session.
    let may = ["src/session", "src/replay", "src/doctor", "src/stages"];
    assert_eq!(offenders(&engine, &["crate::session"], &may), [""; 0]);
}

#[test]
fn the_servers_decisions_have_no_clock_no_io_and_no_chance() {
    let server = sources("src-tauri/server/src", &["rs"]);
    let may = ["/socket/unix.rs", "/socket/windows.rs", "/detach.rs", "/lines.rs", "/simulation.rs"];
    let words = ["tokio", "Instant", "SystemTime", "std::fs", "uuid::", "rand::"];
    assert_eq!(offenders(&server, &words, &may), [""; 0]);
}

/// The engine's sources without everything that only tests use.
fn engine_in_use() -> Vec<(String, String)> {
    let of_tests =
        ["simulation", "/tests/", "src/fuzzed/", "/corpus.rs", "/model.rs", "/states.rs", "/properties.rs"];
    let mut engine = engine_without_tests();
    engine.retain(|(name, _)| !of_tests.iter().any(|part| name.contains(part)));
    engine
}

#[test]
fn only_the_agents_crate_knows_its_messages_tools_and_settings() {
    // The doctor answers the agent as its API, with a call of a tool. Git has a folder of the name `hooks`.
    let words = [
        "\"control_request\"",
        "\"stream_event\"",
        "\"Bash\"",
        "\"WebFetch\"",
        "\"MultiEdit\"",
        "\"NotebookEdit\"",
        "\"TodoWrite\"",
        "\"AskUserQuestion\"",
        "\"ExitPlanMode\"",
        "\"mcp__",
        "\"updatedPermissions\"",
        "\"localSettings\"",
        "\"setMode\"",
        "\"file_path\"",
        "\"toolName\"",
        "\"tool_use\"",
        "\"isSidechain\"",
        "\"mcpServers\"",
        "\"hooks\"",
    ];
    let may = ["src/doctor", "src/trust/git.rs", "src/changes/commit/place.rs"];
    assert_eq!(offenders(&engine_in_use(), &words, &may), [""; 0]);
}

/// The paths into an agent's own crate, and into its protocol as the engine shows it.
fn uses_of_an_agent(text: &str) -> usize {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    // `use crate::claude::{self, …}` is one; each path behind it names what it uses.
    let paths = ["claude::", "claude as ", "crate::wire"];
    paths.iter().map(|path| code.matches(path).count()).sum()
}

/// What in the engine knows which agent it has. The number may only fall, and the list says what is left:
/// `docs/design/agents.md` says why.
#[test]
fn little_in_the_engine_knows_which_agent_it_has() {
    const LEFT: [(&str, usize); 17] = [
        // Stored conversations: their lines, images, texts and checkpoints.
        ("src/export/images.rs", 1),
        ("src/history.rs", 2),
        // The driver, the capabilities and the arguments of an agent.
        ("src/launch.rs", 4),
        // The names under which the engine knows the crate, and shows its protocol to tests.
        ("src/lib.rs", 2),
        // Options that a process is started with.
        ("src/options.rs", 1),
        // Login and version, before a process is started.
        ("src/readiness.rs", 1),
        // Which recorded lines are pieces of a text.
        ("src/recorder/streamed.rs", 1),
        ("src/replay/text.rs", 1),
        ("src/rewind/preview.rs", 1),
        // The rules in its settings files.
        ("src/rule_files.rs", 2),
        ("src/search/file.rs", 2),
        // The agent's logs of MCP servers.
        ("src/session/server_log.rs", 1),
        ("src/stored/summary.rs", 1),
        // A folder's own settings, and the copy that an agent is started with.
        ("src/trust.rs", 2),
        ("src/trust/files.rs", 2),
        ("src/trust/snapshot.rs", 3),
        ("src/trust/snapshot/plugin.rs", 1),
    ];
    let counted = engine_in_use().into_iter().map(|(name, text)| (name, uses_of_an_agent(&text)));
    let mut found: Vec<(String, usize)> = counted.filter(|(_, n)| *n > 0).collect();
    found.sort();
    let left = LEFT.map(|(name, n)| (format!("src-tauri/engine/{name}"), n));
    assert_eq!(
        found, left,
        "read it in the agent's driver instead; where fewer are left, lower the number here"
    );
}

#[test]
fn a_use_of_an_agent_is_counted() {
    assert_eq!(
        uses_of_an_agent("use crate::claude::{self, tool};\n// claude::tool\nclaude::tool::kind()"),
        2
    );
    assert_eq!(
        uses_of_an_agent("pub use deskbell_claude as claude;\nuse crate::wire::parse;\nwire::line()"),
        2
    );
}

/// The reads of JSON by the name of a field: `value["a"]`, `value.get("a")`, `value.pointer("/a")`.
fn json_reads(text: &str) -> usize {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let calls = [".get(\"", ".get_mut(\"", ".get(key)", ".get_mut(key)", ".get(name)", ".pointer("];
    let n_calls: usize = calls.iter().map(|call| code.matches(call).count()).sum();
    let is_of_a_value = |(at, _): &(usize, &str)| {
        let before = code[..*at].chars().next_back();
        before.is_some_and(|before| before.is_alphanumeric() || [')', ']', '_'].contains(&before))
    };
    n_calls + code.match_indices("[\"").filter(is_of_a_value).count()
}

/// What the engine still reads by the name of a field. The number may only fall, and the list says what is left:
/// `docs/design/agents.md` says why.
#[test]
fn the_engine_reads_few_fields_of_json_by_name() {
    const LEFT: [(&str, usize); 9] = [
        // The APIs of models, which the doctor plays.
        ("src/doctor/api.rs", 1),
        // No JSON: patterns.
        ("src/recorder/redact/rules.rs", 4),
        // Lines of a newer Deskbell, where the types are of no use.
        ("src/remote/newer.rs", 5),
        // Deskbell's own values.
        ("src/replay/text.rs", 1),
        // Deskbell's own values.
        ("src/session/log.rs", 1),
        ("src/settings/keys.rs", 17),
        // The schema of the settings.
        ("src/settings/programs.rs", 13),
        ("src/settings/text.rs", 3),
        ("src/stages.rs", 2),
    ];
    let counted = engine_in_use().into_iter().map(|(name, text)| (name, json_reads(&text)));
    let mut found: Vec<(String, usize)> = counted.filter(|(_, n)| *n > 0).collect();
    found.sort();
    let left = LEFT.map(|(name, n)| (format!("src-tauri/engine/{name}"), n));
    assert_eq!(
        found, left,
        "read it in deskbell-claude instead; where fewer are left, lower the number here"
    );
}

#[test]
fn a_read_by_name_is_counted() {
    assert_eq!(json_reads("let a = value[\"a\"]; // value[\"b\"]\n// c[\"d\"]"), 2);
    assert_eq!(json_reads("let list = [\"a\"]; x.get(\"a\"); y.pointer(\"/a\"); f()[\"a\"][\"b\"]"), 4);
}

/// The configuration of the app, as Tauri reads it.
/// The quoted names in a text, or behind a call.
fn quoted<'a>(text: &'a str, before: &str, quote: char) -> BTreeSet<&'a str> {
    let start = format!("{before}{quote}");
    let ends = text.split(start.as_str()).skip(1).filter_map(|rest| rest.split(quote).next());
    ends.filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')).collect()
}

/// A command that a list forgets fails only in the real window, and only when it is used.
#[test]
fn every_command_of_the_page_is_declared_answered_and_allowed() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let (page, declared, shell) =
        (read("ui/src/lib/host/tauri.ts"), read("src-tauri/build.rs"), read("src-tauri/src/shell.rs"));
    let page = page.replace("<WindowEvent>", "");
    let called = quoted(&page, "call(", '\'');
    let list = declared.split("&[\n").nth(1).and_then(|rest| rest.split("];").next()).unwrap();
    let declared = quoted(list, "    ", '"');
    assert!(called.contains("check_attachment") && called.len() > 60, "nothing is read: {called:?}");
    assert_eq!(called, declared, "called, and declared in build.rs");

    let handlers = shell.split("generate_handler![").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
    let answered = handlers.split(',').filter_map(|path| path.trim().rsplit("::").next());
    let answered: BTreeSet<&str> = answered.filter(|name| !name.is_empty()).collect();
    assert_eq!(answered, declared, "answered by the shell, and declared in build.rs");

    let mut allowed = BTreeSet::new();
    let configuration = configuration();
    let capabilities = configuration["app"]["security"]["capabilities"].as_array().unwrap();
    assert_eq!(capabilities.len(), 3, "the project's window, the start page and the board");
    for capability in capabilities {
        let permissions =
            capability["permissions"].as_array().unwrap().iter().filter_map(|name| name.as_str());
        allowed.extend(
            permissions.filter_map(|name| name.strip_prefix("allow-")).map(|name| name.replace('-', "_")),
        );
    }
    assert_eq!(allowed, declared.iter().map(|name| (*name).to_owned()).collect(), "allowed, and declared");
}

fn configuration() -> serde_json::Value {
    let text = std::fs::read_to_string(root().join("tauri.conf.json")).expect("the configuration is there");
    serde_json::from_str(&text).expect("the configuration is JSON")
}

#[test]
fn the_page_may_load_nothing_from_elsewhere_and_run_no_text() {
    let security = &configuration()["app"]["security"];
    assert_eq!(security["freezePrototype"], true);
    assert_eq!(security["dangerousDisableAssetCspModification"], serde_json::Value::Null);
    let policy = security["csp"].as_str().expect("there is a policy");
    let mut directives: Vec<&str> = Vec::new();
    for directive in policy.split(';') {
        let mut words = directive.split_whitespace();
        let name = words.next().expect("a directive has a name");
        // `data:` and `blob:` are images of the page's own; the other two are its IPC with the shell.
        let own = ["'self'", "'none'", "data:", "blob:", "ipc:", "http://ipc.localhost"];
        let foreign: Vec<&str> = words.filter(|source| !own.contains(source)).collect();
        assert!(foreign.is_empty(), "{name} allows {foreign:?}");
        directives.push(name);
    }
    for needed in ["default-src", "script-src", "object-src", "base-uri", "frame-ancestors", "form-action"] {
        assert!(directives.contains(&needed), "{needed} is not restricted");
    }
}

#[test]
fn only_a_debug_build_can_be_without_its_policy() {
    let shell = sources("src-tauri/src", &["rs"]);
    let may: Vec<&(String, String)> =
        shell.iter().filter(|(_, text)| text.contains("security.csp")).collect();
    let [(name, text)] = may[..] else { panic!("the policy is touched in {may:?}") };
    let before = text.split("security.csp").next().unwrap_or_default();
    let guard = before.rfind("#[cfg(debug_assertions)]").expect("it is for debug builds alone");
    assert!(before[guard..].lines().count() <= 4, "{name}: the guard is not that of the policy");
}
