//! A switch's ports, as Python sees them for the time of one call.
#![allow(
    unsafe_code,
    reason = "ports are borrowed for a call, and objects of Python have no lifetime"
)]

use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use heddle_policy as policy;
use heddle_policy::Port;
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;

/// State of a switch's own ports, numbered from 0. It can be read in the call to which it is
/// passed, and not later.
#[pyclass(frozen, module = "heddle._core")]
#[derive(Default)]
pub(crate) struct Ports {
    /// None between calls.
    present: Mutex<Option<Present>>,
}

/// The ports of a call.
#[derive(Clone, Copy)]
struct Present {
    ports: NonNull<dyn policy::Ports>,
    count: u16,
    /// The thread of the call, on which alone they are read.
    thread: ThreadId,
}

// SAFETY: the pointer is used on the thread of its call alone (`Ports::read`).
unsafe impl Send for Present {}

#[pymethods]
impl Ports {
    /// Transmit utilisation of a port now, as a fraction of 65536, by the estimator whose time
    /// constant is the scheme's `tau`.
    fn tx_util(&self, port: u16) -> PyResult<u16> {
        self.read(port, |ports, port| ports.tx_util(port))
    }

    /// Bytes waiting at a port, the packet in transmission included.
    fn queue_bytes(&self, port: u16) -> PyResult<u32> {
        self.read(port, |ports, port| ports.queue_bytes(port))
    }

    /// True if a port's link is up, as local hardware detects it.
    fn is_up(&self, port: u16) -> PyResult<bool> {
        self.read(port, |ports, port| ports.is_up(port))
    }
}

/// Ends the time in which ports can be read, also if the call panics.
struct UntilDropped<'a>(&'a Ports);

impl Drop for UntilDropped<'_> {
    fn drop(&mut self) {
        *self.0.present() = None;
    }
}

impl Ports {
    /// Lets Python read the `count` ports of a switch while `call` runs.
    pub(super) fn during<T>(
        &self,
        ports: &mut impl policy::Ports,
        count: u16,
        call: impl FnOnce() -> T,
    ) -> T {
        let ports: NonNull<dyn policy::Ports + '_> = NonNull::from(ports);
        // SAFETY: only the lifetime changes. The pointer is used in `read` alone, while `call`
        // runs: `UntilDropped` takes it away at the end.
        let ports = unsafe {
            std::mem::transmute::<NonNull<dyn policy::Ports + '_>, NonNull<dyn policy::Ports>>(
                ports,
            )
        };
        *self.present() = Some(Present { ports, count, thread: thread::current().id() });
        let _until = UntilDropped(self);
        call()
    }

    fn present(&self) -> MutexGuard<'_, Option<Present>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(
        &self,
        port: u16,
        of: impl FnOnce(&mut dyn policy::Ports, Port) -> T,
    ) -> PyResult<T> {
        let present = *self.present();
        let here = |present: &Present| present.thread == thread::current().id();
        let Some(Present { mut ports, count, .. }) = present.filter(here) else {
            let reason = "ports can be read in the call to which they are passed, and not later";
            return Err(PyRuntimeError::new_err(reason));
        };
        if port >= count {
            let reason = format!("there is no port {port}: the switch has {count}, from 0");
            return Err(PyIndexError::new_err(reason));
        }
        // SAFETY: `during` has borrowed the ports for itself until `call` returns, and `call`
        // reaches them by this function alone. This is its thread, and `of` is one of the functions
        // above, which do not come back here.
        Ok(of(unsafe { ports.as_mut() }, Port(port)))
    }
}
