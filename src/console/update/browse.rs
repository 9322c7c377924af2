//! The screens beside Waiting: moving in their lists, opening sheets, going from one screen to what another knows of it.

use crate::audit::{Clock, Field, Search, search::exactly};
use crate::console::keymap::Action;
use crate::console::model::{Command, Following, ListState, Model, Opens, Reach, Screen, ServerLine, Sought, Window};
use crate::console::pages;
use crate::console::rows::content_rows;
use crate::operator::found::{Edge, LogRequest, LogRows, Wanted};
use crate::operator::tried::Trial;
use crate::policy::rules_name;
use std::mem::discriminant;

const PAGE: usize = 300;
/// Milliseconds between two looks at what may have changed.
const AGAIN: i64 = 1_000;

pub(super) fn go(model: &mut Model, action: Action) {
    let body = model.areas().body;
    let room = content_rows(body);
    let screen = model.screen;
    if let Some(top) = model.list(screen).and_then(|list| list.sheet) {
        let rows = pages::sheet(model, usize::from(pages::sides(model).sheet.width)).len();
        let top = super::select::moved(top, action, room, rows);
        if let Some(list) = model.list_mut(screen) {
            list.sheet = Some(top);
        }
        return;
    }
    // The second line is not part of the list, and one row of the last page stays on screen.
    let page = room.saturating_sub(2).max(1);
    let count = pages::count(model);
    let last = count.saturating_sub(1);
    if screen == Screen::Log && to_an_end(model, action) {
        return;
    }
    let Some(list) = model.list_mut(screen) else { return };
    list.at = super::select::stepped(list.at, action, (page, page / 2), last);
    let newest = list.at == last;
    if screen == Screen::Activity {
        model.activity.following = if newest { Following::Newest } else { Following::Stays };
    }
}

/// `Home` and `End` in the log go to its ends, even if these are not in memory.
fn to_an_end(model: &mut Model, action: Action) -> bool {
    let window = &model.log.window;
    let edge = match action {
        Action::Top if window.above.is_some_and(|above| above < window.newest) => Edge::Newest,
        Action::Bottom if window.below.is_some_and(|below| below > 0) => Edge::Oldest,
        _ => return false,
    };
    begin(model, edge);
    true
}

/// Clears the window of the log, and has it read again from one end.
fn begin(model: &mut Model, edge: Edge) {
    let window = &mut model.log.window;
    *window = Window { pages: window.pages, newest: window.newest, wants: Some(edge), ..Window::default() };
    let list = &mut model.log.list;
    (list.at, list.top, list.sheet) = (0, 0, None);
}

/// `o` in the log: one row a call, or every record.
pub(super) fn regroup(model: &mut Model) {
    if model.log.list.search.asks_for(Field::Kind) {
        return model.say("A search for a kind of record lists records.");
    }
    let words = match model.log.chosen_rows {
        LogRows::Calls => {
            model.log.chosen_rows = LogRows::Records;
            "Every record is a row: o shows one row a call again."
        }
        LogRows::Records => {
            model.log.chosen_rows = LogRows::Calls;
            "One row a call."
        }
    };
    begin(model, Edge::Newest);
    model.say(words);
}

/// `Enter`: the selected line's sheet, or back.
pub(super) fn open(model: &mut Model) {
    let screen = model.screen;
    if pages::count(model) == 0 {
        return;
    }
    if screen == Screen::Activity {
        return open_passed(model);
    }
    if let Some(list) = model.list_mut(screen) {
        list.sheet = if list.sheet.is_some() { None } else { Some(0) };
    }
}

fn open_passed(model: &mut Model) {
    let passing = model.activity.passing();
    let passed = passing.get(model.activity.list.at).and_then(|at| model.activity.passed.get(*at));
    let Some((ticket, session)) = passed.and_then(|passed| Some((passed.activity.ticket.clone()?, &passed.session)))
    else {
        return model.say("Only calls are in the log, and this was not a call.");
    };
    let find = format!("{} {}", exactly("ticket", &ticket), exactly("session", session));
    model.screen = Screen::Log;
    sought(model, Screen::Log, &find, Sought::Led);
    model.log.window.opens = Opens::TheFirst;
}

/// `Esc`: closes the sheet, drops the search, or goes back to Waiting.
pub(super) fn back(model: &mut Model) {
    let screen = model.screen;
    let Some(list) = model.list_mut(screen) else { return };
    if list.sheet.is_some() {
        list.sheet = None;
    } else if list.find.is_empty() {
        model.screen = Screen::Queue;
    } else {
        search(model, screen, "");
    }
}

/// `2` to `6`: another screen; from an open sheet, what that screen knows of it.
pub(super) fn visit(model: &mut Model, screen: Screen) {
    let find = about(model, screen);
    model.screen = screen;
    if model.settings.reach == Reach::Desk {
        super::lists::wrappers_changed(model);
    }
    let Some(find) = find else {
        // The key alone asks for the whole list, not for the search that an earlier step set.
        if model.list(screen).is_some_and(|list| list.sought == Sought::Led) {
            search(model, screen, "");
        }
        return;
    };
    sought(model, screen, &find, Sought::Led);
    if screen != Screen::Log
        && let Some(list) = model.list_mut(screen)
    {
        list.sheet = Some(0);
    }
}

/// The search on `screen` for what is open here.
fn about(model: &Model, screen: Screen) -> Option<String> {
    let list = model.list(model.screen)?;
    list.sheet?;
    match (model.screen, screen) {
        (Screen::Log, Screen::Tools | Screen::Rules | Screen::Servers) => {
            let line = model.log.window.lines.get(list.at)?;
            match screen {
                Screen::Tools => Some(of_tool(&line.server, line.tool.as_ref()?)),
                Screen::Rules => Some(exactly("rule", line.rule.as_ref()?)),
                _ => Some(match &line.machine {
                    None => exactly("session", &line.session),
                    Some(machine) => exactly("session", &format!("{}@{machine}", line.session)),
                }),
            }
        }
        (Screen::Tools, Screen::Log) => {
            let tool = model.tools.lines.get(list.at)?;
            Some(of_tool(&tool.server, &tool.tool))
        }
        (Screen::Rules, Screen::Log) => Some(exactly("rule", model.rules.lines.get(list.at)?.rule()?)),
        (Screen::Servers, Screen::Log) => {
            let session = match model.servers.lines.get(list.at)? {
                ServerLine::Running(one) | ServerLine::Ended(one, ..) => {
                    match (&one.wrapper.at, &one.wrapper.session) {
                        (None, session) => session,
                        // A desk's log has the machine beside the session.
                        (Some(at), name) => {
                            let session = name.split('@').next().unwrap_or_default();
                            return Some(format!(
                                "{} {}",
                                exactly("machine", &at.machine),
                                exactly("session", session)
                            ));
                        }
                    }
                }
                ServerLine::Past(session, ..) => session,
                ServerLine::Unwrapped(_) => return None,
            };
            Some(exactly("session", session))
        }
        _ => None,
    }
}

fn of_tool(server: &str, tool: &str) -> String {
    let server = rules_name(server);
    let server = if server.chars().any(char::is_whitespace) { String::new() } else { format!(" server:{server}") };
    exactly("tool", tool) + &server
}

pub(super) fn sought(model: &mut Model, screen: Screen, find: &str, sought: Sought) {
    search(model, screen, find);
    if let Some(list) = model.list_mut(screen) {
        list.sought = sought;
    }
}

/// Sets a screen's search. One that has a mistake is reported, and the last one stays.
pub(super) fn search(model: &mut Model, screen: Screen, text: &str) {
    let clock = Clock { now: model.now, offset: model.settings.offset };
    let Some(list) = model.list_mut(screen) else { return };
    text.clone_into(&mut list.find);
    (list.problem, list.sought) = (None, Sought::Typed);
    match Search::read(text, clock) {
        Err(meaningless) => list.problem = Some(meaningless.to_string()),
        Ok(read) => {
            *list = ListState { find: text.to_owned(), search: read, ..ListState::default() };
            match screen {
                Screen::Log => begin(model, Edge::Newest),
                Screen::Activity => model.activity.following = Following::Newest,
                Screen::Queue => super::select::filtered(model),
                _ => super::lists::rebuild(model),
            }
        }
    }
}

/// Brings the selection into the list and the selected line onto the screen.
pub(super) fn settle(model: &mut Model) {
    if model.list(model.screen).is_none() {
        return;
    }
    let count = pages::count(model);
    let room = content_rows(model.areas().body).saturating_sub(1).max(1);
    let newest = model.screen == Screen::Activity && model.activity.following == Following::Newest;
    let screen = model.screen;
    let Some(list) = model.list_mut(screen) else { return };
    let last = count.saturating_sub(1);
    list.at = if newest { last } else { list.at.min(last) };
    let top = list.top.min(count.saturating_sub(room));
    list.top = top.clamp((list.at + 1).saturating_sub(room), list.at);
}

/// What the log reader is to look up for what is on screen now.
pub(super) fn wants(model: &mut Model) {
    let mut requests = Vec::new();
    match model.screen {
        Screen::Log => {
            requests.extend(page(model));
            requests.extend(record(model));
        }
        // The log of all machines is there; nothing else is.
        _ if model.settings.reach == Reach::Desk => {}
        Screen::Queue | Screen::Detail => requests.extend(before(model)),
        Screen::Activity => requests.extend(due(model, LogRequest::Recent, None)),
        Screen::Tools => requests.extend(due(model, LogRequest::Pins, Some(2 * AGAIN))),
        Screen::Rules => {
            requests.extend(due(model, LogRequest::Rules, Some(3 * AGAIN)));
            let newest = model.log.counts.as_ref().map(|counts| counts.newest);
            // Sooner if there are new calls, which the suggestions count.
            let every = if newest > model.rules.suggested_upto { 15 * AGAIN } else { 300 * AGAIN };
            let id = model.trials + 1;
            if let Some(request) = due(model, LogRequest::Try(Trial::Suggestions { id }), Some(every)) {
                (model.trials, model.rules.suggested_upto) = (id, newest);
                // The last suggestions stay until there are newer ones.
                model.rules.suggested.id = id;
                requests.push(request);
            }
        }
        Screen::Servers => {
            requests.extend(due(model, LogRequest::Hosts, Some(10 * AGAIN)));
            let pids = model.wrappers.iter().map(|one| one.wrapper.pid).collect();
            requests.extend(due(model, LogRequest::Footprints(pids), Some(2 * AGAIN)));
        }
    }
    let counts = matches!(model.screen, Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers);
    if counts && model.settings.reach == Reach::Own {
        requests.extend(due(model, LogRequest::Count, Some(3 * AGAIN)));
    }
    model.todo.extend(requests.into_iter().map(Command::Look));
}

/// The request, which is noted, if it was not asked for yet, or not within `every` milliseconds (`None`: only once).
fn due(model: &mut Model, request: LogRequest, every: Option<i64>) -> Option<LogRequest> {
    let (now, asked) = (model.now, &mut model.asked);
    let at = asked.get(&discriminant(&request));
    let is_due = at.is_none_or(|at| every.is_some_and(|every| now - at >= every || now < *at));
    is_due.then(|| asked.insert(discriminant(&request), now)).map(|_| request)
}

/// What was decided of calls of the selected call's tool: once for each tool that is looked at, and again after a minute.
fn before(model: &mut Model) -> Option<LogRequest> {
    let call = &model.queue.selection().filter(|held| held.waits())?.snapshot;
    let (server, tool) = (call.server.clone(), call.tool.clone());
    let asked = model.card.asked_before.as_ref();
    let fresh =
        |(of, about, at): &(String, String, i64)| *of == server && *about == tool && model.now - at < 60 * AGAIN;
    if asked.is_some_and(fresh) {
        return None;
    }
    model.card.asked_before = Some((server.clone(), tool.clone(), model.now));
    Some(LogRequest::Before { server, tool })
}

fn page(model: &mut Model) -> Option<LogRequest> {
    let near = 2 * content_rows(model.areas().body);
    let (at, now) = (model.log.list.at, model.now);
    let (search, rows) = (model.log.list.search.clone(), model.log.rows());
    let failing = model.log.trouble.is_some() || model.log.missing;
    let window = &mut model.log.window;
    let rested = now - window.looked >= AGAIN;
    let edge = match (window.wants.take(), window.above, window.below) {
        (Some(edge), ..) => edge,
        (None, ..) if window.awaits.is_some() || failing && !rested => return None,
        (None, None, _) => Edge::Newest,
        (None, _, Some(below)) if below > 1 && at + near >= window.lines.len() => Edge::Below(below),
        (None, Some(above), _) if at <= near && (above < window.newest || rested) => Edge::Above(above),
        (None, ..) => return None,
    };
    window.pages += 1;
    window.looked = now;
    window.awaits = Some(window.pages);
    Some(LogRequest::Page(Wanted { id: window.pages, search, rows, from: edge, most: PAGE }))
}

/// Of the sheet that is open or beside the list. One at a time, so that moving fast through the list queues nothing.
fn record(model: &mut Model) -> Option<LogRequest> {
    let now = model.now;
    let beside = pages::is_beside(model);
    let line = model.log.window.lines.get(model.log.list.at).filter(|_| beside || model.log.list.sheet.is_some());
    let seq = line?.seq;
    match &model.log.opened {
        Some((opened, _)) if *opened == seq => return None,
        Some((_, None)) if now - model.log.opened_at < AGAIN => return None,
        Some(_) | None => {}
    }
    (model.log.opened, model.log.opened_at) = (Some((seq, None)), now);
    Some(LogRequest::Record { seq })
}
