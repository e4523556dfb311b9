//! Tables whose cells may carry a verdict.

/// A table. Rows shorter than the header are filled with empty cells; longer ones are cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Caption; empty for none.
    pub caption: String,
    /// The header. A column whose cells all are numbers is set flush right.
    pub columns: Vec<String>,
    /// The body.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell of a table, plain or as a badge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The content: prose markup of one line (`**bold**`, `` `code` ``, `[text](#anchor)`).
    pub text: String,
    /// A verdict, shown as a badge with a sign of its own (never by colour alone).
    pub status: Option<Status>,
}

/// A verdict on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As claimed or as hoped.
    Good,
    /// Contradicted or failed.
    Bad,
    /// No verdict: not measured, not applicable.
    Neutral,
    /// In part, or with a reservation.
    Warn,
}

impl Table {
    /// An empty table with a header.
    pub fn new<C: Into<String>>(columns: impl IntoIterator<Item = C>) -> Table {
        let columns = columns.into_iter().map(Into::into).collect();
        Table { columns, ..Table::default() }
    }
    /// With a caption.
    pub fn caption(mut self, caption: impl Into<String>) -> Table {
        self.caption = caption.into();
        self
    }
    /// With one more row.
    pub fn row<C: Into<Cell>>(mut self, cells: impl IntoIterator<Item = C>) -> Table {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }
}

impl Cell {
    /// A cell that reads as a badge.
    pub fn badge(text: impl Into<String>, status: Status) -> Cell {
        Cell { text: text.into(), status: Some(status) }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell { text: text.into(), status: None }
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell { text, status: None }
    }
}
