//! System dependencies: drivers for Vulkan and OpenGL, which a desktop with a GPU has, and a C++
//! compiler for the texture encoder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, cargo};

/// Graphics APIs that a command draws with. All commands bake.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// A C++ compiler alone.
    Compiler,
    /// Vulkan, or else OpenGL.
    OneApi,
    /// Vulkan and OpenGL: the tests run on both.
    BothApis,
}

/// Driver or program, and how to install it.
struct Need {
    name: &'static str,
    /// Package names on Debian and Ubuntu. Drivers are Mesa's, software renderers included.
    packages: &'static [&'static str],
    present: fn() -> bool,
}

const CPP: Need = Need {
    name: "a C++ compiler",
    packages: &["g++"],
    present: || std::env::var_os("CXX").is_some() || in_path("c++") || in_path("g++"),
};

const VULKAN: Need = Need {
    name: "a Vulkan driver",
    packages: &["libvulkan1", "mesa-vulkan-drivers"],
    present: || library("libvulkan.so.1") && vulkan_driver(),
};

const OPENGL: Need = Need {
    name: "an OpenGL driver (EGL)",
    // Mesa's EGL does not depend on its renderers.
    packages: &["libegl1", "libgles2", "libgl1-mesa-dri"],
    present: || library("libEGL.so.1") && opengl_driver(),
};

/// The tests trace the files that a build script writes.
const STRACE: Need = Need { name: "strace", packages: &["strace"], present: || in_path("strace") };

/// Browser of the browser test, and the program that drives it. Tests without them are left out, by name.
const BROWSER: Need = Need {
    name: "Chromium with chromedriver",
    packages: &["chromium", "chromium-driver"],
    present: || in_path("chromium") && in_path("chromedriver"),
};

/// Whether Chromium is installed. Without it, its tests are reported as ignored.
pub(crate) fn has_chromium() -> bool {
    in_path("chromium")
}

/// Installs the browser of the browser test, where it is missing.
pub(crate) fn install_browser() -> Result<(), Failure> {
    match cfg!(target_os = "linux") && !(BROWSER.present)() {
        true => apt(BROWSER.packages),
        false => Ok(()),
    }
}

/// Finds missing dependencies. Installs them, or returns an error that says how to.
pub(crate) fn ensure(needs: Needs, install: bool) -> Result<(), Failure> {
    // On other systems, drivers come with the system.
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let missing =
        |needs: &[&'static Need]| -> Vec<&'static Need> { needs.iter().copied().filter(|n| !(n.present)()).collect() };
    let missing = match needs {
        Needs::Compiler => missing(&[&CPP]),
        Needs::OneApi if (OPENGL.present)() => missing(&[&CPP]),
        Needs::OneApi => missing(&[&CPP, &VULKAN]),
        Needs::BothApis => missing(&[&CPP, &VULKAN, &OPENGL, &STRACE]),
    };
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.iter().map(|need| need.name).collect::<Vec<_>>().join(" and ");
    let packages: Vec<_> = missing.iter().flat_map(|need| need.packages).copied().collect();
    if !install {
        return Err(Failure::Failed(format!(
            "missing: {names}\n\n\
             On Debian or Ubuntu:  sudo apt-get install {}\n\
             or repeat this command with --with-deps. On other systems: a C++ compiler, and the drivers of your GPU, or Mesa.",
            packages.join(" ")
        )));
    }
    apt(&packages)?;
    match missing.iter().find(|need| !(need.present)()) {
        Some(need) => Err(Failure::Failed(format!("{} is still missing after installing {packages:?}", need.name))),
        None => Ok(()),
    }
}

fn apt(packages: &[&str]) -> Result<(), Failure> {
    if !in_path("apt-get") {
        let packages = packages.join(" ");
        return Err(Failure::Failed(format!("apt-get not found: install the equivalents of Debian's {packages}")));
    }
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    let apt_get = |args: &[&str]| {
        // `env`, because sudo drops variables.
        let prefix: &[&str] = if root { &["env"] } else { &["sudo", "env"] };
        let words = [prefix, &["DEBIAN_FRONTEND=noninteractive", "apt-get"], args].concat();
        eprintln!("== {}", words.join(" "));
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        command
    };
    // Old package lists do not matter if the packages are in the cache.
    if cargo::run(apt_get(&["update", "-q"])).is_err() {
        eprintln!("== apt-get update failed: continuing with the existing package lists");
    }
    let install = [&["install", "-q", "-y", "--no-install-recommends"], packages].concat();
    cargo::run(apt_get(&install))
        .map_err(|_| Failure::Failed(format!("apt-get could not install {}", packages.join(" "))))
}

fn in_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).exists()))
}

/// Whether the dynamic linker would find a library.
fn library(name: &str) -> bool {
    let from_environment = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&from_environment).collect();
    folders.extend(
        ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/run/opengl-driver/lib"].map(Into::into),
    );
    for multiarch in ["/lib", "/usr/lib"] {
        folders.extend(entries(Path::new(multiarch)).into_iter().filter(|path| ends_with(path, "-linux-gnu")));
    }
    folders.iter().any(|folder| folder.join(name).exists())
}

fn vulkan_driver() -> bool {
    let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(|name| std::env::var_os(name).is_some());
    let data = ["/usr/share", "/usr/local/share", "/etc", "/run/opengl-driver/share"];
    named
        || data
            .iter()
            .any(|data| entries(&Path::new(data).join("vulkan/icd.d")).iter().any(|path| ends_with(path, ".json")))
}

/// Whether there is an EGL driver of any vendor. Mesa's also needs a renderer: Gallium in one
/// library, or the drivers of older releases.
fn opengl_driver() -> bool {
    let vendors: Vec<PathBuf> = ["/usr/share", "/etc", "/run/opengl-driver/share"]
        .iter()
        .flat_map(|data| entries(&Path::new(data).join("glvnd/egl_vendor.d")))
        .filter(|path| ends_with(path, ".json"))
        .collect();
    let mesa_only = vendors.iter().all(|path| ends_with(path, "_mesa.json"));
    let renderer = || {
        let mut folders = entries(Path::new("/usr/lib"));
        folders.extend(["/usr/lib".into(), "/usr/lib64".into()]);
        folders.iter().any(|folder| {
            folder.join("dri/swrast_dri.so").exists()
                || entries(folder).iter().any(|path| path.to_string_lossy().contains("/libgallium"))
        })
    };
    if vendors.is_empty() {
        // Without the vendor-neutral dispatcher, the library itself is the driver.
        return !library("libGLdispatch.so.0");
    }
    !mesa_only || renderer()
}

fn ends_with(path: &Path, end: &str) -> bool {
    path.to_string_lossy().ends_with(end)
}

/// Entries of a folder; none if the folder does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}
