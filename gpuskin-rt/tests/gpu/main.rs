//! All tests that need a device. One program: each further one would take seconds to link, and
//! compile the shared modules again. Tests that need an adapter are reported as ignored without one.
#![allow(unreachable_pub, reason = "a test program exports nothing")]

mod common;

mod alpha;
mod batch;
mod behaviour;
mod blends;
mod bones;
mod cache;
mod constants;
mod cpu_reference;
mod crowd;
mod cull;
mod environment;
mod explain;
mod extremes;
mod field;
mod following;
mod influences;
mod layers;
mod light;
mod light_grid;
mod light_shadows;
mod lights;
mod limits;
mod lods;
mod material;
mod material_tables;
mod morphs;
mod motion;
mod moving;
mod occlusion;
mod own_pipeline;
mod palette;
mod paths;
mod picking;
mod room;
mod second_uv;
mod sheen;
mod surface;
mod terrain;
mod textures;
mod tint_mask;
mod variants;
mod written;

use common::{COMPUTE, EIGHT_BUFFERS, GPU, TEXTURE_TABLES, VULKAN, WIDE_TARGETS};
use gpuskin_test_harness::{run, test};

fn main() -> std::process::ExitCode {
    run([
        test!(alpha::nearest_blended_surface_covers_opaque_ones_in_any_order, GPU),
        test!(alpha::invisible_texels_and_tints_cover_nothing, GPU),
        test!(alpha::only_blended_surfaces_write_their_alpha, GPU),
        test!(alpha::blended_surfaces_are_lit_and_in_fog, GPU),
        test!(alpha::blended_surfaces_cast_shadows_above_half_opacity, GPU),
        test!(alpha::blended_instances_occlude_nothing, VULKAN),
        test!(alpha::blended_materials_need_a_format_that_blends, GPU),
        test!(alpha::own_pipelines_draw_blended_parts_or_others, GPU),
        test!(room::instances_without_a_palette_slot_have_their_own_pose, EIGHT_BUFFERS),
        test!(room::room_follows_what_views_show, EIGHT_BUFFERS),
        test!(room::several_palettes_have_room_each, EIGHT_BUFFERS),
        test!(room::room_grows_although_no_sampled_instance_is_in_view, EIGHT_BUFFERS),
        test!(room::crowds_that_need_all_poses_have_room_for_them, EIGHT_BUFFERS),
        test!(batch::batched_pictures_match_single_crowds, VULKAN),
        test!(batch::batched_pictures_of_blended_materials_match_single_crowds, VULKAN),
        test!(batch::batched_pictures_in_the_full_material_match_single_crowds, VULKAN),
        test!(batch::commands_after_still_frames_match_single_crowds, VULKAN),
        test!(batch::instances_spawned_during_frames_are_drawn, VULKAN),
        test!(batch::crowds_that_come_and_go_match_single_crowds, VULKAN),
        test!(batch::crowds_too_large_for_batches_do_not_keep_others_apart, VULKAN),
        test!(batch::crowds_are_drawn_while_pipelines_of_batches_compile, VULKAN),
        test!(batch::thousands_of_models_and_new_views_match_single_crowds, VULKAN),
        test!(batch::crowds_leave_their_batch_and_keep_their_picture, VULKAN),
        test!(batch::revealed_instances_of_a_batch_match_single_crowds, VULKAN),
        test!(material_tables::materials_in_tables_look_like_bound_ones, TEXTURE_TABLES),
        test!(material_tables::tables_of_many_materials_are_split, TEXTURE_TABLES),
        test!(behaviour::crossfade_is_continuous_when_interrupted, GPU),
        test!(behaviour::rate_pause_and_seek_take_effect_without_a_jump, GPU),
        test!(behaviour::tint_parts_and_visibility_change_the_picture, GPU),
        test!(behaviour::crowd_reports_fired_events, GPU),
        test!(blends::crossfades_match_f64_reference, GPU),
        test!(blends::layers_and_live_bones_match_f64_reference, GPU),
        test!(bones::cpu_bones_match_gpu, COMPUTE),
        test!(bones::missing_bones_clips_and_files_are_handled),
        test!(bones::sockets_follow_any_of_many_clips),
        test!(cache::cached_pictures_match_palette_for_any_cache_size, COMPUTE),
        test!(cache::cached_vertices_match_cpu_reference, WIDE_TARGETS),
        test!(cache::sharing_error_is_never_visible, WIDE_TARGETS),
        test!(constants::bakes_that_lack_what_constants_name_are_refused),
        test!(cpu_reference::every_variant_matches_cpu_reference, GPU),
        test!(cpu_reference::models_with_thousands_of_clips_match_cpu_reference, GPU),
        test!(cpu_reference::models_with_one_and_1024_bones_match_cpu_reference, GPU),
        test!(cpu_reference::palettes_match_cpu_reference, COMPUTE),
        test!(cpu_reference::frames_beyond_one_readback_are_captured, GPU),
        test!(cpu_reference::non_finite_arguments_stay_finite, GPU),
        test!(crowd::instances_spawn_move_play_and_despawn, GPU),
        test!(crowd::commands_count_from_the_time_that_was_set, GPU),
        test!(crowd::crowd_grows_beyond_its_capacity, GPU),
        test!(crowd::textures_alpha_cutoff_and_double_sided_are_drawn, GPU),
        test!(crowd::depth_views_match_main_view, GPU),
        test!(crowd::formats_multisampling_and_reversed_depth_are_accepted, GPU),
        test!(crowd::walking_figures_are_lit, GPU),
        test!(cull::culled_pictures_match_and_only_visible_instances_are_drawn, GPU),
        test!(cull::cpu_culls_where_there_is_no_compute, GPU),
        test!(cull::cpu_culling_follows_changes, GPU),
        test!(cull::empty_single_and_fully_culled_crowds_are_drawn, COMPUTE),
        test!(cull::each_of_the_most_views_culls_for_itself, COMPUTE),
        test!(cull::too_many_views_disable_culling, COMPUTE),
        test!(cull::models_without_bounds_are_not_culled, COMPUTE),
        test!(explain::explanation_names_encoding_views_and_buffers),
        test!(explain::explanation_says_why_culling_is_off),
        test!(explain::palette_beyond_binding_size_is_split),
        test!(explain::explanation_names_missing_device_features),
        test!(explain::explanation_says_whether_poses_are_shared),
        test!(explain::unavailable_draw_path_is_refused),
        test!(extremes::half_a_million_vertices_draw_same_picture_as_four, COMPUTE),
        test!(extremes::no_instance_and_single_triangle_are_drawn, COMPUTE),
        test!(extremes::palette_beyond_128_mib_is_split, COMPUTE),
        test!(field::field_instances_match_cpu_reference, GPU),
        test!(field::adjacent_fields_continue_and_instances_vary),
        test!(field::wind_travels_at_its_velocity_after_a_week),
        test!(field::visible_fields_are_drawn_with_crowds, GPU),
        test!(field::invalid_numbers_are_clamped_and_models_without_texture_refused, COMPUTE),
        test!(influences::small_instances_use_four_influences, COMPUTE),
        test!(layers::layers_and_live_bones_match_cpu_reference, COMPUTE),
        test!(layers::layers_follow_their_instances, GPU),
        test!(layers::layers_continue_in_another_crowd, GPU),
        test!(layers::morph_weights_of_the_game_are_drawn, COMPUTE),
        test!(layers::layer_sets_are_reused, COMPUTE),
        test!(layers::invalid_layers_and_live_bones_are_refused, COMPUTE),
        test!(limits::webgl2_is_enough),
        test!(limits::models_beyond_device_limits_are_refused_with_numbers),
        test!(limits::error_without_compute_names_alternatives),
        test!(limits::words_that_contradict_metadata_are_refused),
        test!(limits::crowd_beyond_device_limits_keeps_its_last_state),
        test!(limits::capacity_beyond_device_limits_does_not_panic),
        test!(limits::unrenderable_formats_are_refused),
        test!(limits::inconsistent_metadata_is_refused),
        test!(limits::textures_that_contradict_metadata_are_refused),
        test!(limits::views_of_another_renderer_are_refused),
        test!(limits::handles_are_send_and_sync),
        test!(lods::lods_match_cpu_reference, COMPUTE),
        test!(lods::shadow_maps_allow_a_larger_error, COMPUTE),
        test!(lods::lod_draws_its_own_triangles, COMPUTE),
        test!(lods::lods_draw_same_picture_in_one_or_many_calls, GPU),
        test!(lods::instances_beyond_palette_slots_use_poses_of_others, COMPUTE),
        test!(lods::layers_are_culled_by_model_bounds_and_live_bones_are_never_culled, COMPUTE),
        test!(material::white_surfaces_reflect_all_ambient_light, GPU),
        test!(material::white_surfaces_reflect_all_sunlight),
        test!(material::sunlit_surfaces_match_f64_reference, GPU),
        test!(material::dielectrics_of_any_index_and_colour_match_f64_reference, GPU),
        test!(material::white_dielectrics_of_any_index_reflect_all_light, GPU),
        test!(material::clear_coats_match_f64_reference, GPU),
        test!(material::white_surfaces_under_clear_coats_reflect_all_light, GPU),
        test!(second_uv::each_texture_reads_its_own_coordinates, GPU),
        test!(second_uv::second_coordinates_are_read_in_every_vertex_format_and_path, GPU),
        test!(second_uv::textures_need_the_coordinates_that_they_name, GPU),
        test!(sheen::sheens_match_f64_reference, GPU),
        test!(sheen::a_material_with_all_textures_is_drawn, GPU),
        test!(sheen::albedo_of_sheens_is_the_integral_of_their_lobes, GPU),
        test!(sheen::white_surfaces_with_sheens_reflect_all_ambient_light, GPU),
        test!(sheen::white_surfaces_with_sheens_reflect_all_sunlight),
        test!(material::impossible_dielectrics_give_finite_pictures, GPU),
        test!(material::each_texture_changes_the_surface, GPU),
        test!(material::a_function_of_the_game_changes_the_surface, GPU),
        test!(material::a_function_of_the_game_reflects_light, GPU),
        test!(material::normal_maps_point_along_texture_coordinates, GPU),
        test!(light::shadows_are_received, GPU),
        test!(light::spheres_do_not_shadow_their_lit_side, GPU),
        test!(light::fog_covers_known_shares, GPU),
        test!(light::exposure_and_tone_mapping_follow_their_curves, GPU),
        test!(light::unlit_surfaces_keep_their_colour, GPU),
        test!(light::invalid_light_and_surfaces_give_finite_pictures, GPU),
        test!(light::unusable_shadow_descriptors_are_refused),
        test!(environment::white_surfaces_reflect_all_light_of_an_environment, GPU),
        test!(environment::mirrors_show_the_faces_of_the_cube, GPU),
        test!(environment::rough_surfaces_show_coarse_levels, GPU),
        test!(environment::environments_are_replaced_and_removed, GPU),
        test!(environment::invalid_environments_are_refused),
        test!(light_grid::light_of_a_grid_is_the_sum_of_its_lights, GPU),
        test!(light_grid::shadows_are_the_same_in_a_grid, GPU),
        test!(light_grid::lights_of_a_grid_move, GPU),
        test!(lights::point_and_spot_lights_match_f64_reference, GPU),
        test!(lights::as_many_lights_as_promised_are_drawn, GPU),
        test!(lights::lights_beyond_the_limit_are_refused),
        test!(lights::invalid_lights_give_finite_pictures, GPU),
        test!(light_shadows::spot_lights_cast_the_shadows_of_cast_rays, GPU),
        test!(light_shadows::point_lights_cast_the_shadows_of_cast_rays_in_all_directions, GPU),
        test!(light_shadows::surfaces_do_not_shadow_themselves_in_point_and_spot_lights, GPU),
        test!(light_shadows::light_functions_and_clear_coats_get_shadowed_light, GPU),
        test!(light_shadows::irradiance_for_games_is_the_light_of_the_material, GPU),
        test!(light_shadows::lights_beyond_the_tiles_have_no_shadow, GPU),
        test!(light_shadows::lights_change_from_frame_to_frame, GPU),
        test!(light_shadows::tiles_of_lights_leave_the_sun_as_it_is, GPU),
        test!(light_shadows::invalid_shadowed_lights_give_finite_pictures, GPU),
        test!(light_shadows::unusable_light_shadow_descriptors_are_refused),
        test!(following::a_week_of_commands_stays_within_a_millimetre, GPU),
        test!(following::commands_continue_or_stop_root_motion, GPU),
        test!(following::pictures_show_root_motion, GPU),
        test!(following::root_motion_has_motion_vectors, GPU),
        test!(following::batched_crowds_follow_their_root_motion, EIGHT_BUFFERS),
        test!(following::models_without_root_motion_stand),
        test!(terrain::a_week_of_commands_stays_on_the_ground, GPU),
        test!(terrain::root_motion_goes_along_the_ground, GPU),
        test!(terrain::commands_and_snapshots_are_in_world_space, GPU),
        test!(following::odd_root_motion_stays_finite, GPU),
        test!(moving::a_week_of_commands_stays_within_a_millimetre, GPU),
        test!(morphs::added_morph_targets_draw_same_picture, COMPUTE),
        test!(moving::commands_continue_or_stop_a_motion, GPU),
        test!(motion::moving_instances_have_motion_vectors, GPU),
        test!(motion::motion_vectors_include_pose_and_camera, GPU),
        test!(motion::moved_instances_have_motion_of_their_own, GPU),
        test!(motion::palette_keeps_pose_of_previous_frame, COMPUTE),
        test!(motion::previous_poses_are_kept_only_on_request),
        test!(motion::clip_of_length_zero_finishes_at_its_start),
        test!(occlusion::occlusion_keeps_pictures_and_skips_occluded_instances, GPU),
        test!(occlusion::occluded_instances_match_cpu_reference, GPU),
        test!(occlusion::depth_prepass_draws_both_passes, VULKAN),
        test!(occlusion::scarce_poses_are_shared_and_live_bones_are_never_occluded, VULKAN),
        test!(occlusion::unreadable_depth_occludes_nothing_and_is_reported, VULKAN),
        test!(own_pipeline::documented_example_draws_outlines, GPU),
        test!(own_pipeline::hidden_instances_have_no_outline, GPU),
        test!(own_pipeline::numbers_are_those_of_the_crowd_without_compute, GPU),
        test!(own_pipeline::tangents_and_texture_coordinates_match_cpu_reference, GPU),
        test!(palette::every_instance_has_its_own_pose_in_split_palettes, GPU),
        test!(palette::dispatches_use_several_rows_of_workgroups, GPU),
        test!(paths::every_draw_path_matches_direct_path, GPU),
        test!(picking::pixel_yields_id_of_its_instance, GPU),
        test!(surface::vertex_colours_are_drawn, GPU),
        test!(surface::vertex_alpha_is_cut_out_of_colour_and_depth, GPU),
        test!(surface::unlit_material_shows_base_colour, GPU),
        test!(surface::emitted_light_is_added_to_lit_colour, GPU),
        test!(surface::flat_triangles_match_triangles_with_face_normals, GPU),
        test!(textures::device_uses_first_supported_format, GPU),
        test!(textures::unsupported_formats_are_reported, GPU),
        test!(textures::other_textures_are_loaded_on_request, GPU),
        test!(tint_mask::tints_are_weighted_by_the_mask, GPU),
        test!(tint_mask::masks_of_lit_surfaces_are_between_no_tint_and_the_whole_tint, GPU),
        test!(tint_mask::masks_of_surfaces_that_are_not_opaque_are_not_drawn, GPU),
        test!(tint_mask::masks_are_drawn_in_batches_and_from_cached_poses, VULKAN),
        test!(variants::instances_have_the_layers_of_their_variants, GPU),
        test!(variants::depth_is_cut_out_by_the_layer_of_the_variant, GPU),
        test!(variants::variants_are_drawn_in_batches_and_from_cached_poses, VULKAN),
        test!(variants::fields_choose_variants_at_random, GPU),
        test!(variants::props_keep_their_own_look, GPU),
        test!(variants::twenty_variants_need_no_more_draws_than_one, GPU),
        test!(variants::own_pipelines_get_the_first_layer_or_all, GPU),
        test!(variants::written_variants_are_drawn, COMPUTE),
        test!(variants::random_variants_are_stable_and_even),
        test!(written::written_transitions_match_the_cpu, COMPUTE),
        test!(written::written_instances_are_drawn, COMPUTE),
        test!(written::written_garbage_is_survived, COMPUTE),
    ])
}
