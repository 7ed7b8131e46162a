//! Import layers: modules of a crate import downwards only, so that each file can be read after those it imports.
//!
//! The test reads the sources, not the compiled crate. An import is a `use` declaration or a path in code that leads into
//! another file of the same crate, followed through re-exports to the file that defines the item; `#[cfg(test)]` items do not
//! count. A parent module that uses a submodule stands above it: what both need belongs to a file below both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, UseTree};

/// Crates whose imports must be free of cycles.
const CRATES: &[&str] = &["gpuskin-build", "gpuskin-rt"];

/// Longest chain of re-exports that is followed.
const MAX_HOPS: usize = 8;

/// Path of a module below the crate root; the root itself is empty.
type Module = Vec<String>;
/// Imported names, by importing and imported module.
type Imports = BTreeMap<Module, BTreeMap<Module, BTreeSet<String>>>;

#[test]
fn modules_import_downwards_only() {
    let mut report = String::new();
    for name in CRATES {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        let tree = Sources::read(&sources);
        assert!(tree.files.len() > 10, "{name}: only {} source files found in {}", tree.files.len(), sources.display());
        let imports = tree.imports();
        for (number, cycle) in cycles(&imports).iter().enumerate() {
            report.push_str(&format!("\n{name}: import cycle {} joins {} files\n", number + 1, cycle.len()));
            for from in cycle {
                for (to, names) in imports[from].iter().filter(|(to, _)| cycle.contains(*to)) {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    report.push_str(&format!("  {} -> {}: {}\n", tree.file(from), tree.file(to), names.join(", ")));
                }
            }
        }
    }
    assert!(report.is_empty(), "{report}\nMove the shared items into a file that both sides can import.");
}

#[test]
fn cycles_are_found_and_named() {
    let module = |name: &str| vec![name.to_owned()];
    let import = |to: &str| (module(to), BTreeSet::from(["Item".to_owned()]));
    let imports = Imports::from([
        (module("a"), BTreeMap::from([import("b")])),
        (module("b"), BTreeMap::from([import("c")])),
        (module("c"), BTreeMap::from([import("b"), import("d")])),
        (module("d"), BTreeMap::new()),
    ]);
    assert_eq!(cycles(&imports), [BTreeSet::from([module("b"), module("c")])]);
}

#[test]
fn imports_are_resolved_to_files() {
    let files = [
        ("", "mod a; mod b; mod c;"),
        ("a", "mod inner; use crate::b::{Thing, c::Other as Renamed}; fn f() { inner::g(); crate::c::h!(); }"),
        ("a::inner", "use super::{Outer, Thing}; #[cfg(test)] mod tests { use crate::c::Only; }"),
        ("b", "struct Thing;"),
        ("c", "macro_rules! m { () => { $crate::b::Thing } }"),
    ];
    let sources = Sources::parse(files.map(|(module, text)| {
        let path: Module = module.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        (path, (PathBuf::from(module), text.to_owned()))
    }));
    let imports = sources.imports();
    let of = |module: &str| -> Vec<String> {
        let path: Module = module.split("::").map(str::to_owned).collect();
        let to_text = |(to, names): (&Module, &BTreeSet<String>)| {
            format!("{}: {}", to.join("::"), names.iter().map(String::as_str).collect::<Vec<_>>().join(" "))
        };
        imports[&path].iter().map(to_text).collect()
    };
    assert_eq!(of("a"), ["a::inner: g", "b: Thing c", "c: h"]);
    assert_eq!(of("a::inner"), ["a: Outer", "b: Thing"]);
    assert_eq!(of("c"), ["b: Thing"]);
}

/// Parsed source files of a crate by module.
struct Sources {
    files: BTreeMap<Module, (PathBuf, syn::File)>,
    /// Paths of imported names, as written in the `use` declarations of each module.
    aliases: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

impl Sources {
    /// Reads `lib.rs` and every file below it.
    fn read(root: &Path) -> Self {
        let mut texts = Vec::new();
        let mut folders = vec![(root.to_owned(), Module::new())];
        while let Some((folder, module)) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
                let path = entry.unwrap().path();
                let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    // Binaries are crates of their own.
                    if stem != "bin" {
                        folders.push((path, [module.clone(), vec![stem]].concat()));
                    }
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let own = match stem.as_str() {
                        "mod" | "lib" => module.clone(),
                        _ => [module.clone(), vec![stem]].concat(),
                    };
                    let text = std::fs::read_to_string(&path).unwrap();
                    texts.push((own, (path.strip_prefix(root).unwrap().to_owned(), text)));
                }
            }
        }
        Self::parse(texts)
    }

    /// Parses files, and drops those that only `#[cfg(test)]` modules declare.
    fn parse(texts: impl IntoIterator<Item = (Module, (PathBuf, String))>) -> Self {
        let parse = |(module, (path, text)): (Module, (PathBuf, String))| {
            let file = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            (module, (path, file))
        };
        let mut files: BTreeMap<_, _> = texts.into_iter().map(parse).collect();
        let mut tests = Vec::new();
        for (module, (_, file)) in &files {
            for item in &file.items {
                if let Item::Mod(item) = item
                    && is_test(&item.attrs)
                {
                    tests.push([module.clone(), vec![item.ident.to_string()]].concat());
                }
            }
        }
        files.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        let mut aliases: BTreeMap<Module, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        for (module, (_, file)) in &files {
            let own = aliases.entry(module.clone()).or_default();
            for item in &file.items {
                if let Item::Use(item) = item
                    && !is_test(&item.attrs)
                {
                    collect_names(&item.tree, &mut Vec::new(), own);
                }
            }
        }
        Self { files, aliases }
    }

    /// File that a path leads to, and the name of the item there; `None` for paths of other crates.
    fn resolve(&self, path: &[String], scope: &Module, hops: usize) -> Option<(Module, String)> {
        let (first, mut rest) = path.split_first()?;
        let mut target = match first.as_str() {
            "crate" => Module::new(),
            "self" => scope.clone(),
            "super" => scope[..scope.len().saturating_sub(1)].to_vec(),
            name => {
                Some([scope.clone(), vec![name.to_owned()]].concat()).filter(|child| self.files.contains_key(child))?
            }
        };
        while let Some((next, after)) = rest.split_first() {
            let child = [target.clone(), vec![next.clone()]].concat();
            if next == "super" {
                target.pop();
            } else if self.files.contains_key(&child) {
                target = child;
            } else {
                break;
            }
            rest = after;
        }
        // A module that is written inside a file belongs to that file.
        while !self.files.contains_key(&target) {
            target.pop()?;
        }
        let Some((name, after)) = rest.split_first() else { return Some((target, "(the module)".to_owned())) };
        let alias = self.aliases.get(&target).and_then(|names| names.get(name)).filter(|_| hops > 0);
        let defined = alias.and_then(|alias| self.resolve(&[&alias[..], after].concat(), &target, hops - 1));
        Some(defined.unwrap_or((target, name.clone())))
    }

    fn file(&self, module: &Module) -> String {
        self.files[module].0.display().to_string()
    }

    fn imports(&self) -> Imports {
        let of = |(module, (_, file)): (&Module, &(PathBuf, syn::File))| {
            let mut reader = Reader { sources: self, module, found: BTreeMap::new() };
            file.items.iter().for_each(|item| reader.item(item, module));
            (module.clone(), reader.found)
        };
        self.files.iter().map(of).collect()
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("(test)")
    })
}

/// Collects the imports of one file.
struct Reader<'a> {
    sources: &'a Sources,
    module: &'a Module,
    found: BTreeMap<Module, BTreeSet<String>>,
}

impl Reader<'_> {
    /// Reads an item of `scope`: the module of the file, or a module that is written inside it.
    fn item(&mut self, item: &Item, scope: &Module) {
        match item {
            // A re-export alone needs nothing; if the file uses the name as well, `tokens` finds it.
            Item::Use(item) if !is_test(&item.attrs) && matches!(item.vis, syn::Visibility::Inherited) => {
                self.tree(&item.tree, &mut Vec::new(), scope);
            }
            Item::Mod(item) if !is_test(&item.attrs) => {
                let inner = [scope.clone(), vec![item.ident.to_string()]].concat();
                item.content.iter().flat_map(|(_, items)| items).for_each(|item| self.item(item, &inner));
            }
            Item::Use(_) | Item::Mod(_) => {}
            Item::Fn(item) if is_test(&item.attrs) => {}
            Item::Impl(item) if is_test(&item.attrs) => {}
            Item::Impl(item) => {
                let head = item.trait_.as_ref().map(|(path, _)| path.to_token_stream());
                self.tokens(head.into_iter().chain([item.self_ty.to_token_stream()]).collect(), scope);
                for inner in &item.items {
                    if !matches!(inner, syn::ImplItem::Fn(inner) if is_test(&inner.attrs)) {
                        self.tokens(inner.to_token_stream(), scope);
                    }
                }
            }
            item => self.tokens(item.to_token_stream(), scope),
        }
    }

    fn tree(&mut self, tree: &UseTree, path: &mut Vec<String>, scope: &Module) {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.tree(&tree.tree, path, scope);
                path.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, path, scope)),
            UseTree::Name(name) => self.path(&[&path[..], &[name.ident.to_string()]].concat(), scope),
            UseTree::Rename(name) => self.path(&[&path[..], &[name.ident.to_string()]].concat(), scope),
            UseTree::Glob(_) => self.path(&[&path[..], &["*".to_owned()]].concat(), scope),
        }
    }

    /// Reads the paths of code; macros too, which is why it goes by tokens.
    fn tokens(&mut self, tokens: TokenStream, scope: &Module) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        let mut generated = false;
        for token in tokens {
            match token {
                // Paths in `quote!` are those of the generated code.
                TokenTree::Group(_) if std::mem::take(&mut generated) => {}
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) if colons == 2 && !path.is_empty() => {
                    path.push(ident.to_string());
                    colons = 0;
                }
                token => {
                    let last = path.last().cloned().unwrap_or_default();
                    self.path(&std::mem::take(&mut path), scope);
                    match token {
                        TokenTree::Punct(punct) if punct.as_char() == '!' => generated = last == "quote",
                        TokenTree::Ident(ident) => path.push(ident.to_string()),
                        TokenTree::Group(group) => self.tokens(group.stream(), scope),
                        _ => {}
                    }
                    colons = 0;
                }
            }
        }
        self.path(&path, scope);
    }

    /// Records the file that a path leads to, if the path is one of this crate.
    fn path(&mut self, path: &[String], scope: &Module) {
        let Some((first, rest)) = path.split_first() else { return };
        let alias = self.sources.aliases.get(scope).and_then(|names| names.get(first));
        let path = &alias.map_or_else(|| path.to_vec(), |alias| [&alias[..], rest].concat());
        if path.len() < 2 {
            return;
        }
        if let Some((target, name)) = self.sources.resolve(path, scope, MAX_HOPS)
            && target != *self.module
        {
            self.found.entry(target).or_default().insert(name);
        }
    }
}

/// Adds the names that a `use` declaration brings into scope, with their paths.
fn collect_names(tree: &UseTree, path: &mut Vec<String>, names: &mut BTreeMap<String, Vec<String>>) {
    let full =
        |path: &[String], name: &str| if name == "self" { path.to_vec() } else { [path, &[name.to_owned()]].concat() };
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            collect_names(&tree.tree, path, names);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect_names(tree, path, names)),
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            let key = if name == "self" { path.last().cloned().unwrap_or_default() } else { name.clone() };
            names.insert(key, full(path, &name));
        }
        UseTree::Rename(name) => {
            names.insert(name.rename.to_string(), full(path, &name.ident.to_string()));
        }
        UseTree::Glob(_) => {}
    }
}

/// Groups of modules that import each other, directly or through others: strongly connected components of more than one.
fn cycles(imports: &Imports) -> Vec<BTreeSet<Module>> {
    let reachable: BTreeMap<&Module, BTreeSet<&Module>> = imports
        .keys()
        .map(|start| {
            let mut reached = BTreeSet::new();
            let mut open: Vec<&Module> = imports[start].keys().collect();
            while let Some(module) = open.pop() {
                if reached.insert(module) {
                    open.extend(imports.get(module).into_iter().flat_map(BTreeMap::keys));
                }
            }
            (start, reached)
        })
        .collect();
    let mut found: BTreeSet<BTreeSet<Module>> = BTreeSet::new();
    for (&module, reached) in &reachable {
        if reached.contains(module) {
            let both = |other: &&&Module| reachable.get(**other).is_some_and(|back| back.contains(module));
            found.insert(reached.iter().filter(both).map(|&other| other.clone()).collect());
        }
    }
    found.into_iter().collect()
}
