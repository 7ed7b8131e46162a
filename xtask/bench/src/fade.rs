//! Crossfades on the GPU, compared with a reference in `f64` on the CPU that blends the nodes'
//! local transforms, composes them and skins. Only the tracks are decoded in `f32`, as they are
//! stored.

use glam::{DMat4, DQuat, DVec3, DVec4, Vec3, Vec4};
use gpuskin_rt::internals::local::{LocalTracks, LocalTransform};
use gpuskin_rt::internals::render::Capture;
use gpuskin_rt::internals::vertex::{Vertex, unpack};
use gpuskin_rt::internals::{
    Affine3, Clip, ClipRecord, Curve, Dynamic, Instance, InstanceRecord, Model, PoseBlend, Time, files,
};

use crate::context::Context;
use crate::report::{heading, line};

/// Fades that are compared per model.
const FADES: u32 = 24;
const SECONDS: f32 = 0.5;

pub(crate) fn measure(context: &Context) -> Result<(), String> {
    heading("crossfades on the GPU, compared with a blend in f64");
    for model in context.models.iter().filter(|m| m.meta.encoding.needs_compute()) {
        let (worst, diagonal) = worst(context, model)?;
        let text = format!("{worst:.1e} m, {:.1e} of the diagonal (target: 1e-5)", worst / diagonal);
        line(&format!("{}: {FADES} fades, every vertex", model.meta.name), text);
    }
    Ok(())
}

/// Greatest distance of a vertex from the reference, and the diagonal of all vertices, in metres.
fn worst(context: &Context, model: &Model) -> Result<(f64, f64), String> {
    let meta = &model.meta;
    let load = |payload| files::load(payload, &meta.content_hash).map_err(|e| e.to_string());
    let (animation, mesh) = (load(&model.animation)?, load(&model.mesh)?);
    let level = model.animation.levels[0];
    let words = &animation[level.offset as usize..][..level.len as usize];
    let tracks = LocalTracks::new(words).ok_or("the animation's words are invalid")?;
    let records: Vec<ClipRecord> = meta.clips.iter().map(|clip| clip.record()).collect();
    let vertices: Vec<Vertex> = mesh[meta.mesh.vertices.offset as usize..][..meta.mesh.vertices.len as usize]
        .chunks_exact(meta.mesh.format.stride())
        .map(|bytes| {
            let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
            unpack(&words, meta.mesh.format, &meta.mesh.range)
        })
        .collect();
    let samples: Vec<(InstanceRecord, Time)> = (0..FADES).map(|i| fade_sample(model, i)).collect();
    let capture = Capture::new(&context.device, &context.queue, model).map_err(|e| e.to_string())?;
    let drawn = capture.frames(&samples).map_err(|e| e.to_string())?;
    let (mut worst, mut least, mut greatest) = (0.0_f64, Vec3::INFINITY, Vec3::NEG_INFINITY);
    for ((record, now), drawn) in samples.iter().zip(&drawn) {
        let bones = pose(&tracks, &record.pose_blend(&records, *now));
        for (vertex, drawn) in vertices.iter().zip(drawn) {
            let place = vertex.position.as_dvec3();
            let expected: DVec3 = (vertex.joints.iter().zip(vertex.weights))
                .map(|(joint, weight)| bones[*joint as usize].transform_point3(place) * f64::from(weight))
                .sum();
            let drawn = Vec3::from(drawn.position);
            worst = worst.max(expected.distance(drawn.as_dvec3()));
            (least, greatest) = (least.min(drawn), greatest.max(drawn));
        }
    }
    Ok((worst, f64::from((greatest - least).length())))
}

/// Instance at the origin in a fade from one clip to another, and a time in that fade.
fn fade_sample(model: &Model, i: u32) -> (InstanceRecord, Time) {
    let clips = model.meta.clips.len() as u32;
    let playing = Instance::<Dynamic>::at([0.0; 3]).play(Clip::new((i % clips) as u16)).phase(i as f32 * 0.618);
    let mut record = playing.record(&model.meta, Time::from_secs(5.0));
    let next = Instance::<Dynamic>::at([0.0; 3]).play(Clip::new(((i + 1) % clips) as u16)).phase(i as f32 * 0.37);
    let begin = Time::from_secs(7.0);
    record.play(&next.record(&model.meta, begin).playback(), SECONDS, Curve::Smooth, begin);
    (record, Time::from_secs(7.0 + f64::from(SECONDS) * (f64::from(i) + 0.5) / f64::from(FADES)))
}

/// Skinning matrices, in `f64`.
fn pose(tracks: &LocalTracks<'_>, shown: &PoseBlend) -> Vec<DMat4> {
    let locals = shown.mix(
        |frames| tracks.locals(frames).into_iter().map(Local::of).collect::<Vec<_>>(),
        |a, b, t| a.iter().zip(&b).map(|(a, b)| a.blend(b, t.into())).collect(),
    );
    let mut globals: Vec<DMat4> = Vec::with_capacity(locals.len());
    for (i, local) in locals.iter().enumerate() {
        let own = DMat4::from_scale_rotation_translation(local.scale, local.rotation, local.translation);
        globals.push(tracks.parent(i).map_or(own, |parent| globals[parent] * own));
    }
    // With all nodes at the origin, the matrices of the bones are their inverse bind matrices.
    let binds = tracks.bones(&vec![Affine3::IDENTITY; tracks.node_count()]);
    binds.iter().enumerate().map(|(bone, bind)| globals[tracks.bone_node(bone)] * wide(bind)).collect()
}

fn wide(matrix: &Affine3) -> DMat4 {
    let [x, y, z] = matrix.rows.map(Vec4::as_dvec4);
    DMat4::from_cols(x, y, z, DVec4::W).transpose()
}

#[derive(Clone, Copy)]
struct Local {
    rotation: DQuat,
    translation: DVec3,
    scale: DVec3,
}

impl Local {
    fn of(local: LocalTransform) -> Self {
        Self {
            rotation: DQuat::from_vec4(local.rotation.as_dvec4()).normalize(),
            translation: local.translation.as_dvec3(),
            scale: local.scale.as_dvec3(),
        }
    }

    fn blend(&self, other: &Self, t: f64) -> Self {
        Self {
            rotation: self.rotation.slerp(other.rotation, t),
            translation: self.translation.lerp(other.translation, t),
            scale: self.scale.lerp(other.scale, t),
        }
    }
}
