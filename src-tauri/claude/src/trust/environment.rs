//! Environment variables that a folder sets for the agent and for every process that it runs.

use super::Findings;
use super::json::Json;
use crate::api::{FindingKind, Severity};

/// Variables that make a program load or start other code than its own. `*` stands for any ending.
const RUN_CODE: &[&str] = &[
    "PATH",
    "LD_*",
    "DYLD_*",
    "NODE_OPTIONS",
    "NODE_PATH",
    "BUN_*",
    "NPM_CONFIG_*",
    "SHELL",
    "BASH_ENV",
    "BASH_FUNC_*",
    "ENV",
    "ZDOTDIR",
    "PROMPT_COMMAND",
    "PS4",
    "IFS",
    "COMSPEC",
    "PATHEXT",
    "PSMODULEPATH",
    "GIT_*",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "MANPAGER",
    "PYTHON*",
    "PERL5*",
    "PERLLIB",
    "RUBY*",
    "GEM_*",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "CLASSPATH",
    "MAKEFLAGS",
    "RUSTC*",
    "CARGO*",
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "CLAUDE_CODE_SHELL*",
    "CLAUDE_CODE_PROCESS_WRAPPER",
    "CLAUDE_ENV_FILE",
    "RIPGREP_CONFIG_PATH",
];

/// Variables that decide where data and credentials are sent, and which certificates or hosts are trusted.
const LEAD_ELSEWHERE: &[&str] = &[
    "ANTHROPIC_*",
    "CLAUDE_*",
    "_CLAUDE_*",
    "CLAUDECODE*",
    "MCP_*",
    "AWS_*",
    "GOOGLE_*",
    "GCLOUD_*",
    "CLOUD_ML_*",
    "VERTEX_*",
    "AZURE_*",
    "OTEL_*",
    "SSL_CERT_*",
    "SSLKEYLOGFILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "HOME",
    "USERPROFILE",
    "XDG_*",
    "TMPDIR",
    "HOSTALIASES",
    "RESOLV_*",
    "KUBECONFIG",
    "DOCKER_*",
];

/// Variables that are known to be harmless: how much is printed, how long something may take, the language.
const HARMLESS: &[&str] = &[
    "BASH_DEFAULT_TIMEOUT_MS",
    "BASH_MAX_OUTPUT_LENGTH",
    "BASH_MAX_TIMEOUT_MS",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "DEBUG",
    "DISABLE_COST_WARNINGS",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LINES",
    "LOG_LEVEL",
    "MAX_MCP_OUTPUT_TOKENS",
    "MAX_THINKING_TOKENS",
    "NODE_ENV",
    "NO_COLOR",
    "PORT",
    "RAILS_ENV",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TZ",
];

const SENDS_KEY: &str = "Sends your API key elsewhere";

/// Adds findings for the variables in the value of `env`.
pub(super) fn find(found: &mut Findings, env: &Json) {
    let Json::Object(variables) = env else {
        let title = "Sets variables, in an unknown form";
        found.add(FindingKind::Environment, Severity::Redirects, title, env.text());
        return;
    };
    for (name, value) in variables {
        let (severity, title) = judge(name);
        let kind = if title == SENDS_KEY { FindingKind::ApiAddress } else { FindingKind::Environment };
        found.add(kind, severity, title, format!("{name} = {}", value.text()));
    }
}

/// Whether a variable is known to make programs run other code, to send data elsewhere or to change how the agent works.
pub(crate) fn is_dangerous(name: &str) -> bool {
    danger(&name.to_ascii_uppercase()).is_some()
}

fn judge(name: &str) -> (Severity, &'static str) {
    // `http_proxy` counts like `HTTP_PROXY`. On Windows every name ignores case.
    let name = name.to_ascii_uppercase();
    let unknown = match is_one_of(&name, HARMLESS) {
        true => (Severity::Changes, "Sets a variable"),
        false => (Severity::Runs, "May make programs run other code or send data"),
    };
    danger(&name).unwrap_or(unknown)
}

/// The known effect of a variable, in capital letters.
fn danger(name: &str) -> Option<(Severity, &'static str)> {
    let is_one_of = |patterns: &[&str]| is_one_of(name, patterns);
    if is_one_of(RUN_CODE) {
        return Some((Severity::Runs, "Makes programs run other code"));
    }
    let title = if is_one_of(&["ANTHROPIC_*", "CLAUDE_*"]) && leads_to_an_address(name) {
        SENDS_KEY
    } else if name.ends_with("_PROXY") {
        "Sends traffic through a proxy"
    } else if name.ends_with("_ENDPOINT") || name.ends_with("_URL") {
        "Sends data elsewhere"
    } else if is_one_of(&["SSL_CERT_*", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"]) {
        "Changes which certificates are trusted"
    } else if name == "NODE_TLS_REJECT_UNAUTHORIZED" {
        "Changes whether certificates are checked"
    } else if is_one_of(&["ANTHROPIC_*", "CLAUDE_*"])
        && ["_KEY", "_TOKEN", "_HEADERS"].iter().any(|end| name.ends_with(end))
    {
        "Replaces your API key"
    } else if is_one_of(LEAD_ELSEWHERE) {
        "Changes how the agent works or where it looks"
    } else {
        return None;
    };
    Some((Severity::Redirects, title))
}

fn is_one_of(name: &str, patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| matches(name, pattern))
}

fn leads_to_an_address(name: &str) -> bool {
    ["BASE_URL", "_HOST", "_ENDPOINT", "_SOCKET"].iter().any(|part| name.contains(part))
}

fn matches(name: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_judged_by_its_name() {
        let check = |name: &str, severity, title: &str| assert_eq!(judge(name), (severity, title), "{name}");
        check("ANTHROPIC_BASE_URL", Severity::Redirects, SENDS_KEY);
        check("ANTHROPIC_BEDROCK_BASE_URL", Severity::Redirects, SENDS_KEY);
        check("ANTHROPIC_UNIX_SOCKET", Severity::Redirects, SENDS_KEY);
        check("https_proxy", Severity::Redirects, "Sends traffic through a proxy");
        check("OTEL_EXPORTER_OTLP_ENDPOINT", Severity::Redirects, "Sends data elsewhere");
        check("ANTHROPIC_AUTH_TOKEN", Severity::Redirects, "Replaces your API key");
        check(
            "CLAUDE_CODE_USE_BEDROCK",
            Severity::Redirects,
            "Changes how the agent works or where it looks",
        );
        check("LD_PRELOAD", Severity::Runs, "Makes programs run other code");
        check("Path", Severity::Runs, "Makes programs run other code");
        check("GIT_SSH_COMMAND", Severity::Runs, "Makes programs run other code");
        check("RIPGREP_CONFIG_PATH", Severity::Runs, "Makes programs run other code");
        check("RUST_LOG", Severity::Changes, "Sets a variable");
        check("SOME_TOOLS_OWN", Severity::Runs, "May make programs run other code or send data");
    }
}
