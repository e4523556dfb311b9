//! The claims: each cell's mean and worst completion within a tenth of uet-htsim's.

use heddle_claims::{Bound, Claim, stated};
use heddle_study::paper::Measure;

use super::Uet;
use super::cells::{Cell, PLACES, Place, SELECTIONS, Selection};
use super::measured::Measured;

/// Every claim.
pub(super) const CLAIMS: &[Claim<Measure<Uet>>] = &all();

const COUNT: usize = {
    let (mut count, mut place) = (0, 0);
    while place < PLACES.len() {
        count += 2 * (SELECTIONS.len() - PLACES[place].first_selection());
        place += 1;
    }
    count
};

const fn all() -> [Claim<Measure<Uet>>; COUNT] {
    let mut claims = [const {
        let [mean, _] = pair(&PLACES[0], &SELECTIONS[0]);
        mean
    }; COUNT];
    let (mut index, mut place) = (0, 0);
    while place < PLACES.len() {
        let mut selection = PLACES[place].first_selection();
        while selection < SELECTIONS.len() {
            let [mean, worst] = pair(&PLACES[place], &SELECTIONS[selection]);
            (claims[index], claims[index + 1]) = (mean, worst);
            (index, selection) = (index + 2, selection + 1);
        }
        place += 1;
    }
    claims
}

const fn pair(place: &'static Place, selection: &'static Selection) -> [Claim<Measure<Uet>>; 2] {
    let (cell, equal) = (Cell { place, selection }, stated(Bound::About, 1.0, "x"));
    let [mean, worst] = selection.texts;
    let means = Measure::Experiment(cell, Measured::means);
    let worsts = Measure::Experiment(cell, Measured::worsts);
    [
        Claim::new(place.id, place.title, mean, equal, means),
        Claim::new(place.id, place.title, worst, equal, worsts),
    ]
}
