//! Bounds as a bake computes them: boxes around the frames.

use gpuskin_rt::internals::*;

use super::model::TestModel;

impl TestModel {
    /// Sets the bounds of the clips.
    pub fn with_bounds(mut self) -> Self {
        let texels = self.texels();
        let of_clip = |i: usize| {
            let (stored, duration) = (self.records[i].stored, self.model.meta.clips[i].duration);
            let mut bounds = Aabb::EMPTY;
            for frame in 0..stored {
                let at = f64::from(frame) / f64::from(self.records[i].intervals) * duration;
                let playing =
                    Instance::<Dynamic>::at([0.0; 3]).play(Clip::new(i as u16)).repeat(Repeat::Once).starting(0.0);
                let record = playing.record(&self.model.meta, Time::ZERO);
                for vertex in self.on_cpu_from(&texels, &record, Time::from_secs(at)) {
                    let p = vertex.position.to_array();
                    bounds = bounds.union(Aabb { min: p, max: p });
                }
            }
            bounds
        };
        let bounds: Vec<Aabb> = (0..self.records.len()).map(of_clip).collect();
        let mut all = Aabb::EMPTY;
        for (clip, bounds) in self.model.meta.clips.to_mut().iter_mut().zip(bounds) {
            clip.bounds = bounds;
            all = all.union(bounds);
        }
        self.model.meta.bounds = all;
        self
    }
}
