//! Two-bone inverse kinematics of a leg.

use glam::{DQuat, DVec3};

use super::turn::arc;

/// Share of its length to which a leg stretches at most. A straight knee has no direction in which to bend.
const STRETCH: f64 = 0.9995;

/// Points of a leg, in the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LegPose {
    pub(super) hip: DVec3,
    pub(super) knee: DVec3,
    pub(super) ankle: DVec3,
}

impl LegPose {
    fn lengths(&self) -> [f64; 2] {
        [self.hip.distance(self.knee), self.knee.distance(self.ankle)]
    }

    fn reach(&self) -> f64 {
        STRETCH * self.lengths().iter().sum::<f64>()
    }

    /// Returns by how much the hip must come down for the ankle to reach a point; 0 if it does, or cannot.
    pub(super) fn lack(&self, ankle: DVec3, up: DVec3) -> f64 {
        let (way, reach) = (ankle - self.hip, self.reach());
        if way.length() <= reach {
            return 0.0;
        }
        let down = -way.dot(up);
        let aside_squared = way.length_squared() - down * down;
        let left = reach * reach - aside_squared;
        if left > 0.0 { (down - left.sqrt()).max(0.0) } else { 0.0 }
    }

    /// Returns rotations in the scene that bring the ankle to a point, or as near as the leg reaches: of the
    /// upper leg, then of the lower leg. The plane in which the knee is bent turns with the way from hip to ankle;
    /// a straight leg bends towards `forward`.
    pub(super) fn reaching(&self, ankle: DVec3, forward: DVec3) -> [DQuat; 2] {
        let [upper, lower] = self.lengths();
        let way = ankle - self.hip;
        let shortest = (upper - lower).abs().max(1e-6 * (upper + lower));
        let length = way.length().clamp(shortest, self.reach().max(shortest));
        let Some(along) = way.try_normalize() else { return [DQuat::IDENTITY; 2] };
        let side = |v: DVec3| v.reject_from_normalized(along);
        let bend = side(arc(self.ankle - self.hip, way) * (self.knee - self.hip));
        let bend = if bend.length() > 1e-4 * upper { bend } else { side(forward) };
        let bend = bend.try_normalize().unwrap_or_else(|| along.any_orthonormal_vector());
        // Law of cosines: the knee's distance from the hip along the way to the ankle.
        let near = ((length * length + upper * upper - lower * lower) / (2.0 * length)).clamp(-upper, upper);
        let knee = self.hip + along * near + bend * (upper * upper - near * near).max(0.0).sqrt();
        let ankle = self.hip + along * length;
        [arc(self.knee - self.hip, knee - self.hip), arc(self.ankle - self.knee, ankle - knee)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEG: LegPose =
        LegPose { hip: DVec3::new(0.1, 0.9, 0.0), knee: DVec3::new(0.1, 0.5, 0.05), ankle: DVec3::new(0.1, 0.1, 0.0) };

    fn moved(leg: &LegPose, [upper, lower]: [DQuat; 2]) -> LegPose {
        let knee = leg.hip + upper * (leg.knee - leg.hip);
        LegPose { hip: leg.hip, knee, ankle: knee + lower * (leg.ankle - leg.knee) }
    }

    #[test]
    fn ankle_reaches_its_point_and_the_knee_stays_in_front() {
        for target in [[0.2, 0.2, 0.3], [0.1, 0.5, 0.0], [0.0, 0.15, -0.2], [0.1, 0.3, 0.4]] {
            let target = DVec3::from_array(target);
            let found = moved(&LEG, LEG.reaching(target, DVec3::Z));
            assert!(found.ankle.distance(target) < 1e-9, "{target} {found:?}");
            let along = (target - LEG.hip).normalize();
            assert!((found.knee - LEG.hip).reject_from_normalized(along).z > 0.0, "{target} {found:?}");
            assert!((found.lengths()[0] - LEG.lengths()[0]).abs() < 1e-12);
        }
    }

    #[test]
    fn straight_legs_bend_forwards_and_far_points_are_approached() {
        let straight = LegPose { knee: DVec3::new(0.1, 0.5, 0.0), ..LEG };
        let found = moved(&straight, straight.reaching(DVec3::new(0.1, 0.3, 0.0), DVec3::Z));
        assert!(found.knee.z > 0.1 && found.ankle.distance(DVec3::new(0.1, 0.3, 0.0)) < 1e-9, "{found:?}");
        let far = DVec3::new(0.1, -1.0, 0.0);
        let found = moved(&LEG, LEG.reaching(far, DVec3::Z));
        assert!((found.ankle.distance(LEG.hip) - LEG.reach()).abs() < 1e-9, "{found:?}");
        for odd in [LEG.hip, LEG.hip + DVec3::Y * 1e-300] {
            assert!(LEG.reaching(odd, DVec3::Z).iter().all(|q| q.is_finite()));
        }
    }

    #[test]
    fn hips_come_down_just_enough() {
        let far = DVec3::new(0.1, 0.0, 0.3);
        let lack = LEG.lack(far, DVec3::Y);
        assert!(lack > 0.1, "{lack}");
        let lower = LegPose { hip: LEG.hip - DVec3::Y * lack, knee: LEG.knee - DVec3::Y * lack, ..LEG };
        assert!((lower.hip.distance(far) - LEG.reach()).abs() < 1e-9);
        assert_eq!(LEG.lack(LEG.ankle, DVec3::Y), 0.0);
        assert_eq!(LEG.lack(DVec3::new(3.0, 0.0, 0.0), DVec3::Y), 0.0, "out of reach at any height");
    }
}
