//! Makes etcd's messages and its client from the `.proto` file, without a `protoc` on the machine.

use std::error::Error;

const ROOT: &str = "proto";
const FILE: &str = "etcd.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let files = protox::compile([FILE], [ROOT])?;
    tonic_prost_build::configure().build_server(false).compile_fds(files)?;
    Ok(())
}
