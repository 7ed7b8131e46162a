//! Bones of a humanoid. They have the names of VRM's humanoid.

/// Side of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Left, Self::Right];
}

/// A finger of a hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Finger {
    Thumb,
    Index,
    Middle,
    Ring,
    Little,
}

impl Finger {
    pub(super) const ALL: [Self; 5] = [Self::Thumb, Self::Index, Self::Middle, Self::Ring, Self::Little];
}

/// Bones per finger.
pub(super) const FINGER_BONES: u8 = 3;

/// A bone of a humanoid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HumanBone {
    Hips,
    Spine,
    Chest,
    UpperChest,
    Neck,
    Head,
    Shoulder(Side),
    UpperArm(Side),
    LowerArm(Side),
    Hand(Side),
    UpperLeg(Side),
    LowerLeg(Side),
    Foot(Side),
    Toes(Side),
    /// Bone of a finger, counted from the hand.
    Finger(Side, Finger, u8),
}

impl HumanBone {
    /// Returns all bones.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let center = [Self::Hips, Self::Spine, Self::Chest, Self::UpperChest, Self::Neck, Self::Head];
        center.into_iter().chain(Side::BOTH.into_iter().flat_map(|side| {
            let limbs = [
                Self::Shoulder(side),
                Self::UpperArm(side),
                Self::LowerArm(side),
                Self::Hand(side),
                Self::UpperLeg(side),
                Self::LowerLeg(side),
                Self::Foot(side),
                Self::Toes(side),
            ];
            let fingers = Finger::ALL.into_iter();
            limbs.into_iter().chain(fingers.flat_map(move |f| (0..FINGER_BONES).map(move |i| Self::Finger(side, f, i))))
        }))
    }

    /// Returns the name in the manifest, such as `left_upper_arm`.
    pub(crate) fn name(self) -> String {
        let (side, bone) = match self {
            Self::Hips => return "hips".to_owned(),
            Self::Spine => return "spine".to_owned(),
            Self::Chest => return "chest".to_owned(),
            Self::UpperChest => return "upper_chest".to_owned(),
            Self::Neck => return "neck".to_owned(),
            Self::Head => return "head".to_owned(),
            Self::Shoulder(side) => (side, "shoulder".to_owned()),
            Self::UpperArm(side) => (side, "upper_arm".to_owned()),
            Self::LowerArm(side) => (side, "lower_arm".to_owned()),
            Self::Hand(side) => (side, "hand".to_owned()),
            Self::UpperLeg(side) => (side, "upper_leg".to_owned()),
            Self::LowerLeg(side) => (side, "lower_leg".to_owned()),
            Self::Foot(side) => (side, "foot".to_owned()),
            Self::Toes(side) => (side, "toes".to_owned()),
            Self::Finger(side, finger, bone) => {
                let finger = format!("{finger:?}").to_lowercase();
                (side, format!("{finger}_{}", ["proximal", "intermediate", "distal"][usize::from(bone)]))
            }
        };
        let side = if side == Side::Left { "left" } else { "right" };
        format!("{side}_{bone}")
    }

    /// Returns the bone with a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|bone| bone.name() == name)
    }

    /// Whether retargeting needs the bone.
    pub(super) fn is_required(self) -> bool {
        matches!(
            self,
            Self::Hips | Self::UpperArm(_) | Self::LowerArm(_) | Self::UpperLeg(_) | Self::LowerLeg(_) | Self::Foot(_)
        )
    }

    /// Returns the bone at the other end of this one, which gives it a direction. `None` for bones whose
    /// direction differs between skeletons in the same pose.
    pub(crate) fn end(self) -> Option<Self> {
        match self {
            Self::UpperArm(side) => Some(Self::LowerArm(side)),
            Self::LowerArm(side) => Some(Self::Hand(side)),
            Self::Hand(side) => Some(Self::Finger(side, Finger::Middle, 0)),
            Self::UpperLeg(side) => Some(Self::LowerLeg(side)),
            Self::LowerLeg(side) => Some(Self::Foot(side)),
            Self::Finger(side, finger, bone) if bone + 1 < FINGER_BONES => Some(Self::Finger(side, finger, bone + 1)),
            _ => None,
        }
    }
}
