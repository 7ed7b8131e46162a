// Which pose on the grid of moments an instance shows, and where that is kept. Twin of gpuskin-rt/src/cache.rs.

struct GpuskinStill {
    // 0.32 fixed point of the clip's length.
    offset: u32,
    // Number of the pose among all moments of all clips.
    moment: u32,
    // Not where it shows a moment of its own.
    is_shared: bool,
}

// `metre`: how large one is where the instance is seen best.
fn gpuskin_still(number: u32, metre: f32) -> GpuskinStill {
    let at = number * 4u;
    let words_2 = gpuskin_instances[at + 2u];
    let word = gpuskin_bounds.clips[words_2.z & 0x3ffu].w;
    let steps = word >> 20u;
    // What the nearest moment costs: it may not be seen.
    let off = gpuskin_bounds.off / f32(1u << ((word >> 17u) & 7u));
    if (steps == 0u || (words_2.z >> 12u) != 0u || off * metre > 1.0) {
        return GpuskinStill(0u, 0u, false);
    }
    let instance =
        gpuskin_instance(gpuskin_instances[at], gpuskin_instances[at + 1u], words_2, gpuskin_instances[at + 3u]);
    if (gpuskin_weight(instance, gpuskin_parameters.clock) < 1.0) {
        return GpuskinStill(0u, 0u, false);
    }
    let phase = gpuskin_phase(instance.playback, gpuskin_parameters.clock);
    let position = gpuskin_multiply(phase.value, steps);
    let nearest = select(position.x + (position.y >> 31u), steps, phase.ended);
    let step = 0xffffffffu / steps + 1u;
    return GpuskinStill(select(nearest * step, 0xffffffffu, nearest == steps), (word & 0x1ffffu) + nearest, true);
}

// Has an instance, as it stands still where it shares a pose, evaluated at a place of the palette.
fn gpuskin_pose_at(place: u32, number: u32, still: GpuskinStill) {
    let at = number * 4u;
    let words_2 = gpuskin_instances[at + 2u];
    gpuskin_seen_instances[place * 4u] = gpuskin_instances[at];
    gpuskin_seen_instances[place * 4u + 1u] = gpuskin_instances[at + 1u];
    // No rate, no fade, not paused.
    gpuskin_seen_instances[place * 4u + 2u] =
        select(words_2, vec4<u32>(0u, still.offset, words_2.z & 0x3ffu, 0xffffu), still.is_shared);
    gpuskin_seen_instances[place * 4u + 3u] = select(gpuskin_instances[at + 3u], vec4<u32>(0u), still.is_shared);
}

// One more than the place of the pose that an instance shares; 0 where it needs one of its own. Who is the first to show a pose
// has it made, in this frame.
fn gpuskin_kept(number: u32, still: GpuskinStill) -> u32 {
    if (!still.is_shared || gpuskin_parameters.kept == 0u) {
        return 0u;
    }
    let at = gpuskin_parameters.kept_at + still.moment;
    let known = atomicLoad(&gpuskin_lists[at]);
    if (known >= gpuskin_kept_from) {
        return known - gpuskin_kept_from + 1u;
    }
    // Another thread is at it, or there is no room until the next frame.
    if (known != 0u || atomicLoad(&gpuskin_lists[gpuskin_poses_kept]) > gpuskin_parameters.kept) {
        return 0u;
    }
    if (atomicMax(&gpuskin_lists[at], 1u) != 0u) {
        return 0u;
    }
    let place = atomicAdd(&gpuskin_lists[gpuskin_poses_kept], 1u);
    if (place >= gpuskin_parameters.kept) {
        atomicStore(&gpuskin_lists[at], 0u);
        return 0u;
    }
    gpuskin_pose_at(place, number, still);
    atomicStore(&gpuskin_lists[at], gpuskin_kept_from + place);
    return place + 1u;
}
