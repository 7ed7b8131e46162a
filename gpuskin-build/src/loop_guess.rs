//! Guess whether a clip loops, from its ends and its name.

use glam::DVec3;

use crate::frames::{FrameGrid, rate};
use crate::identifier_case::snake;
use crate::manifest::Fps;
use crate::model::{Clip, Model};
use crate::vertex_mode::Evaluator;

/// Words in the names of clips that are cycles.
const CYCLES: [&str; 48] = [
    "aiming",
    "blocking",
    "breathe",
    "breathing",
    "canter",
    "casting",
    "climb",
    "climbing",
    "crawl",
    "crawling",
    "dance",
    "dancing",
    "drinking",
    "eating",
    "fall",
    "falling",
    "firing",
    "float",
    "floating",
    "fly",
    "flying",
    "gallop",
    "glide",
    "hover",
    "idle",
    "idles",
    "idling",
    "jog",
    "jogging",
    "locomotion",
    "run",
    "running",
    "shooting",
    "sneak",
    "sneaking",
    "spellcasting",
    "spinning",
    "sprint",
    "sprinting",
    "strafe",
    "swim",
    "swimming",
    "swinging",
    "treading",
    "trot",
    "trotting",
    "walk",
    "walking",
];
/// Words in the names of clips that play once.
const ONE_SHOTS: [&str; 58] = [
    "attack",
    "attacks",
    "bite",
    "cast",
    "chop",
    "close",
    "combo",
    "damage",
    "dead",
    "death",
    "despawn",
    "die",
    "dies",
    "dodge",
    "draw",
    "dying",
    "end",
    "fire",
    "headbutt",
    "hit",
    "hitreact",
    "hits",
    "hurt",
    "interact",
    "jump",
    "jumping",
    "kick",
    "knockback",
    "knockdown",
    "land",
    "landing",
    "leap",
    "open",
    "pick",
    "pickup",
    "punch",
    "raise",
    "recover",
    "reload",
    "reloading",
    "roll",
    "rolling",
    "sheathe",
    "shoot",
    "shot",
    "slash",
    "slice",
    "spawn",
    "spellcast",
    "stab",
    "stagger",
    "start",
    "swing",
    "takedown",
    "throw",
    "throwing",
    "uppercut",
    "use",
];
/// Words in the names of cycles that never end: such a clip loops even if its seam is seen, because a
/// character that freezes looks worse.
const ENDLESS: [&str; 14] = [
    "canter", "crawl", "crawling", "gallop", "idle", "idling", "jog", "jogging", "run", "running", "sprint", "trot",
    "walk", "walking",
];
/// Words that decide over all others of a name.
const LOOPS: [&str; 3] = ["loop", "looping", "cycle"];
/// Words that decide over those of cycles: `Idle_HitReact_Left` interrupts the idle.
const REACTIONS: [&str; 11] =
    ["damage", "dead", "death", "die", "dies", "dying", "hit", "hitreact", "hits", "hurt", "react"];

/// Greatest gap between the ends of a cycle, relative to the diagonal of the rest pose: 6 cm on a
/// character of 2 m.
const CYCLE_GAP: f64 = 0.03;
/// [`CYCLE_GAP`] of clips whose name has a word of [`ENDLESS`]; also if they move away, for what is left when the character is moved
/// back.
const ENDLESS_GAP: f64 = 0.15;
/// Gap between the ends of a cycle that is reported, relative to the diagonal of the rest pose: 1 cm on
/// a character of 2 m.
const REPORTED_GAP: f64 = 0.005;
/// Greatest gap between the ends of a clip whose name says nothing, relative to the diagonal of the
/// rest pose: 1 mm on a character of 2 m.
const GAP: f64 = 5e-4;
/// Greatest change of a vertex's movement at the seam, relative to the fastest movement per frame
/// beside the seam. Larger changes look like a stop or a jump.
const JERK: f64 = 0.75;
/// Greatest gap between the ends of a loop whose last frame is not stored, relative to the diagonal of
/// the rest pose: 0.1 mm on a model of 2 m.
pub(crate) const SEAM_TOLERANCE: f64 = 5e-5;
/// [`SEAM_TOLERANCE`] for encodings that are exact.
pub(crate) const EXACT_SEAM_TOLERANCE: f64 = 5e-6;
/// Least movement per frame that counts as movement, relative to the diagonal of the rest pose.
const REST: f64 = 2e-4;

/// Ends of a clip, compared over all vertices with root motion removed. Metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LoopSeam {
    /// Greatest distance of a vertex between the last and the first pose.
    pub(crate) gap: f64,
    /// Distance of the mean of all vertices between the last and the first pose.
    pub(crate) displacement: f64,
    /// [`Self::gap`] if the last pose is moved back by [`Self::displacement`].
    gap_in_place: f64,
    /// Greatest movement of a vertex in the source frame after the first or before the last pose.
    step: f64,
    /// Greatest difference between a vertex's movement before the end and after the start.
    jerk: f64,
    /// Greatest difference between the jump from the last to the first pose, and the mean of the
    /// movements before and after it.
    continuation: f64,
    diagonal: f64,
}

/// Kind of a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// The clip plays once.
    Once,
    /// The clip loops.
    Loop,
    /// The clip loops, but its last key does not repeat the first one: the way from the last to the
    /// first pose takes another frame.
    LoopWithoutLastKey,
}

/// Whether the name of a clip is that of a cycle (`Some(true)`) or of a motion that plays once
/// (`Some(false)`); `None` if it is neither or both.
pub(crate) fn is_cycle(name: &str) -> Option<bool> {
    if has_word(name, &LOOPS) {
        return Some(true);
    }
    if has_word(name, &REACTIONS) {
        return Some(false);
    }
    match (has_word(name, &CYCLES), has_word(name, &ONE_SHOTS)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Whether a word of a name is in a list.
fn has_word(name: &str, list: &[&str]) -> bool {
    snake(name).split('_').any(|word| list.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit())))
}

impl LoopSeam {
    /// Compares the ends of a clip. `diagonal` is the diagonal of the rest pose; `morphs` includes
    /// morph targets.
    pub(crate) fn new(model: &Model, clip: &Clip, diagonal: f64, morphs: bool) -> Self {
        let frame = source_frame(clip, morphs);
        let ends = FrameGrid { stored: 2, ..FrameGrid::still(clip.end) };
        let without_morphs = (!morphs && !clip.morphs.is_empty()).then(|| Clip { morphs: Vec::new(), ..clip.clone() });
        let clip = without_morphs.as_ref().unwrap_or(clip);
        let evaluator = Evaluator::in_place(model, clip, &ends);
        let times = [clip.end - frame, clip.end, 0.0, frame];
        let positions = |time: f64| evaluator.at(time.clamp(0.0, clip.end)).positions().collect::<Vec<DVec3>>();
        let [before, last, first, after] = times.map(positions);
        let mut seam = Self { diagonal, ..Self::default() };
        let jumps = || last.iter().zip(&first).map(|(last, first)| first - last);
        let (sum, count) = jumps().fold((DVec3::ZERO, 0.0), |(sum, count), jump| (sum + jump, count + 1.0));
        let mean = if count > 0.0 { sum / count } else { DVec3::ZERO };
        seam.displacement = mean.length();
        seam.gap_in_place = jumps().fold(0.0, |gap, jump| f64::max(gap, jump.distance(mean)));
        for ((before, last), (first, after)) in before.iter().zip(&last).zip(first.iter().zip(&after)) {
            let (leaving, jump, starting): (DVec3, DVec3, DVec3) = (last - before, first - last, after - first);
            seam.gap = seam.gap.max(jump.length());
            seam.step = seam.step.max(leaving.length()).max(starting.length());
            seam.jerk = seam.jerk.max(leaving.distance(starting));
            seam.continuation = seam.continuation.max(jump.distance(0.5 * (leaving + starting)));
        }
        seam
    }

    /// Whether a game that loops the clip shows a jump. `guessed`: nobody asked for the loop, so that
    /// only a large jump is reported.
    pub(crate) fn jumps(&self, guessed: bool) -> bool {
        self.gap > if guessed { REPORTED_GAP } else { GAP } * self.diagonal
    }

    /// Whether the ends meet if the character is moved back to where it started.
    pub(crate) fn travels(&self) -> bool {
        self.displacement > CYCLE_GAP * self.diagonal && self.gap_in_place <= ENDLESS_GAP * self.diagonal
    }

    /// Whether the last pose equals the first, to within 0.1 mm on a model of 2 m.
    pub(crate) fn meets(&self) -> bool {
        self.gap <= SEAM_TOLERANCE * self.diagonal
    }

    /// Guesses the kind of a clip with this seam and name.
    pub(crate) fn guess(&self, clip: &Clip) -> LoopKind {
        // A pose of one frame has no end to play to.
        if clip.end <= 0.0 {
            return if self.meets() { LoopKind::Loop } else { LoopKind::Once };
        }
        let moves = self.step > REST * self.diagonal;
        // The jump is one more step of the same motion.
        let continues = moves && self.continuation <= 0.5 * self.step && self.gap > 0.25 * self.step;
        // The jump turns, but is as long as a step. Modelling tools show the last frame of a loop for as long as all others.
        let turns = moves && self.jumps(true) && (0.5..=2.0).contains(&(self.gap / self.step));
        let smooth = self.jerk <= JERK * self.step.max(REST * self.diagonal);
        let looped = match is_cycle(&clip.name) {
            Some(true) => {
                let endless = has_word(&clip.name, &ENDLESS);
                let gap = if endless { ENDLESS_GAP } else { CYCLE_GAP };
                self.gap <= gap * self.diagonal || continues || (endless && self.travels())
            }
            Some(false) => false,
            None => self.meets() || (self.gap <= GAP * self.diagonal && smooth) || (continues && smooth),
        };
        match looped {
            false => LoopKind::Once,
            true if (continues || turns) && clip.root.is_none() && !self.meets() => LoopKind::LoopWithoutLastKey,
            true => LoopKind::Loop,
        }
    }
}

/// Returns the time between two keys of the source, in seconds.
pub(crate) fn source_frame(clip: &Clip, morphs: bool) -> f64 {
    let rate = rate(clip, Fps::Source, morphs);
    if clip.end > 0.0 { rate.recip().min(0.5 * clip.end) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use glam::{DQuat, DVec4};

    use super::*;
    use crate::loop_close;
    use crate::model::fixtures;

    #[test]
    fn names_say_whether_clips_loop() {
        for (name, expected) in [
            ("idle", Some(true)),
            ("Walking_A", Some(true)),
            ("HumanArmature|Run", Some(true)),
            ("1H_Ranged_Shooting", Some(true)),
            ("attack_loop", Some(true)),
            ("Death_A", Some(false)),
            ("1H_Melee_Attack_Chop", Some(false)),
            ("Spellcast_Raise", Some(false)),
            ("Run_swordAttack", None),
            ("Idle_HitReact_Left", Some(false)),
            ("Eating", Some(true)),
            ("2H_Melee_Attack_Spinning", None),
            ("T-Pose", None),
            ("", None),
        ] {
            assert_eq!(is_cycle(name), expected, "{name}");
        }
    }

    /// Returns the guess for a clip with this name on a model of 2 m whose ends have these
    /// differences, in metres.
    fn guess(name: &str, gap: f64, step: f64, jerk: f64, continuation: f64) -> LoopKind {
        let clip = Clip { name: name.to_owned(), end: 1.0, ..Clip::default() };
        LoopSeam { gap, gap_in_place: gap, step, jerk, continuation, diagonal: 2.0, ..LoopSeam::default() }.guess(&clip)
    }

    #[test]
    fn visible_gaps_do_not_loop() {
        // Half a millimetre is invisible in an idle; 30 cm are not.
        assert_eq!(guess("idle", 0.5e-3, 1e-3, 1e-3, 1e-3), LoopKind::Loop);
        assert_eq!(guess("idle", 0.2, 1e-3, 1e-3, 0.2), LoopKind::Loop, "a jump is better than to freeze");
        assert_eq!(guess("idle", 0.4, 1e-3, 1e-3, 0.4), LoopKind::Once);
        assert_eq!(guess("dance", 0.2, 1e-3, 1e-3, 0.2), LoopKind::Once);
        // A name that says nothing needs ends that meet, or a smooth seam.
        assert_eq!(guess("sway", 0.0, 0.01, 0.02, 0.01), LoopKind::Loop);
        assert_eq!(guess("sway", 0.8e-3, 0.01, 0.002, 0.01), LoopKind::Loop);
        assert_eq!(guess("sway", 0.8e-3, 0.01, 0.02, 0.01), LoopKind::Once);
        // An attack whose ends meet returns to its guard, and is not a cycle.
        assert_eq!(guess("attack", 0.0, 0.01, 0.0, 0.01), LoopKind::Once);
    }

    #[test]
    fn walk_that_moves_away_loops() {
        let clip = |name: &str| Clip { name: name.to_owned(), end: 1.0, ..Clip::default() };
        let step = LoopSeam {
            gap: 1.51,
            displacement: 1.5,
            gap_in_place: 0.02,
            step: 0.05,
            continuation: 1.5,
            diagonal: 2.0,
            ..LoopSeam::default()
        };
        assert_eq!(step.guess(&clip("walk")), LoopKind::Loop);
        assert_eq!(step.guess(&clip("roll")), LoopKind::Once);
        // As in place, an endless clip loops even if its seam is seen.
        let fast = LoopSeam { gap_in_place: 0.2, ..step };
        assert_eq!(fast.guess(&clip("run")), LoopKind::Loop);
        assert_eq!(fast.guess(&clip("dance")), LoopKind::Once);
        let fall = LoopSeam { gap_in_place: 0.4, ..step };
        assert_eq!(fall.guess(&clip("walk")), LoopKind::Once);
    }

    #[test]
    fn missing_last_key_is_one_more_step() {
        // The foot moves 5 cm per frame, before the end, over the seam, and after the start.
        assert_eq!(guess("run", 0.05, 0.05, 0.01, 0.005), LoopKind::LoopWithoutLastKey);
        assert_eq!(guess("animation 0", 0.05, 0.05, 0.01, 0.005), LoopKind::LoopWithoutLastKey);
        assert_eq!(guess("death", 0.05, 0.05, 0.01, 0.005), LoopKind::Once);
        // The foot turns at its highest point: the step back is as long as others.
        assert_eq!(guess("run", 0.05, 0.04, 0.06, 0.06), LoopKind::LoopWithoutLastKey);
        // The clip stands still at its ends, and jumps.
        assert_eq!(guess("run", 0.05, 0.004, 0.006, 0.05), LoopKind::Loop);
        // With root motion, the last pose stays the last one.
        let root = Some(crate::model::RootMotionSource { node: 0, planar: true });
        let clip = Clip { name: "run".to_owned(), end: 1.0, root, ..Clip::default() };
        let seam =
            LoopSeam { gap: 0.05, step: 0.05, jerk: 0.01, continuation: 0.005, diagonal: 2.0, ..LoopSeam::default() };
        assert_eq!(seam.guess(&clip), LoopKind::Loop);
    }

    #[test]
    fn seam_is_measured_over_vertices() {
        let mut model = fixtures::model(fixtures::cube(true, |_| vec![(1, 1.0)]));
        // The second bone turns by 2.8 radians; a corner is sqrt(2) m from its axis.
        let seam = LoopSeam::new(&model, &model.clips[0], 1.0, false);
        assert!((seam.gap - 2.0 * 2.0_f64.sqrt() * 1.4_f64.sin()).abs() < 1e-9, "{seam:?}");
        assert_eq!(seam.guess(&model.clips[0]), LoopKind::Once);
        // A turn in 24 keys, without the key that closes it.
        let turn = |i: u32| DVec4::from(DQuat::from_rotation_x(f64::from(i) * TAU / 24.0).to_array());
        let curve = &mut model.clips[0].channels[0].curve;
        (curve.times, curve.values) = ((0..24).map(|i| f64::from(i) / 30.0).collect(), (0..24).map(turn).collect());
        model.clips[0].end = 23.0 / 30.0;
        let seam = LoopSeam::new(&model, &model.clips[0], 1.0, false);
        assert_eq!(seam.guess(&model.clips[0]), LoopKind::LoopWithoutLastKey, "{seam:?}");
        loop_close::repeat_first_key(&mut model.clips[0], 1.0 / 30.0);
        let closed = LoopSeam::new(&model, &model.clips[0], 1.0, false);
        assert!(closed.meets() && closed.jerk < 0.8 * closed.step, "{closed:?}");
        assert_eq!(closed.guess(&model.clips[0]), LoopKind::Loop);
    }
}
