//! The central service of CFLB.
