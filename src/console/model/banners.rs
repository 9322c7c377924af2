//! What must be said above everything: everything passes, a broken policy, wrappers we cannot talk to.

use super::Model;
use crate::console::row::{Row, Tone};

impl Model {
    /// The banners, wrapped to the screen's width.
    pub fn banners(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for connected in self.wrappers.iter().filter(|c| c.wrapper.observe) {
            rows.push(
                Row::of(Tone::Loud, " OBSERVE ")
                    .and(Tone::Ours, " ")
                    .and_foreign(Tone::Strong, &connected.wrapper.server)
                    .and(Tone::Danger, ": every call passes without a question and is only recorded"),
            );
        }
        for connected in &self.wrappers {
            if let Some(banner) = &connected.status.banner {
                let name = Row::of(Tone::Warn, " ▲ ").and_foreign(Tone::Strong, &connected.wrapper.server);
                rows.push(name.and(Tone::Warn, ": ").and_foreign(Tone::Warn, banner));
            }
        }
        for other in &self.incompatible {
            let row = Row::of(Tone::Danger, " ▲ ").and_foreign(Tone::Strong, &other.name);
            let row = row.and(Tone::Danger, ": its wrapper is version ").and_foreign(Tone::Danger, &other.version);
            rows.push(row.and(
                Tone::Danger,
                format!(" (protocol {}), this console {}: restart the host", other.protocol, self.settings.version),
            ));
        }
        for problem in &self.settings.problems {
            rows.push(Row::of(Tone::Warn, " ▲ ").and_foreign(Tone::Warn, problem));
        }
        if let Some(trouble) = &self.trouble {
            rows.push(Row::of(Tone::Danger, " ▲ ").and_foreign(Tone::Danger, trouble));
        }
        let width = usize::from(self.size.0);
        rows.into_iter().flat_map(|row| row.hung(width, 3)).collect()
    }
}
