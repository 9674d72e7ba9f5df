// Generated from src-tauri/acp/src/agents.rs and src-tauri/engine/src/launch.rs. Do not edit.

/** The agents that a profile can have by their name, without Claude Code. */
export const PROFILE_AGENTS: readonly { id: string; name: string }[] = [
  { id: "copilot", name: "Copilot CLI" },
  { id: "codex", name: "Codex" },
  { id: "codex-zed", name: "Codex (Zed's adapter)" },
  { id: "gemini", name: "Gemini CLI" },
  { id: "opencode", name: "opencode" },
  { id: "qwen", name: "Qwen Code" },
  { id: "claude-acp", name: "Claude Code (ACP adapter)" },
  { id: "auggie", name: "Auggie" },
  { id: "goose", name: "goose" },
  { id: "cursor", name: "Cursor CLI" },
  { id: "kimi", name: "Kimi CLI" },
  { id: "vibe", name: "Mistral Vibe" },
];

/** The command that logs in to Claude Code. */
export const CLAUDE_LOGIN = 'claude auth login';
