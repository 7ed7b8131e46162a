//! Test of `include_baked!` with a folder of the package.
#![allow(unreachable_pub, reason = "a test program exports nothing")]

gpuskin_rt::include_baked!("tests/data");

#[test]
fn included_modules_are_available() {
    assert_eq!(clips::SOLDIER_RUN.index(), 2);
}
