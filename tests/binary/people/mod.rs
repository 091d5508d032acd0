//! People as lists that come and go, and people who leave.

mod leaving;
mod lists;
