//! An allocator that asks the kernel for huge pages for large blocks.
//!
//! A large fabric's ports and packets are read at random; with pages of 4 KiB most of those reads
//! also miss the processor's address cache. On Linux, blocks of 2 MiB and more are mapped by
//! themselves, aligned to 2 MiB and marked for transparent huge pages; everything else is left to
//! the system allocator. On other systems it is the system allocator.
//!
//! A huge page takes its memory when its first byte is written. The tables of a large fabric's
//! switches would so take all of their memory although most of their slots stay unused: blocks that
//! start as zeros have huge pages up to [`MOST_ZEROED`] bytes of large blocks, and beyond that
//! pages of 4 KiB.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system allocator with huge pages for large blocks.
pub(crate) struct HugePages;

// SAFETY: a layout decides alone whether its block is mapped or the system allocator's, for its
// allocation and its release.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match mapped::size_of(layout) {
            Some(size) => mapped::map(size, true),
            // SAFETY: the caller promises a layout of non-zero size.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match mapped::size_of(layout) {
            Some(size) => mapped::map(size, mapped::live() + size <= MOST_ZEROED),
            // SAFETY: as in `alloc`.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match mapped::size_of(layout) {
            // SAFETY: `alloc` or `alloc_zeroed` mapped the block with this size.
            Some(size) => unsafe { mapped::unmap(block, size) },
            // SAFETY: the block is the system allocator's, with this layout.
            None => unsafe { System.dealloc(block, layout) },
        }
    }
}

/// Bytes of large blocks up to which those that start as zeros have huge pages, too.
const MOST_ZEROED: usize = 256 << 20;

#[cfg(target_os = "linux")]
mod mapped {
    use std::alloc::Layout;
    use std::ptr::{null_mut, without_provenance_mut};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    /// Size and alignment of a huge page.
    const HUGE: usize = 2 << 20;

    /// Bytes in mapped blocks.
    static LIVE: AtomicUsize = AtomicUsize::new(0);

    pub(super) fn live() -> usize {
        LIVE.load(Ordering::Relaxed)
    }

    /// Bytes to map for a block, whole huge pages; `None` if the block is the system allocator's.
    pub(super) fn size_of(layout: Layout) -> Option<usize> {
        let is_large = layout.size() >= HUGE && layout.align() <= HUGE;
        is_large.then(|| layout.size().checked_next_multiple_of(HUGE)).flatten()
    }

    /// A new block of zeros, aligned to huge pages; null if there is no memory.
    pub(super) fn map(size: usize, huge: bool) -> *mut u8 {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping of the kernel's choice of address overlaps no other.
        let Ok(all) =
            (unsafe { mmap_anonymous(without_provenance_mut(0), size + HUGE, access, flags) })
        else {
            return null_mut();
        };
        let before = all.addr().wrapping_neg() % HUGE;
        let block = all.wrapping_byte_add(before);
        // SAFETY: both parts belong to this mapping and are not in the block.
        unsafe {
            if before > 0 {
                let _ = munmap(all, before);
            }
            let _ = munmap(block.wrapping_byte_add(size), HUGE - before);
        }
        if huge {
            // SAFETY: the range is the block; the advice changes nothing about what is in it, and
            // may be ignored.
            let _ = unsafe { madvise(block, size, Advice::LinuxHugepage) };
        }
        LIVE.fetch_add(size, Ordering::Relaxed);
        block.cast()
    }

    /// Releases a block.
    ///
    /// # Safety
    /// [`map`] gave the block for this size, and it is not used any more.
    pub(super) unsafe fn unmap(block: *mut u8, size: usize) {
        // SAFETY: as the caller promises.
        let _ = unsafe { munmap(block.cast(), size) };
        LIVE.fetch_sub(size, Ordering::Relaxed);
    }
}

/// Elsewhere no block is mapped.
#[cfg(not(target_os = "linux"))]
mod mapped {
    use std::alloc::Layout;

    pub(super) fn live() -> usize {
        0
    }

    pub(super) fn size_of(_: Layout) -> Option<usize> {
        None
    }

    pub(super) fn map(_: usize, _: bool) -> *mut u8 {
        std::ptr::null_mut()
    }

    pub(super) unsafe fn unmap(_: *mut u8, _: usize) {}
}
