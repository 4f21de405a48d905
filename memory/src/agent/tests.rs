//! Invocations and their places in a dispatch.

use super::*;

#[test]
fn every_invocation_has_one_place() {
    for [width, height, depth] in [[2, 2, 1], [4, 2, 3], [2, 6, 2], [8, 8, 1], [6, 4, 2], [64, 2, 1]] {
        for quads in [None, Some([width, height])] {
            let placement = Placement { subgroup_size: 8, quads };
            let mut seen = vec![false; (width * height * depth) as usize];
            for place in 0..width * height * depth {
                let index = placement.local_index(place);
                assert!(!std::mem::replace(&mut seen[index as usize], true), "{index} is there twice");
                assert_eq!(placement.place_of(index), place);
                let (subgroup, lane) = placement.lane(place);
                assert_eq!(placement.place(subgroup, lane), place);
            }
        }
    }
}

/// The equations of *Quad* scope.
#[test]
fn four_places_are_a_quad() {
    let [width, height, depth] = [6, 4, 2];
    let placement = Placement { subgroup_size: 32, quads: Some([width, height]) };
    let id = |index: u32| [index % width, index / width % height, index / width / height];
    for first in (0..width * height * depth).step_by(4) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| id(placement.local_index(first + k)));
        assert!(a[0] % 2 == 0 && a[1] % 2 == 0);
        assert_eq!([b, c, d], [[a[0] + 1, a[1], a[2]], [a[0], a[1] + 1, a[2]], [a[0] + 1, a[1] + 1, a[2]]]);
    }
    let in_order = Placement::in_order(32);
    assert!((0..64).all(|place| in_order.local_index(place) == place));
}

#[test]
fn a_subgroup_knows_its_invocations() {
    let placement = Placement { subgroup_size: 4, quads: Some([4, 2]) };
    let identity = SubgroupIdentity { workgroup: 0, workgroup_id: [0; 3], subgroup: 1, lanes: 4, placement };
    assert_eq!(identity.local_indices(0b1111), [2, 3, 6, 7]);
    assert_eq!((identity.local_index(2), identity.lane(6), identity.lane(5)), (6, Some(2), None));
    assert_eq!(runs(identity.local_indices(0b1111)), [(2, 3), (6, 7)]);
}
