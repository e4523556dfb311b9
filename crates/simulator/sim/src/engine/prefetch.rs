//! Prefetch hints. In a large fabric most of the time of a hop is spent waiting for memory.
#![allow(unsafe_code)]

/// Bytes of a cache line.
const LINE: usize = 64;

/// Prefetches `items[index]`, its first cache line; an index out of range does nothing. It affects
/// the run time only.
#[inline]
pub(crate) fn prefetch<T>(items: &[T], index: u32) {
    if let Some(item) = items.get(index as usize) {
        prefetch_line(std::ptr::from_ref(item).cast());
    }
}

/// As [`prefetch`], with all cache lines of the item.
#[inline]
pub(crate) fn prefetch_whole<T>(items: &[T], index: u32) {
    if let Some(item) = items.get(index as usize) {
        let start: *const u8 = std::ptr::from_ref(item).cast();
        (0..size_of::<T>()).step_by(LINE).for_each(|at| prefetch_line(start.wrapping_add(at)));
    }
}

#[inline]
fn prefetch_line(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of every x86-64, and a prefetch cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
