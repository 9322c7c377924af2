//! Our own diagnostics: a file per day in the state folder, never a standard stream. Owns no texts.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tracing::level_filters::LevelFilter;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::fmt::MakeWriter;

/// How many days are kept.
const DAYS: usize = 5;

/// Starts diagnostics into `folder`. Nothing is opened or made before there is something to write, so a wrapper without
/// diagnostics pays nothing. A process that has a subscriber already keeps it.
pub fn start(folder: &Path) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::INFO)
        .with_ansi(false)
        .with_writer(File { folder: folder.to_owned(), opened: OnceLock::new() })
        .finish();
    // An error means that there is a subscriber already.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

#[derive(Debug)]
struct File {
    folder: PathBuf,
    opened: OnceLock<Result<RollingFileAppender, String>>,
}

impl File {
    fn open(&self) -> Result<RollingFileAppender, String> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(|error| error.to_string())?;
        RollingFileAppender::builder()
            .rotation(Rotation::DAILY)
            .filename_prefix("mcp-approve")
            .filename_suffix("log")
            .max_log_files(DAYS)
            .build(&self.folder)
            .map_err(|error| error.to_string())
    }
}

impl<'a> MakeWriter<'a> for File {
    type Writer = Box<dyn Write + 'a>;

    fn make_writer(&'a self) -> Self::Writer {
        match self.opened.get_or_init(|| self.open()) {
            Ok(file) => Box::new(file.make_writer()),
            // There is no other place to report this.
            Err(_) => Box::new(io::sink()),
        }
    }
}
