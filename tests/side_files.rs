//! Files beside the game: the folders that are searched, their order, and the files that are
//! refused. Every case runs in its own process, because the folders are set for a whole process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gpuskin_rt::internals::files::{load, set_asset_folder};

gpuskin_rt::include_baked!("golden");

/// Makes the tests take turns. A child process inherits all open files until it executes its
/// program, and a copy of the game that is still open for writing cannot be executed ("Text file
/// busy").
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Name of the mesh below `gpuskin/`.
fn mesh() -> &'static str {
    models::POLE.side_files().find(|name| name.ends_with("/mesh.bin")).expect("a side file")
}

/// Path of the baked mesh.
fn baked() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/gpuskin").join(mesh())
}

/// The game: loads the mesh, and prints its last byte or the error. It passes the variable
/// `SET_FOLDER` to `set_asset_folder`.
#[test]
#[ignore = "run by the other tests"]
fn game() {
    if let Some(folder) = std::env::var_os("SET_FOLDER") {
        set_asset_folder(folder);
    }
    match load(&models::POLE.mesh, &models::POLE.meta.content_hash) {
        Ok(bytes) => println!("\nfound {}", bytes.last().unwrap()),
        Err(error) => println!("\nfailed: {error}"),
    }
}

/// Runs the game. Returns the line that it prints.
fn run(game: &Path, variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(game);
    command.args(["--exact", "game", "--ignored", "--nocapture"]).env_remove("GPUSKIN_ASSETS").env_remove("SET_FOLDER");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.starts_with("found ") || line.starts_with("failed: "));
    line.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr))).to_owned()
}

/// Writes the mesh into a folder with another last byte: a mark that no check covers.
fn put(folder: &Path, mark: u8) {
    let mut bytes = fs::read(baked()).unwrap();
    *bytes.last_mut().unwrap() = mark;
    let path = folder.join(mesh());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn nearest_folder_takes_precedence() {
    let _turn = turn();
    let temporary = tempfile::tempdir().unwrap();
    let place = |name: &str| temporary.path().join(name);
    let game = place("game");
    fs::copy(std::env::current_exe().unwrap(), &game).unwrap();
    let (set, assets) = (place("set"), place("assets"));
    let variables: [(&str, &Path); 2] = [("SET_FOLDER", &set), ("GPUSKIN_ASSETS", &assets)];
    assert_eq!(fs::read(baked()).unwrap().last(), Some(&0), "the baked mesh must end with 0, which no mark is");

    // `cargo test` sets the folder of the package, in which the relative path of the bake is found.
    assert_eq!(run(&game, &variables), "found 0", "the folder of the bake");
    put(&place("gpuskin"), 1);
    assert_eq!(run(&game, &variables), "found 1", "the folder beside the executable");
    put(&assets, 2);
    assert_eq!(run(&game, &variables), "found 2", "GPUSKIN_ASSETS");
    assert_eq!(run(&game, &[]), "found 1", "without the variable");
    put(&set, 3);
    assert_eq!(run(&game, &variables), "found 3", "set_asset_folder");
    assert_eq!(run(&game, &variables[1..]), "found 2", "without the call");
}

#[test]
fn files_of_another_bake_are_refused_with_their_path() {
    let _turn = turn();
    let temporary = tempfile::tempdir().unwrap();
    let game = std::env::current_exe().unwrap();
    let refused = |change: fn(&mut Vec<u8>)| {
        put(temporary.path(), 0);
        let path = temporary.path().join(mesh());
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
        let line = run(&game, &[("GPUSKIN_ASSETS", temporary.path())]);
        line.starts_with("failed: ") && line.contains("another bake") && line.contains(path.to_str().unwrap())
    };
    assert!(!refused(|_| {}));
    assert!(refused(|bytes| bytes[0] ^= 1), "accepted another hash");
    assert!(refused(|bytes| bytes.truncate(20)), "accepted a truncated file");
    assert!(refused(|bytes| bytes.push(0)), "accepted an extra byte");
    assert!(refused(Vec::clear), "accepted an empty file");
}

#[test]
fn releases_do_not_contain_the_path_of_the_bake_folder() {
    let program = fs::read(std::env::current_exe().unwrap()).unwrap();
    // Put together at run time, so that this test does not contain it.
    let folder = [env!("CARGO_MANIFEST_DIR"), "golden"].join("/");
    let contained = program.windows(folder.len()).any(|part| part == folder.as_bytes());
    assert_eq!(contained, cfg!(debug_assertions), "{folder}");
}
