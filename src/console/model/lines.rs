//! The lines of the queue on screen: which is a row of calls, which a server. Owns no order.

use std::ops::Range;

/// The lines of the queue: a row each, or in the order by server a line for each server, with the rows of one below it.
#[derive(Clone, Debug)]
pub struct Lines {
    pub(super) rows: usize,
    pub(super) servers: Vec<Range<usize>>,
    /// The server of the selected call.
    pub(super) open: usize,
}

/// What is on a line of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueLine {
    Row(usize),
    /// The rows of a server; shown below it or not.
    Server(Range<usize>),
}

impl Lines {
    fn opened(&self) -> Range<usize> {
        self.servers.get(self.open).cloned().unwrap_or_default()
    }

    /// Whether servers have lines of their own.
    pub fn names_servers(&self) -> bool {
        !self.servers.is_empty()
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        if self.servers.is_empty() { self.rows } else { self.servers.len() + self.opened().len() }
    }

    /// What is on this line.
    pub fn get(&self, line: usize) -> Option<QueueLine> {
        if self.servers.is_empty() {
            return (line < self.rows).then_some(QueueLine::Row(line));
        }
        let opened = self.opened();
        match line.checked_sub(self.open + 1) {
            Some(below) if below < opened.len() => Some(QueueLine::Row(opened.start + below)),
            Some(below) => self.servers.get(self.open + 1 + below - opened.len()).cloned().map(QueueLine::Server),
            None => self.servers.get(line).cloned().map(QueueLine::Server),
        }
    }

    /// The line of a row; that of its server, where the row is not shown.
    pub fn line_of(&self, row: usize) -> usize {
        let opened = self.opened();
        match self.servers.iter().position(|rows| rows.contains(&row)) {
            None => row,
            Some(server) if server == self.open => server + 1 + (row - opened.start),
            Some(server) if server > self.open => server + opened.len(),
            Some(server) => server,
        }
    }

    /// The first row of the server after or before that of the selected call; `None` where the order is another.
    pub fn neighbour(&self, ahead: bool) -> Option<usize> {
        let at = if ahead { self.open + 1 } else { self.open.checked_sub(1)? };
        self.servers.get(at).map(|rows| rows.start)
    }
}
