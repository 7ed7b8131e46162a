//! Many instances of a mesh, and all methods of drawing them.

use gpuskin_rt::internals::{Camera, Time, wgpu};

use super::fixed::Fixed;
use super::gpu::{Frame, Timer, buffer, bytes, depth_pass, entry, of_buffer, target};
use super::naive::Naive;
use super::placed::{Placed, SUNS};
use super::side::{Asks, Shows, Side};
use super::subjects::Subject;
use crate::context::Context;

/// Width and height of a shadow map, in pixels.
const SHADOW_MAP: u32 = 2048;
/// Distance between instances, in metres.
const SPACING: f32 = 1.4;

/// Greatest difference of a colour channel, out of 255, between equal pixels: triangles are small,
/// and encodings lose a millimetre.
const SAME: u8 = 24;

/// Method of drawing.
pub(super) enum Work<'s> {
    Fixed { shadows: bool },
    Naive,
    Side { side: &'s Side, shows: Shows },
}

impl Work<'_> {
    /// Whether this is the whole frame of a crowd on one of its draw paths.
    pub(super) fn is_a_choice(&self) -> bool {
        matches!(self, Work::Side { side, shows: Shows::Plain } if side.suns.is_empty() && !side.asks.behaves)
    }

    /// Name of the method if it draws the palette's picture, except for encoding errors.
    pub(super) fn same_picture(&self) -> Option<&'static str> {
        match self {
            Work::Naive => Some("published shader"),
            Work::Side { side, shows: Shows::Plain } => {
                let direct = !side.encoding().needs_compute() && side.suns.is_empty();
                direct.then_some("direct")
            }
            _ => None,
        }
    }
}

pub(super) struct Scene {
    /// Camera of the main view, then those of the suns.
    cameras: [Camera; SUNS + 1],
    views: Vec<(wgpu::Buffer, wgpu::BindGroup)>,
    frame: Frame,
    maps: Vec<wgpu::TextureView>,
    fixed: Fixed,
    naive: Option<Naive>,
    /// Crowds with a palette: plain, behaving, with shadows, both. Then the same with a pose cache,
    /// and crowds that read textures directly, without and with shadows.
    sides: Vec<Side>,
    timer: Option<Timer>,
}

impl Scene {
    /// `lod_error`: as in [`Asks`].
    pub(super) fn new(context: &Context, subject: &Subject, count: u32, lod_error: f32) -> Result<Self, String> {
        let device = &context.device;
        let places = places(count, subject.model.meta.clips.len() as u32);
        let reach = (f64::from(count).sqrt().ceil()) as f32 * SPACING;
        // From above, so that all instances are in view.
        let eye =
            Camera::perspective_look_at([0.0, reach * 0.75, reach * 0.85], [0.0; 3], 1.0, 16.0 / 9.0, 0.5, 4.0 * reach);
        let sun = |i: f32| {
            let from = [reach * (0.4 + 0.1 * i), reach, reach * 0.5];
            Camera::orthographic_look_at(from, [0.0; 3], reach * 0.75 + 2.0, reach * 0.75 + 2.0, 3.0 * reach)
        };
        let uniform = of_buffer(wgpu::BufferBindingType::Uniform);
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[entry(0, wgpu::ShaderStages::VERTEX, uniform)],
        });
        let view = |_| {
            let buffer = buffer(context, &[0; 80], wgpu::BufferUsages::UNIFORM);
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &layout,
                entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
            });
            (buffer, group)
        };
        let mut sides = Vec::new();
        if subject.model.meta.encoding.needs_compute() {
            for (shared, shadows, behaves) in (0..8).map(|i| (i & 4 != 0, i & 2 != 0, i & 1 != 0)) {
                sides.push(Side::new(
                    context,
                    &subject.model,
                    &layout,
                    &places,
                    Asks { shadows, behaves, shared, lod_error },
                )?);
            }
        }
        for shadows in [false, true] {
            sides.push(Side::new(
                context,
                &subject.direct,
                &layout,
                &places,
                Asks { shadows, lod_error, ..Asks::default() },
            )?);
        }
        let map =
            |_| target(device, wgpu::TextureFormat::Depth32Float, [SHADOW_MAP; 2]).create_view(&Default::default());
        Ok(Self {
            cameras: [eye, sun(0.0), sun(1.0), sun(2.0), sun(3.0)],
            views: (0..=SUNS).map(view).collect(),
            frame: Frame::new(device),
            maps: (0..SUNS).map(map).collect(),
            fixed: Fixed::new(context, &subject.model, &layout, &places)?,
            naive: Naive::new(context, &subject.direct, &layout, &places)?,
            sides,
            timer: Timer::new(context),
        })
    }

    /// All methods, in the order of the table.
    pub(super) fn works(&self) -> Vec<Work<'_>> {
        let sides = |shadows: bool| {
            let those = self.sides.iter().filter(move |side| side.suns.is_empty() != shadows);
            those.map(|side| Work::Side { side, shows: Shows::Plain })
        };
        let mut works = vec![Work::Fixed { shadows: false }];
        works.extend(sides(false));
        works.extend(self.naive.as_ref().map(|_| Work::Naive));
        works.push(Work::Fixed { shadows: true });
        works.extend(sides(true));
        works.extend([Shows::Textured, Shows::Nothing].map(|shows| Work::Side { side: &self.sides[0], shows }));
        works
    }

    /// Seconds that the GPU takes for a frame; includes the queue's overhead if the device has no
    /// timestamps.
    pub(super) fn frame(&self, context: &Context, work: &Work<'_>, seconds: f64) -> Result<f64, String> {
        let mut encoder = context.device.create_command_encoder(&Default::default());
        if let Some(timer) = &self.timer {
            timer.mark(&mut encoder, 0);
        }
        // Poses are part of a crowd's frame, and not of the static one.
        if let Work::Side { side, .. } = work {
            side.prepare(context, &mut encoder, &self.cameras, seconds)?;
        }
        let [whole, fraction] = Time::from_secs(Side::clock(seconds)).words();
        for ((buffer, _), camera) in self.views.iter().zip(&self.cameras) {
            let clock = [whole, fraction, 0, 0].map(f32::from_bits);
            let view: Vec<f32> = camera.view_proj.into_iter().flatten().chain(clock).collect();
            context.queue.write_buffer(buffer, 0, &bytes(&view));
        }
        // Uploads are not part of the measured frame.
        context.queue.submit([]);
        context.wait()?;
        let shadows = match work {
            Work::Fixed { shadows } => *shadows,
            Work::Naive => false,
            Work::Side { side, .. } => !side.suns.is_empty(),
        };
        for (i, map) in self.maps.iter().enumerate().filter(|_| shadows) {
            depth_pass(&mut encoder, map, |pass| match work {
                Work::Side { side, .. } => side.draw_depth(pass, i),
                _ => {
                    pass.set_bind_group(0, &self.views[i + 1].1, &[]);
                    self.fixed.draw(pass, true);
                }
            });
        }
        self.frame.pass(&mut encoder, |pass| {
            pass.set_bind_group(0, &self.views[0].1, &[]);
            match (work, &self.naive) {
                (Work::Side { side, shows }, _) => side.draw(pass, *shows),
                (Work::Naive, Some(naive)) => naive.draw(pass),
                _ => self.fixed.draw(pass, false),
            }
        });
        Timer::submit(self.timer.as_ref(), context, encoder)
    }
}

impl Scene {
    /// Fraction of the covered pixels that differ between two methods. All methods must draw the
    /// same picture, except for encoding errors.
    pub(super) fn others(&self, context: &Context, [a, b]: [&Work<'_>; 2]) -> Result<f64, String> {
        let picture = |work| self.frame(context, work, 1.0).and_then(|_| self.frame.read(context));
        let (a, b) = (picture(a)?, picture(b)?);
        let background = [0, 0, 0, 255];
        let covered = a.iter().filter(|pixel| **pixel != background).count();
        let differ = |(a, b): &(&[u8; 4], &[u8; 4])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > SAME);
        Ok(a.iter().zip(&b).filter(differ).count() as f64 / covered.max(1) as f64)
    }
}

/// Instances on a square, each with its own rotation, clip and phase.
fn places(count: u32, clips: u32) -> Vec<Placed> {
    let side = f64::from(count).sqrt().ceil() as u32;
    let placed = |i: u32| {
        let [x, z] = [i % side, i / side].map(|c| (c as f32 - side as f32 / 2.0) * SPACING);
        let yaw = i as f32 * 2.4;
        Placed {
            place: [x, 0.0, z, 1.0],
            rotation: [0.0, (yaw / 2.0).sin(), 0.0, (yaw / 2.0).cos()],
            clip: (i % clips) as u16,
            phase: (i as f32 * 0.618).fract(),
        }
    };
    (0..count).map(placed).collect()
}
