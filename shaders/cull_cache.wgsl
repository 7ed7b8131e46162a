// Finds the sample of the time grid that an instance plays, and its slot in the pose cache. CPU
// reference: gpuskin-rt/src/cache.rs.

struct GpuskinSharedPose {
    // 0.32 fixed point of the clip's length.
    offset: u32,
    // Number of the pose among all samples of all clips.
    sample: u32,
    // Whether the instance uses a shared pose; otherwise it plays its exact time.
    is_shared: bool,
}

// metre: largest projected size of one metre, over all views.
fn gpuskin_shared_pose(number: u32, error_scale: f32) -> GpuskinSharedPose {
    let instance = gpuskin_playing_instance(number);
    let word = gpuskin_clip_bounds(instance.playback.clip & gpuskin_clip_mask).w;
    let steps = word >> 20u;
    // Error of the nearest sample: it must not be visible.
    let error = gpuskin_model_bounds().error / f32(1u << ((word >> 17u) & 7u));
    if (steps == 0u || gpuskin_layer_set_of(number) != 0u || error * error_scale > 1.0) {
        return GpuskinSharedPose(0u, 0u, false);
    }
    if (gpuskin_weight(instance, gpuskin_parameters.time) < 1.0) {
        return GpuskinSharedPose(0u, 0u, false);
    }
    let phase = gpuskin_phase(instance.playback, gpuskin_parameters.time);
    let position = gpuskin_multiply(phase.value, steps);
    let nearest = select(position.x + (position.y >> 31u), steps, phase.ended);
    let step = 0xffffffffu / steps + 1u;
    return GpuskinSharedPose(select(nearest * step, 0xffffffffu, nearest == steps), (word & 0x1ffffu) * gpuskin_sample_alignment + nearest, true);
}

// Writes the playback record of an instance to a slot, so that the palette pass evaluates it there.
// For a shared pose, playback is stopped at its sample: no rate, no fade, not paused. record: index of
// the playback record; slot: palette slot; level: finest level of detail in which a view shows the instance.
fn gpuskin_write_pose_record(record: u32, slot: u32, number: u32, level: u32, shared_pose: GpuskinSharedPose) {
    var words_0 = gpuskin_playbacks[number * 3u];
    var words_1 = gpuskin_playbacks[number * 3u + 1u];
    var words_2 = gpuskin_playbacks[number * 3u + 2u];
    if (shared_pose.is_shared) {
        words_0 = vec4<u32>(words_0.xy, 0u, shared_pose.offset);
        words_1 = vec4<u32>(gpuskin_get_clip(words_1.x), 0xffffu, 0u, 0u);
        words_2 = vec4<u32>(0u);
    }
    words_2 = vec4<u32>(words_2.xy, gpuskin_record_link(slot, level));
    gpuskin_visible_playbacks[record * 3u] = words_0;
    gpuskin_visible_playbacks[record * 3u + 1u] = words_1;
    gpuskin_visible_playbacks[record * 3u + 2u] = words_2;
}

// Returns the slot plus one of an instance's shared pose; 0 if it needs a pose of its own. The
// first instance that plays a sample requests its evaluation in this frame.
fn gpuskin_cache_slot(number: u32, shared_pose: GpuskinSharedPose) -> u32 {
    if (!shared_pose.is_shared || gpuskin_parameters.cached_poses == 0u) {
        return 0u;
    }
    let at = gpuskin_parameters.cache_at + shared_pose.sample;
    let known = atomicLoad(&gpuskin_lists[at]);
    if (known >= gpuskin_first_cache_slot) {
        return known - gpuskin_first_cache_slot + 1u;
    }
    // Another thread is adding this pose, or the cache is full until the next frame.
    if (known != 0u || atomicLoad(&gpuskin_lists[gpuskin_cached_poses]) > gpuskin_parameters.cached_poses) {
        return 0u;
    }
    if (atomicMax(&gpuskin_lists[at], 1u) != 0u) {
        return 0u;
    }
    let slot = atomicAdd(&gpuskin_lists[gpuskin_cached_poses], 1u);
    if (slot >= gpuskin_parameters.cached_poses) {
        atomicStore(&gpuskin_lists[at], 0u);
        return 0u;
    }
    gpuskin_write_pose_record(slot, slot, number, 0u, shared_pose);
    atomicStore(&gpuskin_lists[at], gpuskin_first_cache_slot + slot);
    return slot + 1u;
}
