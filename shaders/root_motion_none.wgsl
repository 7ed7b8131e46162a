// Motion pass of a crowd in which no instance follows its root motion.
const gpuskin_motion_vectors: u32 = 4u;

fn gpuskin_move_by_root(number: u32, at: u32, moving: u32) -> bool {
    return false;
}
