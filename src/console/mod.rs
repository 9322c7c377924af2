//! The TUI over all wrapped servers: model, update, views. No bytes, no way to reach a server.
