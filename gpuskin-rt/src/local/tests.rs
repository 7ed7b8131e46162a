use super::*;

#[test]
fn compose_matches_consecutive_transforms() {
    let rotation = Vec4::new(0.1, 0.3, -0.2, 0.8).normalize();
    let a = LocalTransform::new(rotation, Vec3::new(1.0, 2.0, 3.0), Vec3::new(1.0, 2.0, -0.5));
    let b = LocalTransform { rotation: Vec4::new(-0.4, 0.3, 0.1, 0.2).normalize(), ..a };
    let p = Vec3::new(0.3, -0.4, 0.5);
    let both = compose(&a.matrix(), &b.matrix());
    assert!(both.point(p).abs_diff_eq(a.matrix().point(b.matrix().point(p)), 1e-5));
    assert_eq!(compose(&Affine3::IDENTITY, &a.matrix()), a.matrix());
    assert_eq!(LocalTransform::IDENTITY.matrix(), Affine3::IDENTITY);
}

#[test]
fn blend_reaches_both_ends() {
    let a = LocalTransform::IDENTITY;
    let b = LocalTransform::new(Vec4::X, Vec3::ONE, Vec3::splat(3.0));
    assert!(a.blend(&b, 0.0).rotation.abs_diff_eq(a.rotation, 1e-6));
    assert!(a.blend(&b, 1.0).rotation.abs_diff_eq(b.rotation, 1e-6));
    assert_eq!(a.blend(&b, 0.5).scale, Vec3::splat(2.0));
}

#[test]
fn invalid_words_are_refused() {
    assert!(LocalTracks::new(&[]).is_none());
    assert!(LocalTracks::new(&[0; 256]).is_none());
    assert!(LocalTracks::new(&[u8::MAX; 256]).is_none());
}
