//! The `heddle` binary as its users meet it: exit codes, files, standard output and standard error.
// The lint lets tests unwrap, but not what they share.
#![allow(clippy::unwrap_used)]

mod bad_scenarios;
mod capture;
mod check;
mod demo;
mod external;
mod fabrics;
mod find;
mod help;
mod keys;
mod paths;
mod reproduce;
mod run;
mod support;
mod sweep;
