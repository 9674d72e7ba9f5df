//! MCP servers, hooks, plugins, skills, subagents and memory files, in the answers to `mcp_status`, `get_hooks_listing`,
//! `get_context_usage`, `reload_plugins` and `initialize`, and in `system/init`.
//!
//! The texts come from servers and from files of the project. They are bounded here; they are drawn as plain text.

use crate::api::{Extension, Hook, Hooks, McpServer, McpStatus, McpTool, MemoryFile, Plugin};
use deskbell_agent::{ExtensionsReport, HooksReport, Listed};
use serde_json::Value;

/// Entries of one list.
const MOST: usize = 200;
/// Tools of all servers together.
const MOST_TOOLS: usize = 500;
/// Bytes of a name. A server with a longer one is left out, because a command has to name it exactly.
const LONGEST_NAME: usize = 200;
/// Bytes of a description, a path or a command line.
const LONGEST: usize = 400;
/// Bytes of an error, which may have several lines.
const LONGEST_ERROR: usize = 4_000;

/// The answer to `mcp_status`. `None` if it has no list.
pub(crate) fn servers(response: &Value) -> Option<Listed<McpServer>> {
    let mut n_tools_left = MOST_TOOLS;
    listed(response.get("mcpServers")?, |value| server(value, &mut n_tools_left))
}

fn server(value: &Value, n_tools_left: &mut usize) -> Option<McpServer> {
    let name = value.get("name")?.as_str().filter(|name| !name.is_empty() && name.len() <= LONGEST_NAME)?;
    let word = text(value, "status", LONGEST_NAME);
    let status = match word.as_deref() {
        Some("connected") => McpStatus::Connected,
        Some("failed") => McpStatus::Failed,
        Some("needs-auth") => McpStatus::NeedsAuth,
        Some("pending") => McpStatus::Pending,
        Some("disabled") => McpStatus::Disabled,
        _ => McpStatus::Other,
    };
    let all = value.get("tools").and_then(Value::as_array);
    let tools: Vec<McpTool> = all.into_iter().flatten().take(*n_tools_left).filter_map(tool).collect();
    *n_tools_left -= tools.len();
    let config = value.get("config");
    let kind = || config.and_then(|config| text(config, "type", LONGEST_NAME));
    Some(McpServer {
        name: name.to_owned(),
        status,
        status_word: word.filter(|_| status == McpStatus::Other),
        scope: text(value, "scope", LONGEST_NAME),
        // 2.1.197 sends no `transport`.
        transport: text(value, "transport", LONGEST_NAME).or_else(kind),
        target: config.and_then(target),
        server_info: value.get("serverInfo").and_then(server_info),
        error: text(value, "error", LONGEST_ERROR),
        n_tools: all.map_or(0, |all| u32::try_from(all.len()).unwrap_or(u32::MAX)),
        tools,
    })
}

fn tool(value: &Value) -> Option<McpTool> {
    let is_read_only = value.pointer("/annotations/readOnly") == Some(&Value::Bool(true));
    Some(McpTool { name: text(value, "name", LONGEST_NAME)?, is_read_only })
}

/// The command with its arguments, or the address. Keys are often in the query of an address, so it is left out.
fn target(config: &Value) -> Option<String> {
    if let Some(url) = text(config, "url", LONGEST) {
        return url.split(['?', '#']).next().map(str::to_owned);
    }
    let command = config.get("command")?.as_str()?;
    let arguments = config.get("args").and_then(Value::as_array).into_iter().flatten();
    let words: Vec<&str> = [command].into_iter().chain(arguments.filter_map(Value::as_str)).collect();
    Some(cut(&words.join(" "), LONGEST))
}

fn server_info(value: &Value) -> Option<String> {
    let name = text(value, "name", LONGEST_NAME)?;
    Some(match text(value, "version", LONGEST_NAME) {
        Some(version) => format!("{name} {version}"),
        None => name,
    })
}

/// The answer to `get_hooks_listing`.
pub(crate) fn hooks(response: &Value) -> Option<HooksReport> {
    let Listed { list: hooks, n_left_out } = listed(response.get("hooks")?, hook)?;
    let policy = |key: &str| response.pointer(&format!("/policy/{key}")) == Some(&Value::Bool(true));
    let hooks = Hooks {
        hooks,
        are_disabled: policy("allDisabled") || policy("disabledByPolicy"),
        are_managed: policy("managedOnly"),
    };
    Some(HooksReport { hooks, n_left_out })
}

fn hook(value: &Value) -> Option<Hook> {
    let string = |key: &str| text(value, key, LONGEST);
    Some(Hook {
        event: string("event")?,
        matcher: string("matcher"),
        kind: string("type").unwrap_or_default(),
        text: text(value, "commandText", LONGEST_ERROR)
            .or_else(|| text(value, "displayText", LONGEST_ERROR))
            .unwrap_or_default(),
        origin: string("sourceLabel").or_else(|| string("source")).unwrap_or_default(),
        timeout_s: value.get("timeout").and_then(Value::as_u64),
    })
}

/// Skills, subagents and memory files, in the answer to `get_context_usage`. `None` if it has none of these lists.
pub(crate) fn extensions(response: &Value, prefix: &str) -> Option<ExtensionsReport> {
    let read = |all: &Value, name: &str| listed(all, |one| Some(own(extension(one, name)?, prefix)));
    let skills = response.pointer("/skills/skillFrontmatter").and_then(|all| read(all, "name"));
    let subagents = response.get("agents").and_then(|all| read(all, "agentType"));
    let memory = response.get("memoryFiles").and_then(|all| listed(all, memory_file));
    if skills.is_none() && subagents.is_none() && memory.is_none() {
        return None;
    }
    let left_out = [
        skills.as_ref().map(|all| all.n_left_out),
        subagents.as_ref().map(|all| all.n_left_out),
        memory.as_ref().map(|all| all.n_left_out),
    ];
    Some(ExtensionsReport {
        n_left_out: left_out.into_iter().flatten().fold(0, u32::saturating_add),
        skills: skills.map(|all| all.list),
        subagents: subagents.map(|all| all.list),
        memory: memory.map(|all| all.list),
    })
}

fn extension(value: &Value, name: &str) -> Option<Extension> {
    Some(Extension {
        name: text(value, name, LONGEST_NAME)?,
        description: None,
        origin: text(value, "source", LONGEST_NAME),
        // 2.1.197 sends no paths.
        path: text(value, "path", LONGEST),
        model: None,
    })
}

/// A skill or a subagent of the folder's copy has its own name, and the folder as origin. The path into the copy is left
/// out: it is not the file that the user edits.
fn own(extension: Extension, prefix: &str) -> Extension {
    match extension.name.strip_prefix(prefix) {
        Some(name) if !name.is_empty() => Extension {
            name: name.to_owned(),
            origin: Some("projectSettings".to_owned()),
            path: None,
            ..extension
        },
        _ => extension,
    }
}

fn memory_file(value: &Value) -> Option<MemoryFile> {
    Some(MemoryFile {
        path: text(value, "path", LONGEST)?,
        kind: text(value, "type", LONGEST_NAME),
        tokens: value.get("tokens").and_then(Value::as_u64),
    })
}

/// All subagents with their descriptions, in the answers to `initialize` and `reload_plugins`.
pub(crate) fn subagents(response: &Value, prefix: &str) -> Option<Vec<Extension>> {
    let subagent = |value: &Value| {
        let subagent = Extension {
            name: text(value, "name", LONGEST_NAME)?,
            description: text(value, "description", LONGEST),
            origin: None,
            path: None,
            model: text(value, "model", LONGEST_NAME),
        };
        Some(own(subagent, prefix))
    };
    Some(listed(response.get("agents")?, subagent)?.list)
}

/// The list of plugins in `system/init` and in the answer to `reload_plugins`.
pub(crate) fn plugins(list: &Value) -> Option<Vec<Plugin>> {
    let plugin = |value: &Value| {
        Some(Plugin {
            name: text(value, "name", LONGEST_NAME)?,
            path: text(value, "path", LONGEST),
            origin: text(value, "source", LONGEST_NAME),
        })
    };
    Some(listed(list, plugin)?.list)
}

/// The first entries of a list that can be read.
fn listed<T>(list: &Value, mut read: impl FnMut(&Value) -> Option<T>) -> Option<Listed<T>> {
    let all = list.as_array()?;
    let list: Vec<T> = all.iter().take(MOST).filter_map(&mut read).collect();
    let n_left_out = u32::try_from(all.len() - list.len()).unwrap_or(u32::MAX);
    Some(Listed { list, n_left_out })
}

/// A text of at most so many bytes; `None` if it is empty.
fn text(value: &Value, key: &str, longest: usize) -> Option<String> {
    value.get(key)?.as_str().filter(|text| !text.is_empty()).map(|text| cut(text, longest))
}

fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(longest)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn servers_of_each_version_are_read() {
        // 2.1.329.
        let new = json!({"mcpServers": [
            {"name": "good", "status": "connected", "serverInfo": {"name": "calc", "version": "1.0"},
             "config": {"type": "stdio", "command": "python3", "args": ["/srv/good.py"]}, "transport": "stdio",
             "scope": "project", "source": "project", "tools": [{"name": "add", "annotations": {"readOnly": true}}]},
            {"name": "bad", "status": "failed", "error": "Connection closed",
             "config": {"type": "http", "url": "https://example.org/mcp?key=secret"}, "transport": "http", "scope": "user"},
            {"name": "new", "status": "asleep"},
        ]});
        let list = servers(&new).unwrap().list;
        let [good, bad, other] = &list[..] else { panic!("{list:?}") };
        assert_eq!((good.status, good.n_tools), (McpStatus::Connected, 1));
        assert_eq!(good.tools, [McpTool { name: "add".to_owned(), is_read_only: true }]);
        assert_eq!(good.target.as_deref(), Some("python3 /srv/good.py"));
        assert_eq!(good.server_info.as_deref(), Some("calc 1.0"));
        assert_eq!((bad.status, bad.error.as_deref()), (McpStatus::Failed, Some("Connection closed")));
        assert_eq!(bad.target.as_deref(), Some("https://example.org/mcp"), "a key may be in the query");
        assert_eq!((other.status, other.status_word.as_deref()), (McpStatus::Other, Some("asleep")));
        // 2.1.197 has no `transport`.
        let mut old = new;
        old["mcpServers"][0].as_object_mut().unwrap().remove("transport");
        assert_eq!(servers(&old).unwrap().list[0], *good);
    }

    #[test]
    fn hooks_skills_subagents_memory_and_plugins_are_read() {
        let listing = json!({"hooks": [
            {"event": "PreToolUse", "matcher": "Bash", "source": "projectSettings",
             "sourceLabel": "Project settings (.claude/settings.json)", "type": "command", "displayText": "./check",
             "commandText": "./check", "timeout": 5},
            {"event": "Stop", "matcher": "", "source": "userSettings", "type": "prompt", "displayText": "Is it done?"},
        ], "policy": {"allDisabled": true}});
        let report = hooks(&listing).unwrap().hooks;
        assert!(report.are_disabled && !report.are_managed);
        let [check, prompt] = &report.hooks[..] else { panic!("{report:?}") };
        assert_eq!(
            (check.matcher.as_deref(), check.text.as_str(), check.timeout_s),
            (Some("Bash"), "./check", Some(5))
        );
        assert_eq!(check.origin, "Project settings (.claude/settings.json)");
        assert_eq!((prompt.matcher.as_deref(), prompt.text.as_str()), (None, "Is it done?"));
        assert_eq!(prompt.origin, "userSettings");
        let usage = json!({
            "skills": {"skillFrontmatter": [{"name": "ship", "source": "projectSettings", "path": "/p/SKILL.md"}]},
            "agents": [{"agentType": "rev", "source": "projectSettings"}],
            "memoryFiles": [{"path": "/p/CLAUDE.md", "type": "Project", "tokens": 2}],
        });
        let all = extensions(&usage, "project:").unwrap();
        assert_eq!(all.skills.unwrap()[0].path.as_deref(), Some("/p/SKILL.md"));
        assert_eq!(all.subagents.unwrap()[0].name, "rev");
        assert_eq!(all.memory.unwrap()[0].tokens, Some(2));
        let copied =
            json!({"agents": [{"agentType": "project:rev", "source": "plugin", "path": "/copy/rev.md"}]});
        let [rev] = &extensions(&copied, "project:").unwrap().subagents.unwrap()[..] else { panic!() };
        assert_eq!(
            (rev.name.as_str(), rev.origin.as_deref(), &rev.path),
            ("rev", Some("projectSettings"), &None)
        );
        let started = json!({"agents": [{"name": "rev", "description": "Reviews", "model": "sonnet"}]});
        assert_eq!(subagents(&started, "project:").unwrap()[0].description.as_deref(), Some("Reviews"));
        let loaded = plugins(&json!([{"name": "a", "path": "builtin", "source": "a@builtin"}])).unwrap();
        assert_eq!(loaded[0].origin.as_deref(), Some("a@builtin"));
    }

    #[test]
    fn an_answer_of_another_form_is_no_list_and_all_is_bounded() {
        for odd in
            [json!(null), json!([1]), json!({"mcpServers": 7, "hooks": {}, "skills": [], "agents": "a"})]
        {
            assert_eq!(
                (servers(&odd), hooks(&odd), extensions(&odd, "project:")),
                (None, None, None),
                "{odd}"
            );
            assert_eq!(subagents(&odd, "project:"), None, "{odd}");
        }
        let long = "ä".repeat(10_000);
        let tools = vec![json!({"name": "t", "annotations": 1}); 20];
        let mut many = json!({"mcpServers": vec![json!({"name": "s", "tools": tools}); 300]});
        many["mcpServers"][0]["tools"][0]["name"] = json!(long);
        many["mcpServers"][0]["error"] = json!(long);
        let read = servers(&many).unwrap();
        assert_eq!((read.list.len(), read.n_left_out), (MOST, 100));
        assert_eq!(read.list.iter().map(|server| server.tools.len()).sum::<usize>(), MOST_TOOLS);
        assert_eq!((read.list[MOST - 1].tools.len(), read.list[MOST - 1].n_tools), (0, 20));
        assert!(read.list[0].tools[0].name.len() <= LONGEST_NAME + 3);
        assert!(read.list[0].error.as_ref().unwrap().len() <= LONGEST_ERROR + 3);
        // A command could not name it.
        let unnamed = servers(&json!({"mcpServers": [{"name": long}, {"name": ""}, 7]})).unwrap();
        assert_eq!((unnamed.list.len(), unnamed.n_left_out), (0, 3));
    }
}
