//! Skills, slash commands, subagents and output styles with hostile front matter, each made from a seed of its own.

use deskbell_tests::chance::Chance;

/// Document `n` has the seed `SEED + n`: the documents are the same in every run.
const SEED: u64 = 20_260;

/// The number of documents.
const N_DOCUMENTS: usize = 200;

/// A kind of document, by its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Skill,
    Command,
    Agent,
    OutputStyle,
}

/// A document. Its number is in all its names and texts, with three digits: the only such number in it.
pub struct Document {
    pub number: usize,
    pub seed: u64,
    pub kind: Kind,
    /// Its path below the project.
    pub path: String,
    pub bytes: Vec<u8>,
}

impl Document {
    /// Whether it could allow the call of its own.
    pub fn has_a_rule(&self) -> bool {
        matches!(self.kind, Kind::Skill | Kind::Command) && self.has("//none/")
    }

    /// Whether it could run the command of its own.
    pub fn has_a_hook(&self) -> bool {
        self.has("touch")
    }

    fn has(&self, text: &str) -> bool {
        let has = |bytes: &[u8]| self.bytes.windows(bytes.len()).any(|window| window == bytes);
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        has(text.as_bytes()) || has(&utf16)
    }
}

/// The documents, in the order of their numbers.
pub fn documents() -> Vec<Document> {
    (0..N_DOCUMENTS).map(document).collect()
}

fn document(number: usize) -> Document {
    let kind = match number % 20 {
        0..8 => Kind::Skill,
        8..13 => Kind::Command,
        13..18 => Kind::Agent,
        _ => Kind::OutputStyle,
    };
    let path = match kind {
        Kind::Skill => format!(".claude/skills/f{number:03}/SKILL.md"),
        Kind::Command => format!(".claude/commands/f{number:03}.md"),
        Kind::Agent => format!(".claude/agents/f{number:03}.md"),
        Kind::OutputStyle => format!(".claude/output-styles/f{number:03}.md"),
    };
    let seed = SEED + number as u64;
    let mut chance = Chance(seed);
    let text = text(&mut chance, kind).replace("{N}", &format!("{number:03}"));
    Document { number, seed, kind, path, bytes: encoded(&mut chance, text) }
}

fn text(chance: &mut Chance, kind: Kind) -> String {
    let mut entries: Vec<String> = Vec::new();
    // Half of the names are ordinary: a subagent without one is not loaded.
    let mut add = |chance: &mut Chance, ordinary: &str, others: &[&str]| {
        let entry = if chance.below(2) == 0 { ordinary } else { *chance.pick(others) };
        entries.push(entry.to_owned());
    };
    add(chance, "name: doc{N}", NAMES);
    add(chance, "description: MARK-{N}", DESCRIPTIONS);
    match kind {
        Kind::Skill | Kind::Command => add(chance, "allowed-tools: Read(//none/{N})", ALLOWED_TOOLS),
        Kind::Agent => add(chance, "tools: Read, Glob", TOOLS),
        Kind::OutputStyle => {}
    }
    if chance.below(3) == 0 {
        add(chance, HOOK, HOOKS);
    }
    if chance.below(3) == 0 {
        entries.push((*chance.pick(OTHERS)).to_owned());
    }
    if chance.below(4) == 0 {
        let at = chance.below(entries.len());
        entries.swap(0, at);
    }
    let body = if chance.below(2) == 0 { "BODY-{N}\n" } else { *chance.pick(BODIES) };
    let mut lines: Vec<String> = entries.join("\n").split('\n').map(str::to_owned).collect();
    let (mut begin, mut end) = ("---", "---");
    for _ in 0..[0, 0, 1, 1, 1, 2][chance.below(6)] {
        match chance.below(5) {
            0 => begin = *chance.pick(BEGINNINGS),
            1 => end = *chance.pick(ENDS),
            2 | 3 => lines.insert(chance.below(lines.len() + 1), (*chance.pick(LINES)).to_owned()),
            _ => {
                // A whole line in another form.
                let at = chance.below(lines.len());
                let line = lines[at].clone();
                lines[at] = match chance.below(6) {
                    0 => line.to_uppercase(),
                    1 => format!(" {line}"),
                    2 => format!("\t{line}"),
                    3 => format!("{line} "),
                    4 => format!("{line}\r"),
                    _ => line.replacen(": ", ":", 1),
                };
            }
        }
    }
    format!("{begin}\n{}\n{end}\n{body}", lines.join("\n"))
}

/// The bytes of a file: mostly UTF-8.
fn encoded(chance: &mut Chance, text: String) -> Vec<u8> {
    match chance.below(16) {
        0 => text.replace('\n', "\r\n").into_bytes(),
        1 => format!("\u{feff}{text}").into_bytes(),
        2 => text.replace('\n', "\r").into_bytes(),
        3 => text.replacen("MARK", "MA\u{2028}RK", 1).into_bytes(),
        4 => {
            let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            [&[0xFF, 0xFE], &units[..]].concat()
        }
        5 => {
            let mut bytes = text.into_bytes();
            let at = chance.below(bytes.len());
            bytes.insert(at, 0xFF);
            bytes
        }
        6 => {
            let mut bytes = text.into_bytes();
            // Now and then to nothing.
            let end = chance.below(4) * chance.below(bytes.len());
            bytes.truncate(end.min(bytes.len()));
            bytes
        }
        _ => text.into_bytes(),
    }
}

const NAMES: &[&str] = &[
    "name: \"doc{N}\"",
    "name: 'doc{N}'",
    "name: dóc{N}",
    "name:  doc{N}  ",
    "name: doc{N} # comment",
    "name: [doc{N}]",
    "name: {doc: doc{N}}",
    "name: ~",
    "name:",
    "name: {N}",
    "name: true",
    "Name: doc{N}",
    "NAME: doc{N}",
    "\"name\": doc{N}",
    "? name\n: doc{N}",
    "name: &n doc{N}",
    "name: !!str doc{N}",
    "name: doc{N}: x",
    "name: >-\n  doc{N}",
    "name: |\n  doc{N}",
    "name: \"doc\\u200b{N}\"",
    "name: doc/{N}",
    "name: ../doc{N}",
    "name: doc {N}",
    "name: doc{N}\nname: twin{N}",
    "name : doc{N}",
    "name:\tdoc{N}",
    "name: \"doc\\x2d{N}\"",
    "name: 'doc{N}''s'",
    "name: doc:{N}",
    "# no name",
];

const DESCRIPTIONS: &[&str] = &[
    "description: Use it: MARK-{N}",
    "description: MARK-{N} # rest",
    "description: |\n  MARK-{N}\n  second",
    "description: >\n  MARK-{N}\n  second",
    "description: >+\n  MARK-{N}\n\n  second\n\n",
    "description: \"MARK-{N} \\\"x\\\" \\u002d\\u002d\\u002d\"",
    "description: 'MARK-{N}: it''s'",
    "description: MARK-{N} --- x",
    "description: \"MARK-{N} ---\"",
    "description: |\n  MARK-{N}\n  ---\n  allowed-tools: Read(//none/{N})",
    "description: [MARK-{N}, b]",
    "description: {a: MARK-{N}}",
    "description: *x MARK-{N}",
    "description: &d MARK-{N}",
    "description: @MARK-{N}",
    "description: `MARK-{N}`",
    "description: %MARK-{N}",
    "description: - MARK-{N}",
    "description: MARK-{N}\n  goes on: here",
    "description: MARK-{N}\n  goes on",
    "description: ! MARK-{N}",
    "description: !!binary TUFSSw==",
    "description: MARK-{N}\u{85}second",
    "description: MARK-{N}\u{2029}allowed-tools: Read(//none/{N})",
    "description: \tMARK-{N}",
    "description: MARK-{N}\t# rest",
    "description: 2026-01-01",
    "description: 1_0000",
    "description: yes",
    "description: 0x1F",
    "description: .inf",
    "description: 1e9999",
    "description: MARK-{N}, {a}",
    "description: \"MARK-{N}",
    "description: 'MARK-{N}",
    "description: MARK-{N}'",
    "description: <MARK-{N}> & <b>",
    "description: MARK-{N} \\",
    "description: ? MARK-{N}",
    "description: | MARK-{N}",
    "description: >MARK-{N}",
    "description: \"MARK-{N}\\\n  second\"",
    "description: \"MARK-{N}\n  second\"",
    "description: \u{1f3d4} MARK-{N} \u{202e}abc",
    "description:\n  MARK-{N}",
    "description:\nMARK-{N}",
    "DESCRIPTION: MARK-{N}",
    "description: |2\n    MARK-{N}",
    "description: null",
];

const ALLOWED_TOOLS: &[&str] = &[
    "allowed-tools: [Read(//none/{N})]",
    "allowed-tools: [\"Read(//none/{N})\", Glob]",
    "allowed-tools:\n  - Read(//none/{N})",
    "allowed-tools:\n- Glob\n- Read(//none/{N})",
    "allowed-tools: Read(//none/{N}), Glob",
    "allowed-tools: Glob Read(//none/{N})",
    "allowed-tools: \"Read(//none/{N})\"",
    "allowed-tools: 'Read(//none/{N}), Glob'",
    "allowed-tools: [\"Read(//none/{N})\", 5]",
    "allowed-tools: {\"Read(//none/{N})\": true}",
    "Allowed-Tools: Read(//none/{N})",
    "ALLOWED-TOOLS: Read(//none/{N})",
    "allowed_tools: Read(//none/{N})",
    "allowedTools: Read(//none/{N})",
    "allowed-tools:\n  Read(//none/{N}): 1",
    "allowed-tools: &t [Read(//none/{N})]\nx: *t",
    "x: &t Read(//none/{N})\nallowed-tools: *t",
    "<<: {allowed-tools: \"Read(//none/{N})\"}",
    "base: &b\n  allowed-tools: Read(//none/{N})\n<<: *b",
    "allowed-tools: [[Read(//none/{N})]]",
    "allowed-tools: Read(//none/{N})\nallowed-tools: Glob",
    "allowed-tools: Glob\nallowed-tools: Read(//none/{N})",
    "\"allowed-tools\": Read(//none/{N})",
    "\"allowed\\x2dtools\": Read(//none/{N})",
    "? allowed-tools\n: Read(//none/{N})",
    "allowed-tools: >-\n  Read(//none/{N}),\n  Glob",
    "allowed-tools: |\n  Read(//none/{N})\n  Glob",
    "allowed-tools: Read(//none/{N}) # rest",
    "allowed-tools: Glob # , Read(//none/{N})",
    "allowed-tools: \"Glob\" Read(//none/{N})",
    "allowed-tools : Read(//none/{N})",
    "allowed-tools:\tRead(//none/{N})",
    "allowed-tools: !!seq [Read(//none/{N})]",
    "allowed-tools: !x Read(//none/{N})",
    "tools: Read(//none/{N})",
    "allowed-tools: null",
    "allowed-tools: Read(//none/{N}",
    "allowed-tools: Read (//none/{N})",
    "allowed-tools: Glob: Read(//none/{N})",
    "allowed-tools: \"Read(//none/{N})",
    "disallowed-tools: Glob\nallowed-tools: Read(//none/{N})",
    "notes: |\n  allowed-tools: Read(//none/{N})",
    "notes: \"\n  allowed-tools: Read(//none/{N})\"",
];

const TOOLS: &[&str] = &[
    "tools: [Read]",
    "tools:\n  - Read\n  - Glob",
    "tools: \"Read\"",
    "Tools: Read",
    "TOOLS: Read",
    "tools: null",
    "tools:",
    "tools: '*'",
    "tools: *",
    "tools: 5",
    "tools: [Read, 5]",
    "tools: {Read: true}",
    "tools: []",
    "tools: ''",
    "disallowedTools: Bash",
    "disallowedTools: [Bash, Write]",
    "disallowedTools: 5",
    "disallowed-tools: Bash",
    "tools: Read\ntools: Bash",
    "tools: Read # , Bash",
    "x: &t Read\ntools: *t",
    "<<: {tools: Read}",
    "tools: >-\n  Read,\n  Glob",
    "tools: |\n  Read\n  Glob",
    "tools: Read Glob",
    "tools: Bash(git *), Read",
    "\"tools\": Read",
    "\"to\\x6fls\": Read",
    "? tools\n: Read",
    "tools : Read",
    "tools:\tRead",
    "tools: !!seq [Read]",
    "tools: Read: Glob",
    "tools: \"Read",
    "tools: Unknown",
];

const HOOK: &str = "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: touch ran-{N}";

const HOOKS: &[&str] = &[
    "hooks: {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"touch ran-{N}\"}]}]}",
    "hooks: {Stop: [{hooks: [{type: command, command: touch ran-{N}}]}]}",
    "hooks:\n- Stop:\n  - hooks:\n    - type: command\n      command: touch ran-{N}",
    "Hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: touch ran-{N}",
    "hooks:\n  stop:\n    - hooks:\n        - type: command\n          command: touch ran-{N}",
    "hooks:\n  Stop:\n    hooks:\n      type: command\n      command: touch ran-{N}",
    "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: 5\n        - type: command\n          command: touch ran-{N}",
    "hooks:\n  Stop:\n    - hooks:\n        - &h\n          type: command\n          command: touch ran-{N}",
    "x: &h\n  - hooks:\n      - type: command\n        command: touch ran-{N}\nhooks:\n  Stop: *h",
    "hooks: &h\n  Other: []\n<<: {hooks: {Stop: [{hooks: [{type: command, command: touch ran-{N}}]}]}}",
    "hooks: {}\nhooks: {Stop: [{hooks: [{type: command, command: touch ran-{N}}]}]}",
    "hooks: {Stop: [{hooks: [{type: command, command: touch ran-{N}}]}]}\nhooks: {}",
    "\"hooks\":\n  \"Stop\":\n    - \"hooks\":\n        - \"type\": \"command\"\n          \"command\": \"touch ran-{N}\"",
    "hooks:\n\tStop:\n\t\t- hooks:\n\t\t\t- type: command\n\t\t\t  command: touch ran-{N}",
    "notes: |\n  hooks: {Stop: [{hooks: [{type: command, command: touch ran-{N}}]}]}",
    "hooks: 'Stop: touch ran-{N}'",
    "hooks:\n  Stop:\n    - matcher: null\n      hooks:\n        - type: command\n          command: touch ran-{N}",
    "hooks:\n  Stop:\n    - matcher: 5\n      hooks:\n        - type: command\n          command: touch ran-{N}",
    "hooks:\n  Unknown: 5\n  Stop:\n    - hooks:\n        - type: command\n          command: touch ran-{N}",
    "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: >-\n            touch\n            ran-{N}",
    "hooks:\n  Stop:\n    - hooks:\n        - {type: command, command: \"touch ran-{N}\", timeout: soon}",
];

const OTHERS: &[&str] = &[
    "argument-hint: \"[x]\"",
    "argument-hint: [x, y]",
    "user-invocable: true",
    "user-invocable: \"no\"",
    "disable-model-invocation: false",
    "disable-model-invocation: 5",
    "version: 1.0",
    "license: MIT",
    "metadata: {a: [1, 2, {b: c}]}",
    "unknown: key",
    "mcpServers: {m: {command: touch, args: [ran-{N}]}}",
    "mcpServers:\n  - m: {command: touch, args: [ran-{N}]}",
    "permissionMode: bypassPermissions",
    "permissionMode: acceptEdits",
    "settings: {hooks: {Stop: [{hooks: [{type: command, command: touch ran-{N}}]}]}}",
    "monitors: [{name: m, command: touch ran-{N}}]",
    "__proto__: {hooks: 1}",
    "constructor: 5",
    "when_to_use: when {N}",
    "maxTurns: 5",
    "maxTurns: many",
    "color: red",
    "0: zero",
    "null: null",
    "~: ~",
    "[a, b]: c",
    "{a: b}: c",
];

const BODIES: &[&str] = &[
    "BODY-{N}",
    "\n\nBODY-{N}\n\n",
    "BODY-{N}\n---\nallowed-tools: Read(//none/{N})\n---\n",
    "---\nallowed-tools: Read(//none/{N})\n---\nBODY-{N}\n",
    "BODY-{N} ---\n",
    "  BODY-{N}\tx  \n",
    "BODY-{N} \u{202e}abc\u{0}\n",
    "# BODY-{N}\n\n* a\n",
    "",
];

const BEGINNINGS: &[&str] = &[
    "--- ",
    "---\t",
    "----",
    "--- # c",
    "\n---",
    " ---",
    "---\u{a0}",
    "---yaml",
    "---\r",
    "--",
    "+++",
    "",
    "\u{feff}---",
    "%YAML 1.1\n---",
];

const ENDS: &[&str] = &[
    "--- ",
    "---\t",
    "----",
    "--- x",
    " ---",
    "---\u{a0}",
    "...",
    "--",
    "",
    "---\r",
    "---\n---",
    "\n\n---",
    "--- #",
];

const LINES: &[&str] = &[
    "---",
    "--- ",
    "----",
    " ---",
    "--- allowed-tools: Read(//none/{N})",
    "...",
    "x: a---b",
    "x: |\n  ---",
    "x: '---'",
    "x: \"\\x2d--\"",
    "# ---",
    "# {N}",
    "",
    "\t",
    "x",
    "x: [",
    "x: {",
    "x: *unknown",
    "x: &a 1\ny: *a",
    "- x",
    "%TAG ! tag:x,2026:",
    "!!map",
    "\u{2028}",
    "\u{85}allowed-tools: Read(//none/{N})",
    "x: \u{0}",
    "allowed-tools: Read(//none/{N})",
    "tools: Read",
    "description: SECOND-{N}",
    ": x",
    "? x",
    "\"x\": y",
    "'x': y",
    "x: \"a\n  b\"",
    "x: 'a",
    "x:: y",
    "x: y: z",
    "\u{feff}x: y",
    "hooks: {Stop: [{hooks: [{type: command, command: touch ran-{N}}]}]}",
];
