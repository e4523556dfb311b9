//! The user's choice of order and selection.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::widgets::TableState;

use super::rates::Backend;

/// The choice.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// The backend selected, in the order shown.
    pub(super) table: TableState,
    pub(super) sort: Sort,
    pub(super) order: Order,
}

/// By which column backends are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// As the configuration has them.
    #[default]
    Configured,
    Packets,
    Flows,
    State,
}

/// The direction of the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Usual,
    Reversed,
}

/// The effect of a key on the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    GoOn,
    Quit,
}

impl Screen {
    /// A key was pressed, with so many backends on the screen.
    pub(super) fn press(&mut self, key: KeyEvent, backends: usize) -> Then {
        if key.kind == KeyEventKind::Release {
            return Then::GoOn;
        }
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Then::Quit,
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Then::Quit;
            }
            KeyCode::Up | KeyCode::Char('k') => self.select(-1, backends),
            KeyCode::Down | KeyCode::Char('j') => self.select(1, backends),
            KeyCode::Char('s') => self.sort = self.sort.next(),
            KeyCode::Char('r') => self.order = self.order.turned(),
            _ => {}
        }
        Then::GoOn
    }

    fn select(&mut self, by: isize, backends: usize) {
        let last = backends.saturating_sub(1);
        let next = match self.table.selected() {
            None => 0,
            Some(row) => row.saturating_add_signed(by).min(last),
        };
        self.table.select((backends > 0).then_some(next));
    }

    /// The backends as they are shown.
    pub(super) fn sorted<'a>(&self, backends: &'a [Backend]) -> Vec<&'a Backend> {
        let mut sorted: Vec<&Backend> = backends.iter().collect();
        match self.sort {
            Sort::Configured => {}
            Sort::Packets => sorted.sort_by(|a, b| b.packets.total_cmp(&a.packets)),
            Sort::Flows => sorted.sort_by_key(|backend| std::cmp::Reverse(backend.status.flows)),
            Sort::State => {
                sorted.sort_by_key(|backend| (is_well(backend), !backend.status.draining));
            }
        }
        if self.order == Order::Reversed {
            sorted.reverse();
        }
        sorted
    }
}

/// Those in trouble come first, then those that drain.
fn is_well(backend: &Backend) -> bool {
    backend.status.health != heddled::health::State::Down && backend.status.unreachable.is_none()
}

impl Sort {
    fn next(self) -> Sort {
        match self {
            Sort::Configured => Sort::Packets,
            Sort::Packets => Sort::Flows,
            Sort::Flows => Sort::State,
            Sort::State => Sort::Configured,
        }
    }

    /// For the title.
    pub(super) fn name(self) -> &'static str {
        match self {
            Sort::Configured => "as configured",
            Sort::Packets => "by packets",
            Sort::Flows => "by flows",
            Sort::State => "by state",
        }
    }
}

impl Order {
    fn turned(self) -> Order {
        match self {
            Order::Usual => Order::Reversed,
            Order::Reversed => Order::Usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rates::tests::two_seconds;
    use super::*;

    fn press(screen: &mut Screen, code: KeyCode) -> Then {
        screen.press(KeyEvent::from(code), 2)
    }

    #[test]
    fn the_selection_stays_on_the_list() {
        let mut screen = Screen::default();
        let keys = [KeyCode::Down, KeyCode::Down, KeyCode::Down, KeyCode::Up, KeyCode::Up];
        let rows = keys.map(|key| {
            press(&mut screen, key);
            screen.table.selected()
        });
        assert_eq!(rows, [Some(0), Some(1), Some(1), Some(0), Some(0)]);
        screen.press(KeyEvent::from(KeyCode::Down), 0);
        assert_eq!(screen.table.selected(), None);
    }

    #[test]
    fn sorting_goes_round() {
        let rates = two_seconds();
        let mut screen = Screen::default();
        let first = || {
            let name = screen.sorted(&rates.backends)[0].status.name.clone();
            (screen.sort.name(), name)
        };
        assert_eq!(first(), ("as configured", "be1".into()));
        press(&mut screen, KeyCode::Char('s'));
        press(&mut screen, KeyCode::Char('r'));
        let sorted = screen.sorted(&rates.backends);
        assert_eq!((screen.sort, &*sorted[0].status.name), (Sort::Packets, "be2"));
        for _ in 0..3 {
            press(&mut screen, KeyCode::Char('s'));
        }
        assert_eq!(screen.sort, Sort::Configured);
    }

    #[test]
    fn three_ways_out() {
        let mut screen = Screen::default();
        assert_eq!(press(&mut screen, KeyCode::Char('q')), Then::Quit);
        assert_eq!(press(&mut screen, KeyCode::Esc), Then::Quit);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(screen.press(interrupt, 0), Then::Quit);
        assert_eq!(press(&mut screen, KeyCode::Char('c')), Then::GoOn);
    }
}
