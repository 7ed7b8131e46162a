// As a bake leaves it in a folder of the package.
/// Clips.
pub mod clips {
    use gpuskin_rt::{Clip, Dynamic};
    /// A clip.
    pub const SOLDIER_RUN: Clip<Dynamic> = Clip::new(2);
}
