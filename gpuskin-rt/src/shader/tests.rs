use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use naga::valid::{Capabilities, FunctionInfo, ModuleInfo, ValidationFlags, Validator};

use super::*;
use crate::local::shader::{self as local, Scratch};
use crate::{Encoding, Normals, Packing, VertexFormat, cache, cull, motion};

mod layouts;

/// Shader of the diffuse material, with the first texture coordinates.
fn diffuse(variant: Variant, instances: InstanceSource, layers: bool, tint_mask: bool) -> String {
    drawn(variant, instances, DiffuseCode { layers, tint_mask, second_emissive: false })
}

/// Returns every WGSL module that the crate passes to a device, with the name of the first variant that has this text.
fn all() -> impl Iterator<Item = (String, String)> {
    let mut known = HashSet::new();
    every().filter(move |(_, text)| known.insert(text.clone()))
}

/// Returns the modules of [`all`], some of them several times.
fn every() -> impl Iterator<Item = (String, String)> {
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
        .chain(Variant::all().filter(|v| v.has_second_uv()).flat_map(|variant| {
            let own = "@vertex fn own(input: GpuskinInput) -> @builtin(position) vec4<f32> {
                return vec4<f32>(gpuskin_second_uv(input), 0.0, 1.0);
            }";
            let code = DiffuseCode { second_emissive: true, ..Default::default() };
            let emissive = drawn(variant, InstanceSource::Records, code);
            [("own coordinates", source(variant, 3) + own), ("second coordinates", emissive)]
                .map(|(name, text)| (format!("{name} of {variant:?}"), text))
        }))
        .chain(Variant::all().filter(|v| !v.array && !v.encoding.needs_compute()).map(|variant| {
            (format!("field of {variant:?}"), diffuse(variant, InstanceSource::Field, variant.model_variants, false))
        }))
        .chain(Variant::all().filter(|v| v.encoding.needs_compute() && v.morphs == MorphUse::None).flat_map(
            |variant| {
                let cached = (
                    format!("cached crowd of {variant:?}"),
                    diffuse(variant, InstanceSource::Cached, variant.model_variants, true),
                );
                let batched = [false, true].map(|table| {
                    let source = InstanceSource::Batch { table };
                    (format!("{source:?} of {variant:?}"), diffuse(variant, source, variant.model_variants, table))
                });
                let slotless = (
                    format!("crowd without poses of {variant:?}"),
                    diffuse(variant, InstanceSource::Slotless, variant.model_variants, true),
                );
                let fill = (format!("cache fill of {variant:?}"), cache::fill(variant));
                batched.into_iter().chain([cached, slotless, fill])
            },
        ))
        .chain(Variant::all().filter(|v| v.encoding.needs_compute() && v.morphs == MorphUse::Applied).map(|variant| {
            (
                format!("crowd with added morph targets of {variant:?}"),
                diffuse(variant, InstanceSource::Added, false, true),
            )
        }))
        .chain([false, true].map(|tangents| (format!("morph pass, tangents {tangents}"), morph_pass(tangents))))
        .chain([1, 100, 200, 400].map(Scratch::of).map(|s| (format!("palette in {s:?}"), local::palette(s))))
        .chain(SCOPES.into_iter().flat_map(|scope| {
            [("cull", cull::cull(scope)), ("reveal", cull::reveal(scope)), ("arguments", cull::arguments(scope))]
                .map(|(name, text)| (format!("{name} of {scope:?}"), text))
        }))
        .chain([("palette of a batch".into(), local::batch_palette(Scratch::of(1), &cull::batch_table()))])
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
            let all = TextureSet::ALL.into_iter().chain([TextureSet::LAYERS, TextureSet::TINT_MASK]);
            all.enumerate().fold(TextureSet::default(), with)
        };
        let some = [64, 73, 127, 160, 169, 255, 257, 319, 321, 481, 511, 513, 769, 1023];
        // Each texture with second coordinates, and all of them.
        let second = |code: usize| {
            let others = TextureSet::ALL.into_iter().skip(1).chain([TextureSet::OCCLUSION]).enumerate();
            others.fold(set(255), |all, (i, texture)| all.with_second(texture, code == i || code == 8))
        };
        let sets: Vec<TextureSet> = match variant.has_second_uv() {
            true => (0..9).map(second).collect(),
            false => (0..64).chain(some).map(set).collect(),
        };
        sets.into_iter().flat_map(move |textures| {
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
                    // Without lights, without a grid of them, and with one.
                    let lights = [341, 4, 0][usize::from(masked) + usize::from(flat)];
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
            let surface = SurfaceCode { emits: true, specular: true, ..Default::default() };
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
        // Pipelines of a game use the text without the material, and have a function that the material lacks.
        for text in [code(shadows, 0), code(shadows, 6), LightingCode { lights: 0, ..code(shadows, 0) }]
            .map(|code| material::lighting_of_games(code, 0))
        {
            parse(&text);
            assert!(text.contains("fn gpuskin_irradiance(") && !on.contains("gpuskin_irradiance"));
        }
        // Everything else stays.
        assert!(off.lines().all(|line| on.contains(line)));
    }
}

/// Surfaces without a tint mask have nothing of one, in both materials.
#[cfg(feature = "wgpu")]
#[test]
fn shaders_without_a_tint_mask_have_nothing_of_it() {
    const MASKED: &str = "let tint = mix(";
    let masks = material::TextureSet::TINT_MASK;
    let set = |name: &str| -> u32 {
        let number = name.split_once("TextureSet(").and_then(|(_, rest)| rest.split_once(')'));
        number.and_then(|(number, _)| number.parse().ok()).expect("the name has the set of textures")
    };
    let full = materials()
        .filter(|(name, _)| name.starts_with("SurfaceCode"))
        .map(|(name, text)| (material::TextureSet::from_bits(set(&name)).has(masks), text));
    let sources = [InstanceSource::Records, InstanceSource::Batch { table: true }];
    let drawn = Variant::all().filter(|v| v.encoding.needs_compute() && v.morphs == MorphUse::None).take(20);
    let drawn = drawn.flat_map(|variant| {
        sources.into_iter().flat_map(move |source| {
            [false, true]
                .into_iter()
                .flat_map(move |layers| [false, true].map(|masks| (masks, diffuse(variant, source, layers, masks))))
        })
    });
    let (with, without): (Vec<_>, Vec<_>) = full.chain(drawn).partition(|(masked, _)| *masked);
    assert!(with.len() > 20 && without.len() > 100, "{} {}", with.len(), without.len());
    assert!(without.iter().all(|(_, text)| !text.contains(MASKED)));
    assert!(with.iter().all(|(_, text)| text.contains(MASKED)));
    let marks = |text: &str| text.contains("// if ") || text.contains("// unless ");
    assert!(with.iter().chain(&without).all(|(_, text)| !marks(text)));
}

/// Shaders of surfaces whose textures all have the first coordinates have nothing of second ones, and those of others read them.
#[cfg(feature = "wgpu")]
#[test]
fn second_texture_coordinates_are_read_by_the_textures_that_have_them() {
    use material::{LightingCode, SurfaceCode, TextureSet};
    const NAMES: [&str; 7] = ["emissive", "orm", "normal", "specular", "clearcoat", "sheen", "clearcoat_normal"];
    let variant = Variant::all().find(|v| v.has_second_uv() && v.encoding == Encoding::MatrixF16).expect("a variant");
    let all = TextureSet::ALL.into_iter().fold(TextureSet::default(), |all, texture| all.with(texture, true));
    let text = |variant, textures| {
        let (emits, specular, clearcoat, sheen) = (true, true, true, true);
        let surface = SurfaceCode { textures, emits, specular, clearcoat, sheen, ..Default::default() };
        material::material(variant, InstanceSource::Records, surface, LightingCode::default(), Default::default())
    };
    let sampled = |text: &str, name: &str| {
        [' ', '('].iter().any(|before| text.contains(&format!("{before}{name}_sampled(second_uv)")))
    };
    assert!(!text(variant, all).contains("varyings.second_uv"));
    for (texture, own) in TextureSet::ALL.into_iter().skip(1).zip(NAMES) {
        let text = text(variant, all.with_second(texture, true));
        assert!(NAMES.iter().all(|name| sampled(&text, name) == (*name == own)), "{own}");
    }
    let occlusion = text(variant, all.with_second(TextureSet::OCCLUSION, true));
    assert!(occlusion.contains("vec3<f32>(orm_sampled(second_uv).r, orm_sampled(uv).gb)"));
    // Vertices of another layout have none to pass on.
    let without = Variant { vertex: VertexFormat { second_uv: false, ..variant.vertex }, ..variant };
    assert!(!text(without, all.with_second(TextureSet::NORMAL, true)).contains("second_uv"));
}

/// Numbers that the vertices of a shader pass on to its fragments, the position among them.
#[cfg(feature = "wgpu")]
fn passed_on(text: &str) -> u32 {
    let (module, _) = parse(text);
    let entry = module.entry_points.iter().find(|entry| entry.name == "vertex").expect("a vertex shader");
    let result = entry.function.result.as_ref().expect("a result");
    let naga::TypeInner::Struct { members, .. } = &module.types[result.ty].inner else { panic!("no structure") };
    let numbers = |ty: naga::Handle<naga::Type>| match module.types[ty].inner {
        naga::TypeInner::Scalar(_) => 1,
        naga::TypeInner::Vector { size, .. } => size as u32,
        ref other => panic!("{other:?} between the stages"),
    };
    members.iter().map(|member| numbers(member.ty)).sum()
}

/// With more, drawing takes longer: shaders/tint.wgsl says how much.
#[cfg(feature = "wgpu")]
#[test]
fn vertices_without_colors_and_tangents_pass_on_at_most_15_numbers() {
    use material::{LightingCode, SurfaceCode, TextureSet};
    let layered = [TextureSet::LAYERS, TextureSet::TINT_MASK];
    let plain = |variant: &Variant| {
        !variant.vertex.color && variant.encoding.needs_compute() && variant.morphs == MorphUse::None
    };
    let sources = [InstanceSource::Records, InstanceSource::Batch { table: true }];
    let mut most = 0;
    for (variant, source) in Variant::all().filter(plain).take(4).flat_map(|variant| sources.map(|s| (variant, s))) {
        for (layers, mask) in [(false, false), (true, false), (false, true), (true, true)] {
            most = most.max(passed_on(&diffuse(variant, source, layers, mask)));
            let textures = TextureSet::BASE_COLOR.with(layered[0], layers).with(layered[1], mask);
            let text = material::material(
                variant,
                source,
                SurfaceCode { textures, ..Default::default() },
                LightingCode::default(),
                Default::default(),
            );
            most = most.max(passed_on(&text));
        }
    }
    assert_eq!(most, 15);
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

/// Whether a function selects between vectors of integers by a vector. GLSL ES 3.00 cannot: it has `mix` by a `bvec` for
/// floats only.
fn selects_integers_by_a_vector(module: &naga::Module, function: &naga::Function, info: &FunctionInfo) -> bool {
    function.expressions.iter().any(|(_, expression)| {
        let naga::Expression::Select { condition, accept, .. } = *expression else { return false };
        let [condition, accept] = [condition, accept].map(|value| info[value].ty.inner_with(&module.types));
        matches!(condition, naga::TypeInner::Vector { .. }) && accept.scalar_kind() != Some(naga::ScalarKind::Float)
    })
}

#[test]
fn naga_accepts_every_variant_and_webgl2_its_uniforms_and_selects() {
    for (name, text) in all() {
        let (module, info) = parse(&text);
        // WebGL2 has no compute shaders.
        if module.entry_points.iter().any(|entry| entry.stage == naga::ShaderStage::Compute) {
            continue;
        }
        let uniforms = module.global_variables.iter().filter(|(_, of)| of.space == naga::AddressSpace::Uniform);
        for (_, uniform) in uniforms {
            let size = module.types[uniform.ty].inner.size(module.to_ctx());
            // It binds no other sizes.
            assert!(size.is_multiple_of(16), "{:?} has {size} bytes: {name}", uniform.name);
        }
        for (handle, function) in module.functions.iter() {
            let selects = selects_integers_by_a_vector(&module, function, &info[handle]);
            assert!(!selects, "{:?} selects integers by a vector: {name}", function.name);
        }
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
    let shaders = Mutex::new(all().filter(|(_, text)| !text.starts_with(binding_table::ARRAYS)));
    let next = || shaders.lock().unwrap().next();
    let check = || {
        while let Some((name, text)) = next() {
            let output = run(&text).unwrap();
            assert!(output.status.success(), "{name}\n{}\n{text}", String::from_utf8_lossy(&output.stderr));
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, usize::from)).for_each(|_| drop(scope.spawn(check)));
    });
    let refused = run("fn wrong() -> u32 { return 1.5; }").unwrap();
    assert!(!refused.status.success(), "tint accepts invalid WGSL");
}

/// Models without variants, and other surfaces of models with variants, have nothing of them in their shaders.
#[test]
fn variants_are_read_by_surfaces_with_layers_alone() {
    let sources = [InstanceSource::Records, InstanceSource::Field];
    for variant in Variant::all().filter(|variant| !variant.encoding.needs_compute() || !variant.model_variants) {
        for instances in sources.into_iter().filter(|source| *source == sources[0] || !variant.encoding.needs_compute())
        {
            let plain = diffuse(variant, instances, false, false);
            assert!(!plain.contains("gpuskin_variant_of") && !plain.contains("texture_2d_array<f32>;\n@group(2)"));
            assert_eq!(plain, diffuse(Variant { model_variants: false, ..variant }, instances, false, false));
            // A prop of another model has no variants, but may have layers.
            assert!(diffuse(variant, instances, true, false).contains("fn gpuskin_variant_of"));
            let own = source(variant, 2).contains("fn gpuskin_variant_of");
            assert_eq!(own, variant.has_variants());
        }
    }
}
