//! The policy that the console tries on past calls: as it is written, or with one changed file as if it were accepted.

use std::path::Path;

use crate::cli::config;
use crate::cli::layers::Layers;
use crate::cli::places::Places;
use crate::cli::policy_file::PolicyPlace;
use crate::console::tried::Which;
use crate::policy::rule::{Layer, Policy};

/// Reads it from the files as they are now.
///
/// # Errors
/// Why it cannot be read, and what to do.
pub(super) fn read(places: &Places, which: &Which) -> Result<Policy, String> {
    let usual = || config::policies(places).ok().and_then(|all| all.into_iter().next());
    let usual = || usual().unwrap_or_else(|| PolicyPlace::Usual(places.policy_file()));
    match which {
        Which::Written => Layers::of(places, None, &usual()).as_written().map_err(|broken| broken.banner()),
        Which::Accepted { layer, file, digest, .. } => {
            let file = Path::new(file);
            let folder = if *layer == Layer::Project { file.parent() } else { None };
            let named = if *layer == Layer::Run { PolicyPlace::Named(file.to_path_buf()) } else { usual() };
            Layers::of(places, folder, &named).if_accepted(file, *digest)
        }
    }
}
