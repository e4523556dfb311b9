//! An allocator that asks the kernel for huge pages for large blocks.
//!
//! A large fabric's ports and packets are read at random; with pages of 4 KiB most of those reads also miss the processor's
//! address cache. On Linux, blocks of 2 MiB and more are aligned to 2 MiB and marked for transparent huge pages; everything
//! else is left to the system allocator. On other systems it is the system allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// Size and alignment of a huge page.
const HUGE: usize = 2 << 20;

/// The system allocator with huge pages for large blocks.
pub(crate) struct HugePages;

/// The layout with which a block is allocated.
fn aligned(layout: Layout) -> Layout {
    match layout.align_to(HUGE) {
        Ok(huge) if layout.size() >= HUGE => huge,
        _ => layout,
    }
}

// SAFETY: every call goes to the system allocator with a layout of the same size and at least the same alignment, the
// same one for a block's allocation and its release (`aligned` depends on nothing but the layout).
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises a layout of non-zero size.
        let block = unsafe { System.alloc(aligned(layout)) };
        if layout.size() >= HUGE && !block.is_null() {
            advise(block, layout.size());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block was allocated by `alloc` with this layout.
        unsafe { System.dealloc(block, aligned(layout)) }
    }
}

/// Asks for huge pages; it does not matter if the kernel has none.
fn advise(block: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    {
        let advice = rustix::mm::Advice::LinuxHugepage;
        // SAFETY: the range is this block, and the advice changes nothing about what is in it.
        let _ = unsafe { rustix::mm::madvise(block.cast(), size, advice) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (block, size);
}
