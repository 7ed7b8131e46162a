//! Views of gpuskin: one for each camera and shadow map of Bevy.

use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::view::RetainedViewEntity;
use gpuskin_rt::{Camera, CrowdRenderer, View};

use super::pipelines::CrowdPipelines;

/// How one of Bevy's views is drawn.
#[derive(Debug)]
pub(super) struct ViewDraw {
    pub(super) view: View,
    pub(super) camera: Camera,
    /// Pipelines of the main pass, by crowd. A crowd that the view does not show has none.
    pub(super) forward: Vec<CrowdPipelines>,
    /// Pipelines for the depth of blended parts in the main pass, likewise. A crowd without such parts has none.
    pub(super) cover: Vec<CrowdPipelines>,
    /// Pipelines of the prepass or shadow map, likewise.
    pub(super) prepass: Vec<CrowdPipelines>,
}

/// Views of this frame, and those of gpuskin that are free.
#[derive(Resource, Debug, Default)]
pub(crate) struct Views {
    pub(super) draws: HashMap<RetainedViewEntity, ViewDraw>,
    pub(super) free: Vec<View>,
    started: bool,
    /// Whether Bevy has loaded its shaders.
    pub(super) can_draw: bool,
}

impl Views {
    pub(super) fn view_for(&mut self, renderer: &mut CrowdRenderer) -> View {
        if !std::mem::replace(&mut self.started, true) {
            return View::MAIN;
        }
        let view = self.free.pop().unwrap_or_else(|| renderer.add_view());
        if self.draws.len() >= View::MAX_CULLED {
            warn_once!(
                "more than {} cameras and shadow maps show characters (a point light has 6): \
                 all of them now draw all characters; let fewer lights cast shadows",
                View::MAX_CULLED
            );
        }
        view
    }
}
