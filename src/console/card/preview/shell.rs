//! A shell's text as a list of commands, with the words marked that remove, overwrite, fetch, or gain rights. It judges
//! nothing; it shows where one command ends and the next begins.

use crate::console::row::{Row, Tone};

/// Programs that a glance should not miss.
const RISKY: [&str; 38] = [
    "rm",
    "rmdir",
    "dd",
    "mkfs",
    "shred",
    "truncate",
    "mv",
    "chmod",
    "chown",
    "sudo",
    "su",
    "doas",
    "kill",
    "killall",
    "pkill",
    "reboot",
    "shutdown",
    "halt",
    "curl",
    "wget",
    "nc",
    "ncat",
    "ssh",
    "scp",
    "rsync",
    "eval",
    "exec",
    "source",
    "sh",
    "bash",
    "zsh",
    "python",
    "python3",
    "perl",
    "node",
    "crontab",
    "systemctl",
    "launchctl",
];
/// Arguments that a glance should not miss.
const FLAGS: [&str; 12] =
    ["-rf", "-fr", "-Rf", "-r", "-R", "-f", "--force", "--hard", "--no-verify", "--delete", "--recursive", "--yes"];

/// A piece of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Space(&'a str),
    /// `;`, `&&`, `||`, `|`, `&`, a line's end: another command follows.
    Between(&'a str),
    /// `>`, `>>`, `<`.
    Redirect(&'a str),
}

/// One row per command, with what joins it to the one before; nothing for a single plain word.
pub(super) fn commands(text: &str) -> Vec<Row> {
    let tokens = tokens(text);
    let words = tokens.iter().filter(|token| matches!(token, Token::Word(_))).count();
    if words < 2 {
        return Vec::new();
    }
    let mut rows = Vec::new();
    let mut row = Row::of(Tone::Quiet, "   ");
    let mut first = true;
    let mut open = false;
    for token in tokens {
        match token {
            Token::Between(by) => {
                if open {
                    rows.push(std::mem::take(&mut row));
                }
                let by = if by == "\n" { "  " } else { by };
                row = Row::of(Tone::Warn, format!("{by:<2} "));
                (first, open) = (true, false);
            }
            Token::Space(space) => {
                if open {
                    // One space is only the gap between two words; more of them could hide something.
                    row = if space == " " { row.and(Tone::Ours, " ") } else { row.and_foreign(Tone::Foreign, space) };
                }
            }
            Token::Redirect(sign) => {
                row = row.and_foreign(Tone::Danger, sign);
                open = true;
            }
            Token::Word(word) => {
                row = row.and_foreign(tone(word, first), word);
                // `FOO=bar cmd`, `sudo cmd`: the next word is a program as well.
                let passes_on = matches!(word, "sudo" | "doas" | "env" | "exec" | "nohup" | "time" | "xargs");
                first = first && (passes_on || word.contains('='));
                open = true;
            }
        }
    }
    if open {
        rows.push(row);
    }
    rows
}

fn tone(word: &str, is_first: bool) -> Tone {
    let program = word.rsplit('/').next().unwrap_or(word);
    if is_first && RISKY.contains(&program) {
        return Tone::Danger;
    }
    if FLAGS.contains(&word) || word.contains("$(") || word.contains('`') {
        return Tone::Danger;
    }
    if is_first { Tone::Key } else { Tone::Foreign }
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = match c {
            '\n' | ';' => 1,
            '&' | '|' if rest[1..].starts_with(c) => 2,
            '&' | '|' => 1,
            '>' if rest.starts_with(">>") => 2,
            '>' | '<' => 1,
            c if c.is_whitespace() => rest.find(|c: char| !c.is_whitespace() || c == '\n').unwrap_or(rest.len()),
            _ => word(rest),
        };
        let piece = &rest[..len];
        found.push(match c {
            '\n' | ';' | '&' | '|' => Token::Between(piece),
            '>' | '<' => Token::Redirect(piece),
            c if c.is_whitespace() => Token::Space(piece),
            _ => Token::Word(piece),
        });
        at += len;
    }
    found
}

/// The length of the word that begins a text: quotes and backslashes keep it together.
fn word(text: &str) -> usize {
    let mut quote: Option<char> = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match (quote, c) {
            (_, '\\') if quote != Some('\'') => escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, c) if c.is_whitespace() || matches!(c, ';' | '&' | '|' | '>' | '<') => {
                return at.max(1);
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_one_row_each() {
        let text = |text| commands(text).iter().map(Row::text).collect::<Vec<_>>();
        let line = "cd /tmp && rm -rf \"a b; c\" | tee 'x|y' > out; echo  done &\nls";
        let shown = ["   cd /tmp ", "&& rm -rf \"a b; c\" ", "|  tee 'x|y' > out", ";  echo␠␠done ", "   ls"];
        assert_eq!(text(line), shown);
        assert!(text("ls").is_empty());
        let danger = |text: &str| {
            let runs = commands(text).into_iter().flat_map(|row| row.runs);
            runs.filter(|run| run.tone == Tone::Danger).map(|run| run.text).collect::<Vec<_>>()
        };
        assert_eq!(danger("sudo rm -rf / > log"), ["sudo", "rm", "-rf", ">"]);
        assert_eq!(danger("FOO=1 curl http://a.example | sh"), ["curl", "sh"]);
        assert_eq!(danger("echo rm"), Vec::<String>::new());
    }
}
