//! Words of `local-packed` that were written by hand: clips that move alike and share theirs, and hierarchies that lead elsewhere.

use gpuskin_rt::FramePair;
use gpuskin_rt::local::LocalTracks;
use gpuskin_rt::local::layout::{clip, header, node};

const NONE: u32 = node::NO_PARENT;

/// One node at rest; clips of two frames each, in this order.
fn words(order: &[usize]) -> Vec<u8> {
    hierarchy(&[[NONE, NONE]], 1, order)
}

/// The same with nodes of which each has a parent, and what is so many nodes above it.
fn hierarchy(nodes: &[[u32; 2]], link: u32, order: &[usize]) -> Vec<u8> {
    let mut words = vec![0_u32; header::WORDS];
    words[header::NODES] = nodes.len() as u32;
    (words[header::LINK], words[header::CLIPS]) = (link, order.len() as u32);
    words[header::NODES_AT] = words.len() as u32;
    for [parent, above] in nodes {
        let mut rest = [0.0_f32.to_bits(); node::WORDS];
        rest[node::ROTATION + 3] = 1.0_f32.to_bits();
        (rest[node::PARENT], rest[node::ABOVE]) = (*parent, *above);
        rest[node::SCALE..node::SCALE + 3].fill(1.0_f32.to_bits());
        words.extend(rest);
    }
    words[header::CLIPS_AT] = words.len() as u32;
    let clips = words.len() + order.len();
    let len = clip::ENTRIES + nodes.len();
    words.extend(order.iter().map(|i| (clips + i * len) as u32));
    for i in 0..=*order.iter().max().unwrap() {
        let at = words.len();
        words.resize(at + len, 0);
        words[at + clip::FRAMES_AT] = at as u32;
        (words[at + clip::INTERVALS], words[at + clip::STORED]) = (1, 2);
        words[at + clip::FIRST_FRAME] = 2 * i as u32;
    }
    words.push(0);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn clips_that_share_frames_are_found_by_them() {
    let bytes = words(&[0, 1, 0, 2, 1]);
    let tracks = LocalTracks::new(&bytes).unwrap();
    assert_eq!(tracks.record(0), tracks.record(2));
    for i in 0..5 {
        let first = tracks.record(i).first_frame;
        assert_eq!(tracks.locals(FramePair { a: first, b: first + 1, t: 0.5, first }).len(), 1);
    }
}

#[test]
fn clips_out_of_order_that_are_no_others_are_refused() {
    assert!(LocalTracks::new(&words(&[0, 1])).is_some());
    assert!(LocalTracks::new(&words(&[1, 0])).is_none());
}

#[test]
fn hierarchies_that_lead_elsewhere_are_refused() {
    let sound = |nodes: &[[u32; 2]], link| LocalTracks::new(&hierarchy(nodes, link, &[0])).is_some();
    assert!(sound(&[[NONE, NONE], [0, 0], [1, 1]], 1));
    assert!(sound(&[[NONE, NONE], [0, NONE], [1, 0]], 2));
    assert!(sound(&[[NONE, NONE], [0, NONE], [0, NONE]], 2), "side by side");
    assert!(!sound(&[[NONE, NONE], [0, NONE], [1, 1]], 2), "its parent, which is in the same link");
    assert!(!sound(&[[NONE, NONE], [0, 0], [1, 0]], 2), "there is none");
    assert!(!sound(&[[NONE, NONE], [1, 1]], 1), "itself");
    assert!(!sound(&[[NONE, NONE], [2, 2], [0, 0]], 1), "a parent behind its child");
    assert!(!sound(&[[NONE, NONE], [0, 0]], 0), "links without nodes");
    assert!(!sound(&[[NONE, NONE], [0, NONE]], 3), "links that are longer than all chains could be");
}
