//! The name of a scheme's library that crashes.
//!
//! A library runs in this process, which ends with it. A signal handler says first which one it was:
//! a line that was made before, by `write` alone. Then the action that the signal had before runs.
#![allow(unsafe_code, reason = "a signal handler")]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

/// Signals by which code ends its process.
const SIGNALS: [c_int; 5] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];

/// The actions of these signals before ours.
static BEFORE: OnceLock<[libc::sigaction; 5]> = OnceLock::new();

thread_local! {
    /// The line for a crash of this thread; null outside of libraries. Reading it takes no memory.
    static LINE: Cell<*const [u8]> = const { Cell::new(ptr::slice_from_raw_parts(ptr::null(), 0)) };
}

/// Calls what runs code of a library: if it crashes, standard error has a line with its name.
pub(super) fn named<T>(library: &str, call: impl FnOnce() -> T) -> T {
    BEFORE.get_or_init(|| SIGNALS.map(install));
    let line = format!(
        "error: {library}: the scheme's library has crashed\nhelp: a debugger shows where, as in `gdb --args heddle run ..`\n"
    );
    let _reset = Reset(LINE.replace(line.as_bytes()));
    call()
}

/// Puts back the line of an outer call, also when a panic unwinds.
struct Reset(*const [u8]);

impl Drop for Reset {
    fn drop(&mut self) {
        LINE.set(self.0);
    }
}

/// Sets our handler; gives the action before.
fn install(signal: c_int) -> libc::sigaction {
    // SAFETY: an action of zeroes is the default one, without flags.
    let (mut action, mut before): (libc::sigaction, libc::sigaction) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    action.sa_sigaction = on_crash as *const () as usize;
    // Where a stack has overflown, Rust's threads have another.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: both are valid, and the handler calls what signals may interrupt.
    unsafe { libc::sigaction(signal, &raw const action, &raw mut before) };
    before
}

extern "C" fn on_crash(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    let line = LINE.get();
    if !line.is_null() {
        // SAFETY: the line lives until `named` has put back another.
        unsafe { libc::write(libc::STDERR_FILENO, line.cast(), line.len()) };
    }
    let before = SIGNALS.iter().position(|known| *known == signal);
    if let (Some(index), Some(before)) = (before, BEFORE.get()) {
        // SAFETY: the action is what the system gave.
        unsafe { libc::sigaction(signal, &raw const before[index], ptr::null_mut()) };
    }
    // A fault happens again when this returns, a signal that was sent does not.
    // SAFETY: the system gives its information.
    if unsafe { (*info).si_code } <= 0 {
        // SAFETY: no memory is involved.
        unsafe { libc::raise(signal) };
    }
}
