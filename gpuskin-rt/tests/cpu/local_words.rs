//! Hand-written words of `local-packed`: clips with identical motion that share words, and invalid
//! hierarchies.

use gpuskin_rt::internals::FramePair;
use gpuskin_rt::internals::local::LocalTracks;
use gpuskin_rt::internals::local::layout::{clip, header, node};

const NONE: u32 = node::NO_PARENT;

/// One node at rest; clips of two frames each, in the given order.
fn words(order: &[usize]) -> Vec<u8> {
    hierarchy(&[[NONE, NONE]], 1, order)
}

/// Words with nodes given as `[parent, chain parent]`.
fn hierarchy(nodes: &[[u32; 2]], link: u32, order: &[usize]) -> Vec<u8> {
    let mut words = vec![0_u32; header::WORDS];
    words[header::NODES] = nodes.len() as u32;
    (words[header::LINK], words[header::CLIPS]) = (link, order.len() as u32);
    words[header::NODES_AT] = words.len() as u32;
    for [parent, above] in nodes {
        let mut rest = [0.0_f32.to_bits(); node::WORDS];
        rest[node::ROTATION + 3] = 1.0_f32.to_bits();
        (rest[node::PARENT], rest[node::CHAIN_PARENT]) = (*parent, *above);
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
fn clips_with_shared_frames_are_found_by_frame() {
    let bytes = words(&[0, 1, 0, 2, 1]);
    let tracks = LocalTracks::new(&bytes).unwrap();
    assert_eq!(tracks.record(0), tracks.record(2));
    for i in 0..5 {
        let first = tracks.record(i).first_frame;
        assert_eq!(tracks.locals(FramePair { a: first, b: first + 1, t: 0.5, first }).len(), 1);
    }
}

#[test]
fn unsorted_clips_without_shared_words_are_refused() {
    assert!(LocalTracks::new(&words(&[0, 1])).is_some());
    assert!(LocalTracks::new(&words(&[1, 0])).is_none());
}

#[test]
fn invalid_hierarchies_are_refused() {
    let sound = |nodes: &[[u32; 2]], link| LocalTracks::new(&hierarchy(nodes, link, &[0])).is_some();
    assert!(sound(&[[NONE, NONE], [0, 0], [1, 1]], 1));
    assert!(sound(&[[NONE, NONE], [0, NONE], [1, 0]], 2));
    assert!(sound(&[[NONE, NONE], [0, NONE], [0, NONE]], 2), "siblings");
    assert!(!sound(&[[NONE, NONE], [0, NONE], [1, 1]], 2), "the chain parent is in the same link");
    assert!(!sound(&[[NONE, NONE], [0, 0], [1, 0]], 2), "a chain parent where there is none");
    assert!(!sound(&[[NONE, NONE], [1, 1]], 1), "itself");
    assert!(!sound(&[[NONE, NONE], [2, 2], [0, 0]], 1), "a parent that follows its child");
    assert!(!sound(&[[NONE, NONE], [0, 0]], 0), "links of length 0");
    assert!(!sound(&[[NONE, NONE], [0, NONE]], 3), "links longer than the number of nodes");
}
