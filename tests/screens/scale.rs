//! Many calls of many servers: filter, order, marks, long ways in few keys, and time.

use std::collections::BTreeSet;

use mcp_approve::console::keymap::{Key, Place};
use mcp_approve::console::model::queue::QueueLine;
use mcp_approve::console::model::{Overlay, Tour};
use mcp_approve::console::update::Command;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{FromConsole, FromWrapper};
use mcp_approve::wire::number::grouped;

use crate::desk::*;
use crate::screens::keys::{APPROVE, selected, sent};
use crate::screens::lists::scenes::known;

/// Calls of ten servers, one after the other.
pub(super) fn ten_servers(width: u16, height: u16, calls: i64) -> Desk {
    let mut desk = Desk::new(width, height);
    for server in 0..10 {
        desk.link(ClientEvent::Connected(wrapper(&format!("server{server}"), &format!("s{server}"))));
    }
    for n in 0..calls {
        let server = n % 10;
        let ticket = format!("server{server}-{n}");
        let mut call = if n % 7 == 3 { own_delete(&ticket) } else { own(&ticket) };
        call.server = format!("server{server}");
        call.arrived = NINE - 100_000 + n;
        desk.say(&format!("s{server}"), FromWrapper::Held { call: Box::new(call) });
    }
    desk.look();
    desk
}

#[test]
fn ten_thousand_calls_are_shown_at_every_size() {
    for (width, height) in [(40, 12), (80, 24), (120, 40), (200, 50)] {
        for calls in [1, 50, 10_000] {
            let mut desk = ten_servers(width, height, calls);
            let screen = desk.screen();
            assert!(screen.contains(&format!("{} waiting", grouped(calls))), "{screen}");
            assert!(screen.contains("server0-0") && (height < 24 || screen.contains("all shown · armed")), "{screen}");
            if calls > 1 {
                desk.keys("G");
                desk.look();
                assert_eq!(selected(&desk.model), format!("server9-{}", calls - 1));
            }
        }
    }
}

#[test]
fn the_queue_is_filtered_as_every_list() {
    let mut desk = ten_servers(120, 40, 50);
    desk.keys("/server:server3");
    assert_eq!(desk.model.place(), Place::Search);
    assert_eq!(desk.model.queue.rows().len(), 5, "{}", desk.screen());
    desk.press(Key::Enter);
    desk.look();
    assert!(desk.line("Waiting ·").contains("5 of 50 · /server:server3"), "{}", desk.screen());
    assert_eq!(selected(&desk.model), "server3-3", "what is not shown is not selected");
    // A filter hides nothing from what is about a whole server, or was marked before.
    assert_eq!(desk.model.queue.waiting(), 50);
    desk.press(Key::Esc);
    assert_eq!(desk.model.queue.rows().len(), 50);
    desk.keys(" ");
    desk.keys("/delete_folder");
    desk.press(Key::Enter);
    assert_eq!(desk.model.queue.marked_calls().len(), 1);
    desk.keys("/ nothing like this");
    assert!(desk.model.queue.rows().is_empty() && desk.model.queue.selected.is_none());
    assert_eq!(sent(&desk.press(Key::Enter)), []);
    assert_eq!(sent(&desk.keys("aA")), []);
}

/// A search that cannot be meant is never applied by halves: it stays open with what is wrong with it, and says so.
#[test]
fn an_unknown_field_is_an_error_on_every_list() {
    for (screen, size) in [("1", (80, 24)), ("2", (80, 24)), ("3", (120, 40)), ("4", (40, 12)), ("6", (80, 24))] {
        let mut desk = ten_servers(size.0, size.1, 50);
        desk.keys(screen);
        desk.keys("/foo:x");
        desk.press(Key::Enter);
        assert_eq!(desk.model.place(), Place::Search, "{}", desk.screen());
        let shown = desk.screen();
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("there is no field foo; fields are server, session, ticket"), "{shown}");
        assert!(words.contains("since, until") && !words.contains(" of 50 · /foo"), "{shown}");
        desk.press(Key::Esc);
        assert!(!desk.screen().contains("foo"), "{}", desk.screen());
    }
}

/// Servers whose names differ look different, at every width and on every screen that lists them.
#[test]
fn long_names_that_differ_look_different() {
    let names = ["production-analytics-postgres-eu", "production-analytics-postgres-us"];
    for width in [80, 120, 200] {
        let mut desk = Desk::new(width, 24);
        for name in names {
            desk.link(ClientEvent::Connected(wrapper(name, name)));
            let mut call = own_delete(&format!("{name}-1"));
            call.server = name.into();
            desk.say(name, FromWrapper::Held { call: Box::new(call) });
            desk.say(name, FromWrapper::Tools { tools: vec![known("delete_folder", false, true)] });
        }
        desk.look();
        for screen in ["1", "4", "6"] {
            desk.keys(screen);
            let shown = desk.screen();
            let left: Vec<&str> = shown.lines().filter_map(|line| line.split('│').next()).collect();
            for end in ["eu ", "us "] {
                assert!(left.iter().any(|line| line.contains("prod") && line.contains(end)), "{screen}\n{shown}");
            }
        }
    }
}

/// The queue takes the rows it needs: one call leaves the others to its card.
#[test]
fn few_calls_leave_their_rows_to_the_card() {
    let heights = [1, 2, 3, 4, 5, 50].map(|calls| ten_servers(80, 24, calls).model.areas().queue.height);
    assert_eq!(heights, [2, 3, 4, 5, 5, 5]);
}

#[test]
fn long_ways_take_few_keys() {
    let mut desk = ten_servers(80, 24, 200);
    desk.keys("G");
    assert_eq!(selected(&desk.model), "server9-199");
    desk.keys("g");
    assert_eq!(selected(&desk.model), "server9-199", "one g goes nowhere");
    desk.keys("jgg");
    assert_eq!(selected(&desk.model), "server0-0");
    desk.press(Key::Ctrl('d'));
    let first = desk.model.queue.selected_row(&desk.model.queue.rows());
    desk.press(Key::Ctrl('d'));
    let second = desk.model.queue.selected_row(&desk.model.queue.rows());
    assert_eq!(second.unwrap(), 2 * first.unwrap());
    desk.press(Key::Ctrl('u'));
    desk.press(Key::Ctrl('u'));
    assert_eq!(selected(&desk.model), "server0-0");
    // In a card they are about its lines.
    desk.hold(long(write("server0-9")));
    desk.keys("?G");
    assert!(matches!(desk.model.overlay, Some(Overlay::Help { top, .. }) if top > 20));
    desk.keys("gg");
    assert!(matches!(desk.model.overlay, Some(Overlay::Help { top: 0, .. })));
}

#[test]
fn the_queue_goes_by_server_too() {
    let mut desk = ten_servers(120, 40, 30);
    desk.keys("ss");
    assert!(desk.line("Waiting ·").contains("by server"), "{}", desk.screen());
    let order: Vec<String> = desk.model.queue.order().iter().map(|held| held.snapshot.server.clone()).collect();
    assert!(order.is_sorted() && order[0] == "server0" && order[2] == "server0" && order[3] == "server1", "{order:?}");
}

#[test]
fn all_alike_are_marked_with_one_key() {
    let mut desk = ten_servers(120, 40, 100);
    desk.keys("*");
    // Those of the same tool of the same server, and no other.
    let marked = desk.model.queue.marked_calls();
    assert!(marked.len() > 5 && marked.iter().all(|held| held.snapshot.server == "server0"), "{}", marked.len());
    assert!(marked.iter().all(|held| held.snapshot.tool == "create_file"));
    // Again, wider: those of the server, all that wait; then none.
    desk.keys("*");
    let marked = desk.model.queue.marked_calls();
    assert!(marked.iter().any(|held| held.snapshot.tool != "create_file"));
    assert!(marked.iter().all(|held| held.snapshot.server == "server0"));
    desk.keys("*");
    assert_eq!(desk.model.queue.marked_calls().len(), 100);
    desk.keys("*");
    assert!(desk.model.queue.marked.is_empty());
}

#[test]
fn more_time_is_asked_for_these_very_bytes() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(own("filesystem-1"));
    desk.look();
    let digest = own("filesystem-1").digest;
    let message = FromConsole::Extend { ticket: "filesystem-1".into(), digest };
    assert_eq!(desk.keys("t"), [Command::Send { session: "files".into(), message }]);
    assert_eq!(desk.model.queue.waiting(), 1);
}

#[test]
fn the_arguments_are_copied_without_what_hides() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(with_arguments(write("filesystem-1"), "{\"path\": \"a\u{202e}b\",\n \"n\": 1.10}"));
    desk.look();
    assert_eq!(desk.keys("Y"), [Command::Copy("{\"path\":\"a\\u202eb\",\"n\":1.10}".into())]);
    desk.hold(with_arguments(write("filesystem-1"), &serde_json::json!({ "x": "y".repeat(80_000) }).to_string()));
    desk.look();
    assert_eq!(desk.keys("Y"), []);
    assert!(desk.screen().contains("too long for a terminal's clipboard"), "{}", desk.screen());
}

#[test]
fn the_oldest_call_is_on_screen_whichever_wrapper_answers_first() {
    let mut desk = Desk::connected(80, 24);
    desk.link(ClientEvent::Connected(wrapper("git", "git")));
    let call = |ticket: &str, at: i64| {
        let mut call = own(ticket);
        call.arrived = NINE - 50_000 + at;
        Box::new(call)
    };
    desk.say("files", FromWrapper::Held { call: call("filesystem-1", 500) });
    desk.draw();
    desk.say("git", FromWrapper::Held { call: call("git-1", 100) });
    desk.draw();
    assert_eq!(selected(&desk.model), "git-1");
    desk.look();
    // Once it is armed nothing moves it, nor once the operator has moved.
    desk.say("files", FromWrapper::Held { call: call("filesystem-2", 0) });
    desk.draw();
    assert_eq!(selected(&desk.model), "git-1");
    assert_eq!(sent(&desk.keys("a")), [("git-1".into(), APPROVE)]);
}

#[test]
fn a_short_target_leaves_room_for_its_tool() {
    let mut desk = Desk::connected(40, 12);
    for (ticket, target) in [("filesystem-1", "/home/ada/very/long/way/down/notes.md"), ("filesystem-2", "0")] {
        let mut call = own_delete(ticket);
        call.target = Some(target.into());
        desk.hold(call);
    }
    desk.look();
    assert!(desk.line("DELETES   delete").contains("  0"), "{}", desk.screen());
}

#[test]
fn deny_server_is_about_what_the_search_shows() {
    let mut desk = Desk::connected(80, 24);
    for ticket in ["filesystem-1", "filesystem-2", "filesystem-3"] {
        desk.hold(own(ticket));
    }
    desk.look();
    desk.keys("/ticket:filesystem-2");
    desk.press(mcp_approve::console::keymap::Key::Enter);
    desk.look();
    desk.keys("D");
    let Some(Overlay::Reason { members, .. }) = &desk.model.overlay else { panic!("{}", desk.screen()) };
    let tickets: Vec<&str> = members.iter().map(|armed| armed.key().ticket.as_str()).collect();
    assert_eq!(tickets, ["filesystem-2"]);
}

#[test]
fn the_tour_is_shown_beside_calls_that_wait() {
    let mut desk = ten_servers(80, 24, 3);
    desk.model.settings.tour = Tour::Shown;
    let screen = desk.screen();
    assert!(screen.contains("hides this row") && screen.contains("all shown · armed"), "{screen}");
}

#[test]
fn letters_lead_to_the_grants() {
    let mut desk = Desk::connected(100, 40);
    desk.hold(own("filesystem-1"));
    desk.look();
    for (letter, says) in
        [("m", "for 15 min"), ("s", "the same call again, for this session"), ("x", "for the next 5 calls")]
    {
        desk.keys(&format!("r{letter}"));
        assert!(
            desk.line("▸").contains(says) || desk.screen().contains(&format!("▸ {letter} approve, and {says}")),
            "{letter}: {}",
            desk.screen()
        );
        desk.press(Key::Esc);
    }
    // Fifteen minutes: three keys.
    desk.keys("rm");
    desk.now += 400;
    desk.draw();
    let commands = desk.press(Key::Enter);
    assert!(
        commands.iter().any(|one| matches!(one, Command::Send { message: FromConsole::Grant { .. }, .. })),
        "{commands:?}"
    );
}

#[test]
fn by_server_each_server_has_a_line_and_the_calls_of_one_are_below_it() {
    for (width, height) in [(40, 12), (80, 24), (120, 40), (200, 50)] {
        let mut desk = ten_servers(width, height, 500);
        desk.keys("ss");
        desk.look();
        let rows = desk.model.queue.rows().into_owned();
        let lines = desk.model.queue.lines(&rows);
        assert_eq!((rows.len(), lines.count()), (500, 60));
        // Every row has a line, of its own or its server's, and every line says what it is.
        for line in 0..lines.count() {
            match lines.get(line).unwrap() {
                QueueLine::Row(row) => assert_eq!(lines.line_of(row), line),
                QueueLine::Server(rows) => {
                    assert_eq!(rows.len(), 50);
                    assert!(rows.start == 0 || lines.line_of(rows.start) == line);
                }
            }
        }
        assert_eq!(lines.get(lines.count()), None);
        if height < 24 {
            continue;
        }
        assert!(desk.line("▾ server0").contains("50 calls"), "{}", desk.screen());
        // A step leaves a server's calls, and ] and [ leap from server to server.
        desk.keys("]]");
        desk.look();
        assert_eq!(selected(&desk.model), "server2-2");
        assert!(desk.line("▾ server2").contains("50 calls"), "{}", desk.screen());
        desk.keys("[");
        assert_eq!(selected(&desk.model), "server1-1");
        desk.keys("kk");
        assert_eq!(selected(&desk.model), "server0-480");
    }
    let mut desk = ten_servers(80, 24, 50);
    desk.keys("]");
    desk.line("s sorts the queue by server first");
    // With one server there is nothing to tell apart.
    desk.keys("ss/server:server3");
    desk.press(Key::Enter);
    let rows = desk.model.queue.rows().into_owned();
    assert_eq!(desk.model.queue.lines(&rows).count(), rows.len());
}

#[test]
fn the_key_line_says_what_a_key_does_here_and_now() {
    let mut desk = ten_servers(120, 40, 5);
    desk.line("a approve  d deny");
    desk.keys(" k");
    desk.look();
    let keys = desk.line("a approve marked  d deny marked");
    assert!(keys.contains("space unmark"), "{keys}");
    desk.press(Key::Esc);
    desk.press(Key::Enter);
    assert!(!desk.line("a approve  d deny").contains("Enter"), "what is open is not opened");
}

/// What the call of this number is about, with this subject.
type Target = fn(usize, &str) -> String;

/// Sixty calls of six servers as agents make them: what they have in common is cut, never what differs.
#[test]
fn rows_tell_calls_apart() {
    let subjects =
        ["parse dates", "name the log", "drop the cache", "read less", "fix the test", "say why", "one table"];
    let scenes: [(&str, &str, Target); 6] = [
        ("git", "git_commit", |n, subject| {
            format!("/home/ada/work/shop/backend — message = \"feat(orders): {subject} ({n})\"")
        }),
        ("postgres", "query", |n, _| {
            format!("UPDATE public.orders SET status = 'paid' WHERE customer_id IN (SELECT id FROM c) AND id = {n}")
        }),
        ("filesystem", "edit_file", |n, _| {
            format!("/home/ada/work/shop/backend/src/main/java/com/example/orders/step{n}/Handler.java")
        }),
        ("github", "create_issue", |n, subject| {
            format!("octo-org/a-repository-with-a-long-name issue title: {subject} in part {n} of the import")
        }),
        ("browser", "navigate", |n, _| format!("https://staging.shop.example.com/admin/orders/list/all?page={n}")),
        ("memory", "add_note", |n, subject| format!("note {n}: {subject}")),
    ];
    for (width, least) in [(80, 58), (120, 60), (200, 60)] {
        let mut desk = Desk::new(width, 24);
        for (server, tool, about) in scenes {
            desk.link(ClientEvent::Connected(wrapper(server, server)));
            for n in 0..10 {
                let target = Some(about(n, subjects[n % subjects.len()]));
                let (ticket, tool) = (format!("{server}-{n}"), tool.to_owned());
                let call = Snapshot { target, tool, server: server.into(), ..own(&ticket) };
                desk.say(server, FromWrapper::Held { call: Box::new(call) });
            }
        }
        desk.keys("gg");
        let mut rows = BTreeSet::new();
        for _ in 0..60 {
            let row = desk.line("▸ ●");
            let row = row.split('│').next().unwrap_or_default();
            // All but the time left.
            let (row, _) = row.trim_end().rsplit_once(' ').unwrap_or_default();
            rows.insert(row.trim_end_matches([' ', '■', '□']).to_owned());
            desk.keys("j");
        }
        assert!(rows.len() >= least, "{} of 60 differ at {width}:\n{}", rows.len(), Vec::from_iter(rows).join("\n"));
    }
}
