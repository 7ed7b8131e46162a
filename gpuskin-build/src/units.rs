//! Numbers as people read them.

/// A length in the unit that suits it.
pub fn metres(length: f64) -> String {
    match length.abs() {
        0.0 => "0".to_owned(),
        l if l < 1e-3 => format!("{:.3} um", length * 1e6),
        l if l < 1e-1 => format!("{:.3} mm", length * 1e3),
        _ => format!("{length:.3} m"),
    }
}
