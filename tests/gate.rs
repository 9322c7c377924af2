//! The gate's own values and functions, where no transcript of a session shows them.

mod dangers;
mod touched;
mod values;
