//! The session as a type: only an active session offers a call. Owns the legacy handshake; the stateless era needs none.
