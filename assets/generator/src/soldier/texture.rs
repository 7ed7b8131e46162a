//! Texture of the soldier: rectangles of the parts, and their paint. In every rectangle, u = 0.5 is
//! the front and v runs downwards.

use crate::math::{cos_turn, hash, lerp, noise, smoothstep};
use crate::mesh::Rect;
use crate::paint::{Canvas, Color, band, line, mix, rgb, shade, spot};

pub(crate) const SIZE: f64 = 512.0;
pub(crate) const TORSO: Rect = Rect::new(0.0, 0.0, 256.0, 160.0);
pub(crate) const HEAD: Rect = Rect::new(256.0, 0.0, 256.0, 160.0);
pub(crate) const SKIRT: Rect = Rect::new(0.0, 160.0, 256.0, 112.0);
pub(crate) const BELT: Rect = Rect::new(0.0, 272.0, 256.0, 24.0);
pub(crate) const ARM: Rect = Rect::new(0.0, 296.0, 112.0, 120.0);
pub(crate) const SLEEVE: Rect = Rect::new(0.0, 416.0, 112.0, 96.0);
pub(crate) const LEG: Rect = Rect::new(112.0, 296.0, 144.0, 216.0);
pub(crate) const BOOT: Rect = Rect::new(256.0, 160.0, 96.0, 64.0);
pub(crate) const HAND: Rect = Rect::new(256.0, 224.0, 96.0, 64.0);
pub(crate) const SCARF: Rect = Rect::new(352.0, 160.0, 64.0, 64.0);
pub(crate) const STRAP: Rect = Rect::new(416.0, 160.0, 24.0, 64.0);
pub(crate) const STEEL: Rect = Rect::new(440.0, 160.0, 24.0, 64.0);
pub(crate) const BRASS: Rect = Rect::new(464.0, 160.0, 48.0, 64.0);
pub(crate) const PLUME: Rect = Rect::new(352.0, 224.0, 96.0, 64.0);
pub(crate) const WOOD: Rect = Rect::new(448.0, 224.0, 64.0, 64.0);
pub(crate) const SHIELD: Rect = Rect::new(256.0, 288.0, 160.0, 224.0);
pub(crate) const SHIELD_BACK: Rect = Rect::new(416.0, 288.0, 96.0, 224.0);

/// Bands of the armour: their number, lowest edge above the ground and height, metres.
pub(crate) const BANDS: usize = 5;
pub(crate) const BAND_LOW: f64 = 1.10;
pub(crate) const BAND_HEIGHT: f64 = 0.054;
/// Heights that the head's rectangle spans, metres.
pub(crate) const HEAD_TOP: f64 = 1.815;
pub(crate) const HEAD_LOW: f64 = 1.45;

const RED: u32 = 0xA8241E;
const LEATHER: u32 = 0x6A4024;
const SKIN: u32 = 0xC9916B;
const STEEL_TONE: u32 = 0x9AA0A8;
const BRASS_TONE: u32 = 0xC9983C;

/// Fine grain, so that no surface is one flat colour.
fn grain(c: Color, u: f64, v: f64, amount: f64, seed: i64) -> Color {
    let n = noise(u * 60.0, v * 60.0, seed) * 0.6 + noise(u * 14.0, v * 14.0, seed + 1) * 0.4;
    c * (1.0 + amount * (n - 0.5))
}

fn cloth(u: f64, v: f64, seed: i64) -> Color {
    let weave = 0.03 * (hash((u * 400.0) as i64, (v * 400.0) as i64, seed) - 0.5);
    grain(rgb(RED), u, v, 0.22, seed) * (1.0 + weave)
}

fn steel(u: f64, v: f64) -> Color {
    // Brushed: streaks along u, worn darker in patches.
    let streak = noise(u * 8.0, v * 160.0, 31);
    grain(rgb(STEEL_TONE), u, v, 0.20, 32) * lerp(0.90, 1.08, streak)
}

fn skin(u: f64, v: f64, seed: i64) -> Color {
    grain(rgb(SKIN), u, v, 0.08, seed)
}

fn leather(u: f64, v: f64, seed: i64) -> Color {
    grain(rgb(LEATHER), u, v, 0.35, seed)
}

fn brass(u: f64, v: f64) -> Color {
    grain(rgb(BRASS_TONE), u, v, 0.25, 71)
}

fn torso(u: f64, v: f64) -> Color {
    let y = 1.52 - 0.70 * v;
    let front = libm::fabs(u - 0.5);
    let back = 0.5 - front;
    if y < BAND_LOW - 0.02 {
        return shade(cloth(u, v, 1), band(y, 1.0, 1.2, 0.05), 0.3);
    }
    if y > 1.455 + 0.02 * cos_turn(u * 2.0) {
        return cloth(u, v, 2);
    }
    let mut c = steel(u, v);
    let middle = front.min(back);
    if y < BAND_LOW + BAND_HEIGHT * BANDS as f64 {
        let t = (y - BAND_LOW) / BAND_HEIGHT;
        let t = t - libm::floor(t);
        // Light on the lower, outer edge of each band, dark below it.
        c *= lerp(1.12, 0.86, t);
        c = shade(c, line(t, 1.0, 0.07, 0.08), 0.55);
        c = mix(c, brass(u, v), line(t, 0.08, 0.02, 0.05) * 0.35);
        // The bands meet in the middle of the front, tied over brass loops.
        c = shade(c, line(middle, 0.0, 0.004, 0.004), 0.6);
        c = mix(c, brass(u, v), spot(middle, t, (0.018, 0.5), (0.011, 0.26), 0.2));
        c = mix(c, leather(u, v, 3), line(t, 0.5, 0.07, 0.04) * line(middle, 0.0, 0.012, 0.003));
    } else {
        let t = (y - 1.37) / 0.085;
        c *= lerp(0.95, 1.06, t);
        c = shade(c, line(y, 1.372, 0.004, 0.006), 0.5);
        c = shade(c, line(middle, 0.0, 0.004, 0.004), 0.6);
        // Breast plates: a brass border, hinges and buckles.
        c = mix(c, brass(u, v), line(y, 1.449 + 0.02 * cos_turn(u * 2.0), 0.006, 0.003));
        for at in [0.055, 0.115] {
            c = mix(c, brass(u, v), spot(middle, t, (at, 0.35), (0.014, 0.2), 0.2));
            c = shade(c, spot(middle, t, (at, 0.35), (0.005, 0.07), 0.3), 0.6);
        }
    }
    c
}

fn head(u: f64, v: f64) -> Color {
    let y = HEAD_TOP - v * (HEAD_TOP - HEAD_LOW);
    // Approximate distance from the middle of the face, metres.
    let x = libm::fabs(u - 0.5) * 0.46;
    let mut c = skin(u, v, 5);
    c = mix(c, rgb(0xB56A50), 0.45 * spot(x, y, (0.045, 1.655), (0.028, 0.022), 0.9));
    c = mix(c, rgb(0xB56A50), 0.35 * spot(x, y, (0.0, 1.660), (0.015, 0.016), 0.9));
    c = shade(c, spot(x, y, (0.030, 1.702), (0.026, 0.017), 0.7), 0.35);
    // Eyes: white, iris, upper lid, brow.
    c = mix(c, rgb(0xF0EAE0), spot(x, y, (0.030, 1.699), (0.0145, 0.0075), 0.25));
    c = mix(c, rgb(0x3A2818), spot(x, y, (0.029, 1.699), (0.0068, 0.0078), 0.25));
    c = shade(c, line(y, 1.7065 - 4.0 * (x - 0.030) * (x - 0.030), 0.0016, 0.002) * band(x, 0.014, 0.046, 0.003), 0.75);
    let brow = line(y, 1.722 - 0.10 * libm::fabs(x - 0.026), 0.0032, 0.003) * band(x, 0.011, 0.048, 0.005);
    c = mix(c, rgb(0x3B2618), 0.85 * brow);
    // Nostrils, mouth, stubble.
    c = shade(c, spot(x, y, (0.008, 1.6465), (0.006, 0.0035), 0.5), 0.5);
    let beard = smoothstep(1.655, 1.615, y) * smoothstep(1.535, 1.575, y) * smoothstep(0.17, 0.10, x);
    let stubble = 0.30 + 0.12 * hash((u * 700.0) as i64, (v * 400.0) as i64, 6);
    c = mix(c, rgb(0x5A4034), beard * stubble);
    c = mix(c, rgb(0xA05548), spot(x, y, (0.0, 1.627), (0.025, 0.0085), 0.35));
    c = shade(c, line(y, 1.6275, 0.0010, 0.0018) * band(x, 0.0, 0.024, 0.004), 0.6);
    c = shade(c, spot(x, y, (0.0, 1.610), (0.016, 0.005), 0.8), 0.2);
    // Hair at the sides and the back, under the helmet.
    let hair = smoothstep(0.105, 0.125, x) * smoothstep(1.60, 1.64, y);
    c = mix(c, grain(rgb(0x3B2618), u * 3.0, v, 0.5, 7), hair.max(smoothstep(1.752, 1.765, y)));
    shade(c, smoothstep(1.575, 1.54, y), 0.35)
}

fn skirt(u: f64, v: f64) -> Color {
    let fold = cos_turn(u * 7.0);
    let mut c = cloth(u, v, 8) * (1.0 + 0.16 * fold * v);
    c = shade(c, smoothstep(0.66, 0.2, v), 0.45);
    c = mix(c, brass(u, v) * 1.02, band(v, 0.905, 0.935, 0.01) * 0.9);
    c
}

fn belt(u: f64, v: f64) -> Color {
    let mut c = leather(u, v, 9) * 0.75;
    let stud = libm::fabs(u * 24.0 - libm::floor(u * 24.0) - 0.5);
    c = mix(c, brass(u, v), spot(stud, v, (0.0, 0.5), (0.30, 0.24), 0.3));
    c = mix(c, brass(u, v) * 0.8, line(v, 0.2, 0.03, 0.03).max(line(v, 0.8, 0.03, 0.03)));
    let buckle = band(libm::fabs(u - 0.5), 0.0, 0.035, 0.003);
    c = mix(c, brass(u, v) * 1.15, buckle);
    shade(c, buckle * spot(u, v, (0.5, 0.5), (0.02, 0.25), 0.3), 0.65)
}

fn arm(u: f64, v: f64) -> Color {
    let along = lerp(0.12, 0.55, v);
    let mut c = shade(skin(u, v, 11), smoothstep(0.24, 0.14, along), 0.5);
    if (0.379..0.523).contains(&along) {
        c = leather(u, v, 12);
        c = mix(c, brass(u, v), line(along, 0.386, 0.004, 0.002).max(line(along, 0.516, 0.004, 0.002)));
        // Laced on the inner side, which is u = 0.75.
        let lace = libm::fabs(libm::fabs(u - 0.75) * 8.0 - libm::fabs((along - 0.38) * 28.0 % 1.0 - 0.5));
        c = shade(c, line(lace, 0.0, 0.08, 0.06) * band(u, 0.69, 0.81, 0.01), 0.5);
        c = shade(c, line(along, 0.45, 0.002, 0.002), 0.35);
    }
    c
}

fn leg(u: f64, v: f64) -> Color {
    let y = lerp(0.95, 0.06, v);
    if y > 0.44 {
        let wrinkle = noise(u * 6.0, y * 26.0, 13);
        let c = grain(rgb(0x7A1C1A), u, v, 0.25, 14) * lerp(0.9, 1.08, wrinkle);
        let c = shade(c, smoothstep(0.60, 0.80, y), 0.55);
        return mix(c, rgb(0x501212), line(y, 0.447, 0.006, 0.004));
    }
    if y > 0.3205 {
        return shade(skin(u, v, 15), smoothstep(0.41, 0.44, y), 0.45);
    }
    // Boots: open straps over a sock.
    let front = libm::fabs(u - 0.5);
    let mut c = leather(u, v, 16);
    let strap = y * 24.0 - libm::floor(y * 24.0);
    let open = band(front, 0.045, 0.17, 0.012) * band(strap, 0.30, 0.80, 0.06) * band(y, 0.09, 0.285, 0.01);
    c = mix(c, skin(u, v, 17) * 0.78, open);
    c = shade(c, line(front, 0.022, 0.004, 0.006), 0.5);
    mix(c, leather(u, v, 18) * 0.6, band(y, 0.30, 0.33, 0.004))
}

fn boot(u: f64, v: f64) -> Color {
    // u = 0.5 is the top, 0 and 1 the sole; v runs from the heel to the toes.
    let up = 1.0 - 2.0 * libm::fabs(u - 0.5);
    let mut c = leather(u, v, 19);
    let strap = v * 9.0 - libm::floor(v * 9.0);
    let open = band(up, 0.55, 0.96, 0.03) * band(strap, 0.35, 0.85, 0.06) * band(v, 0.47, 0.90, 0.01);
    c = mix(c, skin(u, v, 20) * 0.80, open);
    mix(c, rgb(0x2E1E14), smoothstep(0.42, 0.36, up))
}

fn plume(u: f64, v: f64) -> Color {
    let bristle = noise(u * 70.0, v * 5.0, 21) * 0.7 + noise(u * 22.0, 0.5, 22) * 0.3;
    let c = rgb(0xB81E1A) * lerp(0.62, 1.18, bristle);
    shade(c, smoothstep(0.35, 0.0, v), 0.3)
}

fn wood(u: f64, v: f64) -> Color {
    let ring = noise(u * 14.0, v * 2.5, 23);
    rgb(0x7B5530) * lerp(0.75, 1.15, ring)
}

fn shield(u: f64, v: f64) -> Color {
    let (x, y) = (libm::fabs(u - 0.5) * 2.0, libm::fabs(v - 0.5) * 2.0);
    let mut c = grain(rgb(RED), u, v, 0.18, 24);
    // Metres, so that shapes keep their proportions.
    let (mx, my) = (x * 0.29, y * 0.42);
    let gold = grain(rgb(0xE3B84A), u, v, 0.15, 25);
    // Wings to both sides of the boss, a bolt above and below it.
    for k in 0..4 {
        let a = 0.10 + 0.055 * f64::from(k);
        let feather = line(my, a + 0.55 * mx * (1.0 - 0.12 * f64::from(k)), 0.013, 0.003)
            * band(mx, 0.055, 0.235 - 0.03 * f64::from(k), 0.004);
        c = mix(c, gold, feather);
    }
    let wave = 0.022 * (libm::fabs((my * 9.0) % 2.0 - 1.0) - 0.5);
    c = mix(c, gold, line((u - 0.5) * 0.58, wave, 0.010, 0.003) * band(my, 0.10, 0.335, 0.003));
    c = mix(c, gold, spot(mx, my, (0.0, 0.355), (0.036, 0.03), 0.1));
    c = mix(c, gold, line(libm::sqrt(mx * mx + my * my), 0.125, 0.008, 0.003));
    // Rim, rivets.
    let edge = (0.29 - mx).min(0.42 - my);
    c = shade(c, line(edge, 0.026, 0.003, 0.006), 0.45);
    let rivet = libm::fabs(my * 14.0 - libm::floor(my * 14.0) - 0.5).max(0.0);
    let rim = brass(u, v) * (1.0 + 0.2 * line(rivet, 0.0, 0.10, 0.05));
    c = mix(c, rim, smoothstep(0.022, 0.018, edge));
    // Scars of use.
    let scratch = noise(u * 9.0 + v * 30.0, v * 7.0 - u * 4.0, 26);
    shade(c, smoothstep(0.80, 0.90, scratch), 0.22)
}

/// Paints the whole texture, as a PNG file.
pub(crate) fn paint() -> Vec<u8> {
    let mut c = Canvas::new(SIZE as usize, rgb(LEATHER));
    c.fill(TORSO, torso);
    c.fill(HEAD, head);
    c.fill(SKIRT, skirt);
    c.fill(BELT, belt);
    c.fill(ARM, arm);
    c.fill(SLEEVE, |u, v| {
        let base = mix(cloth(u, v, 27), brass(u, v), band(v, 0.80, 0.83, 0.01) * 0.9);
        shade(base, smoothstep(0.86, 0.95, v), 0.6)
    });
    c.fill(LEG, leg);
    c.fill(BOOT, boot);
    c.fill(HAND, |u, v| skin(u, v, 28) * 0.95);
    c.fill(SCARF, |u, v| {
        grain(rgb(0xD9CBA8), u, v, 0.3, 29) * lerp(0.85, 1.05, noise(u * 10.0 + v * 5.0, v * 6.0, 30))
    });
    c.fill(STRAP, |u, v| {
        let edge = line(u, 0.0, 0.10, 0.05).max(line(u, 1.0, 0.10, 0.05));
        let base =
            mix(shade(leather(u, v, 33) * 1.15, edge, 0.4), brass(u, v), spot(u, v, (0.5, 0.78), (0.30, 0.10), 0.2));
        mix(base, brass(u, v), spot(u, v, (0.5, 0.45), (0.2, 0.065), 0.2))
    });
    c.fill(STEEL, steel);
    c.fill(BRASS, brass);
    c.fill(PLUME, plume);
    c.fill(WOOD, wood);
    c.fill(SHIELD, shield);
    c.fill(SHIELD_BACK, |u, v| wood(v * 0.6, u * 3.0) * 0.85);
    c.png()
}
