//! Axes: where they end, where their ticks stand, how values become positions and text.

mod domain;
mod label;
mod mapping;
mod span;
mod ticks;

pub(crate) use domain::{drawable, other_y_scale, x_span, y_axis};
pub(crate) use label::{AxisText, axis_text};
pub(crate) use mapping::Mapping;
pub(crate) use span::Span;
pub(crate) use ticks::{Ticks, decimal, ticks};
