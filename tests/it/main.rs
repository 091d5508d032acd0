//! One binary for everything that is tested over HTTP. It mirrors `src/api`; the tests here at the top hold for every
//! operation, because they are generated from the table.

mod harness;
mod table;
mod world;
