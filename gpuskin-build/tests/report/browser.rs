//! The page in Chromium, without a window.

use std::path::Path;

use gpuskin_test_browser::Browser;
use serde_json::Value;

use crate::place::{HOSTILE, Place, manifest_of, pole};

/// The page's script has drawn the model in detail.
const DRAWN: &str = "const detail = document.getElementById('model');
    return detail && (!state.data.report.models.length || detail.firstChild)";

/// Opens a page from its file, and returns the document after the page's script has drawn it.
#[track_caller]
fn open(page: &Path) -> String {
    document(&open_in(page, [1280, 6000]))
}

/// Opens a page in a window of a size in pixels: of many clips, those outside of it are not drawn.
#[track_caller]
fn open_in(page: &Path, size: [u32; 2]) -> Browser {
    // The viewer has tests of its own.
    let browser = Browser::open(size, "delete Navigator.prototype.gpu;");
    browser.go(&format!("file://{}", page.display()));
    browser.wait(DRAWN);
    browser
}

/// Returns the document that a browser shows.
#[track_caller]
fn document(browser: &Browser) -> String {
    let document = browser.script("return document.documentElement.outerHTML");
    let document = document.as_str().expect("a document").to_owned();
    let console = browser.console().to_string();
    assert!(document.contains("<h1>Bake report</h1>"), "the script failed: {console}\n{document:.2000}");
    assert!(!console.contains("Content Security Policy") && !console.contains("Uncaught"), "{console}");
    document
}

/// Returns the part of a document that the page shows, without its data and its script.
fn shown(document: &str) -> String {
    document.split("<script").next().unwrap().split("</style>").last().unwrap().to_owned()
}

/// Returns the texts of the cells of all table rows of a document.
fn rows(document: &str) -> Vec<Vec<String>> {
    let cells = |row: &str| row.split("</td>").filter(|cell| cell.contains("<td")).map(text).collect();
    document.split("<tr").skip(1).map(|row| cells(row.split("</tr>").next().unwrap())).collect()
}

/// Returns the text of HTML without its tags.
fn text(html: &str) -> String {
    let (mut text, mut inside) = (String::new(), false);
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    // The text before the first tag is the rest of a tag that was cut off by splitting.
    let start = html.find('<').map_or(0, |at| html[..at].chars().count());
    text.chars().skip(start).collect::<String>().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Splits a line of a table that `bake` prints into cells.
fn cells(line: &str) -> Vec<String> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

pub fn the_numbers_are_those_of_bake() {
    let place = Place::samples();
    let manifest = place.read("gpuskin.toml").replace("\"compute\", \"webgl2\"", "\"compute\"");
    let [head, soldier, hound] = &manifest.split("[[model]]").collect::<Vec<_>>()[..] else { panic!("{manifest}") };
    // A page shows one model at a time. The soldier has five clips and eight levels; its masks allow
    // one encoding. The hound has three clips, eight levels and more candidates.
    for (model, wanted) in [(soldier, 5 + 8 + 1), (hound, 3 + 8 + 5)] {
        place.write("gpuskin.toml", &format!("{head}[[model]]{model}"));
        compare_with_bake(&place, wanted);
    }
}

/// Compares the tables that `bake --explain` prints with the page. `least` is the least number of
/// rows.
fn compare_with_bake(place: &Place, least: usize) {
    let printed = place.bake(&["--explain", "--report", "report.html"]);
    let shown = rows(&open(&place.path("report.html")));
    let mut compared = 0;
    for table in printed.split("\n\n") {
        let mut lines = table.lines();
        let Some(head) = lines.next().map(cells) else { continue };
        if !["clip", "LOD", "candidate"].contains(&head[0].as_str()) {
            continue;
        }
        for line in lines {
            let wanted = cells(line);
            // The page adds the share of triangles to the table of levels.
            let matches = |row: &Vec<String>| match head[0].as_str() {
                "LOD" => {
                    row.len() == 4
                        && [&row[0], &row[1], &row[3]].into_iter().filter(|cell| !cell.is_empty()).eq(&wanted)
                }
                _ => *row == wanted,
            };
            assert!(shown.iter().any(matches), "{wanted:?} is not on the page:\n{shown:#?}");
            compared += 1;
        }
    }
    assert!(compared >= least, "{compared} rows\n{printed}");
}

pub fn hostile_names_are_text() {
    let place = Place::hostile();
    place.bake(&["--report", "report.html"]);
    let document = open(&place.path("report.html"));
    assert!(document.contains("<title>gpuskin bake report</title>"), "no script of a name has run");
    assert_eq!(document.matches("<script").count(), 5);
    assert!(!document.contains("<img"));
    assert!(document.contains("&lt;/script&gt;&lt;script&gt;document.t"));
    assert!(!text(&document).contains('\u{202e}'), "directions are shown by their number");
    assert!(HOSTILE.contains('\u{202e}'));
    // Long names are shortened in the middle; the mouse shows more of them.
    let shown = shown(&document);
    let longest = shown.split(['<', '>', '"']).filter(|part| part.contains("xxxx")).map(str::len).max().unwrap();
    assert!((50..1000).contains(&longest), "{longest}");
}

pub fn models_without_clips_and_in_vertex_mode_open() {
    let place = Place::new(&manifest_of(&["prop"]));
    let mut json: Value = serde_json::from_str(&pole()).unwrap();
    json.as_object_mut().unwrap().remove("animations");
    place.write("prop.gltf", &json.to_string());
    place.bake(&["--report", "report.html"]);
    let document = shown(&open(&place.path("report.html")));
    assert!(document.contains("1 frame \u{b7} ") && !document.contains("undefined"), "{document}");
    place.write("gpuskin.toml", &format!("{}mode = \"vertex\"\n", manifest_of(&["pole"])));
    place.bake(&["--report", "report.html", "--explain"]);
    let document = shown(&open(&place.path("report.html")));
    assert!(document.contains("B/vertex-frame") && document.contains("error over time"), "{document}");
    assert!(!document.contains("NaN") && !document.contains("undefined"));
}

pub fn a_failed_bake_shows_its_remedies() {
    let place = Place::new(&manifest_of(&["pole", "missing"]));
    place.fails(&["--report", "report.html"]);
    let document = open(&place.path("report.html"));
    assert!(document.contains("The bake failed."), "{document}");
    assert!(document.contains("href=\"#gpuskinfilenot_found\"") && document.contains("id=\"gpuskinfilenot_found\""));
    assert!(document.contains("Remedy: "));
}

pub fn changes_are_listed() {
    let place = Place::new(&format!("{}encoding = \"matrix-f32\"\n", manifest_of(&["pole"])));
    place.bake(&["--report", "old.json"]);
    place.write("gpuskin.toml", &format!("{}encoding = \"trs-packed\"\n", manifest_of(&["pole"])));
    place.bake(&["--compare", "old.json", "--report", "report.html"]);
    let shown = rows(&open(&place.path("report.html")));
    let has = |kind: &str| shown.iter().any(|row| row.last().is_some_and(|cell| cell == kind));
    assert!(has("smaller") && has("worse") && has("changed"), "{shown:#?}");
}

pub fn three_hundred_clips_are_drawn_when_they_come_into_view() {
    let place = Place::new(&manifest_of(&["many"]));
    let mut json: Value = serde_json::from_str(&pole()).unwrap();
    let clip = json["animations"][0].clone();
    json["animations"] = (0..300)
        .map(|n| {
            let mut clip = clip.clone();
            clip["name"] = format!("clip{n}").into();
            clip
        })
        .collect();
    place.write("many.gltf", &json.to_string());
    place.bake(&["--report", "report.html"]);
    let browser = open_in(&place.path("report.html"), [1280, 900]);
    browser.script("document.querySelector('.clip').scrollIntoView()");
    browser.wait("return [...document.querySelectorAll('.clip')].some((card) => card.firstChild)");
    let document = document(&browser);
    assert_eq!(document.matches("<article").count(), 300);
    let drawn = document.matches("error over time").count();
    assert!((1..60).contains(&drawn), "{drawn} clips are drawn at once");
}

pub fn a_thousand_models_open() {
    let names: Vec<String> = (0..1000).map(|n| format!("pole{n}")).collect();
    let entry = |name: &String| format!("[[model]]\nname = \"{name}\"\npath = \"pole.gltf\"\n");
    let place = Place::new(&names.iter().map(entry).collect::<String>());
    place.bake(&["--report", "report.html"]);
    let document = open(&place.path("report.html"));
    assert!(document.contains("<b class=\"\">1000</b>") && rows(&document).len() > 1000);
}
