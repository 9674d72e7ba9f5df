// Generated from src-tauri/api/src/settings.rs. Do not edit.
import type { SettingKey, Settings } from './api';

export const SETTING_KEYS: readonly SettingKey[] = [
  {
    "key": "theme",
    "group": null,
    "label": "Theme",
    "description": "Colours of the windows.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": "system",
          "label": "Follow the system"
        },
        {
          "value": "light",
          "label": "Light"
        },
        {
          "value": "dark",
          "label": "Dark"
        }
      ]
    },
    "default": "system"
  },
  {
    "key": "accent",
    "group": null,
    "label": "Accent colour",
    "description": "Colour of the main buttons, links, focus marks, chosen rows and progress in the windows. Colours that mean something, such as those of failures, waiting requests and changed lines, stay as they are, and so do exported conversations and the desktop's own dialogs.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": "gold",
          "label": "Gold"
        },
        {
          "value": "blue",
          "label": "Blue"
        },
        {
          "value": "green",
          "label": "Green"
        },
        {
          "value": "purple",
          "label": "Purple"
        },
        {
          "value": "rose",
          "label": "Rose"
        },
        {
          "value": "grey",
          "label": "Grey"
        }
      ]
    },
    "default": "gold"
  },
  {
    "key": "zoom",
    "group": null,
    "label": "Zoom",
    "description": "Size of everything in a window. *Zoom in* and *Zoom out* change it for the window of one project, which is remembered for that project; *Reset zoom* follows this setting again.",
    "control": {
      "type": "number",
      "min": 50,
      "max": 200,
      "unit": "%"
    },
    "default": 100
  },
  {
    "key": "density",
    "group": null,
    "label": "Density",
    "description": "Space around the parts of a window.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": "comfortable",
          "label": "Comfortable"
        },
        {
          "value": "compact",
          "label": "Compact"
        }
      ]
    },
    "default": "comfortable"
  },
  {
    "key": "dates",
    "group": null,
    "label": "Dates and times",
    "description": "Language of dates and times in the windows, as a language tag such as `de`, `en-US` or `en-GB-u-hc-h12`. `null` or `system` follows the system. The texts of Deskbell stay English.",
    "control": {
      "type": "text",
      "placeholder": "Follow the system"
    },
    "default": null
  },
  {
    "key": "asking",
    "group": null,
    "label": "Permission requests",
    "description": "How a permission request gets your attention. Its card is always in the conversation.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": "dialogAndCard",
          "label": "Dialog and conversation"
        },
        {
          "value": "card",
          "label": "Conversation only"
        },
        {
          "value": "dialogWhenAway",
          "label": "Dialog only when the window is not in front"
        }
      ]
    },
    "default": "dialogAndCard"
  },
  {
    "key": "closing",
    "group": null,
    "label": "Closing a window with work",
    "description": "What happens to the work in a window that you close. In the background it goes on without the window, and a click on a notification or a second start of Deskbell brings the window back.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": "ask",
          "label": "Ask"
        },
        {
          "value": "stop",
          "label": "Stop the work"
        },
        {
          "value": "background",
          "label": "Keep working in the background"
        }
      ]
    },
    "default": "ask"
  },
  {
    "key": "tray",
    "group": null,
    "label": "Tray icon",
    "description": "An icon in the desktop's tray, or in the menu bar, with the sessions of all projects that work or wait for you. Where the desktop has no tray, nothing is shown.",
    "control": {
      "type": "toggle"
    },
    "default": true
  },
  {
    "key": "autostart",
    "group": null,
    "label": "Start at login",
    "description": "Deskbell starts when you log in, without a window and without an agent: only its tray icon is shown, and sessions that kept running can call you. Where there is no tray icon nothing is shown. Starting Deskbell again opens its windows. Not on Windows yet.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "keepAwake",
    "group": null,
    "label": "Keep the computer awake while an agent works",
    "description": "While a turn runs in a session on this computer, the computer does not fall asleep by itself. While sessions only wait for you it may. A closed lid, a shutdown and a sleep that you ask for are never held up. On Linux the desktop counts as used meanwhile, so its screen stays on.",
    "control": {
      "type": "toggle"
    },
    "default": true
  },
  {
    "key": "keepRunning",
    "group": null,
    "label": "Keep sessions running when Deskbell closes",
    "description": "New sessions run in a server of your own, which goes on when Deskbell closes, is updated or crashes. Deskbell shows them again when it starts. `deskbell sessions running` lists them, and `deskbell sessions stop` ends them. A project can differ: *Keep sessions of this project running* chooses for its new sessions.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "editor",
    "group": null,
    "label": "Editor",
    "description": "The program that opens files, with its arguments: `{file}` in them is the file's path, and `{line}` the line. Without `{file}` the path is the last argument. No shell reads them. An editor that runs in a terminal needs one: `kitty` with `vim`, `+{line}` and `{file}`. Without this setting the first well-known editor that is installed is used, and without one the desktop's editor for text.",
    "control": {
      "type": "command"
    },
    "default": null
  },
  {
    "key": "terminal",
    "group": null,
    "label": "Terminal",
    "description": "The program that opens a terminal with a command, for “Open in terminal” and the agent's login, with its arguments: `{command}` as one of them is replaced by the command and its own arguments, and `{folder}` in one by the folder that the terminal starts in. Without `{command}` the command comes last. No shell reads them: `gnome-terminal` with `--`, for example. Without this setting the terminal of `TERMINAL` or of the desktop is used, or the first well-known one that is installed.",
    "control": {
      "type": "command"
    },
    "default": null
  },
  {
    "key": "keys",
    "group": null,
    "label": "Keys",
    "description": "Keys of actions, in place of their usual ones. Each is `{\"action\": \"new\", \"key\": \"Ctrl+Alt+N\"}`; `null` takes the action's keys away. On macOS, `Ctrl` is ⌘ and `Alt` is ⌥. The names of the actions are in the guide's list of keys.",
    "control": {
      "type": "keys"
    },
    "default": []
  },
  {
    "key": "log",
    "group": null,
    "label": "Log",
    "description": "How much is logged, on stderr and in files in Deskbell's data folder. The text of conversations never is. `DESKBELL_LOG` counts before this setting.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": "error",
          "label": "Errors"
        },
        {
          "value": "warn",
          "label": "Errors and warnings"
        },
        {
          "value": "info",
          "label": "What each session does"
        },
        {
          "value": "debug",
          "label": "More of it"
        },
        {
          "value": "trace",
          "label": "Everything"
        }
      ]
    },
    "default": "warn"
  },
  {
    "key": "fonts.interface",
    "group": "Fonts",
    "label": "Interface font",
    "description": "Families of the interface, separated by commas; the first that is installed counts.",
    "control": {
      "type": "text",
      "placeholder": "Inter"
    },
    "default": null
  },
  {
    "key": "fonts.code",
    "group": "Fonts",
    "label": "Code font",
    "description": "Families of code, separated by commas; the first that is installed counts.",
    "control": {
      "type": "text",
      "placeholder": "JetBrains Mono"
    },
    "default": null
  },
  {
    "key": "fonts.size",
    "group": "Fonts",
    "label": "Font size",
    "description": "Size of the agent's text. The other sizes follow it.",
    "control": {
      "type": "number",
      "min": 10,
      "max": 24,
      "unit": "px"
    },
    "default": 14
  },
  {
    "key": "fonts.codeSize",
    "group": "Fonts",
    "label": "Code size",
    "description": "Relative to text: code looks larger than text of the same size.",
    "control": {
      "type": "number",
      "min": 70,
      "max": 120,
      "unit": "%"
    },
    "default": 88
  },
  {
    "key": "bell.finished.on",
    "group": "Bell · When a session finishes",
    "label": "Notification",
    "description": "Show a notification.",
    "control": {
      "type": "toggle"
    },
    "default": true
  },
  {
    "key": "bell.finished.sound",
    "group": "Bell · When a session finishes",
    "label": "Sound",
    "description": "Let the notification play the desktop's sound for a message.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "bell.finished.urgency",
    "group": "Bell · When a session finishes",
    "label": "Urgency",
    "description": "Urgency of the notification. Desktops show a critical one until it is answered, also in do not disturb.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": "low",
          "label": "Low"
        },
        {
          "value": "normal",
          "label": "Normal"
        },
        {
          "value": "critical",
          "label": "Critical"
        }
      ]
    },
    "default": "normal"
  },
  {
    "key": "bell.finished.command",
    "group": "Bell · When a session finishes",
    "label": "Command",
    "description": "A program of yours with its arguments, for example to reach your phone. It runs whether or not a notification is shown, without a shell, for at most 30 seconds, and at most four at once. Its environment has `DESKBELL_EVENT` (`finished`, `failed` or `needsYou`), `DESKBELL_PROJECT` (the folder), `DESKBELL_SESSION` (the id), `DESKBELL_TITLE` and `DESKBELL_TEXT`.",
    "control": {
      "type": "command"
    },
    "default": null
  },
  {
    "key": "bell.failed.on",
    "group": "Bell · When a session fails",
    "label": "Notification",
    "description": "Show a notification.",
    "control": {
      "type": "toggle"
    },
    "default": true
  },
  {
    "key": "bell.failed.sound",
    "group": "Bell · When a session fails",
    "label": "Sound",
    "description": "Let the notification play the desktop's sound for a message.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "bell.failed.urgency",
    "group": "Bell · When a session fails",
    "label": "Urgency",
    "description": "Urgency of the notification. Desktops show a critical one until it is answered, also in do not disturb.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": "low",
          "label": "Low"
        },
        {
          "value": "normal",
          "label": "Normal"
        },
        {
          "value": "critical",
          "label": "Critical"
        }
      ]
    },
    "default": "normal"
  },
  {
    "key": "bell.failed.command",
    "group": "Bell · When a session fails",
    "label": "Command",
    "description": "A program of yours with its arguments, for example to reach your phone. It runs whether or not a notification is shown, without a shell, for at most 30 seconds, and at most four at once. Its environment has `DESKBELL_EVENT` (`finished`, `failed` or `needsYou`), `DESKBELL_PROJECT` (the folder), `DESKBELL_SESSION` (the id), `DESKBELL_TITLE` and `DESKBELL_TEXT`.",
    "control": {
      "type": "command"
    },
    "default": null
  },
  {
    "key": "bell.needsYou.on",
    "group": "Bell · When a session needs you",
    "label": "Notification",
    "description": "Show a notification.",
    "control": {
      "type": "toggle"
    },
    "default": true
  },
  {
    "key": "bell.needsYou.sound",
    "group": "Bell · When a session needs you",
    "label": "Sound",
    "description": "Let the notification play the desktop's sound for a message.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "bell.needsYou.urgency",
    "group": "Bell · When a session needs you",
    "label": "Urgency",
    "description": "Urgency of the notification. Desktops show a critical one until it is answered, also in do not disturb.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": "low",
          "label": "Low"
        },
        {
          "value": "normal",
          "label": "Normal"
        },
        {
          "value": "critical",
          "label": "Critical"
        }
      ]
    },
    "default": "normal"
  },
  {
    "key": "bell.needsYou.command",
    "group": "Bell · When a session needs you",
    "label": "Command",
    "description": "A program of yours with its arguments, for example to reach your phone. It runs whether or not a notification is shown, without a shell, for at most 30 seconds, and at most four at once. Its environment has `DESKBELL_EVENT` (`finished`, `failed` or `needsYou`), `DESKBELL_PROJECT` (the folder), `DESKBELL_SESSION` (the id), `DESKBELL_TITLE` and `DESKBELL_TEXT`.",
    "control": {
      "type": "command"
    },
    "default": null
  },
  {
    "key": "bell.foldAbove",
    "group": "Bell",
    "label": "Combine above",
    "description": "If more sessions than this wait for you, one notification names them all.",
    "control": {
      "type": "number",
      "min": 1,
      "max": 20,
      "unit": "sessions"
    },
    "default": 3
  },
  {
    "key": "agent.program",
    "group": "Agent",
    "label": "Claude Code path",
    "description": "Path of the Claude Code program. Leave it empty (`null`) to find the program automatically.",
    "control": {
      "type": "text",
      "placeholder": "Find automatically"
    },
    "default": null
  },
  {
    "key": "agent.model",
    "group": "Agent",
    "label": "Model",
    "description": "Model of new sessions, by the agent's name for it, such as `opus`.",
    "control": {
      "type": "text",
      "placeholder": "Agent’s default"
    },
    "default": null
  },
  {
    "key": "agent.mode",
    "group": "Agent",
    "label": "Permission mode",
    "description": "Permission mode of new sessions. Running without permission checks is chosen for one start of an agent, never here.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": null,
          "label": "Agent’s default"
        },
        {
          "value": "default",
          "label": "Ask before anything that changes a file, runs a command or accesses the network."
        },
        {
          "value": "acceptEdits",
          "label": "Change files without asking."
        },
        {
          "value": "plan",
          "label": "Read and plan, and change nothing."
        },
        {
          "value": "dontAsk",
          "label": "Deny what would otherwise be asked."
        },
        {
          "value": "auto",
          "label": "The model decides what needs permission."
        }
      ]
    },
    "default": null
  },
  {
    "key": "agent.effort",
    "group": "Agent",
    "label": "Effort",
    "description": "Effort of new sessions, such as `low`, `medium` or `high`, for models that have it.",
    "control": {
      "type": "text",
      "placeholder": "Agent’s default"
    },
    "default": null
  },
  {
    "key": "agent.priority",
    "group": "Agent",
    "label": "Priority",
    "description": "Share of the processors that agents, and all that they start, get while every processor is busy: with `low`, windows stay quick to type and to scroll in while an agent compiles. It counts from the next start of an agent.",
    "control": {
      "type": "choice",
      "options": [
        {
          "value": "low",
          "label": "Low"
        },
        {
          "value": "normal",
          "label": "Normal"
        }
      ]
    },
    "default": "low"
  },
  {
    "key": "agent.hibernateMinutes",
    "group": "Agent",
    "label": "Hibernate after",
    "description": "Idle time after which an agent's process ends; its session continues with the next prompt. 0 is never.",
    "control": {
      "type": "number",
      "min": 0,
      "max": 10080,
      "unit": "minutes"
    },
    "default": 30
  },
  {
    "key": "agent.generateTitles",
    "group": "Agent",
    "label": "Generate titles",
    "description": "The agent generates a title for each new session after its first finished turn, once, unless you or the agent named the session before. A title takes a small call of the model, which counts like your own use. Only for agents that can do it, such as Claude Code. *Generate a title for this session* does it for one session.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "agent.presets",
    "group": "Agent",
    "label": "Presets",
    "description": "Options of sessions under names, chosen in a session's options. New sessions of a preset's `projects` begin with it. Each preset is `{\"name\": …, \"options\": {…}, \"projects\": […]}`; the options are those of `deskbell relay --options`.",
    "control": {
      "type": "presets"
    },
    "default": []
  },
  {
    "key": "agent.profiles",
    "group": "Agent",
    "label": "Profiles",
    "description": "Agents with their programs, configuration and choices under names, for *New session with…* and `deskbell relay --profile`: several accounts, or an agent that Deskbell does not know. Each is `{\"name\": …, \"agent\": …, \"command\": …, \"program\": …, \"environment\": […], \"model\": …, \"effort\": …, \"mode\": …, \"projects\": […]}`, all but the name optional. `agent` is one of the list of agents, such as `gemini`, and `command` any other agent that speaks the Agent Client Protocol, as `{\"program\": …, \"args\": […]}`; without both it is Claude Code. `environment` is a list of `{\"name\": …, \"value\": …}`, with `CLAUDE_CONFIG_DIR` or `CODEX_HOME` for example. New sessions of a profile's `projects` begin with it.",
    "control": {
      "type": "profiles"
    },
    "default": []
  }
];

export const DEFAULT_SETTINGS: Settings = {
  "theme": "system",
  "accent": "gold",
  "zoom": 100,
  "density": "comfortable",
  "fonts": {
    "interface": null,
    "code": null,
    "size": 14,
    "codeSize": 88
  },
  "dates": null,
  "asking": "dialogAndCard",
  "bell": {
    "finished": {
      "on": true,
      "sound": false,
      "urgency": "normal",
      "command": null
    },
    "failed": {
      "on": true,
      "sound": false,
      "urgency": "normal",
      "command": null
    },
    "needsYou": {
      "on": true,
      "sound": false,
      "urgency": "normal",
      "command": null
    },
    "foldAbove": 3
  },
  "agent": {
    "program": null,
    "model": null,
    "mode": null,
    "effort": null,
    "priority": "low",
    "hibernateMinutes": 30,
    "generateTitles": false,
    "presets": [],
    "profiles": []
  },
  "closing": "ask",
  "tray": true,
  "autostart": false,
  "keepAwake": true,
  "keepRunning": false,
  "editor": null,
  "terminal": null,
  "keys": [],
  "log": "warn"
};
