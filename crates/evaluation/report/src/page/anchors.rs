//! Ids: safe, and unique in the page.

use crate::draw::slug;

/// The ids given out so far.
#[derive(Default)]
pub(crate) struct Anchors {
    used: Vec<String>,
}

impl Anchors {
    /// A safe id for `wanted`; the second to ask for one gets it with "-2" behind.
    pub fn claim(&mut self, wanted: &str) -> String {
        let stem = slug(wanted);
        let candidates = (2_u32..).map(|n| format!("{stem}-{n}"));
        let mut free =
            std::iter::once(stem.clone()).chain(candidates).filter(|id| !self.used.contains(id));
        let id = free.next().unwrap_or(stem);
        self.used.push(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_safe_and_never_twice_the_same() {
        let mut anchors = Anchors::default();
        let asked = ["fct", "fct", "a \"b\"<", "", "", "fct-2"];
        let given = asked.map(|id| anchors.claim(id));
        assert_eq!(given, ["fct", "fct-2", "a--b--", "part", "part-2", "fct-2-2"]);
    }
}
