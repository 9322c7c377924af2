//! What the host gives as stdin and stdout, whatever it is, carries bytes whole and is left as it was.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use mcp_approve::interpose::stdio::{AsyncIn, AsyncOut, HostPipe};
use rustix::fs::OFlags;

use super::{again, runtime};

#[test]
fn whatever_the_host_gives_as_stdio_is_carried_whole() {
    let bytes: Vec<u8> = (0..300_000u32).flat_map(|n| format!("{n:x},").into_bytes()).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in");
    fs::write(&file, &bytes).unwrap();
    let got = folder.path().join("out");
    for given in ["pipes", "sockets", "files", "one socket for all"] {
        let mut echo = again("stdio::echo");
        let (mut feed, mut fetch): (Option<Box<dyn Write + Send>>, Option<Box<dyn Read>>) = (None, None);
        let (mut held, mut watched): (Option<OwnedFd>, Option<OwnedFd>) = (None, None);
        match given {
            "pipes" => {
                let ((input, feeds), (fetches, output)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
                held = Some(input.as_fd().try_clone_to_owned().unwrap());
                echo.stdin(input).stdout(output);
                feed = Some(Box::new(feeds));
                fetch = Some(Box::new(fetches));
            }
            "sockets" => {
                let (input, feeds) = UnixStream::pair().unwrap();
                let (fetches, output) = UnixStream::pair().unwrap();
                held = Some(input.as_fd().try_clone_to_owned().unwrap());
                echo.stdin(OwnedFd::from(input)).stdout(OwnedFd::from(output));
                feed = Some(Box::new(feeds));
                fetch = Some(Box::new(fetches));
            }
            "files" => {
                echo.stdin(File::open(&file).unwrap()).stdout(File::create(&got).unwrap());
            }
            _ => {
                let (theirs, ours) = UnixStream::pair().unwrap();
                let end = || OwnedFd::from(theirs.try_clone().unwrap());
                echo.stdin(end()).stdout(end()).stderr(end());
                // It is the server's stderr too, which must not notice: looked at once the first bytes are back.
                watched = Some(end());
                let feeds = ours.try_clone().unwrap();
                feed = Some(Box::new(Feeder(feeds)));
                fetch = Some(Box::new(ours));
            }
        }
        let mut running = echo.spawn().unwrap();
        drop(echo);
        let mut back = Vec::new();
        std::thread::scope(|scope| {
            if let Some(mut feed) = feed {
                let bytes = &bytes;
                scope.spawn(move || feed.write_all(bytes).unwrap());
            }
            if let Some(mut fetch) = fetch {
                while memchr::memmem::find(&back, b"0,1,2,").is_none() {
                    let mut some = [0; 4096];
                    let got = fetch.read(&mut some).unwrap();
                    assert!(got > 0, "{given}");
                    back.extend_from_slice(&some[..got]);
                }
                assert!(watched.take().is_none_or(|shared| is_blocking(&shared)), "{given}");
                fetch.read_to_end(&mut back).unwrap();
            }
        });
        assert!(running.wait().unwrap().success(), "{given}");
        if given == "files" {
            back = fs::read(&got).unwrap();
        }
        // The test harness has words of its own on stdout.
        assert!(memchr::memmem::find(&back, &bytes).is_some(), "{given}: {} bytes came back", back.len());
        if let Some(held) = held {
            assert!(is_blocking(&held), "{given}: left non-blocking for others");
        }
    }
}

/// A bridge that waits for more must not keep what it has: the host sends its next line only after an answer.
#[test]
fn a_line_comes_back_over_one_socket_before_the_next_is_sent() {
    let (theirs, mut ours) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(super::DEADLINE)).unwrap();
    let end = || OwnedFd::from(theirs.try_clone().unwrap());
    let mut echo = again("stdio::echo");
    let mut running = echo.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
    drop((echo, theirs));
    let mut back = Vec::new();
    for n in 0..200 {
        let line = format!("line {n};");
        ours.write_all(line.as_bytes()).unwrap();
        while memchr::memmem::find(&back, line.as_bytes()).is_none() {
            let mut some = [0; 4096];
            let got = ours.read(&mut some).unwrap_or_else(|error| panic!("{line} did not come back: {error}"));
            assert!(got > 0, "{line}");
            back.extend_from_slice(&some[..got]);
        }
    }
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(running.wait().unwrap().success());
}

fn is_blocking(descriptor: &OwnedFd) -> bool {
    !rustix::fs::fcntl_getfl(descriptor).unwrap().contains(OFlags::NONBLOCK)
}

/// Ends its half of a socket when dropped.
struct Feeder(UnixStream);

impl Write for Feeder {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        self.0.shutdown(std::net::Shutdown::Write).unwrap();
    }
}

#[test]
#[ignore = "sends back what it reads: run by the test above"]
fn echo() {
    runtime().block_on(async {
        let pipe = HostPipe::take().unwrap();
        let (input, output) = (AsyncIn::new(pipe.input).unwrap(), AsyncOut::new(pipe.output).unwrap());
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let got = input.read(&mut buffer).await.unwrap();
            if got == 0 {
                return;
            }
            let mut rest = &buffer[..got];
            while !rest.is_empty() {
                match output.try_write(rest) {
                    Ok(put) => rest = &rest[put..],
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => output.writable().await.unwrap(),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    });
}
