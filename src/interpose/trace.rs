//! Our own diagnostics: a file per day in the state folder, never a standard stream. Owns no words of the diagnostics.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tracing::level_filters::LevelFilter;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::fmt::MakeWriter;

/// How many days are kept.
const DAYS: usize = 5;

/// The diagnostics of this process.
#[derive(Clone, Debug)]
pub struct Trace {
    file: Arc<File>,
}

/// Starts diagnostics into `folder`. Nothing is opened or made before there is something to write, so a wrapper that
/// has nothing to tell pays nothing. `None` when this process has diagnostics already.
pub fn start(folder: &Path) -> Option<Trace> {
    let file = Arc::new(File { folder: folder.to_owned(), opened: OnceLock::new() });
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::INFO)
        .with_ansi(false)
        .with_writer(Lazy(Arc::clone(&file)))
        .finish();
    tracing::subscriber::set_global_default(subscriber).ok()?;
    Some(Trace { file })
}

impl Trace {
    /// Why diagnostics are lost, with its hint; `None` while all is well or nothing was to be written yet.
    pub fn trouble(&self) -> Option<String> {
        match self.file.opened.get() {
            Some(Err(why)) => Some(format!(
                "diagnostics are not written to {:?}: {why}; make the folder writable for you",
                self.file.folder
            )),
            Some(Ok(_)) | None => None,
        }
    }
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

#[derive(Debug)]
struct Lazy(Arc<File>);

impl<'a> MakeWriter<'a> for Lazy {
    type Writer = Box<dyn Write + 'a>;

    fn make_writer(&'a self) -> Self::Writer {
        match self.0.opened.get_or_init(|| self.0.open()) {
            Ok(file) => Box::new(file.make_writer()),
            // There is no other place to complain to: see `Trace::trouble`.
            Err(_) => Box::new(io::sink()),
        }
    }
}
