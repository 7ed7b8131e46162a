use core::mem::offset_of;
use std::io::Write;
use std::process::{Command, Stdio};

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

use super::*;
use crate::batch::{BatchFrame, BatchedCrowd, DrawnCrowd};
use crate::field::FieldUniform;
use crate::local::shader::{self as local, PaletteUniform, Scratch};
use crate::motion::{self, MotionUniform};
use crate::pose_texture::PosePlaces;
use crate::record::{PlaceRecord, PlaybackRecord};
use crate::terrain::TerrainUniform;
use crate::{ClipRecord, Encoding, Normals, Packing, Playback, cache, cull};

/// Returns every WGSL module that the crate passes to a device, with its name.
fn all() -> impl Iterator<Item = (String, String)> {
    Variant::all()
        .flat_map(|variant| {
            let own = source(variant, 3)
                + "@vertex fn own(input: GpuskinInput) -> @builtin(position) vec4<f32> {
            let skinned = gpuskin_skin_vertex(input, vec2<u32>(1u, 2u));
            return vec4<f32>(skinned.position + skinned.normal + skinned.tangent.xyz + skinned.color.rgb, skinned.uv.x);
        }";
            [("crowd", crowd(variant)), ("capture", capture(variant)), ("source", own)]
                .map(|(name, text)| (format!("{name} of {variant:?}"), text))
        })
        .chain(Variant::all().filter(|v| !v.array && !v.encoding.needs_compute()).map(|variant| {
            (format!("field of {variant:?}"), drawn(variant, InstanceSource::Field, variant.model_variants))
        }))
        .chain(Variant::all().filter(|v| v.encoding.needs_compute() && v.morphs == MorphUse::None).flat_map(
            |variant| {
                let cached = (
                    format!("cached crowd of {variant:?}"),
                    drawn(variant, InstanceSource::Cached, variant.model_variants),
                );
                let batched = [false, true].map(|table| {
                    let source = InstanceSource::Batch { table };
                    (format!("{source:?} of {variant:?}"), drawn(variant, source, variant.model_variants))
                });
                let fill = (format!("cache fill of {variant:?}"), cache::fill(variant));
                batched.into_iter().chain([cached, fill])
            },
        ))
        .chain(Variant::all().filter(|v| v.encoding.needs_compute() && v.has_vertex_index()).map(|variant| {
            (format!("crowd with added morph targets of {variant:?}"), drawn(variant, InstanceSource::Added, false))
        }))
        .chain([false, true].map(|tangents| (format!("morph pass, tangents {tangents}"), morph_pass(tangents))))
        .chain([Scratch::Workgroup, Scratch::Palette].map(|s| (format!("palette in {s:?}"), local::palette(s))))
        .chain(SCOPES.into_iter().flat_map(|scope| {
            [("cull", cull::cull(scope)), ("reveal", cull::reveal(scope)), ("arguments", cull::arguments(scope))]
                .map(|(name, text)| (format!("{name} of {scope:?}"), text))
        }))
        .chain([("palette of a batch".into(), local::batch_palette(&cull::batch_table()))])
        .chain(befores().map(|before| (format!("pyramid of {before:?}"), cull::pyramid(before))))
        .chain(
            Variant::all()
                .filter(|v| v.is_posed() && v.normals == Normals::Cofactor && !v.previous_transforms)
                .map(|variant| (format!("pose pass of {variant:?}"), pose_pass(variant))),
        )
        .chain([("scatter".into(), SCATTER.to_owned())])
        .chain(
            [(false, false), (true, false), (false, true), (true, true)]
                .map(|(roots, terrain)| (format!("motion {roots} {terrain}"), motion::motion(roots, terrain))),
        )
        .chain([("instance writer".into(), instance_writer_source())])
        .chain(Variant::all().take(1).map(|v| (format!("blended crowd of {v:?}"), blended(crowd(v)))))
        .chain(materials().take(8).map(|(name, text)| (format!("blended {name}"), blended(text))))
        .chain(materials())
}

#[cfg(not(feature = "wgpu"))]
fn materials() -> impl Iterator<Item = (String, String)> {
    std::iter::empty()
}

/// Shaders of the metallic-roughness material: each surface with one feature set, and each feature set with one
/// surface.
#[cfg(feature = "wgpu")]
fn materials() -> impl Iterator<Item = (String, String)> {
    use crate::lighting::ToneMapping;
    use material::{LightingCode, SurfaceCode, TextureSet};
    let variants =
        Variant::all().filter(|v| v.vertex.packing == Packing::Narrow || v.vertex.packing == Packing::Static);
    let variants = variants.filter(|v| !v.array && !v.previous_transforms && v.normals == Normals::Cofactor);
    let of = |variant: Variant| {
        // All sets of the first textures, and some with layers, which are those of base colours, with a sheen, and with
        // normals of the coat.
        let set = |bits: usize| {
            let with = |set: TextureSet, (i, texture): (usize, TextureSet)| set.with(texture, bits & (1 << i) != 0);
            let all = TextureSet::ALL.into_iter().chain([TextureSet::LAYERS]);
            all.enumerate().fold(TextureSet::default(), with)
        };
        let some = [64, 73, 127, 160, 169, 255, 257, 319, 321, 481, 511];
        (0..64).chain(some).map(set).flat_map(move |textures| {
            let batched = variant.encoding.needs_compute() && variant.morphs == MorphUse::None;
            let sources = [Some(InstanceSource::Records), batched.then_some(InstanceSource::Batch { table: true })];
            let kinds = [(false, false, false), (true, false, false), (true, true, false), (true, false, true)];
            sources.into_iter().flatten().flat_map(move |instances| {
                kinds.map(move |(masked, flat, unlit)| {
                    let emits = textures.has(TextureSet::EMISSIVE) || masked;
                    let clearcoat = !unlit && textures.has(TextureSet::CLEARCOAT);
                    let specular = !unlit && (textures.has(TextureSet::SPECULAR) || textures.has(TextureSet::ORM));
                    let sheen = !unlit && textures.has(TextureSet::SHEEN);
                    let surface = SurfaceCode { textures, masked, flat, unlit, emits, specular, clearcoat, sheen };
                    let tone_mapping = ToneMapping::Neutral;
                    let lights = if flat { 0 } else { 341 };
                    let light_shadows = if flat { 0 } else { 11 };
                    let (fog, environment) = (true, !masked);
                    let code = LightingCode { shadows: true, fog, environment, lights, light_shadows, tone_mapping };
                    (
                        format!("{surface:?} of {variant:?}, {instances:?}"),
                        material::material(variant, instances, surface, code, Default::default()),
                    )
                })
            })
        })
    };
    let first = Variant::all().next().into_iter().flat_map(|variant| {
        let features =
            [ToneMapping::None, ToneMapping::Neutral, ToneMapping::Aces].into_iter().flat_map(|tone_mapping| {
                [(false, false, false), (true, false, true), (false, true, false)].map(|(shadows, fog, environment)| {
                    LightingCode { shadows, fog, environment, lights: 0, light_shadows: 0, tone_mapping }
                })
            });
        features.map(move |code| {
            let surface = SurfaceCode {
                textures: TextureSet::default(),
                masked: false,
                flat: false,
                unlit: false,
                emits: true,
                specular: true,
                clearcoat: false,
                sheen: false,
            };
            (
                format!("{code:?}"),
                material::material(variant, InstanceSource::Records, surface, code, Default::default()),
            )
        })
    });
    let few = variants.filter(|v| matches!(v.encoding, Encoding::LocalPacked | Encoding::MatrixF16 | Encoding::VatF16));
    few.flat_map(of).chain(first)
}

#[cfg(feature = "wgpu")]
#[test]
fn shaders_without_shadows_of_lights_have_nothing_of_them() {
    use material::LightingCode;
    let code = |shadows, light_shadows| LightingCode {
        shadows,
        light_shadows,
        fog: false,
        environment: false,
        lights: 4,
        tone_mapping: crate::lighting::ToneMapping::None,
    };
    let traces = ["GpuskinLightTile", "gpuskin_light_visibility", "@binding(11)"];
    let map = "gpuskin_shadow_map";
    let with = |text: &str| traces.map(|trace| text.contains(trace));
    for shadows in [false, true] {
        let off = material::lighting(code(shadows, 0), 0);
        assert_eq!((with(&off), off.contains(map)), ([false; 3], shadows));
        let on = material::lighting(code(shadows, 6), 0);
        assert_eq!((with(&on), on.matches("var gpuskin_shadow_map").count()), ([true; 3], 1));
        // Pipelines of a game use the text without the material.
        parse(&on);
        // Everything else stays.
        assert!(off.lines().all(|line| on.contains(line)));
    }
}

#[cfg(feature = "wgpu")]
#[test]
fn shaders_without_a_sheen_or_normals_of_a_coat_have_nothing_of_them() {
    let lit = materials().filter(|(name, _)| !name.contains("unlit: true"));
    let (with, without): (Vec<_>, Vec<_>) = lit.partition(|(name, _)| name.contains("sheen: true"));
    assert!(with.len() > 20 && without.len() > 100, "{} {}", with.len(), without.len());
    assert!(without.iter().all(|(_, text)| !text.contains("sheen")));
    assert!(with.iter().all(|(_, text)| text.contains("sheen_lobe") && text.contains("below_sheen")));
    let coat_normals = |text: &str| text.contains("coat_normal") || text.contains("let coat_texel");
    let (with_map, without_map): (Vec<_>, Vec<_>) =
        with.iter().chain(&without).partition(|(_, text)| text.contains("var clearcoat_normal_texture"));
    assert!(without_map.iter().all(|(_, text)| !coat_normals(text)));
    assert!(with_map.iter().filter(|(_, text)| text.contains("coat_normal = ")).count() > 20);
    // Marks of lines are not part of a shader.
    assert!(with.iter().chain(&without).all(|(_, text)| !text.contains("// if ") && !text.contains("// unless ")));
}

const SCOPES: [cull::CullScope; 3] = [cull::CullScope::Single, cull::CullScope::ManyClips, cull::CullScope::Batch];

fn befores() -> impl Iterator<Item = cull::PyramidSource> {
    let depths = [(1, false), (1, true), (4, false)];
    let depth = depths.map(|(samples, reversed)| cull::PyramidSource::Depth { samples, reversed });
    std::iter::once(cull::PyramidSource::Mip).chain(depth)
}

fn parse(text: &str) -> (naga::Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(text)));
    let capabilities = match text.starts_with(binding_table::ARRAYS) {
        true => {
            Capabilities::TEXTURE_AND_SAMPLER_BINDING_ARRAY
                | Capabilities::TEXTURE_AND_SAMPLER_BINDING_ARRAY_NON_UNIFORM_INDEXING
        }
        false => Capabilities::empty(),
    };
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(text)));
    (module, info)
}

#[test]
fn naga_accepts_every_variant() {
    for (_, text) in all() {
        parse(&text);
    }
}

#[test]
fn tint_accepts_every_variant() {
    let run = |text: &str| -> std::io::Result<std::process::Output> {
        let mut tint = Command::new("tint")
            .args(["--input-format", "wgsl", "--format", "wgsl", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        tint.stdin.take().map(|mut pipe| pipe.write_all(text.as_bytes())).transpose()?;
        tint.wait_with_output()
    };
    if let Err(e) = Command::new("tint").arg("--help").output() {
        let required = std::env::var_os("GPUSKIN_REQUIRE_TINT").is_some_and(|v| v == "1");
        assert!(!required, "GPUSKIN_REQUIRE_TINT=1, but tint cannot be run: {e}");
        println!("SKIPPED: tint cannot be run ({e}); GPUSKIN_REQUIRE_TINT=1 turns this into a failure");
        return;
    }
    // Browsers have no arrays of textures.
    for (name, text) in all().filter(|(_, text)| !text.starts_with(binding_table::ARRAYS)) {
        let output = run(&text).unwrap();
        assert!(output.status.success(), "{name}\n{}\n{text}", String::from_utf8_lossy(&output.stderr));
    }
    let refused = run("fn wrong() -> u32 { return 1.5; }").unwrap();
    assert!(!refused.status.success(), "tint accepts invalid WGSL");
}

/// Returns `(name, offset)` of the members of a structure, and its size.
/// Models without variants, and other surfaces of models with variants, have nothing of them in their shaders.
#[test]
fn variants_are_read_by_surfaces_with_layers_alone() {
    let sources = [InstanceSource::Records, InstanceSource::Field];
    for variant in Variant::all().filter(|variant| !variant.encoding.needs_compute() || !variant.model_variants) {
        for instances in sources.into_iter().filter(|source| *source == sources[0] || !variant.encoding.needs_compute())
        {
            let plain = drawn(variant, instances, false);
            assert!(!plain.contains("gpuskin_variant_of") && !plain.contains("texture_2d_array<f32>;\n@group(2)"));
            assert_eq!(plain, drawn(Variant { model_variants: false, ..variant }, instances, false));
            // A prop of another model has no variants, but may have layers.
            assert!(drawn(variant, instances, true).contains("fn gpuskin_variant_of"));
            let own = source(variant, 2).contains("fn gpuskin_variant_of");
            assert_eq!(own, variant.has_variants());
        }
    }
}

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
    let (palette, _) = parse(&local::palette(Scratch::Workgroup));
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
                reserved,
                errors
            ]
        );
        assert_eq!(parameters, (16, size_of::<cull::CullUniform>()));
    }
    for text in [
        cull::cull(cull::CullScope::Batch),
        cull::arguments(cull::CullScope::Batch),
        local::batch_palette(&cull::batch_table()),
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
    let (drawn_batch, _) = parse(&drawn(palettes, InstanceSource::Batch { table: false }, false));
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
    let (field, _) = parse(&drawn(Variant::all().next().unwrap(), InstanceSource::Field, false));
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

    #[cfg(feature = "wgpu")]
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
        assert_eq!(words.iter().sum::<u32>() as usize, variant.vertex.words());
        let (module, _) = parse(&crowd(variant));
        let (members, _) = layout(&module, "GpuskinInput");
        // With a palette, the instance number is the only attribute: the shader loads the rest by
        // it.
        let instance = (PLACE_ATTRIBUTES + PLAYBACK_ATTRIBUTES) as usize;
        let palette = variant.encoding.needs_compute();
        let previous = if variant.previous_transforms { PLACE_ATTRIBUTES as usize } else { 0 };
        let number = usize::from(variant.morphs == MorphUse::Applied);
        assert_eq!(members.len(), words.len() + 1 + number + if palette { 0 } else { instance + previous });
        assert!(words.len() as u32 <= INSTANCE_LOCATION);
    }
}
