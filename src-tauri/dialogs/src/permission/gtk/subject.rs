//! The subject of a dialog: a text in a fixed-pitch font, wrapped at any character, with a mark at each soft wrap.
//!
//! The label contains exactly the subject, so a screen reader reads no marks and a copy contains none. The marks are
//! drawn in the margins, at the positions of the lines in the label's layout.

use ::gtk::prelude::*;
use ::gtk::{Box as Row, Dialog, Label, Orientation, cairo, glib, pango};

/// The maximum width of a line in characters, if the screen has the space.
const COLUMNS: usize = 80;
/// The left margin shows the mark of a line that continues the one above; the right margin shows the mark of a space at
/// a wrap.
const GUTTER: i32 = 22;
const MARGIN: i32 = 14;

/// The widget, and the label in it.
#[derive(Clone, Debug)]
pub struct SubjectView {
    row: Row,
    label: Label,
}

impl SubjectView {
    /// Creates the widget for a text, at most this wide.
    pub fn new(text: &str, most_width: i32) -> Self {
        let label = Label::new(None);
        label.set_markup(&markup(text));
        label.set_selectable(true);
        label.set_can_focus(false);
        label.set_xalign(0.0);
        label.set_yalign(0.0);
        label.set_line_wrap(true);
        // With `insert_hyphens` off, this breaks at any character and adds none.
        label.set_line_wrap_mode(pango::WrapMode::Char);
        label.set_margin_start(GUTTER);
        label.set_margin_end(MARGIN);
        let width = width_of(&label, text).min(width_of(&label, &"0".repeat(COLUMNS)));
        label.set_size_request(width.min(most_width - GUTTER - MARGIN).max(1), -1);
        let row = Row::new(Orientation::Horizontal, 0);
        row.pack_start(&label, true, true, 0);
        let marked = label.clone();
        row.connect_draw(move |row, context| {
            if let Err(error) = draw_marks(row, &marked, context) {
                tracing::warn!(%error, "could not draw the wrap marks of a dialog");
            }
            glib::Propagation::Proceed
        });
        Self { row, label }
    }

    pub fn widget(&self) -> &Row {
        &self.row
    }

    /// Returns whether every line is inside the label, and the label inside the dialog.
    pub fn is_visible_in(&self, dialog: &Dialog) -> bool {
        let Some(layout) = self.label.layout() else { return false };
        let (width, height) = layout.pixel_size();
        let (in_width, in_height) = (self.label.allocated_width(), self.label.allocated_height());
        let Some((x, y)) = self.label.translate_coordinates(dialog, 0, 0) else { return false };
        width <= in_width
            && height <= in_height
            && !layout.is_ellipsized()
            && x >= 0
            && y >= 0
            && x + in_width <= dialog.allocated_width()
            && y + in_height <= dialog.allocated_height()
    }
}

fn markup(text: &str) -> String {
    format!("<tt><span insert_hyphens=\"no\">{}</span></tt>", glib::markup_escape_text(text))
}

/// The width of a text whose long lines are not wrapped.
fn width_of(label: &Label, text: &str) -> i32 {
    let layout = label.create_pango_layout(None);
    layout.set_markup(&markup(text));
    // One more, because the layout of the label rounds down.
    layout.pixel_size().0 + 1
}

/// A soft wrap: the extents of the lines above and below it, and whether the line above ends with a space.
struct Wrap {
    above: (i32, i32),
    below: (i32, i32),
    after_space: bool,
}

/// The soft wraps of a layout, with the top and the bottom of the lines above and below each.
fn wraps(layout: &pango::Layout, text: &str) -> Vec<Wrap> {
    let mut wraps = Vec::new();
    let mut lines = layout.iter();
    let place = |lines: &mut pango::LayoutIter| {
        let (_, logical) = lines.line_extents();
        let top = logical.y() / pango::SCALE;
        (top, top + logical.height() / pango::SCALE)
    };
    let mut above = place(&mut lines);
    while lines.next_line() {
        let below = place(&mut lines);
        let before = usize::try_from(lines.index()).ok().and_then(|index| text.get(..index));
        let last = before.and_then(|before| before.chars().last());
        if last != Some('\n') {
            wraps.push(Wrap { above, below, after_space: last == Some(' ') });
        }
        above = below;
    }
    wraps
}

fn draw_marks(row: &Row, label: &Label, context: &cairo::Context) -> Result<(), cairo::Error> {
    let Some(layout) = label.layout() else { return Ok(()) };
    let (place, within) = (label.allocation(), row.allocation());
    let (_, top) = label.layout_offsets();
    let left = f64::from(place.x() - within.x());
    let right = left + f64::from(place.width());
    let top = f64::from(top - within.y());
    let style = label.style_context();
    let colour = style.color(style.state());
    context.set_source_rgba(colour.red(), colour.green(), colour.blue(), 0.65);
    context.set_line_width(1.5);
    for Wrap { above, below, after_space } in wraps(&layout, &label.text()) {
        // A hooked arrow.
        let (start, end) = (left - f64::from(GUTTER) + 3.0, left - 6.0);
        let middle = top + f64::from(below.0 + below.1) / 2.0;
        context.move_to(start, middle - 6.0);
        context.line_to(start, middle);
        context.line_to(end, middle);
        context.move_to(end - 4.0, middle - 4.0);
        context.line_to(end, middle);
        context.line_to(end - 4.0, middle + 4.0);
        context.stroke()?;
        if after_space {
            // An open box.
            let bottom = top + f64::from(above.1) - 4.0;
            let (start, end) = (right + 3.0, right + f64::from(MARGIN) - 3.0);
            context.move_to(start, bottom - 4.0);
            context.line_to(start, bottom);
            context.line_to(end, bottom);
            context.line_to(end, bottom - 4.0);
            context.stroke()?;
        }
    }
    Ok(())
}
