//! Grid of the world that holds, per cell, the lights whose range reaches into it.

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

use crate::lighting::PunctualLight;

/// Greatest number of lights whose surfaces loop over all of them: for so few, a grid costs about as much as it saves.
const FEW: u32 = 4;
/// Greatest number of cells.
const MAX_CELLS: usize = 16_384;
/// Greatest number of lights in the lists of all cells together.
const MAX_LISTED: usize = 65_536;
/// Bits of a cell's word for the number of its lights; those above are the place of the first one.
const COUNT_BITS: u32 = 11;
/// Words in a row of the texture.
const ROW: u32 = 256;
/// Rows of the texture.
const ROWS: u32 = ((MAX_CELLS + MAX_LISTED) as u32).div_ceil(ROW);
/// Width and height of the texture, texels of one word.
pub(crate) const LIGHT_GRID_SIZE: [u32; 2] = [ROW, ROWS];

/// Whether a renderer for this many lights has a grid.
pub(crate) fn has_light_grid(lights: u32) -> bool {
    lights > FEW
}

/// Layout of `GpuskinLightGrid` in `shaders/light_grid.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct LightGridUniform {
    pub(crate) origin: [f32; 3],
    pub(crate) per_metre: f32,
    pub(crate) last: [f32; 3],
    pub(crate) everywhere: u32,
    pub(crate) columns: u32,
    pub(crate) layer: u32,
    pub(crate) cells: u32,
    padding: u32,
}

/// Lights by the cells of a grid. Cells at a side of the grid reach to infinity.
#[derive(Debug)]
pub(crate) struct LightGrid {
    pub(crate) uniform: LightGridUniform,
    /// Whole rows of the texture: a word per cell, then the indices of the lights of each cell.
    pub(crate) words: Vec<u32>,
}

/// Space that a light reaches.
#[derive(Clone, Copy, Debug)]
enum Reach {
    Nothing,
    Sphere(Sphere),
    Everything,
}

/// Bounding sphere of what a light reaches, world space, metres.
#[derive(Clone, Copy, Debug)]
struct Sphere {
    center: DVec3,
    radius: f64,
}

/// Cells of a grid.
#[derive(Clone, Copy, Debug)]
struct Cells {
    origin: Vec3,
    per_metre: f32,
    /// Columns, rows and layers.
    size: [u32; 3],
}

impl LightGrid {
    /// Sorts the lights from index `shadowed` on, so that those without a range and those that reach most cells come first, and
    /// puts the others into the cells of a grid. Lights before `shadowed` are in no cell: each surface reads them, and those
    /// that come next.
    pub(crate) fn new(lights: &mut [PunctualLight], shadowed: usize) -> Self {
        let others: Vec<_> = lights[shadowed..].iter().map(|light| (*light, Reach::of(light))).collect();
        let spheres: Vec<_> = others.iter().filter_map(|(_, reach)| reach.sphere()).collect();
        let cells = Cells::around(&spheres);
        let is_listed = |reach: &Reach| match reach {
            Reach::Nothing => true,
            Reach::Sphere(sphere) => !cells.are_most(cells.box_around(sphere)),
            Reach::Everything => false,
        };
        let (listed, wide): (Vec<_>, Vec<_>) = others.iter().partition(|(_, reach)| is_listed(reach));
        let everywhere = shadowed + wide.len();
        lights[shadowed..].iter_mut().zip(wide.iter().chain(&listed)).for_each(|(to, (light, _))| *to = *light);
        let listed = (everywhere as u32..).zip(&listed).filter_map(|(i, (_, reach))| Some((i, reach.sphere()?)));
        Self { uniform: cells.uniform(everywhere as u32), words: cells.words(listed) }
    }
}

impl Reach {
    fn of(light: &PunctualLight) -> Self {
        if light.is_dark() {
            return Self::Nothing;
        }
        let Some(range) = light.end().map(f64::from) else { return Self::Everything };
        let position = light.bounded_position().as_dvec3();
        let Some(outer) = light.outer_angle().map(f64::from) else {
            return Self::Sphere(Sphere { center: position, radius: range });
        };
        // Smallest sphere around a sector of a sphere.
        let (sin, cos) = outer.sin_cos();
        let axis = light.direction().as_dvec3();
        Self::Sphere(match cos > core::f64::consts::FRAC_1_SQRT_2 {
            true => Sphere { center: position + axis * (0.5 * range / cos), radius: 0.5 * range / cos },
            false => Sphere { center: position + axis * (range * cos), radius: range * sin },
        })
    }

    fn sphere(&self) -> Option<Sphere> {
        match self {
            Self::Sphere(sphere) => Some(*sphere),
            Self::Nothing | Self::Everything => None,
        }
    }
}

impl Cells {
    /// Returns the smallest cells around the lights for which the texture has room.
    fn around(spheres: &[Sphere]) -> Self {
        if spheres.is_empty() {
            return Self { origin: Vec3::ZERO, per_metre: 0.0, size: [1; 3] };
        }
        let mut radii: Vec<_> = spheres.iter().map(|sphere| sphere.radius).collect();
        let (_, median, _) = radii.select_nth_unstable_by(spheres.len() / 2, f64::total_cmp);
        let finest = 0.25 * *median;
        let all = Self::between(spheres, 0, finest);
        // A few lights far away must not make the cells of all others large.
        let most = Self::between(spheres, spheres.len() / 16, finest);
        if most.per_metre > 2.0 * all.per_metre { most } else { all }
    }

    /// Returns the grid of [`Self::around`], where as many lights as `left_out` reach out of the grid at each side.
    /// `finest`: side of a cell to begin with, metres.
    fn between(spheres: &[Sphere], left_out: usize, finest: f64) -> Self {
        let bound = |axis: usize, sign: f64| {
            let mut ends: Vec<_> = spheres.iter().map(|sphere| sign * sphere.center[axis] + sphere.radius).collect();
            sign * *ends.select_nth_unstable_by(left_out, |a, b| b.total_cmp(a)).1
        };
        let bounds = |sign| DVec3::new(bound(0, sign), bound(1, sign), bound(2, sign));
        let (low, high) = (bounds(-1.0), bounds(1.0));
        let extent = (high - low).max(DVec3::ZERO);
        let mut side = finest.max(extent.max_element() / MAX_CELLS as f64).max(1e-3);
        loop {
            let cells = Self {
                origin: low.as_vec3(),
                per_metre: (1.0 / side) as f32,
                size: (extent / side).to_array().map(|cells| cells.ceil().clamp(1.0, MAX_CELLS as f64) as u32),
            };
            if cells.fit(spheres) {
                return cells;
            }
            side *= 1.25;
        }
    }

    /// Whether the texture has room for these cells and their lights.
    fn fit(&self, spheres: &[Sphere]) -> bool {
        let listed = || {
            let boxes = spheres.iter().map(|sphere| self.box_around(sphere));
            boxes.filter(|cells| !self.are_most(*cells)).sum::<u32>() as usize
        };
        self.size.map(u64::from).iter().product::<u64>() <= MAX_CELLS as u64 && listed() <= MAX_LISTED
    }

    /// Number of cells.
    fn count(&self) -> u32 {
        self.size.iter().product()
    }

    /// Number of cells in the box around a sphere.
    fn box_around(&self, sphere: &Sphere) -> u32 {
        let [first, last] = self.reached(sphere);
        (0..3).map(|axis| last[axis] - first[axis] + 1).product()
    }

    /// Whether a number of cells is more than half of them.
    fn are_most(&self, cells: u32) -> bool {
        2 * cells > self.count()
    }

    /// Radius with room for rounding errors of positions and cells in shaders.
    fn rounded_up(&self, sphere: &Sphere) -> f64 {
        let cell = 1.0 / f64::from(self.per_metre);
        let far = sphere.center.abs().max_element() + sphere.radius + self.origin.as_dvec3().abs().max_element();
        1.001 * sphere.radius + 0.002 * cell + 1e-6 * far
    }

    /// First and last cell of the box around a sphere.
    fn reached(&self, sphere: &Sphere) -> [[u32; 3]; 2] {
        let radius = self.rounded_up(sphere);
        [-radius, radius].map(|offset| {
            let place = (sphere.center + offset - self.origin.as_dvec3()) * f64::from(self.per_metre);
            core::array::from_fn(|axis| place[axis].clamp(0.0, f64::from(self.size[axis] - 1)) as u32)
        })
    }

    /// Squared distance between a coordinate and a cell along one axis, square metres.
    fn squared_distance(&self, axis: usize, cell: u32, coordinate: f64) -> f64 {
        let border = |cell: u32| f64::from(self.origin[axis]) + f64::from(cell) / f64::from(self.per_metre);
        let below = if cell == 0 { 0.0 } else { border(cell) - coordinate };
        let above = if cell + 1 == self.size[axis] { 0.0 } else { coordinate - border(cell + 1) };
        below.max(above).max(0.0).powi(2)
    }

    /// Returns the words of the texture. `listed`: indices of lights in ascending order, and what they reach.
    fn words(&self, listed: impl Iterator<Item = (u32, Sphere)>) -> Vec<u32> {
        let count = self.count() as usize;
        let mut words = vec![0; count];
        let mut pairs = Vec::new();
        for (light, sphere) in listed {
            self.each_near(&sphere, |cell| {
                words[cell] += 1;
                pairs.push((cell, light));
            });
        }
        // From the lengths of lists to their places.
        let mut next = Vec::with_capacity(count);
        let mut first = 0;
        for word in &mut words {
            next.push(count + first as usize);
            (*word, first) = (first << COUNT_BITS | *word, first + *word);
        }
        words.resize((count + pairs.len()).next_multiple_of(ROW as usize), 0);
        for (cell, light) in pairs {
            words[next[cell]] = light;
            next[cell] += 1;
        }
        words
    }

    /// Calls a function with the index of each cell that a sphere reaches.
    fn each_near(&self, sphere: &Sphere, mut near: impl FnMut(usize)) {
        let [columns, rows, _] = self.size;
        let [first, last] = self.reached(sphere);
        let most = self.rounded_up(sphere).powi(2);
        for z in first[2]..=last[2] {
            let to_z = self.squared_distance(2, z, sphere.center.z);
            for y in first[1]..=last[1] {
                let to_y = to_z + self.squared_distance(1, y, sphere.center.y);
                let row = (z * rows + y) * columns;
                let is_near = |x: &u32| to_y + self.squared_distance(0, *x, sphere.center.x) <= most;
                (first[0]..=last[0]).filter(is_near).for_each(|x| near((row + x) as usize));
            }
        }
    }

    fn uniform(&self, everywhere: u32) -> LightGridUniform {
        LightGridUniform {
            origin: self.origin.into(),
            per_metre: self.per_metre,
            last: self.size.map(|cells| (cells - 1) as f32),
            everywhere,
            columns: self.size[0],
            layer: self.size[0] * self.size[1],
            cells: self.count(),
            padding: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lighting::{LightCone, PunctualUniform};

    /// Numbers in 0..1.
    fn random(seed: u32) -> impl FnMut() -> f32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0
        }
    }

    /// Lights in a box of this size in metres; every third a spot light.
    fn scattered(seed: u32, count: u32, size: Vec3, range: f32) -> Vec<PunctualLight> {
        let mut random = random(seed);
        let mut three = move || Vec3::new(random(), random(), random());
        let of = |i: u32| {
            let angle = [0.02, 0.5, 0.79, 1.2, 1.6][i as usize / 3 % 5];
            let cone = LightCone { direction: (three() - 0.5).into(), inner: 0.0, outer: angle };
            let position = ((three() - 0.5) * size).into();
            let range = Some(range * (0.5 + three().x));
            PunctualLight { position, range, cone: i.is_multiple_of(3).then_some(cone), ..Default::default() }
        };
        (0..count).map(of).collect()
    }

    /// Illuminance over pi, as `gpuskin_light` computes it.
    fn illuminance(light: &PunctualLight, world: Vec3) -> f32 {
        let light = PunctualUniform::new(light);
        let way = Vec3::from(light.position) - world;
        let squared = way.length_squared().max(1e-4);
        let window = (1.0 - (squared * light.falloff).powi(2)).clamp(0.0, 1.0);
        let cosine = -Vec3::from(light.direction).dot(way / squared.sqrt());
        let cone = (cosine * light.cone_scale + light.cone_offset).clamp(0.0, 1.0);
        light.color[0] * window * cone * cone / squared
    }

    /// Lights of a point: `gpuskin_nearby_lights` and `gpuskin_nearby_light`.
    fn nearby(grid: &LightGrid, world: Vec3) -> Vec<u32> {
        let LightGridUniform { origin, per_metre, last, everywhere, columns, layer, cells, .. } = grid.uniform;
        let place = ((world - Vec3::from(origin)) * per_metre).clamp(Vec3::ZERO, last.into());
        let [x, y, z] = place.to_array().map(|cell| cell as u32);
        let word = grid.words[(x + columns * y + layer * z) as usize];
        let first = (cells + (word >> COUNT_BITS)) as usize;
        let listed = &grid.words[first..first + (word & ((1 << COUNT_BITS) - 1)) as usize];
        (0..everywhere).chain(listed.iter().copied()).collect()
    }

    /// Checks that each light that reaches a point is in its list, once and in ascending order. Returns the mean length of
    /// lists and the mean number of lights that reach a point, of points within the box.
    #[track_caller]
    fn check(grid: &LightGrid, lights: &[PunctualLight], size: Vec3) -> [f32; 2] {
        assert!(grid.words.len() <= (ROW * ROWS) as usize, "{} words", grid.words.len());
        let mut random = random(7);
        let mut sums = [0.0; 2];
        const POINTS: usize = 2000;
        for i in 0..POINTS {
            let at = Vec3::new(random(), random(), random()) - 0.5;
            // Some outside.
            let world = at * size * if i.is_multiple_of(10) { 3.0 } else { 1.0 };
            let near = nearby(grid, world);
            assert!(near.windows(2).all(|pair| pair[0] < pair[1]), "{near:?}");
            let reached = (0..lights.len()).filter(|i| illuminance(&lights[*i], world) > 0.0);
            let reached: Vec<_> = reached.map(|i| i as u32).collect();
            assert!(reached.iter().all(|light| near.contains(light)), "{world}: {reached:?}, but {near:?}");
            sums = [sums[0] + near.len() as f32, sums[1] + reached.len() as f32];
        }
        sums.map(|sum| sum / POINTS as f32)
    }

    #[test]
    fn each_light_that_reaches_a_point_is_listed() {
        let scenes = [(1, [10.0, 3.0, 10.0], 5.0), (40, [100.0, 10.0, 60.0], 8.0), (256, [300.0, 3.0, 300.0], 6.0)];
        let large = [(1024, [2000.0, 40.0, 2000.0], 30.0), (1024, [50.0, 50.0, 50.0], 100.0), (300, [0.0; 3], 1.0)];
        for (i, (count, size, range)) in scenes.into_iter().chain(large).enumerate() {
            let mut lights = scattered(i as u32, count, size.into(), range);
            let grid = LightGrid::new(&mut lights, 0);
            check(&grid, &lights, Vec3::from(size).max(Vec3::ONE));
        }
    }

    #[test]
    fn lists_are_short() {
        // The scene of `cargo xtask bench material`.
        let size = Vec3::new(150.0, 2.0, 150.0);
        let mut lights = scattered(3, 1024, size, 6.0);
        let grid = LightGrid::new(&mut lights, 0);
        let [listed, reached] = check(&grid, &lights, size);
        assert!(reached > 1.0 && listed < 3.0 * reached, "{listed} listed, {reached} reach a point");
    }

    #[test]
    fn distant_lights_leave_cells_small() {
        let size = Vec3::new(150.0, 2.0, 150.0);
        let near = scattered(3, 256, size, 6.0);
        let far = |x: f32| PunctualLight { position: [x, 0.0, x], range: Some(5.0), ..Default::default() };
        let mut all = near.clone();
        all.extend([far(1e7), far(-1e6), far(f32::INFINITY), PunctualLight { range: Some(1e5), ..far(2e5) }]);
        let lengths = [near, all].map(|mut lights| {
            let grid = LightGrid::new(&mut lights, 0);
            check(&grid, &lights, size)[0]
        });
        assert!(lengths[1] < 2.0 * lengths[0], "{lengths:?}");
    }

    #[test]
    fn lights_without_range_and_with_shadows_are_read_everywhere() {
        let mut lights = scattered(5, 60, Vec3::new(80.0, 2.0, 80.0), 6.0);
        for i in [7, 30, 31] {
            lights[i].range = None;
        }
        let before = lights.clone();
        let grid = LightGrid::new(&mut lights, 4);
        assert_eq!(grid.uniform.everywhere, 4 + 3);
        assert_eq!(lights[..4], before[..4]);
        assert_eq!(lights[4..7], [7, 30, 31].map(|i| before[i]));
        // One that reaches most cells is as good as one without a range.
        lights[50].range = Some(200.0);
        let wide = lights[50];
        let grid = LightGrid::new(&mut lights, 4);
        assert_eq!((grid.uniform.everywhere, lights[7]), (4 + 4, wide));
        check(&grid, &lights, Vec3::new(80.0, 2.0, 80.0));
        let without = LightGrid::new(&mut [], 0);
        assert_eq!((nearby(&without, Vec3::ONE), without.words.len()), (Vec::new(), ROW as usize));
    }

    #[test]
    fn dark_lights_are_in_no_list() {
        for (count, range) in [(3, Some(3.0)), (60, Some(3.0)), (60, None)] {
            let mut lights = scattered(2, count, Vec3::splat(20.0), 3.0);
            lights.iter_mut().for_each(|light| light.range = range);
            let dark = lights[1].position;
            (lights[1].intensity, lights[1].range) = (0.0, Some(1e6));
            let grid = LightGrid::new(&mut lights, 0);
            let near = nearby(&grid, dark.into());
            assert!(near.iter().all(|light| lights[*light as usize].position != dark), "{near:?}");
        }
    }

    #[test]
    fn unusable_numbers_give_a_grid() {
        let numbers = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, -1.0, 0.0];
        for number in numbers {
            let mut lights = scattered(9, 40, Vec3::splat(20.0), 4.0);
            lights[1].position = [number, 1.0, -number];
            lights[2].range = Some(number);
            lights[3].cone = Some(LightCone { direction: [number; 3], inner: number, outer: number });
            lights[4] = PunctualLight { position: [number; 3], range: Some(number), ..lights[4] };
            let grid = LightGrid::new(&mut lights, 0);
            let finite = |words: &[f32]| words.iter().all(|c| c.is_finite());
            let LightGridUniform { origin, per_metre, last, .. } = grid.uniform;
            assert!(finite(&origin) && finite(&last) && per_metre.is_finite(), "{number}: {:?}", grid.uniform);
            check(&grid, &lights, Vec3::splat(20.0));
        }
    }
}
