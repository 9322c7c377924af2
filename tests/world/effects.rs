//! What the gate tells its surroundings to do, done as a test would see it, against the five invariants.

use mcp_approve::audit::body::write_body;
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::behavior::agreed::Backing;
use mcp_approve::gate::ForwardOrder;
use mcp_approve::gate::data::effect::{Effect, Passing};
use mcp_approve::gate::data::event::Side;
use mcp_approve::wire::Line;
use mcp_approve::wire::call::Origin;
use mcp_approve::wire::digest::Digest;

use super::{Did, Pending, World};

/// An effect as whoever receives it reads it: a record as the log holds it, a card as consoles get it, a line as it is.
pub(super) fn shown(effect: &Effect) -> String {
    let json = |what: &str, value: serde_json::Result<String>| format!("{what} {}", value.unwrap());
    match effect {
        Effect::Relay(Passing::ToServer(plain)) => format!("to server {}", text(plain.line())),
        Effect::Relay(Passing::ToHost(line)) => format!("to host {}", text(line)),
        Effect::Forward(_, call) => format!("forward {} {}", call.digest(), text(call.line())),
        Effect::WriteToHost(line) => format!("answer {}", text(line)),
        Effect::Record(id, entry) => {
            let mut body = String::new();
            write_body(entry, &Redactor::new(&[7; 32]), &mut body);
            format!("record {id} {body}")
        }
        Effect::Ask(card) => json("ask", serde_json::to_string(card)),
        Effect::Settle(settled) => json("settle", serde_json::to_string(settled)),
        Effect::Show(activity) => json("show", serde_json::to_string(activity)),
        other => format!("{other:?}"),
    }
}

impl World {
    pub(super) fn perform(&mut self, effect: Effect) -> Option<Did> {
        if let (true, Effect::Relay(passing)) = (self.restricts, &effect) {
            let line = match passing {
                Passing::ToServer(plain) => text(plain.line()),
                Passing::ToHost(line) => text(line),
            };
            let is_ruled = |method: &&str| line.contains(&format!("\"method\":\"{method}/"));
            let ruled = ["resources", "prompts", "sampling", "elicitation"];
            assert!(!ruled.iter().any(is_ruled), "1: passes undecided, and a rule is about it: {line}");
        }
        Some(match effect {
            Effect::Relay(Passing::ToServer(plain)) => Did::ToServer(text(&plain.into_line())),
            Effect::Relay(Passing::ToHost(line)) => Did::ToHost(text(&line)),
            Effect::Forward(token, call) => {
                let digest = call.digest();
                let ticket = self.ticket_of(digest);
                let card_edited = self.cards.get(&ticket).is_some_and(|card| card.edited_from.is_some());
                assert!(
                    card_edited || self.sent.contains(&digest) || self.has_written(digest),
                    "3: {ticket} forwards bytes that were never received"
                );
                let by_person = self.approved_by_operator.contains(&ticket) || self.approved_in_host.contains(&ticket);
                assert!(
                    !self.frozen || by_person || call.origin() != Origin::Host,
                    "{ticket} runs while calls are frozen, and no person approved it"
                );
                assert!(!self.given_up.contains(&ticket), "4: {ticket} runs, and its host has cancelled its task");
                if self.order == ForwardOrder::Sent && call.origin() == Origin::Host {
                    let number = ticket.rsplit_once('-').and_then(|(_, number)| number.parse().ok()).expect("a number");
                    assert!(self.last_forwarded < number, "{ticket} overtakes {}", self.last_forwarded);
                    self.last_forwarded = number;
                }
                let bytes = token.redeem("session", *call).expect("the token is for this call");
                self.ends(&ticket, "forwarded");
                Did::Forward(String::from_utf8(bytes).expect("UTF-8").trim_end().to_owned())
            }
            Effect::WriteToHost(line) => {
                let text = text(&line);
                self.note_form(&text);
                let state =
                    text.split_once(r#""requestState":"mcp-approve:"#).and_then(|(_, rest)| rest.split_once('"'));
                if let Some((_, id)) =
                    text.split_once(r#""taskId":"mcp-approve-task-"#).filter(|_| text.contains("working"))
                {
                    let id = format!("mcp-approve-task-{}", id.split('"').next().unwrap_or_default());
                    if self.tasks.last() != Some(&id) {
                        self.tasks.push(id);
                    }
                }
                self.states.extend(state.map(|(state, _)| format!("mcp-approve:{state}")));
                Did::Answer(text)
            }
            Effect::WriteToServer(line) => Did::Query(text(&line.into_line())),
            Effect::Record(id, entry) => {
                self.check_entry(&entry);
                self.entries.push((*entry).clone());
                self.pending.push_back(Pending { id, entry: *entry });
                return None;
            }
            Effect::Ask(card) => {
                let ticket = card.ticket.clone();
                if let Some((offer, signs)) = card.offer.as_ref().and_then(|offer| Some((offer, offer.signs.as_ref()?)))
                {
                    assert!(signs.is_as_shown(offer, (&card.tool, card.identity)), "no console would sign: {offer:?}");
                }
                self.cards.insert(ticket.clone(), *card);
                Did::Ask(ticket)
            }
            Effect::LookUp { ticket, look, wanted } => {
                assert!(!wanted.is_empty(), "a look at nothing");
                self.looked += 1;
                self.looks.push_back((ticket, look, wanted));
                return None;
            }
            Effect::Settle(settled) => {
                self.settled.push(settled.clone());
                Did::Settle(settled.ticket)
            }
            Effect::Refuse { why, .. } => Did::Refuse(why),
            Effect::Show(one) => {
                self.shown.push(*one);
                return None;
            }
            Effect::Consult { ticket, consult, names, call } => {
                self.consults.push_back((ticket, consult));
                self.told.push(call);
                Did::Consult(names.join(" "))
            }
            Effect::AcceptPolicy { file, .. } => Did::Accept(file),
            Effect::Remember(update) => {
                self.remembered.push(*update);
                return None;
            }
            Effect::Pin { pinning, .. } => {
                self.pinned.push(*pinning);
                return None;
            }
            Effect::Agree { agreed, backing, .. } => {
                if backing == Backing::Signed {
                    self.signed.extend(agreed.iter().cloned());
                }
                self.agreed.extend(agreed);
                return None;
            }
            Effect::UseAgreed(_) | Effect::NoteServer | Effect::WakeAt(_) => return None,
            Effect::Close(Side::Host) => Did::Close("host"),
            Effect::Close(Side::Server) => Did::Close("server"),
        })
    }

    /// The host was given a question of ours, or it was taken back.
    fn note_form(&mut self, line: &str) {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if line["method"] == "elicitation/create" {
            assert!(self.forms.is_empty(), "two questions at once");
            let text =
                |pointer: &str| line.pointer(pointer).and_then(|value| value.as_str()).expect("a text").to_owned();
            self.forms.push((text("/id"), text("/params/message")));
        } else if line["method"] == "notifications/cancelled" {
            self.forms.retain(|(id, _)| line["params"]["requestId"] != id.as_str());
        } else if let Some(message) = line.pointer("/result/inputRequests/mcp_approve/params/message") {
            let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
            self.forms_inside.push((text(&line["result"]["requestState"]), text(message)));
        }
    }

    /// The ticket whose approval of exactly these bytes is on the disk: what a forward needs.
    fn ticket_of(&self, digest: Digest) -> String {
        let found = self.recorded.iter().find(|(ticket, (on_disk, verdict))| {
            *on_disk == digest && *verdict == VerdictWord::Approve && !self.ends.contains_key(*ticket)
        });
        found.map(|(ticket, _)| ticket.clone()).expect("2: forwarded before an approval of these bytes was on the disk")
    }

    fn check_entry(&mut self, entry: &Entry) {
        let Some(ticket) = &entry.ticket else { return };
        match entry.kind {
            Kind::Decision => {
                let count = self.decisions.entry(ticket.to_string()).or_default();
                *count += 1;
                assert_eq!(*count, 1, "5: {ticket} has two decisions");
                let reason = entry.detail.get("reason");
                let reason = reason.as_ref().and_then(|reason| reason.as_str()).unwrap_or_default();
                let continues = reason.starts_with("continues the approval");
                if (entry.verdict, entry.by) == (Some(VerdictWord::Approve), Some(By::Operator)) && !continues {
                    assert!(self.approved_by_operator.contains(&**ticket), "1: nobody approved {ticket}");
                }
                if (entry.verdict, entry.by) == (Some(VerdictWord::Approve), Some(By::Elicitation)) {
                    assert!(self.approved_in_host.contains(&**ticket), "1: nobody approved {ticket} in the host");
                }
            }
            Kind::Withdrawn => self.ends(ticket, "withdrawn"),
            Kind::Outcome => {
                assert_eq!(self.ends.get(&**ticket), Some(&"forwarded"), "5: an outcome of {ticket}, which never ran");
            }
            _ => {}
        }
    }

    /// Whether a rule about results has left these bytes of an answer.
    fn has_written(&self, digest: Digest) -> bool {
        let mut rulings = self.entries.iter().filter(|entry| entry.kind == Kind::ResultDecision);
        rulings.any(|entry| entry.detail.get("sent") == Some(digest.to_string().into()))
    }

    /// A result that was approved is with its host by now, under another request or by a task.
    pub fn released(&mut self, ticket: &str) {
        assert_eq!(self.recorded.get(ticket).map(|(_, verdict)| *verdict), Some(VerdictWord::Approve), "{ticket}");
        self.ends(ticket, "forwarded");
    }

    fn ends(&mut self, ticket: &str, how: &'static str) {
        let before = self.ends.insert(ticket.into(), how);
        assert!(before.is_none(), "4: {ticket} ends twice: {before:?}, then {how}");
    }
}

fn text(line: &Line) -> String {
    String::from_utf8_lossy(line.content()).into_owned()
}
