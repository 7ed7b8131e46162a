//! Clips of `local-packed` that move alike and share their words.

use gpuskin_rt::FramePair;
use gpuskin_rt::local::LocalTracks;
use gpuskin_rt::local::layout::{clip, header, node};

/// One node at rest; clips of two frames each, in this order.
fn words(order: &[usize]) -> Vec<u8> {
    let mut words = vec![0_u32; header::WORDS];
    (words[header::NODES], words[header::LEVELS], words[header::CLIPS]) = (1, 1, order.len() as u32);
    words[header::LEVELS_AT] = words.len() as u32;
    words.extend([0, 1]);
    words[header::NODES_AT] = words.len() as u32;
    let mut rest = [0.0_f32.to_bits(); node::WORDS];
    rest[node::ROTATION + 3] = 1.0_f32.to_bits();
    rest[node::PARENT] = node::NO_PARENT;
    rest[node::SCALE..node::SCALE + 3].fill(1.0_f32.to_bits());
    words.extend(rest);
    words[header::CLIPS_AT] = words.len() as u32;
    let clips = words.len() + order.len();
    let len = clip::ENTRIES + 1;
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
