//! SVG file of the tables with times, drawn as bars.

use std::fmt::Write;
use std::path::Path;

use crate::report::{Asked, Line, Table, tables};

/// Sizes in pixels.
const WIDTH: f64 = 1120.0;
const NAMES: f64 = 400.0;
const BARS: f64 = 400.0;
const ROW: f64 = 24.0;
const TITLE: f64 = 46.0;
const MARGIN: f64 = 16.0;

/// Colours of bars without a target, that meet it, and that miss it.
const PLAIN: &str = "#8d99ae";
const KEPT: &str = "#2a9d8f";
const MISSED: &str = "#e76f51";

/// Draws the tables that have times to an SVG file.
pub(crate) fn write(path: &Path) -> Result<(), String> {
    let tables: Vec<Table> = tables().into_iter().filter(|t| bars(t).next().is_some()).collect();
    if tables.is_empty() {
        return Err("--svg: no measured section has times; `draw` and `foxes` have".to_owned());
    }
    std::fs::write(path, svg(&tables)).map_err(|e| format!("{}: {e}", path.display()))
}

fn bars(table: &Table) -> impl Iterator<Item = (&Line, f64)> {
    table.lines.iter().filter_map(|line| Some((line, line.milliseconds.filter(|ms| ms.is_finite())?)))
}

fn svg(tables: &[Table]) -> String {
    let height = |table: &Table| TITLE + ROW * bars(table).count() as f64 + MARGIN;
    let all: f64 = tables.iter().map(height).sum::<f64>() + 2.0 * MARGIN;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{all}\" viewBox=\"0 0 {WIDTH} {all}\" \
         font-family=\"DejaVu Sans, Arial, sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let mut top = MARGIN;
    for table in tables {
        panel(&mut text, table, top);
        top += height(table);
    }
    let asked = tables.iter().flat_map(bars).any(|(line, _)| matches!(line.over, Some((.., Some(_)))));
    if asked {
        let legend = [(KEPT, "meets the target for an NVIDIA H200"), (MISSED, "misses it"), (PLAIN, "no target")];
        for (i, (color, what)) in legend.into_iter().enumerate() {
            let left = NAMES + 10.0 + i as f64 * 220.0;
            let _ = writeln!(
                text,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"12\" height=\"12\" fill=\"{color}\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\">{what}</text>",
                left + 18.0,
                top + 11.0
            );
        }
    }
    text + "</svg>\n"
}

fn panel(text: &mut String, table: &Table, top: f64) {
    let longest = bars(table).map(|(_, ms)| ms).fold(f64::MIN_POSITIVE, f64::max);
    let title = escaped(&table.title);
    let _ = writeln!(
        text,
        "<text x=\"{MARGIN}\" y=\"{:.1}\" font-size=\"15\" font-weight=\"bold\">{title}</text>",
        top + 18.0
    );
    for (i, (line, ms)) in bars(table).enumerate() {
        let y = top + TITLE + i as f64 * ROW;
        let middle = y + 4.0;
        let length = (ms / longest * BARS).max(1.0);
        let _ = writeln!(
            text,
            "<text x=\"{NAMES}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>\n\
             <rect x=\"{:.1}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"{:.1}\" fill=\"{}\"/>\n\
             <text x=\"{:.1}\" y=\"{middle:.1}\" fill=\"#444444\">{}</text>",
            escaped(&line.name),
            NAMES + 10.0,
            y - ROW / 2.0 + 3.0,
            ROW - 6.0,
            color(line),
            NAMES + 18.0 + length,
            escaped(&value(line, ms)),
        );
    }
}

/// Text beside a bar: `12.3 ms, 1.02 x static (at most 1.03)`.
fn value(line: &Line, ms: f64) -> String {
    let mut value = if ms < 10.0 { format!("{ms:.3} ms") } else { format!("{ms:.1} ms") };
    if let Some((other, ratio, asked)) = &line.over {
        let _ = write!(value, ", {ratio:.2} x {other}");
        if let Some(asked) = asked {
            let _ = write!(value, " ({asked})");
        }
    }
    value
}

fn color(line: &Line) -> &'static str {
    let Some((_, ratio, Some(asked))) = &line.over else { return PLAIN };
    let kept = match asked {
        Asked::AtMost(bound) => ratio <= bound,
        Asked::AtLeast(bound) => ratio >= bound,
    };
    if kept { KEPT } else { MISSED }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, milliseconds: Option<f64>, asked: Option<Asked>) -> Line {
        let over = Some(("static".to_owned(), 1.5, asked));
        Line { name: name.to_owned(), text: String::new(), milliseconds, over }
    }

    #[test]
    fn bars_show_times_and_targets() {
        let lines = vec![
            line("a < b & c", Some(50.0), Some(Asked::AtMost(1.06))),
            line("kept", Some(100.0), Some(Asked::AtLeast(1.5))),
            line("no time", None, None),
            line("plain", Some(f64::NAN), None),
        ];
        let text = svg(&[Table { title: "x".into(), lines }]);
        assert_eq!(text.matches("height=\"18.0\"").count(), 2, "{text}");
        for part in [
            "a &lt; b &amp; c",
            &format!("width=\"{:.1}\" height=\"18.0\" fill=\"{MISSED}\"", BARS / 2.0),
            &format!("width=\"{BARS:.1}\" height=\"18.0\" fill=\"{KEPT}\""),
            "50.0 ms, 1.50 x static (at most 1.06)",
            "meets the target",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(text.matches('<').count(), text.matches('>').count());
    }
}
