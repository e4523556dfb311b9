//! HULA's evaluation (Katta et al., SOSR 2016, section 6): its figures and its claims H1 to H12.

pub mod claims;
pub mod extra;
pub mod plan;
pub mod sensitivity;

pub(crate) use plan::no_files;
