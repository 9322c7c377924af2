//! Which commands are risky, and why: one table. A command that is not in it is still a command that runs.

use crate::behavior::words::among;
use Rank::{Administers, Destroys, GivesControl, Reaches, Writes};

/// How risky a command is, from harmless to irreversible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Runs,
    /// It changes files or settings.
    Writes,
    /// It talks to other machines.
    Reaches,
    /// It starts, stops, installs, or changes who may do what.
    Administers,
    /// It removes what cannot be brought back.
    Destroys,
    /// It runs what somebody else wrote, or as somebody else.
    GivesControl,
}

/// Programs that run the program named behind them.
const WRAPPERS: &str =
    "env nohup time nice ionice command exec builtin stdbuf setsid timeout xargs watch busybox unbuffer chronic";
/// Words of the shell behind which a command is.
const KEYWORDS: &str = "if then elif else while until do !";
const SHELLS: &str = "sh bash zsh dash ksh fish pwsh powershell powershell.exe cmd cmd.exe";
const INTERPRETERS: &str = "python python2 python3 node deno bun perl ruby php lua osascript";
const FETCHERS: &str = "curl wget http https fetch aria2c nc ncat socat";

/// A command as it is ranked.
pub(super) struct Ranked {
    pub(super) rank: Rank,
    /// Our own line on it.
    pub(super) says: String,
    /// Which of its words tell: programs, and what makes them risky.
    pub(super) telling: Vec<usize>,
}

impl Ranked {
    fn new(rank: Rank, says: String, telling: &[usize]) -> Self {
        Self { rank, says, telling: telling.to_vec() }
    }

    /// The same command behind `skipped` words, of which the one at `wrapper` started it.
    fn behind(mut self, skipped: usize, wrapper: usize) -> Self {
        self.telling.iter_mut().for_each(|at| *at += skipped);
        self.telling.insert(0, wrapper);
        self
    }
}

/// The rank of a command given as its words. `before` writes into it through a pipe.
pub(super) fn of(all: &[&str], before: Option<&str>, depth: usize) -> Ranked {
    let at = all.iter().take_while(|word| is_assignment(word)).count();
    let words = all.get(at..).unwrap_or_default();
    let Some(first) = words.first() else {
        return Ranked::new(Rank::Runs, "sets variables of a shell".to_owned(), &[]);
    };
    let name = first.rsplit(['/', '\\']).next().unwrap_or(first);
    let rest = words.get(1..).unwrap_or_default();
    let only = |rank: Rank, says: String| Ranked::new(rank, says, &[at]);
    if depth > 8 {
        return only(Rank::GivesControl, "runs commands inside commands".to_owned());
    }
    if among(name, "sudo doas su pkexec runas") {
        let inner = rest.iter().position(|word| !word.starts_with('-'));
        let what = inner.and_then(|inner| rest.get(inner)).unwrap_or(&"a shell");
        let says = format!("runs {what} as another user, with {name}");
        return match inner.and_then(|inner| Some((inner, rest.get(inner..)?))) {
            Some((inner, run)) => {
                Ranked { rank: Rank::GivesControl, says, ..of(run, before, depth + 1) }.behind(at + 1 + inner, at)
            }
            None => only(Rank::GivesControl, says),
        };
    }
    if among(name, WRAPPERS) || among(name, KEYWORDS) {
        let inner = rest.iter().position(|word| !word.starts_with('-') && !is_assignment(word) && !is_amount(word));
        return match inner.and_then(|inner| Some((inner, rest.get(inner..)?))) {
            Some((inner, run)) => of(run, before, depth + 1).behind(at + 1 + inner, at),
            None => only(Rank::Runs, format!("runs {name}")),
        };
    }
    let pipes_code =
        before.is_some_and(|before| among(base(before), FETCHERS) || among(base(before), "base64 xxd openssl gunzip"));
    if (among(name, SHELLS) || among(name, INTERPRETERS)) && pipes_code {
        let what =
            if before.is_some_and(|before| among(base(before), FETCHERS)) { "a download" } else { "decoded text" };
        return only(Rank::GivesControl, format!("pipes {what} into {name}"));
    }
    if among(name, SHELLS)
        && let Some(code) = behind(rest, &["-c", "/c", "/C", "-Command", "-command", "-lc", "-ic", "-xc"])
    {
        let worst = super::cut(code)
            .unwrap_or_default()
            .iter()
            .map(|inner| of(&inner.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), None, depth + 1))
            .reduce(|worst, one| if one.rank > worst.rank { one } else { worst });
        return worst.map_or_else(|| only(Rank::Runs, format!("runs {name}")), |worst| only(worst.rank, worst.says));
    }
    if among(name, "eval source .") {
        return only(Rank::GivesControl, format!("{name} runs the content of a text or a file"));
    }
    let fits = |Row(_, names, with, _): &&Row| {
        among(name, names) && (with.is_empty() || with.split(' ').any(|with| has(rest, with)))
    };
    match RISKY.iter().find(fits) {
        Some(Row(rank, _, with, why)) => {
            let with_values: Vec<usize> = (0..rest.len()).filter(|at| shown(rest[*at], with)).take(2).collect();
            let with: Vec<&str> = with_values.iter().map(|at| rest[*at]).collect();
            let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(" ")) };
            let telling: Vec<usize> = std::iter::once(at).chain(with_values.iter().map(|one| at + 1 + one)).collect();
            Ranked::new(*rank, format!("runs {name}{with}{why}"), &telling)
        }
        None => {
            let act = rest.first().filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            let act = act.filter(|word| !word.starts_with('-')).map(|word| format!(" {word}")).unwrap_or_default();
            only(Rank::Runs, format!("runs {name}{act}"))
        }
    }
}

fn base(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn is_amount(word: &str) -> bool {
    let number = word.trim_end_matches(['s', 'm', 'h', 'd']);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn behind<'a>(words: &[&'a str], flags: &[&str]) -> Option<&'a str> {
    let at = words.iter().position(|word| flags.contains(word))?;
    words.get(at + 1).copied()
}

/// Whether the words hold `with`: a word, a flag, or a letter among short flags (`-f` in `-rf`).
fn has(words: &[&str], with: &str) -> bool {
    let letter = with.strip_prefix('-').filter(|letter| letter.len() == 1);
    words.iter().any(|word| {
        *word == with
            || with.ends_with('=') && word.starts_with(with)
            || letter.is_some_and(|letter| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    })
}

/// Whether a word of the command is worth a place on the line: its flags, or one of those that its row looks for.
fn shown(word: &str, wanted: &str) -> bool {
    let is_flag = word.starts_with('-');
    among(word, wanted)
        || (is_flag && word.len() <= 24 && wanted.split_ascii_whitespace().any(|with| has(&[word], with)))
        || (is_flag && word.len() <= 12 && wanted.is_empty())
}

/// Programs; words of which one must be behind them, where there are any; and what is said of that.
struct Row(Rank, &'static str, &'static str, &'static str);

/// The first row that fits is taken.
const RISKY: &[Row] = &[
    Row(Destroys, "rm del erase rmdir rd Remove-Item", "-r -f -R --recursive --force /s /S -Recurse", ""),
    Row(Destroys, "rm del erase rmdir rd unlink Remove-Item srm shred wipe trash", "", ", which removes files"),
    Row(Destroys, "mkfs mkfs.ext4 mkfs.xfs wipefs fdisk parted sgdisk format diskpart", "", ", which erases a disk"),
    Row(Destroys, "dd", "of=", ", which writes over a device or a file"),
    Row(Destroys, "truncate", "", ", which truncates files"),
    Row(Destroys, "find fd", "-delete -exec -execdir -ok -x --exec", ""),
    Row(Destroys, "git", "clean --hard --force -f --force-with-lease --mirror filter-branch gc", ""),
    Row(Destroys, "kubectl oc helm", "delete drain uninstall replace", ""),
    Row(Destroys, "terraform tofu pulumi cdk", "destroy apply up deploy", ""),
    Row(Destroys, "docker podman", "rm rmi prune kill down -v", ""),
    Row(Destroys, "dropdb dropuser redis-cli", "", ""),
    Row(GivesControl, "docker podman", "--privileged --pid=host --net=host", ""),
    Row(
        GivesControl,
        "python python2 python3 node deno bun perl ruby php lua osascript",
        "-c -e --eval -r",
        ", which runs code",
    ),
    Row(GivesControl, "nc ncat socat", "-e -l -c EXEC", ", which can let other machines in"),
    Row(Administers, "kill pkill killall shutdown reboot halt poweroff init systemctl service launchctl sc", "", ""),
    Row(
        Administers,
        "chmod chown chgrp setfacl icacls attrib passwd useradd userdel usermod groupadd visudo",
        "",
        ", which changes permissions",
    ),
    Row(Administers, "crontab at batch iptables nft ufw sysctl mount umount modprobe insmod", "", ""),
    Row(
        Administers,
        "apt apt-get yum dnf pacman brew snap apk zypper choco winget",
        "install remove purge upgrade add -S -R",
        "",
    ),
    Row(Administers, "npm pnpm yarn bun pip pip3 uv gem cargo go", "install i add publish uninstall remove ci", ""),
    Row(Administers, "npx uvx pipx bunx", "", ", which fetches a program and runs it"),
    Row(Administers, "aws gcloud az gh glab doctl heroku vercel fly netlify", "", ""),
    Row(Reaches, "ssh scp sftp rsync ftp telnet rclone", "", ", which connects to another machine"),
    Row(Reaches, "curl http https", "-X -d -T -F --data --data-binary --upload-file --request", ", which sends data"),
    Row(Reaches, "curl wget http https aria2c nc ncat socat", "", ", which connects to another machine"),
    Row(Reaches, "git", "push fetch pull clone", ""),
    Row(Reaches, "kubectl oc helm docker podman docker-compose", "", ""),
    Row(Reaches, "psql mysql sqlite3 mongosh mongo sqlcmd", "", ", which connects to a database"),
    Row(Writes, "git", "commit merge rebase reset checkout restore stash tag branch add rm mv", ""),
    Row(Writes, "mv cp ln mkdir touch tee install tar unzip patch rename move copy New-Item Set-Content", "", ""),
    Row(Writes, "sed perl awk gawk", "-i --in-place", ", which rewrites files"),
    Row(Writes, "make cmake ninja gradle mvn cargo npm pnpm yarn pip go", "", ""),
    Row(Administers, "printenv export set", "", ", which reads or changes the environment"),
];
