// Generated from src-tauri/api/src/settings.rs. Do not edit.
import type { SettingKey, Settings } from './api';

export const SETTING_KEYS: readonly SettingKey[] = [
  {
    "key": "theme",
    "section": "Appearance",
    "label": "Theme",
    "help": "Light or dark for every window",
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
    "section": "Appearance",
    "label": "Accent",
    "help": "Marks where you are and the next step",
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
    "section": "Appearance",
    "label": "Zoom",
    "help": "Size of everything; one window can differ with Ctrl + and Ctrl −",
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
    "key": "fonts.size",
    "section": "Appearance",
    "label": "Text size",
    "help": "The agent’s text; the rest follows",
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
    "section": "Appearance",
    "label": "Code size",
    "help": "Relative to text",
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
    "key": "fonts.interface",
    "section": "Appearance",
    "label": "Interface font",
    "help": "Families, separated by commas; the first that is installed counts",
    "description": "Families of the interface, separated by commas; the first that is installed counts.",
    "control": {
      "type": "text",
      "placeholder": "Inter"
    },
    "default": null
  },
  {
    "key": "fonts.code",
    "section": "Appearance",
    "label": "Code font",
    "help": "Families, separated by commas; the first that is installed counts",
    "description": "Families of code, separated by commas; the first that is installed counts.",
    "control": {
      "type": "text",
      "placeholder": "JetBrains Mono"
    },
    "default": null
  },
  {
    "key": "density",
    "section": "Appearance",
    "label": "Density",
    "help": "Space between things",
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
    "section": "Appearance",
    "label": "Dates and times",
    "help": "Language of dates; Deskbell itself stays English",
    "description": "Language of dates and times in the windows, as a language tag such as `de`, `en-US` or `en-GB-u-hc-h12`. `null` or `system` follows the system. The texts of Deskbell stay English.",
    "control": {
      "type": "text",
      "placeholder": "Follow the system"
    },
    "default": null
  },
  {
    "key": "asking",
    "section": "Asking",
    "label": "How requests reach you",
    "help": "The card is always in the conversation",
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
    "key": "agent.mode",
    "section": "Asking",
    "label": "Permission mode",
    "help": "What a new session may do before it asks",
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
    "key": "bell.needsYou.on",
    "section": "Notifications",
    "label": "Notify",
    "help": "Shows a notification",
    "description": "Show a notification.",
    "control": {
      "type": "toggle"
    },
    "default": true
  },
  {
    "key": "bell.needsYou.sound",
    "section": "Notifications",
    "label": "Sound",
    "help": "Plays the desktop’s sound for a message",
    "description": "Let the notification play the desktop's sound for a message.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "bell.needsYou.urgency",
    "section": "Notifications",
    "label": "Urgency",
    "help": "A critical notification stays until it is answered",
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
    "section": "Notifications",
    "label": "Run a command",
    "help": "A program of yours, for example to reach your phone",
    "description": "A program of yours with its arguments, for example to reach your phone. It runs whether or not a notification is shown, without a shell, for at most 30 seconds, and at most four at once. Its environment has `DESKBELL_EVENT` (`finished`, `failed` or `needsYou`), `DESKBELL_PROJECT` (the folder), `DESKBELL_SESSION` (the id), `DESKBELL_TITLE` and `DESKBELL_TEXT`.",
    "control": {
      "type": "command"
    },
    "default": null
  },
  {
    "key": "bell.failed.on",
    "section": "Notifications",
    "label": "Notify",
    "help": "Shows a notification",
    "description": "Show a notification.",
    "control": {
      "type": "toggle"
    },
    "default": true
  },
  {
    "key": "bell.failed.sound",
    "section": "Notifications",
    "label": "Sound",
    "help": "Plays the desktop’s sound for a message",
    "description": "Let the notification play the desktop's sound for a message.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "bell.failed.urgency",
    "section": "Notifications",
    "label": "Urgency",
    "help": "A critical notification stays until it is answered",
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
    "section": "Notifications",
    "label": "Run a command",
    "help": "A program of yours, for example to reach your phone",
    "description": "A program of yours with its arguments, for example to reach your phone. It runs whether or not a notification is shown, without a shell, for at most 30 seconds, and at most four at once. Its environment has `DESKBELL_EVENT` (`finished`, `failed` or `needsYou`), `DESKBELL_PROJECT` (the folder), `DESKBELL_SESSION` (the id), `DESKBELL_TITLE` and `DESKBELL_TEXT`.",
    "control": {
      "type": "command"
    },
    "default": null
  },
  {
    "key": "bell.finished.on",
    "section": "Notifications",
    "label": "Notify",
    "help": "Shows a notification",
    "description": "Show a notification.",
    "control": {
      "type": "toggle"
    },
    "default": true
  },
  {
    "key": "bell.finished.sound",
    "section": "Notifications",
    "label": "Sound",
    "help": "Plays the desktop’s sound for a message",
    "description": "Let the notification play the desktop's sound for a message.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "bell.finished.urgency",
    "section": "Notifications",
    "label": "Urgency",
    "help": "A critical notification stays until it is answered",
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
    "section": "Notifications",
    "label": "Run a command",
    "help": "A program of yours, for example to reach your phone",
    "description": "A program of yours with its arguments, for example to reach your phone. It runs whether or not a notification is shown, without a shell, for at most 30 seconds, and at most four at once. Its environment has `DESKBELL_EVENT` (`finished`, `failed` or `needsYou`), `DESKBELL_PROJECT` (the folder), `DESKBELL_SESSION` (the id), `DESKBELL_TITLE` and `DESKBELL_TEXT`.",
    "control": {
      "type": "command"
    },
    "default": null
  },
  {
    "key": "bell.foldAbove",
    "section": "Notifications",
    "label": "Combine above",
    "help": "More sessions than this share one notification",
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
    "section": "Agents",
    "label": "Claude Code path",
    "help": "The program of Claude Code",
    "description": "Path of the Claude Code program. Leave it empty (`null`) to find the program automatically.",
    "control": {
      "type": "text",
      "placeholder": "Find automatically"
    },
    "default": null
  },
  {
    "key": "agent.model",
    "section": "Agents",
    "label": "Model",
    "help": "For new sessions, by the agent’s name for it",
    "description": "Model of new sessions, by the agent's name for it, such as `opus`.",
    "control": {
      "type": "text",
      "placeholder": "Agent’s default"
    },
    "default": null
  },
  {
    "key": "agent.effort",
    "section": "Agents",
    "label": "Effort",
    "help": "For new sessions, if the model has it, such as low, medium or high",
    "description": "Effort of new sessions, such as `low`, `medium` or `high`, for models that have it.",
    "control": {
      "type": "text",
      "placeholder": "Agent’s default"
    },
    "default": null
  },
  {
    "key": "agent.priority",
    "section": "Agents",
    "label": "Priority",
    "help": "With Low, windows stay quick while an agent uses every processor",
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
    "key": "agent.generateTitles",
    "section": "Agents",
    "label": "Generate titles",
    "help": "Names a new session after its first answer; costs a few tokens",
    "description": "The agent generates a title for each new session after its first finished turn, once, unless you or the agent named the session before. A title takes a small call of the model, which counts like your own use. Only for agents that can do it, such as Claude Code. *Generate a title for this session* does it for one session.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "agent.profiles",
    "section": "Profiles",
    "label": "Profiles",
    "help": "Other accounts and other agents, for New session with…",
    "description": "Agents with their programs, configuration and choices under names, for *New session with…* and `deskbell relay --profile`: several accounts, or an agent that Deskbell does not know. Each is `{\"name\": …, \"agent\": …, \"command\": …, \"program\": …, \"environment\": […], \"model\": …, \"effort\": …, \"mode\": …, \"projects\": […]}`, all but the name optional. `agent` is one of the list of agents, such as `gemini`, and `command` any other agent that speaks the Agent Client Protocol, as `{\"program\": …, \"args\": […]}`; without both it is Claude Code. `environment` is a list of `{\"name\": …, \"value\": …}`, with `CLAUDE_CONFIG_DIR` or `CODEX_HOME` for example. New sessions of a profile's `projects` begin with it.",
    "control": {
      "type": "profiles"
    },
    "default": []
  },
  {
    "key": "closing",
    "section": "Sessions",
    "label": "Closing a window with work",
    "help": "What happens to the work in a window that you close",
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
    "key": "keepAwake",
    "section": "Sessions",
    "label": "Keep the computer awake while an agent works",
    "help": "The computer does not fall asleep during a turn",
    "description": "While a turn runs in a session on this computer, the computer does not fall asleep by itself. While sessions only wait for you it may. A closed lid, a shutdown and a sleep that you ask for are never held up. On Linux the desktop counts as used meanwhile, so its screen stays on.",
    "control": {
      "type": "toggle"
    },
    "default": true
  },
  {
    "key": "keepRunning",
    "section": "Sessions",
    "label": "Keep sessions running when Deskbell closes",
    "help": "New sessions go on when Deskbell closes, is updated or crashes",
    "description": "New sessions run in a server of your own, which goes on when Deskbell closes, is updated or crashes. Deskbell shows them again when it starts. `deskbell sessions running` lists them, and `deskbell sessions stop` ends them. A project can differ: *Keep sessions of this project running* chooses for its new sessions.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "agent.hibernateMinutes",
    "section": "Sessions",
    "label": "Hibernate after",
    "help": "Ends an idle agent; its session goes on with the next prompt. 0 is never",
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
    "key": "agent.presets",
    "section": "Sessions",
    "label": "Presets",
    "help": "Options of sessions under names, chosen in a session’s options",
    "description": "Options of sessions under names, chosen in a session's options. New sessions of a preset's `projects` begin with it. Each preset is `{\"name\": …, \"options\": {…}, \"projects\": […]}`; the options are those of `deskbell relay --options`.",
    "control": {
      "type": "presets"
    },
    "default": []
  },
  {
    "key": "keys",
    "section": "Keyboard",
    "label": "Keys",
    "help": "Keys of actions that you changed",
    "description": "Keys of actions, in place of their usual ones. Each is `{\"action\": \"new\", \"key\": \"Ctrl+Alt+N\"}`; `null` takes the action's keys away. On macOS, `Ctrl` is ⌘ and `Alt` is ⌥. The names of the actions are in the guide's list of keys.",
    "control": {
      "type": "keys"
    },
    "default": []
  },
  {
    "key": "tray",
    "section": "Advanced",
    "label": "Tray icon",
    "help": "Shows sessions that work or wait for you",
    "description": "An icon in the desktop's tray, or in the menu bar, with the sessions of all projects that work or wait for you. Where the desktop has no tray, nothing is shown.",
    "control": {
      "type": "toggle"
    },
    "default": true
  },
  {
    "key": "autostart",
    "section": "Advanced",
    "label": "Start at login",
    "help": "Starts without a window when you log in",
    "description": "Deskbell starts when you log in, without a window and without an agent: only its tray icon is shown, and sessions that kept running can call you. Where there is no tray icon nothing is shown. Starting Deskbell again opens its windows. Not on Windows yet.",
    "control": {
      "type": "toggle"
    },
    "default": false
  },
  {
    "key": "editor",
    "section": "Advanced",
    "label": "Editor",
    "help": "The program that opens files",
    "description": "The program that opens files, with its arguments: `{file}` in them is the file's path, and `{line}` the line. Without `{file}` the path is the last argument. No shell reads them. An editor that runs in a terminal needs one: `kitty` with `vim`, `+{line}` and `{file}`. Without this setting the first well-known editor that is installed is used, and without one the desktop's editor for text.",
    "control": {
      "type": "command"
    },
    "default": null
  },
  {
    "key": "terminal",
    "section": "Advanced",
    "label": "Terminal",
    "help": "The program that opens a terminal",
    "description": "The program that opens a terminal with a command, for “Open in terminal” and the agent's login, with its arguments: `{command}` as one of them is replaced by the command and its own arguments, and `{folder}` in one by the folder that the terminal starts in. Without `{command}` the command comes last. No shell reads them: `gnome-terminal` with `--`, for example. Without this setting the terminal of `TERMINAL` or of the desktop is used, or the first well-known one that is installed.",
    "control": {
      "type": "command"
    },
    "default": null
  },
  {
    "key": "log",
    "section": "Advanced",
    "label": "Log",
    "help": "How much is logged; never the text of conversations",
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
  }
];

export const DEFAULT_SETTINGS: Settings = {
  "theme": "system",
  "accent": "gold",
  "zoom": 100,
  "fonts": {
    "size": 14,
    "codeSize": 88,
    "interface": null,
    "code": null
  },
  "density": "comfortable",
  "dates": null,
  "asking": "dialogAndCard",
  "bell": {
    "needsYou": {
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
    "finished": {
      "on": true,
      "sound": false,
      "urgency": "normal",
      "command": null
    },
    "foldAbove": 3
  },
  "closing": "ask",
  "keepAwake": true,
  "keepRunning": false,
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
  "keys": [],
  "tray": true,
  "autostart": false,
  "editor": null,
  "terminal": null,
  "log": "warn"
};
