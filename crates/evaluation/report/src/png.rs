//! Plots as PNG files (feature `png`), drawn with the fonts of this machine: unlike all else here,
//! the bytes may differ between machines.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree};

use crate::model::{Plot, Report};

/// A plot that could not be drawn as PNG.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// Labels would be missing.
    #[error("no fonts are installed on this machine")]
    NoFonts,
    /// The scale is not a positive number, or the image would not fit into memory.
    #[error("cannot draw a PNG at scale {0}")]
    Scale(f32),
    /// The drawing or its encoding failed.
    #[error("cannot draw a PNG: {0}")]
    Drawing(String),
}

impl Plot {
    /// The plot as a PNG file, `scale` pixels for each of [`Plot::to_svg`]'s: 2 suits screens, 4
    /// print.
    ///
    /// # Errors
    ///
    /// Without fonts on this machine, or at a senseless scale.
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>, PngError> {
        render(&self.to_svg(), &options()?, scale)
    }
}

impl Report {
    /// Every plot as a PNG file, with its id, in the colours of the report.
    ///
    /// # Errors
    ///
    /// As [`Plot::to_png`].
    pub fn pngs(&self, scale: f32) -> Result<Vec<(String, Vec<u8>)>, PngError> {
        let options = options()?;
        let render = |(id, svg): (String, String)| Ok((id, render(&svg, &options, scale)?));
        self.svgs().into_iter().map(render).collect()
    }
}

fn options() -> Result<Options<'static>, PngError> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    settle_sans_serif(fonts)?;
    Ok(options)
}

/// Any font is better than none where the usual ones are not installed.
fn settle_sans_serif(fonts: &mut Database) -> Result<(), PngError> {
    let query = Query { families: &[Family::SansSerif], ..Query::default() };
    if fonts.query(&query).is_some() {
        return Ok(());
    }
    let any = fonts.faces().find_map(|face| face.families.first()).cloned();
    let (family, _) = any.ok_or(PngError::NoFonts)?;
    fonts.set_sans_serif_family(family);
    Ok(())
}

fn render(svg: &str, options: &Options, scale: f32) -> Result<Vec<u8>, PngError> {
    let failed = |error: &dyn std::fmt::Display| PngError::Drawing(error.to_string());
    let tree = Tree::from_str(svg, options).map_err(|e| failed(&e))?;
    let size = tree.size().to_int_size().scale_by(scale).ok_or(PngError::Scale(scale))?;
    let mut image = Pixmap::new(size.width(), size.height()).ok_or(PngError::Scale(scale))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut image.as_mut());
    image.encode_png().map_err(|e| failed(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Axis, Series, Unit};

    fn plot() -> Plot {
        let axis = |label: &str| Axis::new(label, Unit::None);
        let line = Series::line("HULA", [(0.0, 1.0), (1.0, 2.0)]);
        Plot::new("p", "A plot", axis("x"), axis("y")).series(line)
    }

    #[test]
    fn a_png_has_the_scaled_size_of_the_svg() {
        match plot().to_png(2.0) {
            Ok(png) => {
                assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
                assert_eq!(png[16..20], 1200_u32.to_be_bytes()); // IHDR: the width
            }
            Err(error) => assert!(matches!(error, PngError::NoFonts), "{error}"),
        }
    }

    #[test]
    fn senseless_scales_are_refused() {
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e9] {
            assert!(plot().to_png(scale).is_err(), "{scale}");
        }
    }
}
