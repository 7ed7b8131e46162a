//! Vector operations in plain arithmetic, for the hot loops of a bake. Build scripts run without
//! optimisation, where each operator of glam takes several calls; these functions are always
//! inlined.

use glam::Vec3;

/// Four numbers, the size of a SIMD register.
pub(crate) type Lanes = [f32; 4];

/// A matrix of three rows and four columns, stored by columns. The last lane of each column is
/// unused.
///
/// An optimising compiler emits four-lane instructions only if it cannot see that the last lane is
/// unused. Loops over columns are therefore separate functions without inlining, which write all
/// lanes to memory.
pub(crate) type Columns = [Lanes; 4];

/// Multiplies a matrix by a homogeneous point.
#[inline(always)]
pub(crate) fn transform([x, y, z, w]: &Columns, p: &Lanes) -> Lanes {
    [
        x[0] * p[0] + y[0] * p[1] + z[0] * p[2] + w[0] * p[3],
        x[1] * p[0] + y[1] * p[1] + z[1] * p[2] + w[1] * p[3],
        x[2] * p[0] + y[2] * p[1] + z[2] * p[2] + w[2] * p[3],
        x[3] * p[0] + y[3] * p[1] + z[3] * p[2] + w[3] * p[3],
    ]
}

#[inline(always)]
pub(crate) fn add_lanes(a: Lanes, b: Lanes) -> Lanes {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
}

#[inline(always)]
pub(crate) fn scale_lanes(a: Lanes, by: f32) -> Lanes {
    [a[0] * by, a[1] * by, a[2] * by, a[3] * by]
}

#[inline(always)]
pub(crate) fn multiply_lanes(a: Lanes, b: Lanes) -> Lanes {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]]
}

#[inline(always)]
pub(crate) fn sub_lanes(a: Lanes, b: Lanes) -> Lanes {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
}

/// Multiplies a row of a matrix by four homogeneous points, in one lane per point.
#[inline(always)]
pub(crate) fn times(row: &[f32; 4], [x, y, z, w]: &[Lanes; 4]) -> Lanes {
    [
        row[0] * x[0] + row[1] * y[0] + row[2] * z[0] + row[3] * w[0],
        row[0] * x[1] + row[1] * y[1] + row[2] * z[1] + row[3] * w[1],
        row[0] * x[2] + row[1] * y[2] + row[2] * z[2] + row[3] * w[2],
        row[0] * x[3] + row[1] * y[3] + row[2] * z[3] + row[3] * w[3],
    ]
}

/// Returns the dot products of four pairs of vectors, in one lane per pair.
#[inline(always)]
pub(crate) fn dot_of(a: &[Lanes; 3], b: &[Lanes; 3]) -> Lanes {
    let [x, y, z] = [multiply_lanes(a[0], b[0]), multiply_lanes(a[1], b[1]), multiply_lanes(a[2], b[2])];
    add_lanes(add_lanes(x, y), z)
}

/// Returns the cross products of four pairs of vectors, in one lane per pair.
#[inline(always)]
pub(crate) fn cross_of(a: &[Lanes; 3], b: &[Lanes; 3]) -> [Lanes; 3] {
    [
        sub_lanes(multiply_lanes(a[1], b[2]), multiply_lanes(a[2], b[1])),
        sub_lanes(multiply_lanes(a[2], b[0]), multiply_lanes(a[0], b[2])),
        sub_lanes(multiply_lanes(a[0], b[1]), multiply_lanes(a[1], b[0])),
    ]
}

#[inline(always)]
pub(crate) fn dot_lanes(a: &Lanes, b: &Lanes) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

#[inline(always)]
pub(crate) fn dot(a: Vec3, b: Vec3) -> f32 {
    a.x * b.x + a.y * b.y + a.z * b.z
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

/// Returns the lesser of two numbers, or `a` if one is NaN.
#[inline(always)]
fn lesser(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

/// Returns the greater of two numbers, or `a` if one is NaN.
#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

#[inline(always)]
pub(crate) fn least_lanes(a: Lanes, b: Lanes) -> Lanes {
    [lesser(a[0], b[0]), lesser(a[1], b[1]), lesser(a[2], b[2]), lesser(a[3], b[3])]
}

#[inline(always)]
pub(crate) fn greatest_lanes(a: Lanes, b: Lanes) -> Lanes {
    [greater(a[0], b[0]), greater(a[1], b[1]), greater(a[2], b[2]), greater(a[3], b[3])]
}

/// Returns the lesser of each component, or that of `a` if one is NaN.
#[inline(always)]
pub(crate) fn least(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: lesser(a.x, b.x), y: lesser(a.y, b.y), z: lesser(a.z, b.z) }
}

/// Returns the greater of each component, or that of `a` if one is NaN.
#[inline(always)]
pub(crate) fn greatest(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: greater(a.x, b.x), y: greater(a.y, b.y), z: greater(a.z, b.z) }
}

pub(crate) fn min_lane(lanes: Lanes) -> f32 {
    lanes.into_iter().fold(f32::INFINITY, f32::min)
}

pub(crate) fn max_lane(lanes: Lanes) -> f32 {
    lanes.into_iter().fold(f32::NEG_INFINITY, f32::max)
}
