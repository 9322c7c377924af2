//! The terminal's bell, for hosts that show nothing while a call waits.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use mcp_approve::gate::data::event::Now;
use mcp_approve::interpose::notice::Waiting;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

#[test]
fn the_bell_rings_for_hosts_that_show_nothing_and_never_stops_who_rings() {
    let pair = portable_pty::native_pty_system().openpty(portable_pty::PtySize::default()).unwrap();
    let name = pair.master.tty_name().unwrap();
    let mut theirs = fs::OpenOptions::new().read(true).write(true).open(&name).unwrap();
    let mut modes = tcgetattr(&theirs).unwrap();
    let mut screen = std::io::BufReader::new(pair.master.try_clone_reader().unwrap());
    let mut ring = |bell: Option<&Path>, is_bare: bool| {
        let mut waiting = Waiting::new("mcp-approve".into(), None, bell.map(Into::into));
        waiting.say(Now { mono: 0, wall: 0 }, ("files-1", "files", "deletes content"), None, is_bare);
        // What is read before this was written by the bell.
        theirs.write_all(b".").unwrap();
        let heard = screen.by_ref().bytes().map(Result::unwrap);
        heard.take_while(|byte| *byte != b'.').collect::<Vec<u8>>()
    };
    assert_eq!(ring(Some(&name), true), b"\x07");
    assert_eq!(ring(Some(&name), false), b"", "the host shows its user that the call waits");
    assert_eq!(ring(None, true), b"", "the operator wants no notices");
    assert_eq!(ring(Some(Path::new("/nonexistent")), true), b"");
    modes.local_modes |= LocalModes::TOSTOP;
    let theirs = fs::OpenOptions::new().write(true).open(&name).unwrap();
    tcsetattr(&theirs, OptionalActions::Now, &modes).unwrap();
    assert_eq!(ring(Some(&name), true), b"", "this terminal stops whoever writes from the background");
}
