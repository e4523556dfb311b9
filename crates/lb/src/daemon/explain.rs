//! Where a packet would go.
