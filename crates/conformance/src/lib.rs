//! Vectors and differential tests between implementations of one thing.
