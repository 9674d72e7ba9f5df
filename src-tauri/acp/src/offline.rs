//! How an agent is sent to a model on loopback, in a home folder that is empty otherwise: for the test of whether it asks.

/// Variables and files that do it. `{url}` is the address of the model's API, without a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offline {
    pub environment: &'static [(&'static str, &'static str)],
    /// Files of the home folder, by their path in it.
    pub files: &'static [(&'static str, &'static str)],
}

pub const COPILOT: Offline = Offline {
    environment: &[
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_PROVIDER_BASE_URL", "{url}/v1"),
        ("COPILOT_PROVIDER_API_KEY", "deskbell-doctor"),
        ("COPILOT_MODEL", "doctor-1"),
    ],
    files: &[],
};

pub const CODEX: Offline = Offline {
    environment: &[("OPENAI_API_KEY", "deskbell-doctor")],
    files: &[(
        ".codex/config.toml",
        r#"model = "gpt-5.1-codex"
model_provider = "doctor"

[model_providers.doctor]
name = "doctor"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"#,
    )],
};

pub const GEMINI: Offline = Offline {
    environment: &[
        ("GEMINI_API_KEY", "deskbell-doctor"),
        ("GOOGLE_GEMINI_BASE_URL", "{url}"),
        // Another model than the default: that one is chosen by a request of its own.
        ("GEMINI_MODEL", "gemini-2.5-pro"),
    ],
    files: &[(
        ".gemini/settings.json",
        r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}, "general": {"disableAutoUpdate": true}}"#,
    )],
};

/// Its own configuration says whether it asks. This one is its default, which allows everything.
pub const OPENCODE: Offline = Offline {
    environment: &[("OPENCODE_DISABLE_MODELS_FETCH", "1"), ("OPENCODE_DISABLE_AUTOUPDATE", "1")],
    files: &[(
        ".config/opencode/opencode.json",
        r#"{"model": "doctor/doctor-1", "provider": {"doctor": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "{url}/v1", "apiKey": "deskbell-doctor"}, "models": {"doctor-1": {"name": "doctor-1"}}}}}"#,
    )],
};

pub const QWEN: Offline = Offline {
    environment: &[
        ("OPENAI_API_KEY", "deskbell-doctor"),
        ("OPENAI_BASE_URL", "{url}/v1"),
        ("OPENAI_MODEL", "doctor-1"),
    ],
    files: &[(".qwen/settings.json", r#"{"security": {"auth": {"selectedType": "openai"}}}"#)],
};

pub const CLAUDE: Offline = Offline {
    environment: &[
        ("ANTHROPIC_BASE_URL", "{url}"),
        ("ANTHROPIC_API_KEY", "deskbell-doctor"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
    ],
    files: &[],
};
