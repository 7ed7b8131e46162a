//! Structures of WGSL have the layouts of their Rust counterparts.

use core::mem::offset_of;

use super::*;
use crate::batch::{BatchFrame, BatchedCrowd, DrawnCrowd};
use crate::field::FieldUniform;
use crate::local::shader::PaletteUniform;
use crate::motion::MotionUniform;
use crate::pose_texture::PosePlaces;
use crate::record::{PlaceRecord, PlaybackRecord};
use crate::terrain::TerrainUniform;
use crate::{ClipRecord, Playback};

fn layout(module: &naga::Module, name: &str) -> (Vec<(String, u32)>, u32) {
    module
        .types
        .iter()
        .find_map(|(_, ty)| match &ty.inner {
            naga::TypeInner::Struct { members, span } if ty.name.as_deref() == Some(name) => {
                Some((members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset)).collect(), *span))
            }
            _ => None,
        })
        .unwrap_or_else(|| panic!("structure {name} not found"))
}

/// Asserts that members of a WGSL structure have the offsets of their Rust counterparts.
macro_rules! same_layout {
    ($module:expr, $name:literal, $twin:ty, [$($member:ident),*]) => {{
        let (members, size) = layout($module, $name);
        $(
            let found = members.iter().find(|(name, _)| name == stringify!($member)).map(|(_, offset)| *offset as usize);
            assert_eq!(found, Some(offset_of!($twin, $member)), "{}.{}", $name, stringify!($member));
        )*
        (members.len(), size as usize)
    }};
}

#[test]
fn wgsl_structures_match_rust_layout() {
    let (module, _) = parse(&crowd(Variant::all().next().unwrap()));
    let (members, size) = same_layout!(
        &module,
        "GpuskinModel",
        ModelUniform,
        [
            width_shift,
            rows,
            frames_per_layer,
            palette_stride,
            position_min,
            vertices,
            position_extent,
            palette_previous,
            uv_min,
            uv_extent,
            value_min,
            value_extent,
            morph_vertices,
            morph_slots,
            morph_stride,
            reserved
        ]
    );
    assert_eq!((members, size as u64), (17, MODEL_BYTES));
    assert_eq!(MODEL_BYTES, 16 << 10);
    let (clips, _) = layout(&module, "GpuskinModel");
    assert_eq!(clips[16], ("clips".into(), size_of::<ModelUniform>() as u32));

    let (moved, _) = parse(&motion::motion(false, true));
    let motion = same_layout!(&moved, "GpuskinMotionParameters", MotionUniform, [time, instances, reserved]);
    assert_eq!(motion, (3, size_of::<MotionUniform>()));
    let terrain = same_layout!(&moved, "GpuskinTerrain", TerrainUniform, [corner, samples_per_metre, tilt]);
    assert_eq!(terrain, (3, size_of::<TerrainUniform>()));

    let (writer, _) = parse(&instance_writer_source());
    let sizes = ["GpuskinPlaceRecord", "GpuskinPlaybackRecord"].map(|name| layout(&writer, name).1 as usize);
    assert_eq!(sizes, [size_of::<PlaceRecord>(), size_of::<PlaybackRecord>()]);

    let clip = same_layout!(&module, "GpuskinClip", ClipRecord, [first_frame, intervals, stored, held]);
    assert_eq!(clip, (4, size_of::<ClipRecord>()));
    let (palette, _) = parse(&local::palette(Scratch::of(1)));
    let parameters = same_layout!(
        &palette,
        "GpuskinPaletteParameters",
        PaletteUniform,
        [
            time,
            previous_time,
            instances,
            first_instance,
            stride,
            live_at,
            live_stride,
            previous_offset,
            previous_live_at,
            max_groups,
            level_mask
        ]
    );
    assert_eq!(parameters.1, size_of::<PaletteUniform>());
    let (fill, _) = parse(&cache::fill(Variant::all().find(|v| v.encoding.needs_compute()).unwrap()));
    same_layout!(
        &fill,
        "GpuskinFillParameters",
        PaletteUniform,
        [time, previous_time, instances, first_instance, stride]
    );
    for text in SCOPES.into_iter().flat_map(|s| [cull::cull(s), cull::reveal(s), cull::arguments(s)]) {
        let (module, _) = parse(&text);
        let parameters = same_layout!(
            &module,
            "GpuskinCullParameters",
            cull::CullUniform,
            [
                time,
                instances,
                views,
                capacity,
                parts,
                max_groups,
                lods,
                palette_slots,
                live,
                marks_at,
                ignore_marks,
                cached_poses,
                cache_at,
                cache_entries,
                influence_error,
                slotless,
                errors
            ]
        );
        assert_eq!(parameters, (17, size_of::<cull::CullUniform>()));
    }
    for text in [
        cull::cull(cull::CullScope::Batch),
        cull::arguments(cull::CullScope::Batch),
        local::batch_palette(Scratch::of(1), &cull::batch_table()),
    ] {
        let (module, _) = parse(&text);
        let crowd = same_layout!(
            &module,
            "GpuskinBatchedCrowd",
            BatchedCrowd,
            [
                culling,
                first_instance,
                lengths_at,
                lists_at,
                bounds_at,
                words_at,
                palette_at,
                stride,
                previous_offset,
                draws_at,
                reserved_0,
                reserved_1,
                reserved_2
            ]
        );
        assert_eq!(crowd, (13, size_of::<BatchedCrowd>()));
    }
    let palettes = Variant::all().find(|v| v.encoding.needs_compute()).unwrap();
    let (drawn_batch, _) = parse(&diffuse(palettes, InstanceSource::Batch { table: false }, false, false));
    let drawn_crowd = same_layout!(
        &drawn_batch,
        "GpuskinDrawnCrowd",
        DrawnCrowd,
        [
            position_min,
            palette_stride,
            position_extent,
            palette_previous,
            uv_min,
            uv_extent,
            palette_at,
            first_instance,
            reserved_0,
            reserved_1
        ]
    );
    assert_eq!(drawn_crowd, (10, size_of::<DrawnCrowd>()));
    let (batch, _) = parse(&cull::cull(cull::CullScope::Batch));
    let frame = same_layout!(
        &batch,
        "GpuskinBatchFrame",
        BatchFrame,
        [time, ignore_marks, groups, sets_at, set_words, draws, crowds]
    );
    assert_eq!(frame, (7, size_of::<BatchFrame>()));
    let (module_of_bounds, _) = parse(&cull::cull(cull::CullScope::Single));
    let (reveal, _) = parse(&cull::reveal(cull::CullScope::Single));
    let pyramid =
        same_layout!(&reveal, "GpuskinPyramid", cull::PyramidUniform, [size, mip_levels, depth_sign, depth_tolerance]);
    assert_eq!(pyramid, (7, size_of::<cull::PyramidUniform>()));
    let (level, _) = parse(&cull::pyramid(cull::PyramidSource::Mip));
    let level = same_layout!(&level, "GpuskinMip", cull::MipUniform, [size, source_size]);
    assert_eq!(level, (2, size_of::<cull::MipUniform>()));
    let (members, size) = layout(&module_of_bounds, "GpuskinBounds");
    assert_eq!([1, 2, 3, 4].map(|i: usize| members[i].1), [12, 16, 28, 32]);
    assert_eq!(u64::from(size), cull::BOUNDS_BYTES);
    let view = same_layout!(&module_of_bounds, "GpuskinCullView", cull::CullView, [view_proj, eye, lod_scale]);
    assert_eq!(view, (3, size_of::<cull::CullView>()));
    let (field, _) = parse(&diffuse(Variant::all().next().unwrap(), InstanceSource::Field, false, false));
    let field = same_layout!(
        &field,
        "GpuskinField",
        FieldUniform,
        [
            origin, columns, spacing, first_cell, scale, jitter, seed, turn, clip_count, slowest, scatter, tints,
            patches, waves, sway, gusts, gust, variants, travel, clips
        ]
    );
    assert_eq!(field, (20, size_of::<FieldUniform>()));
    let playback = same_layout!(&module, "GpuskinPlayback", Playback, [start, rate, offset, clip]);
    let (poses, _) = parse(&pose_pass(Variant::all().find(|v| v.is_posed()).unwrap()));
    let places = same_layout!(
        &poses,
        "GpuskinPosePlaces",
        PosePlaces,
        [time, previous_time, first_row, columns, stride, previous, layer_shift, reserved_0, reserved_1]
    );
    assert_eq!(places, (9, size_of::<PosePlaces>()));
    assert_eq!(playback, (4, size_of::<Playback>()));

    #[cfg(feature = "testing")]
    {
        use crate::render::{CaptureUniform, MaterialUniform, SceneUniform};
        let view = same_layout!(&module, "View", cull::CullView, [view_proj, eye]);
        assert_eq!(view, (2, size_of::<cull::CullView>()));
        let scene = same_layout!(&module, "Scene", SceneUniform, [time, wrap, to_sun, sun, sky, ground]);
        assert_eq!(scene, (6, size_of::<SceneUniform>()));
        let material = same_layout!(&module, "Material", MaterialUniform, [base_color, emissive, alpha_cutoff]);
        assert_eq!(material, (3, offset_of!(MaterialUniform, layers)));
        let layers = Variant::all().find(|variant| variant.model_variants).unwrap();
        let (module, _) = parse(&crowd(layers));
        let material = same_layout!(&module, "Material", MaterialUniform, [base_color, emissive, alpha_cutoff, layers]);
        assert_eq!(material, (4, size_of::<MaterialUniform>()));
        full_material_has_rust_layout();
        let (module, _) = parse(&capture(Variant::all().next().unwrap()));
        let parameters = same_layout!(
            &module,
            "CaptureParameters",
            CaptureUniform,
            [time, size, first_pixel, reserved_0, reserved_1]
        );
        assert_eq!(parameters, (5, size_of::<CaptureUniform>()));
    }
}

#[cfg(feature = "wgpu")]
fn full_material_has_rust_layout() {
    use crate::light_grid::LightGridUniform;
    use crate::lighting::{LightingUniform, PunctualUniform};
    use crate::render::{
        CascadeUniform, ConstantsUse, FullMaterialUniform, LightShadowUniform, LightTileUniform, ShadowUniform,
    };
    let (_, text) = materials().next().unwrap();
    let (module, _) = parse(&text);
    let view = same_layout!(&module, "GpuskinView", cull::CullView, [view_proj, eye]);
    assert_eq!(view, (2, size_of::<cull::CullView>()));
    let material = same_layout!(
        &module,
        "Material",
        FullMaterialUniform,
        [base_color, emissive, alpha_cutoff, metallic, roughness, occlusion_strength, normal_scale]
    );
    assert_eq!(material, (7, offset_of!(FullMaterialUniform, specular)));
    let with_specular = materials().find(|(name, _)| name.contains("specular: true, clearcoat: false")).unwrap().1;
    let material = same_layout!(
        &parse(&with_specular).0,
        "Material",
        FullMaterialUniform,
        [base_color, emissive, alpha_cutoff, metallic, roughness, occlusion_strength, normal_scale, specular]
    );
    assert_eq!(material, (8, offset_of!(FullMaterialUniform, clearcoat)));
    let with_coat = materials().find(|(name, _)| name.contains("clearcoat: true")).unwrap().1;
    let (members, bytes) = same_layout!(&parse(&with_coat).0, "Material", FullMaterialUniform, [specular, clearcoat]);
    assert_eq!((members, bytes), (9, offset_of!(FullMaterialUniform, layers)));
    let layered = materials().find(|(_, text)| text.contains("texture_2d_array<f32>")).unwrap().1;
    let material = same_layout!(&parse(&layered).0, "Material", FullMaterialUniform, [specular, clearcoat, layers]);
    assert_eq!(material, (10, size_of::<FullMaterialUniform>()));
    let has_coat_normals = |text: &str| text.contains("fn clearcoat_normal_texel");
    let with_normals = materials().find(|(_, text)| has_coat_normals(text) && !text.contains("sheen")).unwrap().1;
    let (members, bytes) =
        same_layout!(&parse(&with_normals).0, "Material", FullMaterialUniform, [clearcoat, clearcoat_normal_scale]);
    assert_eq!((members, bytes), (10, offset_of!(FullMaterialUniform, layers)));
    for (name, text) in materials().filter(|(name, _)| name.contains("sheen: true")) {
        let [layered, clearcoat, specular] = ["variant: u32", "clearcoat: true", "specular: true"]
            .map(|part| text.contains(part) || name.contains(part));
        let used = ConstantsUse { full: true, layered, specular, clearcoat, sheen: true };
        let (members, bytes) = layout(&parse(&text).0, "Material");
        assert_eq!(members.last(), Some(&("sheen".to_owned(), used.first_part() as u32)), "{name}");
        assert_eq!(bytes as usize, used.size(), "{name}");
    }
    let lighting = same_layout!(
        &module,
        "GpuskinLighting",
        LightingUniform,
        [
            to_sun,
            exposure,
            sun,
            fog_density,
            fog_color,
            fog_start,
            fog_glow,
            fog_slope,
            fog_height,
            fog_falloff,
            environment_top,
            ambient
        ]
    );
    assert_eq!(lighting, (12, size_of::<LightingUniform>()));
    let light = same_layout!(
        &module,
        "GpuskinLight",
        PunctualUniform,
        [position, falloff, color, cone_scale, direction, cone_offset]
    );
    assert_eq!(light, (6, size_of::<PunctualUniform>()));
    let grid = same_layout!(
        &module,
        "GpuskinLightGrid",
        LightGridUniform,
        [origin, per_metre, last, everywhere, columns, layer, cells]
    );
    assert_eq!(grid, (7, size_of::<LightGridUniform>()));
    let cascade = same_layout!(&module, "GpuskinCascade", CascadeUniform, [scale, texel, offset, column, row]);
    assert_eq!(cascade, (5, size_of::<CascadeUniform>()));
    let shadows =
        same_layout!(&module, "GpuskinShadows", ShadowUniform, [right, side, up, count, away, origin, cascades]);
    assert_eq!(shadows, (7, size_of::<ShadowUniform>()));
    let tile = same_layout!(
        &module,
        "GpuskinLightTile",
        LightTileUniform,
        [right, texel, up, offset, forward, depth_offset, column, row, scale, depth_scale]
    );
    assert_eq!(tile, (10, size_of::<LightTileUniform>()));
    let lights = same_layout!(&module, "GpuskinLightShadows", LightShadowUniform, [points, count, side]);
    let bytes = size_of::<LightShadowUniform>() + 11 * size_of::<LightTileUniform>();
    assert_eq!(lights, (4, bytes));
    assert_eq!(layout(&module, "GpuskinLightShadows").0[3].1 as usize, size_of::<LightShadowUniform>());
}

#[test]
fn vertex_input_has_all_words_of_vertex_and_instance() {
    for variant in Variant::all() {
        let words = variant.vertex_attributes();
        let attributes = match (variant.loads_influences, variant.vertex.packing) {
            (true, Packing::Full8) => 8,
            (true, _) => 4,
            (false, _) => variant.vertex.words(),
        };
        assert_eq!(words.iter().sum::<u32>() as usize, attributes);
        let (module, _) = parse(&crowd(variant));
        let (members, _) = layout(&module, "GpuskinInput");
        // With a palette, the instance number is the only attribute: the shader loads the rest by
        // it.
        let instance = (PLACE_ATTRIBUTES + PLAYBACK_ATTRIBUTES) as usize;
        let palette = variant.encoding.needs_compute();
        let previous = if variant.previous_transforms { PLACE_ATTRIBUTES as usize } else { 0 };
        let number = usize::from(variant.morphs == MorphUse::Applied || variant.loads_influences);
        assert_eq!(members.len(), words.len() + 1 + number + if palette { 0 } else { instance + previous });
        assert!(words.len() as u32 <= INSTANCE_LOCATION);
    }
}
