//! Many machines and one desk, on a real PostgreSQL.

mod bed;
mod cards;
mod console;
mod engine;
mod faults;
mod forged;
mod log;
mod own;
mod roles;
mod stop;
mod team;
mod withheld;
mod witness;
