//! `mcp-approve signers`: who may sign verdicts here, what each key is worth, and one signature made and checked for a try.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::audit::moment::rfc3339;
use crate::audit::recording::random;
use crate::cli::args::{Output, SignersCommand, SignersTestOptions};
use crate::cli::error::{Error, Exit};
use crate::cli::look::{Here, JsonForm, Look, json_rows, shown};
use crate::home::signers::{keygen, load};
use crate::home::user;
use crate::operator::sign::{OwnKey, a_try, own_keys, public_key, ssh_folder};
use crate::signing::grade::{ConsoleUser, Grade, Owner};
use crate::signing::signers::{Entry, EntryKey, InForce};
use crate::signing::statement::{CardTerms, Challenge, NAMESPACE, Said, Statement, VERSION};
use crate::signing::verdict::{Attested, Expected, SignedVerdict, Spent};
use crate::text::columns::cell;
use crate::text::row::{Row, Tone};
use crate::wire::digest::Digest;

pub(super) fn run(command: &SignersCommand, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let in_force = load(here.places).map_err(|error| {
        let hint = error.hint();
        Error::failed("the list of signers cannot be used", error, hint)
    })?;
    match command {
        SignersCommand::List(output) => list(in_force.as_ref(), *output, here, out),
        SignersCommand::Test(options) => {
            let none = || Error::wrong("there is no list of signers", hint_for_none(here));
            test(&in_force.ok_or_else(none)?, options, here, out)
        }
    }
}

fn hint_for_none(Here { places, .. }: Here<'_>) -> String {
    let (system, own) = (places.system_dir(), places.config_dir());
    format!(
        "write {} as root, or {} for a try; `mcp-approve help signing` says how",
        shown(&system.join("allowed_signers")),
        shown(&own.join("allowed_signers"))
    )
}

fn list(in_force: Option<&InForce>, output: Output, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let look = Look::here(here);
    let entries = in_force.map_or(&[][..], |in_force| in_force.signers.entries());
    let entries: Vec<Listed<'_>> = in_force
        .into_iter()
        .flat_map(|in_force| entries.iter().map(|entry| Listed::of(entry, in_force, here.now)))
        .take(output.limit.unwrap_or(usize::MAX))
        .collect();
    if output.json || output.jsonl {
        let file = in_force.map(|in_force| in_force.file.display().to_string());
        let rows = entries.iter().map(|listed| listed.json(file.as_deref()));
        json_rows(rows, if output.json { JsonForm::Array } else { JsonForm::Lines }, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(in_force) = in_force else {
        writeln!(out, "There is no list of signers: no verdict needs a signature, and none can have one.")?;
        writeln!(out, "{}", look.hint(&format!("To begin, {}.", hint_for_none(here))))?;
        return Ok(ExitCode::SUCCESS);
    };
    let owner = match in_force.owner {
        Owner::Root => "root alone can change it",
        Owner::User => "your account can change it",
    };
    writeln!(out, "{} ({owner})", shown(&in_force.file))?;
    if entries.is_empty() {
        writeln!(out, "No line in it lets a key sign.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<_> = entries.iter().map(Listed::row).collect();
    look.list(["SIGNER", "KEY", "FINGERPRINT", "WORTH", "REMARKS"], &rows, out)?;
    let mut grades: Vec<Grade> = entries.iter().filter_map(|listed| listed.grade.ok()).collect();
    grades.sort_unstable();
    grades.dedup();
    for grade in grades {
        writeln!(out, "{}: {}.", grade.word(), grade.sentence())?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Listed<'a> {
    entry: &'a Entry,
    /// What a verdict by it is worth; or why it may sign none.
    grade: Result<Grade, &'static str>,
    why: Option<String>,
}

impl<'a> Listed<'a> {
    fn of(entry: &'a Entry, in_force: &InForce, now: i64) -> Self {
        let why = match &entry.key {
            EntryKey::Unsupported { why, .. } => Some(why.clone()),
            EntryKey::Supported(key) if in_force.signers.is_revoked(key) => Some("the key was revoked".to_owned()),
            EntryKey::Supported(_) => entry.allows(NAMESPACE, now).err().map(|why| why.to_string()),
        };
        let grade = match (&entry.key, &why) {
            (EntryKey::Supported(key), None) => Ok(Grade::of_key(in_force.owner, key.kind())),
            _ => Err("none"),
        };
        Self { entry, grade, why }
    }

    fn key(&self) -> (&str, String) {
        match &self.entry.key {
            EntryKey::Supported(key) => (key.kind().word(), key.fingerprint()),
            EntryKey::Unsupported { fingerprint, .. } => ("not supported", fingerprint.clone()),
        }
    }

    fn row(&self) -> [Row; 5] {
        let (kind, fingerprint) = self.key();
        let (worth, tone) = match self.grade {
            Ok(grade) if grade.is_l0() => (grade.word(), Tone::Warn),
            Ok(grade) => (grade.word(), Tone::Good),
            Err(none) => (none, Tone::Quiet),
        };
        let remark = self.why.clone().or_else(|| {
            let until = self.entry.before.map(|before| format!("until {}", rfc3339(before)));
            until.or_else(|| Some(self.entry.comment.clone()))
        });
        [
            cell(Tone::Strong, self.entry.principals.text()),
            cell(Tone::Ours, kind),
            cell(Tone::Quiet, &fingerprint),
            cell(tone, worth),
            cell(Tone::Ours, &remark.unwrap_or_default()),
        ]
    }

    fn json(&self, file: Option<&str>) -> Value {
        let (kind, fingerprint) = self.key();
        json!({
            "file": file, "line": self.entry.line, "signer": self.entry.principals.text(), "key": kind,
            "fingerprint": fingerprint, "namespaces": self.entry.namespaces.as_ref().map(|allowed| allowed.text()),
            "valid_after": self.entry.after.map(rfc3339), "valid_before": self.entry.before.map(rfc3339),
            "worth": self.grade.ok().map(Grade::word), "why_not": self.why, "comment": self.entry.comment,
        })
    }
}

fn test(in_force: &InForce, options: &SignersTestOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let key = chosen(in_force, options.key.as_deref(), here.now)?;
    keygen(here.places).map_err(|why| {
        Error::wrong(why, "install OpenSSH's client; only a program that root alone can change is run to sign")
    })?;
    let challenge = random()
        .map(Challenge::of)
        .map_err(|cause| Error::failed("no random bytes could be read", cause, "see that /dev/urandom can be read"))?;
    let statement = made_up(&key, challenge, here.now);
    writeln!(out, "Signing as {key}")?;
    if key.key.kind().states_presence() {
        writeln!(out, "Touch the key when it blinks; Ctrl-C ends this.")?;
    }
    out.flush()?;
    here.places.create_state()?;
    let hint =
        "a key in a file needs its agent or its passphrase, a FIDO key its touch; `ssh-add -L` lists the agent's keys";
    let evidence = a_try(&statement, key).sign(here.places);
    let evidence = evidence.map_err(|error| Error::failed("there is no signature", error, hint))?;
    let accepted = Attested::check(evidence, &in_force.signers).and_then(|attested| {
        let expected = Expected { card: &statement.card, said: &statement.said, earlier: &[], now: here.now };
        SignedVerdict::accept(attested, expected, &mut Spent::default())
    });
    match accepted.map(|accepted| accepted.grade(in_force.owner, ConsoleUser::Same)) {
        Ok(Some(grade)) => {
            writeln!(
                out,
                "The signature is good. A verdict signed so is worth {}: {}.",
                grade.word(),
                grade.sentence()
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(None) => refused("the key signed without a touch"),
        Err(refusal) => refused(&refusal.to_string()),
    }
}

fn refused(why: &str) -> Exit {
    let what = format!("a wrapper would not accept this signature: {why}");
    Err(Error::Untrue { what, hint: "`mcp-approve signers` shows the list of signers".to_owned() })
}

fn chosen(in_force: &InForce, named: Option<&Path>, now: i64) -> Result<OwnKey, Error> {
    let folder = ssh_folder().unwrap_or_default();
    let mut keys = own_keys(in_force, &folder, NAMESPACE, now);
    let Some(path) = named else {
        let none = || {
            Error::wrong(
                "no key in the list of signers can sign a verdict as a name that is written out",
                "`mcp-approve signers` says what is wrong with each line",
            )
        };
        return if keys.is_empty() { Err(none()) } else { Ok(keys.remove(0)) };
    };
    let key = public_key(path)
        .map_err(|why| Error::failed(format!("{} is not a public key", shown(path)), why, "name a .pub file"))?;
    let found = keys.into_iter().find(|known| known.key == key);
    let found = found.map(|known| OwnKey { file: Some(path.to_owned()), ..known });
    found.ok_or_else(|| {
        let list = shown(&in_force.file);
        Error::wrong(
            format!("{list} does not let this key sign verdicts under a name that is written out"),
            format!("add a line to it: NAME {}", key.line()),
        )
    })
}

fn made_up(key: &OwnKey, challenge: Challenge, now: i64) -> Statement {
    let nothing = Digest::of(b"");
    let card = CardTerms {
        approval: 1,
        approvals: 1,
        call: nothing,
        card: nothing,
        challenge,
        definition: None,
        machine: user::machine(),
        policy: nothing,
        role: None,
        server: "signers test".to_owned(),
        session: "signers test".to_owned(),
        ticket: "test-1".to_owned(),
        user: user::name(),
    };
    // A denial: even where it leaks, it approves nothing.
    let said = Said::denial("");
    let signer = key.signer.clone();
    Statement {
        also: Vec::new(),
        card,
        log: None,
        not_after: now + 5 * 60_000,
        said,
        signer,
        time: now,
        version: VERSION,
    }
}
