// Generated code as a bake writes it to a folder of the package.
/// Clips.
pub mod clips {
    use gpuskin_rt::internals::{Clip, Dynamic};
    /// A clip.
    pub const SOLDIER_RUN: Clip<Dynamic> = Clip::new(2);
}
