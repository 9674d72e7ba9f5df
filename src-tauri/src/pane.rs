//! A place of a window in which one session is shown. Reading a session can take long, and the user goes on in the
//! meantime: what was asked for last is shown, not what was read last.

/// One place, with what is shown in it.
pub struct Pane<T> {
    shown: Option<T>,
    /// How often something was asked for, or the place was cleared.
    n_asked: u64,
}

/// One request for something to show. Only the last one of a place has an effect.
#[derive(Clone, Copy)]
pub struct Asked(u64);

impl<T> Default for Pane<T> {
    fn default() -> Self {
        Self { shown: None, n_asked: 0 }
    }
}

impl<T> Pane<T> {
    pub fn shown(&self) -> Option<&T> {
        self.shown.as_ref()
    }

    /// The page asks for something else. Until that was read, the place shows what it does.
    pub fn ask(&mut self) -> Asked {
        self.n_asked += 1;
        Asked(self.n_asked)
    }

    /// Whether nothing was asked for since then.
    pub fn is_last(&self, asked: Asked) -> bool {
        self.n_asked == asked.0
    }

    /// Shows what was asked for.
    pub fn show(&mut self, one: T) {
        self.shown = Some(one);
    }

    /// Shows nothing, also when something that was asked for earlier is read later.
    pub fn clear(&mut self) {
        self.n_asked += 1;
        self.shown = None;
    }

    /// Shows nothing if it is this.
    pub fn clear_if(&mut self, is_this: impl FnOnce(&T) -> bool) {
        if self.shown.as_ref().is_some_and(is_this) {
            self.shown = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pane: &mut Pane<&'static str>, asked: Asked, one: &'static str) {
        if pane.is_last(asked) {
            pane.show(one);
        }
    }

    #[test]
    fn what_was_asked_for_last_is_shown_whatever_is_read_last() {
        let mut pane = Pane::default();
        let slow = pane.ask();
        let fast = pane.ask();
        read(&mut pane, fast, "fast");
        read(&mut pane, slow, "slow");
        assert_eq!(pane.shown(), Some(&"fast"));
    }

    #[test]
    fn what_is_read_after_the_place_was_cleared_is_not_shown() {
        let mut pane = Pane::default();
        let asked = pane.ask();
        pane.clear();
        read(&mut pane, asked, "late");
        assert_eq!(pane.shown(), None);
    }

    #[test]
    fn a_place_keeps_what_it_shows_until_the_next_is_read() {
        let mut pane = Pane::default();
        pane.show("first");
        let asked = pane.ask();
        assert_eq!(pane.shown(), Some(&"first"));
        pane.clear_if(|one| *one == "another");
        assert_eq!(pane.shown(), Some(&"first"));
        read(&mut pane, asked, "second");
        pane.clear_if(|one| *one == "second");
        assert_eq!(pane.shown(), None);
    }
}
