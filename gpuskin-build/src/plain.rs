//! A few operations on vectors in plain arithmetic, for the loops that a bake spends its time in. Build scripts run
//! unoptimised, where each operator of glam is several calls; these are inlined there too, to nothing but numbers.

use glam::Vec3;

/// Components of a vector, or a row of a matrix.
pub(crate) type Row = [f32; 4];

#[inline(always)]
pub(crate) fn dot4(a: &Row, b: &Row) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

#[inline(always)]
pub(crate) fn dot(a: Vec3, b: Vec3) -> f32 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

#[inline(always)]
pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: a.y * b.z - a.z * b.y, y: a.z * b.x - a.x * b.z, z: a.x * b.y - a.y * b.x }
}

#[inline(always)]
pub(crate) fn add(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: a.x + b.x, y: a.y + b.y, z: a.z + b.z }
}

#[inline(always)]
pub(crate) fn sub(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z }
}

#[inline(always)]
pub(crate) fn scale(a: Vec3, by: f32) -> Vec3 {
    Vec3 { x: a.x * by, y: a.y * by, z: a.z * by }
}

#[inline(always)]
pub(crate) fn distance_squared(a: Vec3, b: Vec3) -> f32 {
    let d = sub(a, b);
    dot(d, d)
}

/// The lesser of each component; those of `a` where one is no number.
#[inline(always)]
pub(crate) fn least(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 {
        x: if b.x < a.x { b.x } else { a.x },
        y: if b.y < a.y { b.y } else { a.y },
        z: if b.z < a.z { b.z } else { a.z },
    }
}

/// The greater of each component; those of `a` where one is no number.
#[inline(always)]
pub(crate) fn greatest(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 {
        x: if b.x > a.x { b.x } else { a.x },
        y: if b.y > a.y { b.y } else { a.y },
        z: if b.z > a.z { b.z } else { a.z },
    }
}
