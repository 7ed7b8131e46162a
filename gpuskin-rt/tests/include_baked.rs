//! `include_baked!` with a folder of the package.
#![allow(unreachable_pub, reason = "tests have no outside")]

gpuskin_rt::include_baked!("tests/data");

#[test]
fn what_was_baked_is_there() {
    assert_eq!(clips::SOLDIER_RUN.index(), 2);
}
