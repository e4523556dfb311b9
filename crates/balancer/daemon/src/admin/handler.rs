//! The handler of requests: the daemon, or a test.

use std::future::Future;

use super::problem::Problem;
use super::protocol::{Reply, Request};

/// A handler of requests.
pub trait Handler: Send + Sync + 'static {
    /// Carries out one request.
    fn handle(&self, request: Request) -> impl Future<Output = Result<Reply, Problem>> + Send;
}
