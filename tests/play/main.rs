//! The sample models as a game uses them: constants, crowds, sockets, attachments. All are one test
//! program, because each further program takes seconds to link and compiles the shared code again.
#![allow(unreachable_pub, reason = "a test program exports nothing")]

#[path = "../../gpuskin-rt/tests/gpu/common/own.rs"]
mod own;

use std::process::ExitCode;

use gpuskin_test_harness::{run, test};
use gpuskin_tests::gpu::{COMPUTE, GPU, Gpu, VULKAN};

mod attachments;
mod baked_module;
mod bulk;
mod crowd;
mod dynamic;
mod environment;
mod layer_events;
mod lods;
mod occlusion;
mod ray_cast;
mod root_motion;
mod snapshot;
mod sockets;
mod textures;

fn main() -> ExitCode {
    run([
        test!(attachments::attachment_follows_its_socket, COMPUTE),
        test!(attachments::attachments_are_shown_hidden_detached_and_culled_with_their_owners, COMPUTE),
        test!(attachments::attachments_follow_cached_poses, COMPUTE),
        test!(attachments::attach_reports_why_it_is_refused, GPU),
        test!(baked_module::clips_keep_the_order_of_the_manifest_or_the_file),
        test!(baked_module::all_clips_loop_except_die),
        test!(baked_module::models_keep_the_order_of_the_manifest),
        test!(baked_module::bones_match_texture_rows),
        test!(baked_module::file_metadata_equals_the_constants),
        test!(baked_module::mesh_file_matches_the_constants),
        test!(baked_module::program_contains_only_the_texture_formats_of_its_target),
        test!(baked_module::side_files_are_those_that_the_device_reads, VULKAN),
        test!(bulk::bulk_commands_equal_single_ones, VULKAN),
        test!(bulk::wrong_slices_are_refused_and_stale_ids_skipped, VULKAN),
        test!(bulk::threads_change_one_crowd, VULKAN),
        test!(crowd::instances_are_drawn_at_their_positions, GPU),
        test!(crowd::gpu_matches_the_cpu_reference, COMPUTE),
        test!(dynamic::loaded_model_equals_the_baked_one),
        test!(dynamic::loaded_model_is_drawn_like_the_baked_one, COMPUTE),
        test!(dynamic::animation_file_alone_gives_sockets),
        test!(dynamic::model_is_read_from_the_bytes_of_its_files),
        test!(dynamic::missing_and_mismatched_files_are_named),
        test!(dynamic::newest_complete_bake_is_loaded),
        test!(dynamic::broken_files_are_refused_or_played),
        test!(dynamic::broken_textures_are_refused_or_read),
        test!(environment::a_mirror_shows_the_panorama, GPU),
        test!(environment::module_has_a_constant_per_environment),
        test!(layer_events::layers_fire_events_and_end, VULKAN),
        test!(lods::models_have_lods_down_to_200_triangles),
        test!(lods::manifest_sets_the_number_of_lods),
        test!(lods::rest_mesh_is_lod_0),
        test!(lods::lod_error_bounds_the_difference_in_pixels, COMPUTE),
        test!(occlusion::occlusion_culling_draws_the_same_picture_with_fewer_instances, VULKAN),
        test!(ray_cast::rays_hit_the_triangles_of_the_cpu_reference),
        test!(ray_cast::rays_pass_through_hidden_parts),
        test!(root_motion::followed_root_motion_is_drawn_as_the_source, GPU),
        test!(snapshot::restored_crowds_draw_the_same_frames, VULKAN),
        test!(snapshot::damaged_snapshots_change_nothing, VULKAN),
        test!(snapshot::records_can_be_written_back, VULKAN),
        test!(snapshot::lost_devices_are_survived, VULKAN),
        test!(sockets::sockets_match_gpu_bones, COMPUTE),
        test!(sockets::sockets_match_gpu_bones_under_layers, COMPUTE),
        test!(sockets::sockets_accept_any_layers),
        test!(sockets::drawn_vertices_are_within_the_bounds, COMPUTE),
        test!(sockets::baked_model_has_typed_sockets),
        test!(sockets::server_sockets_match_drawn_vertices, COMPUTE),
        test!(sockets::server_does_not_depend_on_wgpu),
        test!(textures::compressed_and_plain_textures_look_the_same, GPU),
    ])
}
