//! Draws the screen: services, backends, MPTCP and tables, from the top down.

use heddled::admin::Status;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Gauge, Paragraph, Row, Table};

use super::rates::{Backend, EventRate, Rates, Service};
use super::screen::{Order, Screen};
use crate::commands::backends::{state, state_word};
use crate::format;

/// Rows of a panel's borders and its header.
const AROUND: u16 = 3;
/// The most rows of services, where backends need the room.
const MOST_SERVICES: u16 = 6;

pub(super) fn draw(frame: &mut Frame<'_>, rates: &Rates, screen: &mut Screen) {
    let services = (rates.services.len() as u16).min(MOST_SERVICES) + AROUND;
    let [title, top, middle, bottom, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(services),
        Constraint::Min(AROUND + 1),
        Constraint::Length(rates.events.len() as u16 / 2 + 2),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(headline(rates), title);
    frame.render_widget(services_table(&rates.services), top);
    backends_table(frame, middle, rates, screen);
    let [events, tables] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(26)]).areas(bottom);
    frame.render_widget(events_panel(rates), events);
    tables_panel(frame, tables, rates);
    frame.render_widget(footer(rates), keys);
}

fn headline(rates: &Rates) -> Line<'static> {
    let status = &rates.sample.status;
    let members = &rates.sample.snapshot.members;
    let mut spans = vec![
        format!(" {} ", status.name).bold().reversed(),
        format!("  up {}  ", format::age(status.uptime)).into(),
        format!("backends {}  ", backends(status)).into(),
    ];
    if status.members > 1 {
        let share = format::percent(members.ring_share);
        spans.push(format!("{} balancers, {share} of tokens here", status.members).into());
    }
    Line::from(spans)
}

fn backends(status: &Status) -> String {
    format::backends(status.backends_up, status.backends_unchecked, status.backends)
}

fn services_table(services: &[Service]) -> Table<'static> {
    let header = ["service", "to backends", "to balancers", "passed", "dropped", "bit/s"];
    let rows = services.iter().map(|service| {
        let Service { name, to_backends, to_balancers, passed, dropped, bits } = service;
        let name = if name == "none" { "(no service)" } else { name };
        let alarm = if *dropped > 0.0 { Style::new().fg(Color::Red) } else { Style::new() };
        Row::new([
            Cell::from(name.to_owned()),
            right(*to_backends),
            right(*to_balancers),
            right(*passed),
            right(*dropped).style(alarm),
            right(*bits),
        ])
    });
    let widths = [Constraint::Fill(1)].into_iter().chain([Constraint::Length(12); 5]);
    Table::new(rows, widths).header(heading(&header, 1)).block(panel(" packets a second ".into()))
}

fn backends_table(frame: &mut Frame<'_>, area: Rect, rates: &Rates, screen: &mut Screen) {
    let header = ["service", "backend", "state", "flows", "packets/s", "bit/s"];
    let shown = screen.sorted(&rates.backends);
    let rows: Vec<Row<'_>> = shown.iter().map(|backend| backend_row(backend)).collect();
    let widths = [
        Constraint::Fill(2),
        Constraint::Fill(2),
        Constraint::Fill(4),
        Constraint::Length(8),
        Constraint::Length(9),
        Constraint::Length(8),
    ];
    let turned = if screen.order == Order::Reversed { ", reversed" } else { "" };
    let title = format!(" backends, {}{turned} ", screen.sort.name());
    let table = Table::new(rows, widths)
        .header(heading(&header, 3))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .block(panel(title));
    frame.render_stateful_widget(table, area, &mut screen.table);
}

fn backend_row(backend: &Backend) -> Row<'static> {
    let Backend { status, packets, bits } = backend;
    let color = match state_word(status) {
        "up" => Color::Green,
        "draining" | "not checked yet" => Color::Yellow,
        _ => Color::Red,
    };
    Row::new([
        Cell::from(status.service.clone()),
        Cell::from(status.name.clone()),
        Cell::from(state(status)).style(Style::new().fg(color)),
        right(status.flows as f64),
        right(*packets),
        right(*bits),
    ])
}

fn events_panel(rates: &Rates) -> Paragraph<'static> {
    let lines = rates.events.chunks(2).map(|pair| {
        Line::from(pair.iter().flat_map(|event| event_spans(event)).collect::<Vec<_>>())
    });
    Paragraph::new(lines.collect::<Vec<_>>()).block(panel(" MPTCP: a second, in all ".into()))
}

fn event_spans(event: &EventRate) -> [Span<'static>; 2] {
    let (rate, total) = (format::short(event.rate), format::short(event.total as f64));
    let strong = if rate == "0" { Style::new() } else { Style::new().bold() };
    [Span::styled(format!("{rate:>5} {total:>5} "), strong), format!("{:<14}", event.name).into()]
}

/// The fill of each table.
fn tables_panel(frame: &mut Frame<'_>, area: Rect, rates: &Rates) {
    let block = panel(" tables ".into());
    let inside = block.inner(area);
    frame.render_widget(block, area);
    for (table, row) in rates.sample.snapshot.tables.iter().zip(inside.rows()) {
        let used: u64 = table.used.iter().map(|(_, entries)| entries).sum();
        let share = (used as f64 / table.capacity.max(1) as f64).min(1.0);
        let color = if share < 0.9 { Color::Blue } else { Color::Red };
        let label =
            format!("{} {} ({})", table.name, format::short(used as f64), format::percent(share));
        let gauge = Gauge::default().ratio(share).label(label).gauge_style(Style::new().fg(color));
        frame.render_widget(gauge, row);
    }
}

/// The warnings; without any, the keys.
fn footer(rates: &Rates) -> Line<'static> {
    let keys = " q quit  ↑↓ select  s sort  r reverse".to_owned();
    match rates.sample.status.warnings.first() {
        Some(warning) => Line::from(vec![" q quit  ".into(), warning.clone().red()]),
        None => keys.into(),
    }
}

fn panel(title: String) -> Block<'static> {
    Block::bordered().title(title)
}

/// Headings of words on the left, of numbers (from column `numbers` on) on the right.
fn heading(names: &[&'static str], numbers: usize) -> Row<'static> {
    let cells = names.iter().enumerate().map(|(column, name)| {
        let line = Line::from(*name);
        Cell::from(if column < numbers { line } else { line.right_aligned() })
    });
    Row::new(cells).style(Style::new().add_modifier(Modifier::BOLD))
}

fn right(number: f64) -> Cell<'static> {
    Cell::from(Line::from(format::short(number)).right_aligned())
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::rates::tests::two_seconds;
    use super::*;

    fn drawn(rates: &Rates, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, rates, &mut Screen::default())).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn a_terminal_of_80_columns_and_24_lines() {
        insta::assert_snapshot!(drawn(&two_seconds(), 80, 24), @r#"
        " lb1   up 1m 30s  backends 2 of 2 up  2 balancers, 50 % of tokens here          "
        "┌ packets a second ────────────────────────────────────────────────────────────┐"
        "│service        to backends to balancers       passed      dropped        bit/s│"
        "│web                  1.00k           10            0            1        8.09M│"
        "│(no service)             0            0            0            0            0│"
        "└──────────────────────────────────────────────────────────────────────────────┘"
        "┌ backends, as configured ─────────────────────────────────────────────────────┐"
        "│service      backend      state                       flows packets/s    bit/s│"
        "│web          be1          up                             12     1.00k    8.00M│"
        "│web          be2          up                             12         0        0│"
        "│                                                                              │"
        "│                                                                              │"
        "│                                                                              │"
        "│                                                                              │"
        "│                                                                              │"
        "│                                                                              │"
        "│                                                                              │"
        "└──────────────────────────────────────────────────────────────────────────────┘"
        "┌ MPTCP: a second, in all ───────────────────────────┐┌ tables ────────────────┐"
        "│  100   207 tokens added      0     0 joins by token││████flows 25 (25 %)     │"
        "│   10    20 joins asked       0     0 joins unknown ││                        │"
        "│    0     0 collisions        0     0 tables full   ││                        │"
        "└────────────────────────────────────────────────────┘└────────────────────────┘"
        " q quit  ↑↓ select  s sort  r reverse                                           "
        "#);
    }

    #[test]
    fn what_is_wrong_takes_the_place_of_the_keys() {
        let mut rates = two_seconds();
        rates.sample.status.warnings = vec!["service web has no backend".into()];
        let text = drawn(&rates, 80, 24);
        assert!(text.contains("q quit  service web has no backend"), "{text}");
    }

    /// However small: nothing is drawn outside, nothing panics.
    #[test]
    fn any_size_will_do() {
        let rates = two_seconds();
        for (width, height) in [(1, 1), (10, 3), (40, 10), (79, 23), (300, 100)] {
            drawn(&rates, width, height);
        }
    }
}
