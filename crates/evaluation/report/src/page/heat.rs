//! A heat map in the page, drawn for wide and narrow; the styles choose which one shows.

use super::anchor;
use super::fabric::TOOLS;
use super::prose::paragraphs;
use crate::draw::{Size, draw_heat, escape};
use crate::model::HeatMap;

pub(crate) fn figure(map: &HeatMap, id: &str) -> String {
    let drawings = [Size::Wide, Size::Narrow].map(|size| draw_heat(map, size, id) + "\n").concat();
    format!(
        "<figure class=\"heat\" id=\"{id}\">\n<h3>{} {}</h3>\n{drawings}<div class=\"foot\"><figcaption>{}</figcaption>{TOOLS}</div>\n</figure>\n",
        escape(&map.title),
        anchor(id),
        paragraphs(&map.caption),
    )
}
