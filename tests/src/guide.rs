//! Compiles the Rust snippets of the guide, one module per chapter: `cargo test --doc -p gpuskin-tests`.

macro_rules! chapters {
    ($($module:ident: $file:literal,)*) => {
        $(
            #[doc = include_str!(concat!("../../docs/guide/src/", $file))]
            pub mod $module {}
        )*
    };
}

chapters! {
    introduction: "introduction.md",
    first_model: "first-model.md",
    sources: "sources.md",
    playback: "playback.md",
    layers: "layers.md",
    morph_targets: "morph-targets.md",
    tint_masks: "tint-masks.md",
    variants: "variants.md",
    events_and_sockets: "events-and-sockets.md",
    moving: "moving.md",
    root_motion: "root-motion.md",
    attachments: "attachments.md",
    materials: "materials.md",
    shadows_and_motion_vectors: "shadows-and-motion-vectors.md",
    lod_and_occlusion: "lod-and-occlusion.md",
    fields: "fields.md",
    servers: "servers.md",
    runtime_models: "runtime-models.md",
    saving_and_device_loss: "saving-and-device-loss.md",
    encodings: "encodings.md",
    memory: "memory.md",
    shipping: "shipping.md",
    incremental_bakes: "incremental-bakes.md",
    farms_and_caches: "farms-and-caches.md",
    debugging: "debugging.md",
    manifest: "manifest.md",
    command_line: "command-line.md",
    environment: "environment.md",
    benchmarks: "benchmarks.md",
}
