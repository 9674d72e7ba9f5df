//! Code to tokens: what each run of a line is, never how it looks.
//!
//! Line by line, so that a stream pays for each line once. What would take too long (a huge line, a huge block)
//! stays plain, and so does a language that is not known.

use cpu_time::ThreadTime;
use std::collections::VecDeque;
use std::sync::LazyLock;
use std::time::Duration;

use syntect::parsing::{BasicScopeStackOp, ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::source::{code_lines, normalise};
use crate::api::{Block, CodeLine, Token, TokenStyle};

/// Beyond these a line, or the rest of a block, stays plain. Minified files and logs are not worth seconds.
const LINE_BYTES: usize = 4 * 1024;
const BLOCK_LINES: usize = 20_000;
const BLOCK_BYTES: usize = 256 * 1024;
/// Patterns try a run of blanks, or of any one character, from each of its places.
const RUN: usize = 256;
/// A line that is still being written is highlighted again and again, so it is given less.
const UNFINISHED_BYTES: usize = 512;
/// Only code that is made to be slow takes so much of a processor. Time is no measure to rely on: it guards, the others
/// decide. It is the thread's own, so that a busy machine takes no colour away.
const BLOCK_TIME: Duration = Duration::from_secs(3);

/// Read once, when the first code is seen: tens of milliseconds.
static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Highlights a whole text. `language` is a name or a file extension, as in a fence's info string.
pub fn highlight(language: Option<&str>, text: &str) -> Vec<CodeLine> {
    Highlights::default().lines(language, &normalise(text))
}

/// The language of a file by its name, in words that [`highlight`] knows.
pub fn language_of_path(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    let by_name = match name {
        "Cargo.lock" | "poetry.lock" | "uv.lock" => Some("toml"),
        "package-lock.json" | ".babelrc" | ".eslintrc" | ".prettierrc" => Some("json"),
        _ => None,
    };
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let syntax = by_name
        .or_else(|| alias(&extension.to_ascii_lowercase()))
        .and_then(|token| SYNTAXES.find_syntax_by_token(token))
        .or_else(|| SYNTAXES.find_syntax_by_extension(name))
        .or_else(|| {
            (!extension.is_empty()).then(|| SYNTAXES.find_syntax_by_extension(extension)).flatten()
        })?;
    Some(match syntax.name.as_str() {
        "Plain Text" => return None,
        "Bourne Again Shell (bash)" | "Shell-Unix-Generic" => "bash".to_owned(),
        "TypeScriptReact" => "tsx".to_owned(),
        name => name.to_lowercase(),
    })
}

/// Highlights the code blocks of a document, and takes over those that are already there.
#[derive(Default)]
pub(super) struct Highlights<'k> {
    /// Code that was highlighted before, in the document's order.
    known: VecDeque<(Option<&'k str>, &'k [CodeLine])>,
    /// Bytes that had to be highlighted.
    pub bytes: usize,
}

impl<'k> Highlights<'k> {
    /// Takes the code blocks of `blocks` as known, in order. Recursion is bounded by the depth of documents.
    pub fn know(&mut self, blocks: &'k [Block]) {
        for block in blocks {
            match block {
                Block::Code { language, lines } => self.known.push_back((language.as_deref(), lines)),
                Block::Quote { blocks } | Block::Footnote { blocks, .. } => self.know(blocks),
                Block::List { items, .. } => items.iter().for_each(|item| self.know(&item.blocks)),
                Block::Paragraph { .. } | Block::Heading { .. } | Block::Table { .. } | Block::Rule => {}
            }
        }
    }

    pub fn lines(&mut self, language: Option<&str>, text: &str) -> Vec<CodeLine> {
        // The next known block first: only if a block came or went in between does one further on match.
        let known =
            self.known.iter().take(4).position(|(known_language, lines)| {
                *known_language == language && is_text_of_lines(lines, text)
            });
        if let Some(known) = known
            && let Some((_, lines)) = self.known.drain(..=known).next_back()
        {
            return lines.to_vec();
        }
        self.bytes += text.len();
        let mut highlighter = Highlighter::new(language);
        code_lines(text).map(|line| highlighter.line(line)).collect()
    }
}

fn is_text_of_lines(lines: &[CodeLine], text: &str) -> bool {
    let mut texts = code_lines(text);
    lines.iter().all(|line| texts.next().is_some_and(|text| is_text_of(line, text))) && texts.next().is_none()
}

fn is_text_of(line: &CodeLine, mut text: &str) -> bool {
    for token in &line.tokens {
        match text.strip_prefix(token.text.as_str()) {
            Some(rest) => text = rest,
            None => return false,
        }
    }
    text.is_empty()
}

/// Highlights one block, line by line.
pub(super) struct Highlighter {
    /// `None`: everything stays plain from here on.
    state: Option<State>,
    n_lines: usize,
    n_bytes: usize,
    spent: Duration,
}

#[derive(Clone)]
struct State {
    parse: ParseState,
    scopes: ScopeStack,
    /// What each of the scopes makes of a token, alone or by those around it.
    styles: Vec<TokenStyle>,
}

impl Highlighter {
    pub fn new(language: Option<&str>) -> Self {
        let state = language.and_then(syntax_of).map(|syntax| State {
            parse: ParseState::new(syntax),
            scopes: ScopeStack::new(),
            styles: Vec::new(),
        });
        Self { state, n_lines: 0, n_bytes: 0, spent: Duration::ZERO }
    }

    /// The next line, without its line end.
    pub fn line(&mut self, line: &str) -> CodeLine {
        self.n_lines += 1;
        self.n_bytes += line.len();
        if self.n_lines > BLOCK_LINES || self.n_bytes > BLOCK_BYTES || self.spent > BLOCK_TIME {
            self.state = None;
        }
        let Some(state) = self.state.as_mut().filter(|_| is_worth_it(line)) else { return plain_line(line) };
        let started_at = ThreadTime::now();
        let tokens = state.tokens(line);
        self.spent += started_at.elapsed();
        match tokens {
            Some(tokens) => CodeLine { tokens },
            None => {
                self.state = None;
                plain_line(line)
            }
        }
    }

    /// A line that is not complete yet: as [`Highlighter::line`], but it can come again.
    pub fn unfinished_line(&mut self, line: &str) -> CodeLine {
        if line.len() > UNFINISHED_BYTES || self.spent > BLOCK_TIME {
            return plain_line(line);
        }
        let mut once = Self { state: self.state.clone(), ..*self };
        let line = once.line(line);
        self.spent = once.spent;
        line
    }
}

fn is_worth_it(line: &str) -> bool {
    line.len() <= LINE_BYTES
        && (line.len() <= RUN || !line.as_bytes().chunk_by(|a, b| a == b).any(|run| run.len() > RUN))
}

impl State {
    /// `None` if the syntax definition fails on this line.
    fn tokens(&mut self, line: &str) -> Option<Vec<Token>> {
        let terminated = format!("{line}\n");
        let operations = self.parse.parse_line(&terminated, &SYNTAXES).ok()?;
        let mut tokens = Vec::new();
        let mut from = 0;
        for (at, operation) in &operations {
            let at = (*at).min(line.len());
            if at > from {
                push_token(&mut tokens, &line[from..at], self.style());
                from = at;
            }
            let styles = &mut self.styles;
            let follow = |operation: BasicScopeStackOp, _: &[Scope]| match operation {
                BasicScopeStackOp::Push(scope) => {
                    let around = styles.last().copied().unwrap_or_default();
                    styles.push(style_of(scope).unwrap_or(around));
                }
                BasicScopeStackOp::Pop => drop(styles.pop()),
            };
            self.scopes.apply_with_hook(operation, follow).ok()?;
        }
        if from < line.len() {
            push_token(&mut tokens, &line[from..], self.style());
        }
        Some(tokens)
    }

    fn style(&self) -> TokenStyle {
        self.styles.last().copied().unwrap_or_default()
    }
}

/// Appends to the last token if it is of the same style; blanks belong to whatever they follow.
pub(super) fn push_token(tokens: &mut Vec<Token>, text: &str, style: TokenStyle) {
    match tokens.last_mut() {
        Some(last) if last.style == style => last.text.push_str(text),
        Some(last) if text.bytes().all(|byte| byte == b' ') => last.text.push_str(text),
        _ => tokens.push(Token { text: text.to_owned(), style }),
    }
}

pub(super) fn plain_line(line: &str) -> CodeLine {
    if line.is_empty() {
        return CodeLine::default();
    }
    CodeLine { tokens: vec![Token { text: line.to_owned(), style: TokenStyle::Plain }] }
}

fn syntax_of(language: &str) -> Option<&'static SyntaxReference> {
    let language = language.to_ascii_lowercase();
    let syntax = SYNTAXES.find_syntax_by_token(alias(&language).unwrap_or(&language))?;
    (syntax.name != "Plain Text").then_some(syntax)
}

/// Names that people use and the syntax definitions do not know.
fn alias(language: &str) -> Option<&'static str> {
    Some(match language {
        "rust" | "rs" => "rs",
        "golang" => "go",
        "javascript" | "js" | "jsx" | "mjs" | "cjs" | "node" => "js",
        "typescript" | "ts" | "mts" | "cts" => "ts",
        "tsx" => "tsx",
        "python" | "py" | "python3" | "py3" | "pyi" => "py",
        "c" => "c",
        "cpp" | "c++" | "cxx" | "cc" | "hpp" | "hh" | "h" => "cpp",
        "csharp" | "c#" => "cs",
        "objc" => "m",
        "shell" | "sh" | "bash" | "zsh" | "fish" | "console" | "shellsession" | "shell-session"
        | "terminal" | "bats" => "sh",
        "json" | "jsonc" | "json5" | "jsonl" | "ndjson" | "geojson" | "webmanifest" => "json",
        "yaml" | "yml" => "yaml",
        "markdown" | "md" | "mdx" => "md",
        "patch" | "diff" | "udiff" => "diff",
        "html" | "htm" | "xhtml" => "html",
        "docker" | "containerfile" => "dockerfile",
        "make" | "mk" => "makefile",
        "postgres" | "postgresql" | "mysql" | "sqlite" | "psql" | "plsql" => "sql",
        "kotlin" => "kt",
        "ruby" => "rb",
        "terraform" | "hcl" => "tf",
        "protobuf" => "proto",
        "elixir" => "ex",
        "haskell" => "hs",
        "ini" | "cfg" | "conf" | "editorconfig" | "gitconfig" => "ini",
        "svg" | "xsl" | "plist" => "xml",
        _ => return None,
    })
}

/// By scope, the more telling first. The innermost scope that says anything decides.
static STYLES: LazyLock<Vec<(Scope, TokenStyle)>> = LazyLock::new(|| {
    use TokenStyle::{Bold, Comment, Function, Green, Keyword, Number, Plain, Red, String, Type};
    [
        ("comment", Comment),
        ("punctuation.definition.comment", Comment),
        ("constant.character", String),
        ("constant.other.placeholder", String),
        ("string", String),
        ("constant.numeric", Number),
        ("constant.language", Keyword),
        ("constant.other.color", Number),
        ("entity.name.function", Function),
        ("entity.name.macro", Function),
        ("support.function", Function),
        ("support.macro", Function),
        ("variable.function", Function),
        ("entity.name.tag", Keyword),
        ("entity.name.section", Keyword),
        ("entity.name.type", Type),
        ("entity.name.class", Type),
        ("entity.name.struct", Type),
        ("entity.name.enum", Type),
        ("entity.name.union", Type),
        ("entity.name.trait", Type),
        ("entity.name.impl", Type),
        ("entity.name.interface", Type),
        ("entity.name.namespace", Type),
        ("entity.other.inherited-class", Type),
        ("entity.other.attribute-name", Type),
        ("support.type", Type),
        ("support.class", Type),
        ("meta.annotation", Type),
        ("storage.type.string", String),
        ("storage.type.keyword", Keyword),
        ("storage.type.primitive", Type),
        ("storage.type.go", Type),
        ("storage.type.sql", Type),
        ("storage", Keyword),
        ("keyword.other.unit", Number),
        ("keyword.operator.word", Keyword),
        ("keyword.operator.logical.python", Keyword),
        ("keyword.operator.logical.sql", Keyword),
        ("keyword.operator.new", Keyword),
        ("keyword.operator", Plain),
        ("keyword", Keyword),
        ("variable.language", Keyword),
        ("markup.inserted", Green),
        ("markup.deleted", Red),
        ("markup.heading", Keyword),
        ("markup.bold", Bold),
        ("markup.raw", String),
        ("markup.underline.link", String),
        ("meta.diff.range", Type),
        ("meta.diff.header", Comment),
    ]
    .into_iter()
    .filter_map(|(scope, style)| Some((Scope::new(scope).ok()?, style)))
    .collect()
});

fn style_of(scope: Scope) -> Option<TokenStyle> {
    STYLES.iter().find(|(prefix, _)| prefix.is_prefix_of(scope)).map(|(_, style)| *style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::compact;

    #[track_caller]
    fn check(language: &str, text: &str, expected: &str) {
        assert_eq!(compact::lines(&highlight(Some(language), text)), expected);
    }

    #[test]
    fn tokens() {
        check(
            "rust",
            "fn a(b: &B) -> Option<C> { \"c\\n\".len() + 1 } // d",
            "keyword‹fn ›function‹a›(b: &B) -> type‹Option›<C> { string‹\"c\\n\"›.function‹len›() + number‹1 ›} comment‹// d›",
        );
        check(
            "ts",
            "export const a: Foo = await b(`x`, 0x1f);",
            "keyword‹export const ›a: type‹Foo ›= keyword‹await ›function‹b›(string‹`x`›, number‹0x1f›);",
        );
        check(
            "python",
            "class A(B):\n    def f(self): return not None  # x",
            "keyword‹class ›type‹A›(type‹B›):⏎    keyword‹def ›function‹f›(self): keyword‹return not None  ›comment‹# x›",
        );
        check("go", "func (a *B) c() error {", "keyword‹func ›(a *type‹B›) function‹c›() type‹error ›{");
        check("json", "{\"a\": [1, true]}", "{string‹\"a\"›: [number‹1›, keyword‹true›]}");
        check(
            "bash",
            "if [ -f \"$1\" ]; then echo 'x'; fi # c",
            "keyword‹if ›function‹[ ›-f string‹\"$1\" ›function‹]›; keyword‹then ›function‹echo ›string‹'x'›; keyword‹fi ›comment‹# c›",
        );
        check("diff", "-old\n+new\n same", "red‹-old›⏎green‹+new›⏎ same");
        check("toml", "[a]\nb = \"c\"", "[a]⏎keyword‹b ›= string‹\"c\"›");
        check("html", "<p class=\"a\">b</p>", "<keyword‹p ›type‹class›=string‹\"a\"›>b</keyword‹p›>");
        check(
            "sql",
            "SELECT a FROM b WHERE c = 1;",
            "keyword‹SELECT› a keyword‹FROM› b keyword‹WHERE› c = number‹1›;",
        );
    }

    #[test]
    fn strings_and_comments_go_on_over_lines() {
        check("rust", "/* a\nb */ c", "comment‹/* a›⏎comment‹b */› c");
    }

    #[test]
    fn unknown_languages_and_none_stay_plain() {
        assert_eq!(compact::lines(&highlight(Some("nonsense"), "fn a() {}\n")), "fn a() {}");
        assert_eq!(compact::lines(&highlight(None, "fn a() {}\r\n\r\n")), "fn a() {}⏎");
        assert_eq!(compact::lines(&highlight(Some("text"), "fn a() {}")), "fn a() {}");
    }

    #[test]
    fn every_usual_name_of_a_language_is_known() {
        for name in [
            "rust",
            "rs",
            "ts",
            "tsx",
            "typescript",
            "js",
            "jsx",
            "javascript",
            "py",
            "python",
            "go",
            "golang",
            "c",
            "cpp",
            "c++",
            "java",
            "sh",
            "bash",
            "shell",
            "zsh",
            "console",
            "json",
            "jsonc",
            "yaml",
            "yml",
            "toml",
            "html",
            "css",
            "scss",
            "sql",
            "diff",
            "patch",
            "md",
            "markdown",
            "Rust",
            "JSON",
            "dockerfile",
            "makefile",
            "xml",
            "svelte",
            "vue",
            "kotlin",
            "swift",
            "ruby",
            "php",
            "csharp",
            "lua",
            "ini",
            "proto",
            "graphql",
            "elixir",
            "haskell",
            "zig",
            "nix",
            "terraform",
        ] {
            assert!(syntax_of(name).is_some(), "{name}");
        }
    }

    #[test]
    fn too_much_stays_plain() {
        let long = format!("let a = 1; {}", " ".repeat(LINE_BYTES));
        let lines = highlight(Some("rust"), &format!("{long}\nlet a = 1;\n"));
        assert_eq!(lines[0].tokens.len(), 1);
        assert!(lines[1].tokens.len() > 1);

        let lines = highlight(Some("json"), &"1\n".repeat(BLOCK_LINES + 1));
        assert_eq!(lines[BLOCK_LINES - 1].tokens[0].style, TokenStyle::Number);
        assert_eq!(lines[BLOCK_LINES].tokens[0].style, TokenStyle::Plain);
    }

    #[test]
    fn the_language_of_a_path() {
        let check = |path: &str, expected: Option<&str>| {
            let language = language_of_path(path);
            assert_eq!(language.as_deref(), expected, "{path}");
            if let Some(language) = language {
                assert!(syntax_of(&language).is_some(), "{path}: {language} is not known");
            }
        };
        check("/a/src/main.rs", Some("rust"));
        check("C:\\a\\x.TSX", Some("tsx"));
        check("a.ts", Some("typescript"));
        check("a.mjs", Some("javascript"));
        check("Cargo.lock", Some("toml"));
        check("Dockerfile", Some("dockerfile"));
        check("Makefile", Some("makefile"));
        check(".bashrc", Some("bash"));
        check("a.h", Some("c++"));
        check("notes.md", Some("markdown"));
        check("a.unknown", None);
        check("LICENSE", None);
        check("a.txt", None);
        check("", None);
    }

    #[test]
    fn known_code_is_not_highlighted_again() {
        let blocks = crate::document::markdown("```rust\nlet a;\n```\n\n- ```rust\n  let b;\n  ```\n");
        let mut highlights = Highlights::default();
        highlights.know(&blocks);
        assert_eq!(compact::lines(&highlights.lines(Some("rust"), "let b;\n")), "keyword‹let› b;");
        assert_eq!(highlights.bytes, 0);
        highlights.lines(Some("rust"), "let b;\n");
        assert_eq!(highlights.bytes, "let b;\n".len());
    }
}
