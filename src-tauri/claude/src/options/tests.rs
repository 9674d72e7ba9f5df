use super::*;
use crate::api::EnvironmentVariable;

fn problem(options: &SessionOptions) -> Option<(OptionField, Option<u32>, String)> {
    let problem = problems(options).into_iter().next()?;
    Some((problem.field, problem.index, problem.message))
}

fn of_argument(argument: &str) -> Option<String> {
    let options = SessionOptions { arguments: vec![argument.to_owned()], ..SessionOptions::default() };
    let (field, index, message) = problem(&options)?;
    assert_eq!((field, index), (OptionField::Arguments, Some(0)), "{argument}");
    Some(message)
}

#[test]
fn no_argument_turns_off_asking_or_trust() {
    for refused in [
        "--dangerously-skip-permissions",
        "--allow-dangerously-skip-permissions",
        "--permission-mode",
        "--permission-prompt-tool",
        "--permission-prompts",
        "--inherit-permission-mode",
        "--setting-sources",
        "--settings",
        "--managed-settings",
        "--mcp-config",
        "--strict-mcp-config",
        "--plugin-dir",
        "--plugin-url",
        "--agents",
        "--agent",
        "--bare",
        "--safe-mode",
        "--restricted",
        "--resume",
        "--continue",
        "--session-id",
        "--fork-session",
        "--no-session-persistence",
        "--input-format",
        "--output-format",
        "--print",
        "--verbose",
        "--add-dir",
        "--tools",
        "--allowedTools",
        "--allowed-tools",
        "--disallowedTools",
        "--worktree",
        "--model",
        "--debug-file",
        "--remote-control",
        "--ide",
        "--chrome",
        "--cloud",
        "--init",
    ] {
        let length = refused.len();
        // Whole, with a value, in another case, and every abbreviation of some length.
        let mut forms = vec![refused.to_owned(), format!("{refused}=x"), refused.to_ascii_uppercase()];
        forms.extend((6..length).map(|end| refused[..end].to_owned()));
        forms.extend((6..length).map(|end| format!("{}=bypassPermissions", &refused[..end])));
        // An argument of its own.
        forms.retain(|form| form != "--debug");
        for form in forms {
            let is_possible = arguments::problem(&form).is_none();
            assert!(!is_possible, "{form} is accepted");
        }
    }
}

#[test]
fn short_forms_texts_and_odd_forms_are_no_arguments() {
    for refused in [
        "-p",
        "-c",
        "-r",
        "-pc",
        "-d",
        "-n=x",
        "-",
        "--",
        "---",
        "",
        " ",
        "text",
        "=x",
        "--=x",
        " --debug",
        "--debug ",
        "--debug\n",
        "-–debug",
        "--debug\u{0}",
        "--nonsense",
        "--nonsense=1",
    ] {
        assert!(of_argument(refused).is_some(), "{refused:?}");
    }
    assert!(of_argument("-p").unwrap().contains("short form"));
    assert!(of_argument("--permission-mode=plan").unwrap().contains("permission mode in the conversation"));
    assert!(of_argument("--permission-m=plan").unwrap().contains("turn off asking"));
}

#[test]
fn arguments_from_the_list_are_accepted_in_their_form() {
    for accepted in ["--debug", "--betas=x-1", "--autocompact=200000", "--no-chrome"] {
        assert_eq!(of_argument(accepted), None, "{accepted}");
    }
    for refused in ["--debug=api", "--betas", "--betas=", "--betas=--settings"] {
        assert!(of_argument(refused).is_some(), "{refused}");
    }
}

#[test]
fn a_variable_that_leads_elsewhere_or_runs_code_is_refused() {
    let of = |name: &str| {
        let environment = vec![EnvironmentVariable { name: name.to_owned(), value: "x".to_owned() }];
        problem(&SessionOptions { environment, ..SessionOptions::default() })
    };
    for refused in [
        "ANTHROPIC_BASE_URL",
        "anthropic_api_key",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_SHELL_PREFIX",
        "CLAUDECODE",
        "DESKBELL_RUN",
        "deskbell_agent",
        "PATH",
        "Path",
        "LD_PRELOAD",
        "DYLD_INSERT_LIBRARIES",
        "NODE_OPTIONS",
        "BASH_ENV",
        "GIT_SSH_COMMAND",
        "HTTPS_PROXY",
        "https_proxy",
        "NODE_TLS_REJECT_UNAUTHORIZED",
        "HOME",
        "MCP_TIMEOUT",
        "",
        "1X",
        "A B",
        "A=B",
        "Ä",
        "A\0",
    ] {
        let (field, index, _) = of(refused).unwrap_or_else(|| panic!("{refused} is accepted"));
        assert_eq!((field, index), (OptionField::Environment, Some(0)));
    }
    for accepted in ["RUST_LOG", "CI", "MY_TOKEN", "_X1"] {
        assert_eq!(of(accepted), None, "{accepted}");
    }
}

#[test]
fn a_rule_is_one_rule() {
    for accepted in [
        "Read",
        "Bash(git status)",
        "Bash(npm run *)",
        "Bash(touch a,b)",
        "Edit(/src/**)",
        "mcp__tracker",
        "mcp__tracker__*",
        "mcp__a-b__c_d",
        "WebFetch(domain:docs.rs)",
    ] {
        assert_eq!(rules::problem(accepted), None, "{accepted}");
    }
    for refused in [
        "",
        "*",
        "Read,Bash",
        "Read Bash",
        "Bash(ls),Bash(rm *)",
        "Bash(ls) Edit",
        "Bash(ls",
        "Bash()",
        "Bash( )",
        "(x)",
        "--settings",
        "mcp__",
        "mcp__*",
        "Bash(a\nb)",
        "Bash(echo (x))",
        "Ba*",
        " Bash",
    ] {
        assert!(rules::problem(refused).is_some(), "{refused}");
    }
}

#[test]
fn a_broad_rule_is_said_to_be_broad() {
    for broad in [
        "Bash",
        "Bash(*)",
        "Bash(:*)",
        "Edit",
        "Write(**)",
        "Edit(/**)",
        "WebFetch",
        "mcp__tracker",
        "PowerShell",
    ] {
        assert!(rules::breadth(broad).is_some(), "{broad}");
    }
    for narrow in ["Bash(git status)", "Read", "Edit(/src/**)", "WebFetch(domain:docs.rs)", "Glob"] {
        assert_eq!(rules::breadth(narrow), None, "{narrow}");
    }
}

#[test]
fn the_tools_that_ask_are_neither_allowed_in_advance_nor_all_taken_away() {
    let rules = |allowed: &[&str], denied: &[&str]| {
        let own = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
        problem(&SessionOptions {
            allowed_tools: own(allowed),
            disallowed_tools: own(denied),
            ..SessionOptions::default()
        })
    };
    assert!(rules(&["ExitPlanMode"], &[]).is_some());
    assert!(rules(&["AskUserQuestion"], &[]).is_some());
    assert!(rules(&[], &["AskUserQuestion", "ExitPlanMode"]).is_some());
    assert_eq!(rules(&["Read"], &["AskUserQuestion", "Bash"]), None);
}

#[test]
fn numbers_texts_and_paths_have_limits() {
    let refused = |options: SessionOptions| problem(&options).map(|(field, ..)| field);
    let base = SessionOptions::default;
    assert_eq!(refused(base()), None);
    for turns in [0, 10_001] {
        assert_eq!(refused(SessionOptions { max_turns: Some(turns), ..base() }), Some(OptionField::MaxTurns));
    }
    for budget in [0.0, -1.0, 0.001, f64::NAN, f64::INFINITY, 1e9] {
        let options = SessionOptions { max_budget_usd: Some(budget), ..base() };
        assert_eq!(refused(options), Some(OptionField::MaxBudgetUsd), "{budget}");
    }
    let prompt = |text: &str| SessionOptions {
        system_prompt: Some(SystemPrompt { text: text.to_owned(), replace: false }),
        ..base()
    };
    assert_eq!(refused(prompt("Be brief.\nOr not.")), None);
    for text in ["", "  ", "a\0b", "a\u{1b}b", &"x".repeat(MOST_SYSTEM_PROMPT + 1)] {
        assert_eq!(refused(prompt(text)), Some(OptionField::SystemPrompt));
    }
    for path in ["", "relative", "../x", "/a\0b", "/a\nb"] {
        let options = SessionOptions { folders: vec![path.to_owned()], ..base() };
        assert_eq!(refused(options), Some(OptionField::Folders), "{path:?}");
        let options = SessionOptions { mcp_config: Some(path.to_owned()), ..base() };
        assert_eq!(refused(options), Some(OptionField::McpConfig), "{path:?}");
    }
    for model in ["", "a b", "a,b"] {
        let options = SessionOptions { fallback_models: vec![model.to_owned()], ..base() };
        assert_eq!(refused(options), Some(OptionField::FallbackModels), "{model:?}");
    }
    for effort in ["", "High", "a b", "--x"] {
        let options = SessionOptions { effort: Some(effort.to_owned()), ..base() };
        assert_eq!(refused(options), Some(OptionField::Effort), "{effort:?}");
    }
    let options = SessionOptions { hibernate_minutes: Some(10_081), ..base() };
    assert_eq!(refused(options), Some(OptionField::HibernateMinutes));
    let many = SessionOptions { arguments: vec!["--debug".to_owned(); 21], ..base() };
    assert_eq!(refused(many), Some(OptionField::Arguments));
    let long = |nr: usize| format!("Bash({nr} {})", "x".repeat(480));
    let options = SessionOptions { allowed_tools: (0..60).map(long).collect(), ..base() };
    assert!(problem(&options).unwrap().2.contains("All arguments together"));
}

#[test]
fn values_are_joined_to_their_flags() {
    let options = SessionOptions {
        fallback_models: vec!["sonnet".to_owned(), "haiku".to_owned()],
        system_prompt: Some(SystemPrompt { text: "--x".to_owned(), replace: true }),
        max_turns: Some(3),
        max_budget_usd: Some(0.5),
        folders: vec!["/a b".to_owned()],
        allowed_tools: vec!["Read".to_owned(), "Bash(a, b)".to_owned()],
        disallowed_tools: vec!["WebFetch".to_owned()],
        mcp_config: Some("/m.json".to_owned()),
        arguments: vec!["--debug".to_owned()],
        ..SessionOptions::default()
    };
    let expected = [
        "--fallback-model=sonnet,haiku",
        "--system-prompt=--x",
        "--max-turns=3",
        "--max-budget-usd=0.5",
        "--add-dir=/a b",
        "--allowedTools=Read",
        "--allowedTools=Bash(a, b)",
        "--disallowedTools=WebFetch",
        "--mcp-config=/m.json",
        "--debug",
    ];
    assert_eq!(args(&options), expected);
}

#[test]
fn the_servers_of_a_file_are_shown_with_their_commands() {
    let servers = servers(br#"{"mcpServers": {"mine": {"command": "sh", "args": ["-c", "x y"]}}}"#).unwrap();
    assert_eq!(servers[0].name.as_deref(), Some("mine"));
    assert_eq!(servers[0].command, "sh -c 'x y'");
    for wrong in ["", "{", "[]", "{}", r#"{"mcpServers": []}"#] {
        assert!(super::servers(wrong.as_bytes()).is_err(), "{wrong}");
    }
}

#[test]
fn an_argument_that_the_program_does_not_know_is_named() {
    assert_eq!(
        unknown_argument("x\nerror: unknown option '--system-prompt-snapshot=off'\n"),
        Some("--system-prompt-snapshot")
    );
    assert_eq!(unknown_argument("error: something else"), None);
}
