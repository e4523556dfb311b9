//! Paths with their numbers among those of a pair of hosts.

use heddle_fabric::{Path, Paths};

use crate::{Network, PathEncoderError};

/// A path by its number and by its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPath {
    /// Its number among the pair's paths, from 0: paths are in the order of their next hops.
    pub number: u64,
    /// The sender, the routers, the receiver.
    pub nodes: Vec<String>,
    /// The next hop that each router chooses, from 0.
    pub next_hops: Vec<u16>,
    /// The number of next hops at each router.
    pub out_of: Vec<u16>,
}

impl ListedPath {
    /// The routers, as [`Network::path_by_names`] takes them.
    pub fn routers(&self) -> &[String] {
        self.nodes.get(1..self.nodes.len() - 1).unwrap_or_default()
    }
}

/// The number of each next hop that a path takes.
pub fn next_hops_of(path: &Path) -> Vec<u16> {
    path.hops.iter().map(|hop| hop.next_hop).collect()
}

/// The number of the path with these next hops: paths are in their order, so that it is found by
/// halving.
pub fn number_of(paths: &Paths<'_>, next_hops: &[u16]) -> u64 {
    let (mut low, mut high, mut path) = (0, paths.count().saturating_sub(1), Path::default());
    while low < high {
        let middle = low + (high - low) / 2;
        paths.nth(middle, &mut path);
        match next_hops_of(&path).as_slice() < next_hops {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

impl Network {
    /// A path of two hosts with its number and names.
    ///
    /// # Errors
    /// As [`Network::find`].
    pub fn listed(&self, from: u32, to: u32, path: &Path) -> Result<ListedPath, PathEncoderError> {
        let number = number_of(&self.find(from, to)?, &next_hops_of(path));
        Ok(self.list(from, to, path, number))
    }

    /// The first paths of two hosts, at most so many, in the order of their numbers.
    ///
    /// # Errors
    /// As [`Network::find`].
    pub fn first_paths(
        &self,
        from: u32,
        to: u32,
        most: usize,
    ) -> Result<Vec<ListedPath>, PathEncoderError> {
        let paths = self.find(from, to)?;
        let numbered = (0..).zip(&paths).take(most);
        Ok(numbered.map(|(number, path)| self.list(from, to, &path, number)).collect())
    }

    /// Paths of two hosts that share no link between routers, at most so many.
    ///
    /// # Errors
    /// As [`Network::find`].
    pub fn disjoint_paths(
        &self,
        from: u32,
        to: u32,
        most: usize,
    ) -> Result<Vec<ListedPath>, PathEncoderError> {
        let paths = self.find(from, to)?;
        let number = |path: &Path| number_of(&paths, &next_hops_of(path));
        let found = paths.disjoint(most);
        Ok(found.iter().map(|path| self.list(from, to, path, number(path))).collect())
    }

    fn list(&self, from: u32, to: u32, path: &Path, number: u64) -> ListedPath {
        let name = |host: u32| self.fabric().node(host).name.clone();
        let mut nodes = vec![name(from)];
        nodes.extend(self.path_names(path, to));
        nodes.push(name(to));
        ListedPath {
            number,
            nodes,
            next_hops: next_hops_of(path),
            out_of: path.hops.iter().map(|hop| hop.next_hops).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use heddle_scenario::{Source, load_fabric};

    use super::*;
    use crate::Key;

    /// A fat-tree of switches with 4 ports: 16 hosts, 4 paths between pods.
    fn network() -> Network {
        let text = "[fabric]\nkind = \"fat-tree\"\nk = 4";
        let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
        let file = load_fabric(&Source::new("fabric.toml", text), &no_files).unwrap();
        let cipher = file.cflb.constants.cipher;
        Network::from_file(&file, &Key::parse(&"0".repeat(2 * cipher.key_bytes()), cipher).unwrap())
            .unwrap()
    }

    #[test]
    fn a_paths_number_is_found_from_its_next_hops() {
        let network = network();
        let (from, to) = (0, 15);
        let listed = network.first_paths(from, to, 100).unwrap();
        assert_eq!(listed.len() as u64, network.find(from, to).unwrap().count());
        for (number, path) in (0..).zip(&listed) {
            assert_eq!(path.number, number);
            assert_eq!(number_of(&network.find(from, to).unwrap(), &path.next_hops), number);
            let routers: Vec<&str> = path.routers().iter().map(String::as_str).collect();
            let again = network.path_by_names(from, to, &routers).unwrap();
            assert_eq!(network.listed(from, to, &again).unwrap(), *path);
        }
    }

    #[test]
    fn disjoint_paths_share_no_router_between_pods() {
        let paths = network().disjoint_paths(0, 15, 8).unwrap();
        assert_eq!(paths.len(), 2, "as many as a ToR of this fat-tree has uplinks");
        let between = |path: &ListedPath| path.routers()[1..path.routers().len() - 1].to_vec();
        assert!(between(&paths[0]).iter().all(|router| !between(&paths[1]).contains(router)));
    }
}
