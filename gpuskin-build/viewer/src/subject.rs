//! The model that is shown, and lines over it.

use glam::{Mat3, Vec3};
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::{Aabb, Affine3, Bone, BoneInfo, FORMAT_VERSION, Metadata, Payload, RootMotion};
use gpuskin_rt::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, InstanceId, Model, Sockets, wgpu,
};

use crate::bone_difference::SourceMesh;
use crate::difference::{ClipDifference, Differences};
use crate::gpu::Gpu;
use crate::lines::LineEnd;
use crate::surface::{Colors, Surface, SurfaceVertex};
use crate::unpack::unpacked;

/// Lines that are shown, as bits of a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlays(pub(crate) u32);

impl Overlays {
    const BONES: u32 = 1;
    const BOUNDS: u32 = 2;
    const GRID: u32 = 4;
    /// The path of root motion, along which the model then moves.
    const PATH: u32 = 8;
    const SOCKETS: u32 = 16;

    fn has(self, overlay: u32) -> bool {
        self.0 & overlay != 0
    }
}

/// Linear RGB.
const GRID: [f32; 3] = [0.13, 0.14, 0.16];
const AXIS: [f32; 3] = [0.26, 0.28, 0.32];
const BONE: [f32; 3] = [1.0, 0.55, 0.05];
const BOUNDS: [f32; 3] = [0.25, 0.55, 1.0];
const PATH: [f32; 3] = [1.0, 0.15, 0.35];
/// Half of the size of a cross, as a fraction of the model's diagonal.
const MARK: f32 = 0.012;
/// Length of a socket's axes, as a fraction of the model's diagonal.
const SOCKET: f32 = 0.08;

/// A model with one instance.
#[derive(Debug)]
pub(crate) struct Subject {
    crowd: Crowd<Dynamic>,
    instance: InstanceId,
    clip: Clip<Dynamic>,
    model: Model,
    /// Greatest error in metres, and shares of it in 31sts for each vertex, of each clip. Clips with differences can have no
    /// shares.
    errors: Vec<(f32, Vec<u8>)>,
    /// Differences of the source's poses; `None` if the report has none.
    differences: Option<Differences>,
    /// Bones of the sockets.
    sockets: Vec<u32>,
    /// Draws the model other than as baked.
    surface: Option<Surface>,
    /// Content of the surface, if it stays the same for a clip.
    surface_of: Option<(Shown, Clip<Dynamic>)>,
}

/// Content of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shown {
    /// Model as a game draws it.
    Baked,
    /// Each vertex in the colour of its greatest error at the frames of the clip.
    Errors,
    /// Vertices at their positions in the source.
    Source,
    /// Vertices displaced by a multiple of source minus baked position, in the colour of its length. `brightest`: length
    /// of the brightest colour, metres.
    Difference { factor: f32, brightest: f32 },
    /// Vertices in the colour of the weight of the bones that a mask contains.
    Mask(usize),
}

/// Content of a surface: vertices (`None` if the surface has them already), facts and colours.
type SurfaceContent = (Option<Vec<SurfaceVertex>>, SurfaceFacts, Colors);

/// Lengths that a surface shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SurfaceFacts {
    /// Length of the brightest colour, metres.
    pub(crate) brightest: f32,
    /// Greatest source minus baked position now, metres.
    pub(crate) difference: f32,
}

impl Subject {
    /// Loads a model as a report contains it: metadata, animation, mesh, textures, errors of vertices, differences of the
    /// source, and sockets in postcard.
    ///
    /// # Errors
    /// If the bytes are those of another version, or the device cannot draw the model.
    pub(crate) fn new(renderer: &mut CrowdRenderer, bytes: &[u8]) -> Result<Self, String> {
        type Errors = Vec<(f32, Vec<u8>)>;
        type Packed = (Metadata, Payload, Payload, Vec<Payload>, Errors, SourceMesh, Vec<ClipDifference>, Vec<u32>);
        let (meta, animation, mesh, textures, errors, source, clips, sockets): Packed =
            postcard::from_bytes(bytes).map_err(|error| format!("the model cannot be read: {error}"))?;
        if meta.format_version != FORMAT_VERSION {
            return Err(format!("the model has format version {}", meta.format_version));
        }
        let model = Model { meta, animation, mesh, textures: textures.into(), others: Default::default() };
        let crowd = Crowd::with_model(renderer, &model, CrowdDescriptor { capacity: 1, ..Default::default() });
        let crowd = crowd.map_err(|error| error.to_string())?;
        let clip = Clip::new(0);
        let instance = crowd.spawn(Instance::at([0.0; 3]).play(clip).starting(0.0));
        let differences = Differences::new(&model, source, clips);
        Ok(Self { crowd, instance, clip, model, errors, differences, sockets, surface: None, surface_of: None })
    }

    /// Plays a clip, from its start at time 0. `seconds`: time of the frame that is drawn next; with `moved`, the
    /// model stands where root motion has taken it.
    pub(crate) fn play(&mut self, clip: usize, seconds: f64, overlays: Overlays) {
        let clip = clip.min(self.model.meta.clips.len().saturating_sub(1));
        let mut instance = Instance::at([0.0; 3]).play(Clip::new(clip as u16)).starting(0.0);
        if let (true, Some(info)) = (overlays.has(Overlays::PATH), self.model.meta.clips.get(clip)) {
            let mut record = instance.record(&self.model.meta, 0.0.into());
            record.displace(info.root_displacement(&record.playback(), 0.0, seconds));
            instance = instance.with_transform(record.transform());
        }
        self.clip = Clip::new(clip as u16);
        // The instance is the only one, and is never removed.
        let _ = self.crowd.set(self.instance, instance);
    }

    /// Whether the report contains the source's poses.
    pub(crate) fn has_source(&self) -> bool {
        self.differences.is_some()
    }

    /// Whether the model has sockets.
    pub(crate) fn has_sockets(&self) -> bool {
        !self.sockets.is_empty()
    }

    /// Prepares to draw the model other than as baked. Returns `None` if there is nothing to show.
    ///
    /// # Errors
    /// If the device cannot draw it.
    pub(crate) fn prepare_surface(
        &mut self,
        gpu: &Gpu,
        renderer: &mut CrowdRenderer,
        (camera, eye): (&Camera, Vec3),
        seconds: f64,
        shown: Shown,
    ) -> Result<Option<SurfaceFacts>, String> {
        let of_clip = matches!(shown, Shown::Errors | Shown::Mask(_)).then_some((shown, self.clip));
        let made = match shown {
            Shown::Baked => None,
            Shown::Errors => self.errors_surface(),
            Shown::Source => self.difference_surface(seconds, 1.0, None),
            Shown::Difference { factor, brightest } => self.difference_surface(seconds, factor, Some(brightest)),
            Shown::Mask(mask) => self.mask_surface(mask),
        };
        let Some((vertices, facts, colors)) = made else { return Ok(None) };
        let surface = match &mut self.surface {
            Some(surface) => surface,
            none => none.insert(Surface::new(gpu, renderer, &self.crowd, &self.model)?),
        };
        if let Some(vertices) = vertices {
            surface.set(gpu, &vertices);
            self.surface_of = of_clip;
        }
        surface.prepare(gpu, camera, eye, seconds.into(), colors);
        Ok(Some(facts))
    }

    /// Returns the errors of the clip: vertices, unless the surface has them, facts and colours.
    fn errors_surface(&self) -> Option<SurfaceContent> {
        let (brightest, shares) = self.errors.get(usize::from(self.clip.index()))?;
        let facts = SurfaceFacts { brightest: *brightest, difference: 0.0 };
        if self.surface_of == Some((Shown::Errors, self.clip)) {
            return Some((None, facts, Colors::Heat));
        }
        let vertex = |share: f32| SurfaceVertex { share, ..Default::default() };
        let vertices: Vec<_> = match shares.is_empty() && *brightest > 0.0 {
            false => shares.iter().map(|share| vertex(f32::from(*share) / 31.0)).collect(),
            true => self.greatest_differences()?.into_iter().map(|error| vertex(error / brightest)).collect(),
        };
        (vertices.len() == self.model.meta.mesh.vertex_count as usize).then_some((Some(vertices), facts, Colors::Heat))
    }

    /// Returns the weights of a mask.
    fn mask_surface(&self, mask: usize) -> Option<SurfaceContent> {
        let facts = SurfaceFacts { brightest: -1.0, difference: 0.0 };
        let bones = self.model.meta.masks.get(mask)?;
        if self.surface_of == Some((Shown::Mask(mask), self.clip)) {
            return Some((None, facts, Colors::Mask));
        }
        let share = |vertex: &Vertex| {
            let influences = vertex.joints.iter().zip(vertex.weights);
            influences.filter(|(bone, _)| bones.contains(**bone as usize)).map(|(_, weight)| weight).sum()
        };
        let vertex = |vertex: &Vertex| SurfaceVertex { share: share(vertex), ..Default::default() };
        Some((Some(unpacked(&self.model)?.iter().map(vertex).collect()), facts, Colors::Mask))
    }

    /// Returns the greatest difference of each vertex from the source at the frames of the clip, metres.
    fn greatest_differences(&self) -> Option<Vec<f32>> {
        let record = self.crowd.get(self.instance)?;
        let (differences, clip) = (self.differences.as_ref()?, usize::from(self.clip.index()));
        let info = self.model.meta.clips.get(clip)?;
        let mut greatest = vec![0.0_f32; self.model.meta.mesh.vertex_count as usize];
        for frame in 0..=info.intervals {
            let seconds = f64::from(frame) / f64::from(info.intervals.max(1)) * info.duration;
            let found = differences.at(&self.model, &record, clip, seconds)?;
            greatest.iter_mut().zip(found).for_each(|(most, difference)| *most = most.max(difference.length()));
        }
        Some(greatest)
    }

    /// Returns the difference of the source at a time, multiplied by a factor. `brightest`: length of the brightest colour in
    /// metres; `None` for the colours of the materials.
    fn difference_surface(&self, seconds: f64, factor: f32, brightest: Option<f32>) -> Option<SurfaceContent> {
        let record = self.crowd.get(self.instance)?;
        let clip = usize::from(self.clip.index());
        let differences = self.differences.as_ref()?.at(&self.model, &record, clip, seconds)?;
        let greatest = differences.iter().map(|difference| difference.length()).fold(0.0, f32::max);
        let most = brightest.filter(|most| most.is_finite() && *most > 0.0).unwrap_or(greatest);
        let vertex = |difference: &Vec3| SurfaceVertex {
            displacement: (factor * record.direction(*difference)).into(),
            share: if most > 0.0 { difference.length() / most } else { 0.0 },
        };
        let colors = if brightest.is_some() { Colors::Heat } else { Colors::Materials };
        let facts = SurfaceFacts { brightest: most, difference: greatest };
        Some((Some(differences.iter().map(vertex).collect()), facts, colors))
    }

    /// Draws the model as prepared.
    pub(crate) fn draw_surface(&self, pass: &mut wgpu::RenderPass<'_>) {
        if let Some(surface) = &self.surface {
            surface.draw(pass, &self.crowd);
        }
    }

    /// Returns the box around everything that a clip reaches, model space, metres.
    pub(crate) fn bounds(&self, clip: usize) -> Aabb {
        let finite = |bounds: &Aabb| Vec3::from(bounds.min).is_finite() && Vec3::from(bounds.max).is_finite();
        let meta = &self.model.meta;
        meta.clips.get(clip).map(|clip| clip.bounds()).filter(finite).unwrap_or(meta.rest_bounds)
    }

    /// Returns the centre of the box around the instance at a time, world space, metres.
    pub(crate) fn centre(&self, clip: usize, seconds: f64) -> Vec3 {
        let bounds = self.crowd.get(self.instance).map(|record| self.model.meta.world_bounds(&record, seconds));
        let bounds = bounds.filter(|bounds| Vec3::from(bounds.min).is_finite()).unwrap_or_else(|| self.bounds(clip));
        0.5 * (Vec3::from(bounds.min) + Vec3::from(bounds.max))
    }

    /// Returns how far the box around the instance reaches from a point in a direction at a time, metres.
    pub(crate) fn depth(&self, from: Vec3, direction: Vec3, seconds: f64) -> f32 {
        let Some(record) = self.crowd.get(self.instance) else { return 0.0 };
        let bounds = self.model.meta.world_bounds(&record, seconds);
        let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
        (0.5 * (min + max) - from).dot(direction) + (0.5 * (max - min)).dot(direction.abs())
    }

    /// Returns the error of a level of detail, metres.
    pub(crate) fn level_error(&self, level: usize) -> f32 {
        let coarser = level.checked_sub(1).and_then(|coarser| self.model.meta.mesh.levels.get(coarser));
        coarser.map_or(0.0, |level| level.error)
    }

    /// Returns the lines at a time, seconds: those that surfaces hide, and those that are always seen.
    pub(crate) fn lines(&self, seconds: f64, overlays: Overlays) -> [Vec<LineEnd>; 2] {
        let [mut hidden, mut seen] = [Vec::new(), Vec::new()];
        let bounds = self.bounds(self.clip.index().into());
        let mark = MARK * bounds.diagonal();
        if overlays.has(Overlays::GRID) {
            grid(&mut hidden, &bounds);
        }
        let record = self.crowd.get(self.instance);
        if let (true, Some(record)) = (overlays.has(Overlays::BOUNDS), &record) {
            cuboid(&mut hidden, &self.model.meta.world_bounds(record, seconds));
        }
        let info = self.model.meta.clips.get(usize::from(self.clip.index()));
        if let (true, Some(motion)) = (overlays.has(Overlays::PATH), info.and_then(|info| info.root_motion.as_ref())) {
            path(&mut seen, motion, mark);
        }
        // Vertex mode has no bones.
        if let (Some(record), Ok(sockets)) = (&record, Sockets::with_model(&self.model)) {
            let of = |bone: u32| sockets.in_world(Bone::new(bone as u16), record, seconds);
            if overlays.has(Overlays::BONES) {
                let meta = &self.model.meta;
                skeleton(&mut seen, &meta.bones[..meta.placed_bones()], mark, of);
            }
            for to_world in self.sockets.iter().filter(|_| overlays.has(Overlays::SOCKETS)).filter_map(|bone| of(*bone))
            {
                axes(&mut seen, &to_world, SOCKET * bounds.diagonal());
            }
        }
        [hidden, seen]
    }
}

fn line(ends: &mut Vec<LineEnd>, from: Vec3, to: Vec3, color: [f32; 3]) {
    ends.extend([from, to].map(|position| LineEnd { position: position.into(), color }));
}

/// Bones from parent to child, with crosses where a branch starts or ends. `of`: transform of a bone.
fn skeleton(ends: &mut Vec<LineEnd>, bones: &[BoneInfo], mark: f32, of: impl Fn(u32) -> Option<Affine3>) {
    for (index, bone) in (0..).zip(bones) {
        let Some(origin) = of(index).map(|to_world| to_world.origin()) else { continue };
        let parent = bone.parent.and_then(&of);
        if let Some(parent) = &parent {
            line(ends, parent.origin(), origin, BONE);
        }
        if parent.is_none() || !bones.iter().any(|other| other.parent == Some(index)) {
            cross(ends, origin, mark, BONE);
        }
    }
}

/// The axes x, y and z of a transform in red, green and blue.
fn axes(ends: &mut Vec<LineEnd>, to_world: &Affine3, size: f32) {
    for (axis, color) in [(Vec3::X, [1.0, 0.1, 0.1]), (Vec3::Y, [0.15, 0.9, 0.2]), (Vec3::Z, [0.2, 0.4, 1.0])] {
        let direction = to_world.direction(axis).normalize_or_zero();
        line(ends, to_world.origin(), to_world.origin() + size * direction, color);
    }
}

fn cross(ends: &mut Vec<LineEnd>, at: Vec3, size: f32, color: [f32; 3]) {
    for axis in Mat3::IDENTITY.to_cols_array_2d().map(Vec3::from) {
        line(ends, at - size * axis, at + size * axis, color);
    }
}

/// Lines on the ground, a metre apart, or a power of ten of it that suits the model.
fn grid(ends: &mut Vec<LineEnd>, bounds: &Aabb) {
    const HALF: i32 = 10;
    let size = bounds.diagonal().max(1e-6);
    let step = 10_f32.powf((size / 4.0).log10().round());
    let centre = |axis: usize| (0.5 * (bounds.min[axis] + bounds.max[axis]) / step).round() * step;
    let [x, z] = [centre(0), centre(2)];
    let reach = HALF as f32 * step;
    for i in -HALF..=HALF {
        let at = i as f32 * step;
        let color = |origin: f32| if (at + origin).abs() < 0.5 * step { AXIS } else { GRID };
        line(ends, Vec3::new(x + at, 0.0, z - reach), Vec3::new(x + at, 0.0, z + reach), color(x));
        line(ends, Vec3::new(x - reach, 0.0, z + at), Vec3::new(x + reach, 0.0, z + at), color(z));
    }
}

fn cuboid(ends: &mut Vec<LineEnd>, bounds: &Aabb) {
    let corner = |bits: usize| {
        let side = |axis: usize| if bits >> axis & 1 == 0 { bounds.min[axis] } else { bounds.max[axis] };
        Vec3::new(side(0), side(1), side(2))
    };
    for bits in 0..8 {
        for axis in (0..3).filter(|axis| bits >> axis & 1 == 0) {
            line(ends, corner(bits), corner(bits | 1 << axis), BOUNDS);
        }
    }
}

fn path(ends: &mut Vec<LineEnd>, motion: &RootMotion, mark: f32) {
    let points: Vec<Vec3> = motion.keys.iter().map(|key| Vec3::from(key.translation)).collect();
    for pair in points.windows(2) {
        line(ends, pair[0], pair[1], PATH);
    }
    for end in [points.first(), points.last()].into_iter().flatten() {
        cross(ends, *end, 2.0 * mark, PATH);
    }
}
