//! Syntax parser: runs the grammars of syntect and two-face over lines of code, with bounded work.
//!
//! `syntect::parsing::ParseState::parse_line` never returns for some lines: two contexts that `set` each other without
//! consuming a character repeat forever (JavaScript, `x /*`). This is the same algorithm over the same public grammar
//! data. It differs in two ways. A parser state that is reached twice at one position advances by one character, as
//! Sublime Text does for every loop. And a line has a limit of regex searches, between which the caller can stop the
//! work.
//!
//! At run time syntect itself only runs one regex search at a time, which fancy-regex stops after a million
//! backtracking steps.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde_json::json;
use syntect::parsing::syntax_definition::{
    Context, ContextId, ContextReference, MatchOperation, MatchPattern, context_iter,
};
use syntect::parsing::{Region, ScopeStackOp, SyntaxReference, SyntaxSet};

/// Loaded when code is coloured for the first time, which takes tens of milliseconds.
pub(super) static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Maximum stack depth. Grammars push without end on some input; syntect has the same limit.
const MAX_DEPTH: usize = 100;
/// Maximum regex searches per line, and per byte of it. Real code needs about 20 per byte.
const SEARCHES: usize = 20_000;
const SEARCHES_PER_BYTE: usize = 200;
/// Maximum scope operations per line, and per byte of it, because they use memory.
const OPERATIONS: usize = 2_000;
const OPERATIONS_PER_BYTE: usize = 40;

/// Reason for giving up on a line. After it the parser's state is unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// More searches or scopes than any real code needs.
    TooMuchWork,
    /// The caller's time was up.
    OutOfTime,
    /// The grammar refers to something that it does not contain.
    BadGrammar,
}

/// A position in a grammar, between two lines.
#[derive(Clone)]
pub(super) struct Parser {
    stack: Vec<Level>,
    is_first_line: bool,
    /// Stack depths at which a `with_prototype` was pushed. Those below the last one are ignored.
    prototype_starts: Vec<usize>,
    /// Number of times a state was repeated at the same position.
    n_loops: usize,
}

#[derive(Clone)]
struct Level {
    context: &'static Context,
    prototypes: Vec<&'static Context>,
    /// The match that pushed this level, if its patterns refer to it.
    captures: Option<Arc<(Region, String)>>,
}

struct Match {
    regions: Region,
    pattern: &'static MatchPattern,
    from_with_prototype: bool,
    would_loop: bool,
}

/// State of one line while it is parsed.
struct Line<'a> {
    text: &'a str,
    /// The next match of each pattern; `None` if it does not match in the rest of the line.
    cache: HashMap<*const MatchPattern, Option<Region>>,
    regions: Region,
    /// Position and stack depth of the last push that consumed nothing.
    empty_push_at: (usize, usize),
    /// States that were reached at `seen_at` without consuming a character.
    seen: Vec<u64>,
    seen_at: usize,
    searches_left: usize,
    is_time_up: &'a mut dyn FnMut() -> bool,
    operations: Vec<(usize, ScopeStackOp)>,
}

impl Parser {
    /// A parser at the beginning of a text. `None` if the grammar has no start.
    pub fn new(syntax: &SyntaxReference) -> Option<Self> {
        let start = start_of(syntax)?;
        let level = Level { context: start, prototypes: Vec::new(), captures: None };
        Some(Self { stack: vec![level], is_first_line: true, prototype_starts: Vec::new(), n_loops: 0 })
    }

    /// Parses a line, given with its line end. Returns the changes of the scope stack with their positions. Calls
    /// `is_time_up` before every regex search.
    pub fn line(
        &mut self,
        text: &str,
        is_time_up: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<(usize, ScopeStackOp)>, GivenUp> {
        let mut line = Line {
            text,
            cache: HashMap::with_capacity(128),
            regions: Region::new(),
            empty_push_at: (0, 0),
            seen: Vec::new(),
            seen_at: 0,
            searches_left: SEARCHES + SEARCHES_PER_BYTE * text.len(),
            is_time_up,
            operations: Vec::new(),
        };
        if std::mem::take(&mut self.is_first_line)
            && let Some(scope) = self.top()?.context.meta_content_scope.first()
        {
            line.operations.push((0, ScopeStackOp::Push(*scope)));
        }
        let most = OPERATIONS + OPERATIONS_PER_BYTE * text.len();
        let mut at = 0;
        while self.token(&mut line, &mut at)? {
            if line.operations.len() > most {
                return Err(GivenUp::TooMuchWork);
            }
        }
        Ok(line.operations)
    }

    fn top(&self) -> Result<&Level, GivenUp> {
        self.stack.last().ok_or(GivenUp::BadGrammar)
    }

    /// Applies the next match. `false` if the rest of the line has none.
    fn token(&mut self, line: &mut Line<'_>, at: &mut usize) -> Result<bool, GivenUp> {
        while self.prototype_starts.last().is_some_and(|start| *start >= self.stack.len()) {
            self.prototype_starts.pop();
        }
        if self.was_here(line, *at) {
            self.n_loops += 1;
            return Ok(skip_char(line.text, at));
        }
        let Some(found) = self.best_match(line, *at)? else { return Ok(false) };
        if found.would_loop {
            return Ok(skip_char(line.text, at));
        }
        let (_, end) = whole(&found.regions)?;
        if end <= *at && matches!(found.pattern.operation, MatchOperation::Push(_)) {
            line.empty_push_at = (end, self.stack.len() + 1);
        }
        *at = end;
        if found.from_with_prototype {
            self.prototype_starts.push(self.stack.len());
        }
        self.apply(line, &found)?;
        Ok(true)
    }

    /// Whether the parser was at this position in exactly this state before, so that it would repeat itself.
    fn was_here(&self, line: &mut Line<'_>, at: usize) -> bool {
        if line.seen_at != at {
            line.seen_at = at;
            line.seen.clear();
        }
        let mut hasher = DefaultHasher::new();
        line.empty_push_at.hash(&mut hasher);
        self.prototype_starts.hash(&mut hasher);
        for level in &self.stack {
            std::ptr::from_ref(level.context).hash(&mut hasher);
            level.prototypes.iter().for_each(|prototype| std::ptr::from_ref(*prototype).hash(&mut hasher));
            // A copy of the same match from another push counts as another state only if its text differs.
            if let Some(captures) = &level.captures {
                captures.1.hash(&mut hasher);
                (0..10).for_each(|group| captures.0.pos(group).hash(&mut hasher));
            }
        }
        let state = hasher.finish();
        let was_here = line.seen.contains(&state);
        line.seen.push(state);
        was_here
    }

    fn best_match(&self, line: &mut Line<'_>, at: usize) -> Result<Option<Match>, GivenUp> {
        let top = self.top()?;
        let check_pop_loop = line.empty_push_at == (at, self.stack.len());
        let prototype_start = self.prototype_starts.last().copied().unwrap_or(0);
        // Sublime Text applies with_prototypes from the bottom to the top, then the prototype, then the context.
        let with_prototypes = self.stack[prototype_start..].iter().flat_map(|level| {
            level.prototypes.iter().map(move |context| (true, *context, level.captures.as_deref()))
        });
        let prototype = match &top.context.prototype {
            Some(id) => Some((false, context_of(*id).ok_or(GivenUp::BadGrammar)?, None)),
            None => None,
        };
        let contexts =
            with_prototypes.chain(prototype).chain([(false, top.context, top.captures.as_deref())]);

        let mut best: Option<Match> = None;
        let mut best_start = usize::MAX;
        let mut pop_would_loop = false;
        for (from_with_prototype, context, captures) in contexts {
            for (context, index) in context_iter(&SYNTAXES, context) {
                let pattern = context.match_at(index).map_err(|_| GivenUp::BadGrammar)?;
                let Some(regions) = self.search(line, at, pattern, captures)? else { continue };
                let (start, end) = whole(&regions)?;
                if start > best_start || (start == best_start && !pop_would_loop) {
                    continue;
                }
                best_start = start;
                pop_would_loop =
                    check_pop_loop && end <= at && matches!(pattern.operation, MatchOperation::Pop);
                if matches!(pattern.operation, MatchOperation::Push(_)) && self.stack.len() >= MAX_DEPTH {
                    return Ok(None);
                }
                best = Some(Match { regions, pattern, from_with_prototype, would_loop: pop_would_loop });
                if start == at && !pop_would_loop {
                    return Ok(best);
                }
            }
        }
        Ok(best)
    }

    fn search(
        &self,
        line: &mut Line<'_>,
        at: usize,
        pattern: &MatchPattern,
        captures: Option<&(Region, String)>,
    ) -> Result<Option<Region>, GivenUp> {
        let key = std::ptr::from_ref(pattern);
        match line.cache.get(&key) {
            Some(None) => return Ok(None),
            Some(Some(regions)) if whole(regions)?.0 >= at => return Ok(Some(regions.clone())),
            _ => {}
        }
        line.searches_left = line.searches_left.checked_sub(1).ok_or(GivenUp::TooMuchWork)?;
        if (line.is_time_up)() {
            return Err(GivenUp::OutOfTime);
        }
        let with_captures = match captures {
            Some((regions, text)) if pattern.has_captures => Some(pattern.regex_with_refs(regions, text)),
            _ => None,
        };
        let regex = with_captures.as_ref().unwrap_or_else(|| pattern.regex());
        let is_found = regex.search(line.text, at, line.text.len(), Some(&mut line.regions));
        let can_cache = with_captures.is_none();
        if !is_found {
            if can_cache {
                line.cache.insert(key, None);
            }
            return Ok(None);
        }
        let (start, end) = whole(&line.regions)?;
        let does_something = match pattern.operation {
            MatchOperation::None => start != end,
            MatchOperation::Push(_) => self.stack.len() < MAX_DEPTH,
            MatchOperation::Set(_) | MatchOperation::Pop => true,
        };
        if !does_something {
            return Ok(None);
        }
        if can_cache {
            line.cache.insert(key, Some(line.regions.clone()));
        }
        Ok(Some(line.regions.clone()))
    }

    /// Emits the scopes of a match and changes the stack.
    fn apply(&mut self, line: &mut Line<'_>, found: &Match) -> Result<(), GivenUp> {
        let (start, end) = whole(&found.regions)?;
        let pattern = found.pattern;
        let context = self.top()?.context;
        let operations = &mut line.operations;
        meta_scopes_before(start, context, &pattern.operation, operations)?;
        operations.extend(pattern.scope.iter().map(|scope| (start, ScopeStackOp::Push(*scope))));
        let mut captured = Vec::new();
        for (group, scopes) in pattern.captures.iter().flatten() {
            let Some((from, to)) = found.regions.pos(*group).filter(|(from, to)| from < to) else { continue };
            // Of two captures that begin together, the longer one is the outer one; ends are sorted before beginnings.
            let outer_first = i64::try_from(to - from).unwrap_or(i64::MAX);
            captured.extend(scopes.iter().map(|scope| ((from, -outer_first), ScopeStackOp::Push(*scope))));
            captured.push(((to, i64::MIN), ScopeStackOp::Pop(scopes.len())));
        }
        captured.sort_by_key(|(order, _)| *order);
        operations.extend(captured.into_iter().map(|((at, _), operation)| (at, operation)));
        if !pattern.scope.is_empty() {
            operations.push((end, ScopeStackOp::Pop(pattern.scope.len())));
        }
        meta_scopes_after(end, context, &pattern.operation, operations)?;
        self.change_stack(line.text, found)
    }

    fn change_stack(&mut self, text: &str, found: &Match) -> Result<(), GivenUp> {
        let (references, mut kept_prototypes) = match &found.pattern.operation {
            MatchOperation::None => return Ok(()),
            MatchOperation::Pop => {
                self.stack.pop();
                return Ok(());
            }
            MatchOperation::Push(references) => (references, Vec::new()),
            // A `with_prototype` stays in force when its context is `set`.
            MatchOperation::Set(references) => {
                (references, self.stack.pop().map_or_else(Vec::new, |level| level.prototypes))
            }
        };
        for (nr, reference) in references.iter().enumerate() {
            let mut prototypes = std::mem::take(&mut kept_prototypes);
            // A new `with_prototype` applies to the topmost context.
            if nr + 1 == references.len()
                && let Some(prototype) = &found.pattern.with_prototype
            {
                prototypes.push(resolve(prototype)?);
            }
            let context = resolve(reference)?;
            let uses_captures =
                context.uses_backrefs || prototypes.iter().any(|prototype| prototype.uses_backrefs);
            let captures = uses_captures.then(|| Arc::new((found.regions.clone(), text.to_owned())));
            self.stack.push(Level { context, prototypes, captures });
        }
        Ok(())
    }
}

/// Advances by one character. `false` at the end of the line.
fn skip_char(text: &str, at: &mut usize) -> bool {
    match text[*at..].char_indices().nth(1) {
        Some((len, _)) => {
            *at += len;
            true
        }
        None => false,
    }
}

fn whole(regions: &Region) -> Result<(usize, usize), GivenUp> {
    regions.pos(0).ok_or(GivenUp::BadGrammar)
}

fn resolve(reference: &ContextReference) -> Result<&'static Context, GivenUp> {
    reference.resolve(&SYNTAXES).map_err(|_| GivenUp::BadGrammar)
}

/// Emits the scopes of contexts that apply to the match itself.
fn meta_scopes_before(
    at: usize,
    context: &Context,
    operation: &MatchOperation,
    operations: &mut Vec<(usize, ScopeStackOp)>,
) -> Result<(), GivenUp> {
    let mut emit = |operation| operations.push((at, operation));
    match operation {
        MatchOperation::None => {}
        MatchOperation::Pop => {
            let n_scopes = context.meta_content_scope.len();
            if n_scopes > 0 {
                emit(ScopeStackOp::Pop(n_scopes));
            }
        }
        MatchOperation::Push(references) | MatchOperation::Set(references) => {
            let is_set = matches!(operation, MatchOperation::Set(_));
            if is_set && context.clear_scopes.is_some() {
                emit(ScopeStackOp::Restore);
            }
            for reference in references {
                let new = resolve(reference)?;
                if let Some(amount) = new.clear_scopes.filter(|_| !is_set) {
                    emit(ScopeStackOp::Clear(amount));
                }
                new.meta_scope.iter().for_each(|scope| emit(ScopeStackOp::Push(*scope)));
            }
        }
    }
    Ok(())
}

/// Emits the scopes of contexts that apply after the match.
fn meta_scopes_after(
    at: usize,
    context: &Context,
    operation: &MatchOperation,
    operations: &mut Vec<(usize, ScopeStackOp)>,
) -> Result<(), GivenUp> {
    let mut emit = |operation| operations.push((at, operation));
    match operation {
        MatchOperation::None => {}
        MatchOperation::Pop => {
            let n_scopes = context.meta_scope.len();
            if n_scopes > 0 {
                emit(ScopeStackOp::Pop(n_scopes));
            }
            if context.clear_scopes.is_some() {
                emit(ScopeStackOp::Restore);
            }
        }
        MatchOperation::Push(references) | MatchOperation::Set(references) => {
            let is_set = matches!(operation, MatchOperation::Set(_));
            let new = references.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
            let has_own_scopes = !context.meta_scope.is_empty() || !context.meta_content_scope.is_empty();
            let new_has_scopes = new
                .iter()
                .any(|new| !new.meta_content_scope.is_empty() || (new.clear_scopes.is_some() && is_set));
            if !(is_set && has_own_scopes || new_has_scopes) {
                return Ok(());
            }
            // Pop the meta scopes and push them again, so that the content scopes are between them.
            let mut n_scopes: usize = new.iter().map(|new| new.meta_scope.len()).sum();
            if is_set {
                n_scopes += context.meta_content_scope.len() + context.meta_scope.len();
            }
            if n_scopes > 0 {
                emit(ScopeStackOp::Pop(n_scopes));
            }
            for new in new {
                if let Some(amount) = new.clear_scopes.filter(|_| is_set) {
                    emit(ScopeStackOp::Clear(amount));
                }
                let scopes = new.meta_scope.iter().chain(&new.meta_content_scope);
                scopes.for_each(|scope| emit(ScopeStackOp::Push(*scope)));
            }
        }
    }
    Ok(())
}

/// The context with this id. syntect only resolves references; an id becomes a reference through its serialised form.
fn context_of(id: ContextId) -> Option<&'static Context> {
    static KNOWN: LazyLock<Mutex<HashMap<ContextId, Option<&'static Context>>>> =
        LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(id).or_insert_with(|| context_at(json!(id)))
}

fn context_at(id: serde_json::Value) -> Option<&'static Context> {
    let reference: ContextReference = serde_json::from_value(json!({ "Direct": id })).ok()?;
    reference.resolve(&SYNTAXES).ok()
}

/// The start of a grammar: its only context that contains just an empty match pushing the main context.
fn start_of(syntax: &SyntaxReference) -> Option<&'static Context> {
    static KNOWN: LazyLock<Mutex<HashMap<usize, Option<&'static Context>>>> = LazyLock::new(Mutex::default);
    let nr = SYNTAXES.syntaxes().iter().position(|known| std::ptr::eq(known, syntax))?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(nr).or_insert_with(|| {
        let contexts = (0..).map_while(|at| context_at(json!({ "syntax_index": nr, "context_index": at })));
        contexts.into_iter().find(|context| is_start(context))
    })
}

fn is_start(context: &Context) -> bool {
    let is_empty_push = |pattern: &MatchPattern| {
        pattern.regex().regex_str().is_empty() && matches!(pattern.operation, MatchOperation::Push(_))
    };
    context.patterns.len() == 1 && context.prototype.is_none() && context.match_at(0).is_ok_and(is_empty_push)
}

#[cfg(test)]
mod tests;
