// The page: overview, one model in detail, diagnostics.

const state = {
  // JSON of the report and what belongs to it, as text and read.
  text: "", data: null,
  model: 0, format: null, online: false,
  // Functions that draw treemaps, by name.
  draws: new Map(),
};

function drawMaps() {
  for (const draw of state.draws.values()) draw();
}

function worst(model, kind) {
  return model.clips.reduce((best, clip) => (!best || measured(clip[kind].max) > measured(best[kind].max) ? clip : best), null);
}

function modelTitle(model, most = 80) {
  return element("span", {}, name(model.name, most), model.variant ? element("span", { class: "soft" }, " (" + model.encoding + ")") : null);
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function formats(report) {
  const all = report.models.flatMap((model) => model.data.map((data) => data.format).filter(Boolean));
  return [...new Set(all)];
}

// Whether a clip exceeds a budget of its model.
function exceeds(model, clip) {
  return measured(clip.encoding.max) > measured(model.budgets.encoding.limit) || measured(clip.motion.max) > measured(model.budgets.motion.limit);
}

function header(report) {
  const total = sum(report.models.map((model) => sum(shipped(model, state.format).map((data) => data.bytes))));
  const severities = shownDiagnostics().map((diagnostic) => diagnostic.severity);
  const errors = severities.filter((severity) => severity === "error").length;
  const warnings = severities.length - errors;
  const stat = (value, what, cls = "") => element("li", {}, element("b", { class: cls }, value), element("span", {}, what));
  const clips = sum(report.models.filter((model) => !model.variant).map((model) => model.clips.length));
  const live = state.data.live ? element("span", { class: "live " + (state.online ? "on" : "off"), id: "live" }, state.online ? "live" : "not connected") : null;
  return [
    live,
    element("h1", {}, "Bake report"),
    element("ul", { class: "stats" },
      ...(report.models.length ? [
        stat(String(report.models.filter((model) => !model.variant).length), "models"),
        stat(String(clips), "clips"),
        stat(bytes(total), state.format ? "with textures as " + state.format : "of files"),
      ] : []),
      stat(String(errors), errors === 1 ? "error" : "errors", errors ? "bad" : ""),
      stat(String(warnings), warnings === 1 ? "warning" : "warnings", warnings ? "warn" : "")),
  ];
}

function shownDiagnostics() {
  const failure = state.data.failure;
  return failure ? failure.diagnostics : state.data.report.diagnostics;
}

function banner(report) {
  const failed = state.data.failure || (report.failed ? report : null);
  if (!failed) return null;
  const kept = state.data.failure && report.models.length > 0;
  const names = failed.not_baked.slice(0, 20).flatMap((one, i) => [i ? ", " : "", name(one, 40)]);
  if (failed.not_baked.length > 20) names.push(` and ${failed.not_baked.length - 20} more`);
  return element("div", { class: "card banner", id: "failure" },
    element("b", { class: "bad" }, "The bake failed."),
    kept ? " The files and this page are those of the last bake that succeeded." : " The files of the last bake that succeeded stay unchanged.",
    failed.not_baked.length ? element("p", { class: "small soft" }, "Models of the manifest: ", ...names) : null,
    element("div", { class: "diagnostics" }, ...failed.diagnostics.filter((one) => one.severity === "error").map(diagnosticCard)));
}

// Treemap of models, with a line about what is under the pointer. `draws`: name under which it is drawn again.
function treemap(models, draws, hintText) {
  const canvas = element("canvas", { "aria-label": "treemap of bytes by model and kind of data" });
  const hint = element("div", { class: "hint" }, hintText);
  let find = () => null;
  state.draws.set(draws, () => { find = drawTreemap(canvas, models, state.format); });
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return find(event.clientX - box.left, event.clientY - box.top);
  };
  canvas.addEventListener("pointermove", (event) => {
    const found = at(event);
    if (found) hint.replaceChildren(...mapText(found));
  });
  canvas.addEventListener("click", (event) => {
    const found = at(event);
    if (found) pick(state.data.report.models.indexOf(found.item.model));
  });
  return [canvas, hint];
}

// Describes a place of a treemap.
function mapText({ item, clip, bone, kind, part, size }) {
  const { model, data } = item;
  const text = [modelTitle(model), ": " + data.map((one) => one.kind + " " + bytes(one.bytes)).join(", ")];
  if (clip) {
    const share = clip.frames / Math.max(1, model.texture.frames);
    text.push("; clip ", name(clip.name, 60), `: ${counted(clip.frames, "frame", "frames")}, ${digits(100 * share)} % of the frames`);
    const animation = sum(data.filter((one) => one.kind === "animation").map((one) => one.bytes));
    if (bone !== undefined) text.push("; bone ", name(bone, 60), `: about ${bytes(Math.round((share * animation) / model.bones.length))}`);
  }
  if (part) text.push(`; ${kind} of part ${partName(part)}: ${bytes(size)}`);
  return text;
}

function overview(report) {
  if (!report.models.length) return [];
  const totals = new Map();
  for (const model of report.models) for (const data of shipped(model, state.format)) totals.set(data.kind, (totals.get(data.kind) || 0) + data.bytes);
  const keys = KINDS.filter((kind) => totals.has(kind)).map((kind) => {
    const swatch = element("i");
    swatch.style.background = color(kind);
    return element("span", { class: "key" }, swatch, kind + " " + bytes(totals.get(kind)));
  });
  const all = formats(report);
  let choice = null;
  if (all.length > 1) {
    const select = element("select", { "aria-label": "texture format" }, ...all.map((format) => element("option", { value: format }, format)));
    select.value = state.format;
    select.addEventListener("change", () => {
      state.format = select.value;
      render(true);
    });
    choice = element("label", { class: "key" }, "textures as ", select);
  }
  const error = (kind) => ({
    title: kind + " error", number: true,
    key: (model) => measured(worst(model, kind)?.[kind].max ?? -1),
    cell: (model) => {
      const clip = worst(model, kind);
      const above = clip && measured(clip[kind].max) > measured(model.budgets[kind].limit);
      return element("span", above ? { class: "warn", title: "above " + model.budgets[kind].key + " " + length(model.budgets[kind].limit) } : {}, clip ? length(clip[kind].max) : "-");
    },
  });
  const part = (title, kinds) => {
    const value = (model) => sum(shipped(model, state.format).filter((data) => kinds.includes(data.kind)).map((data) => data.bytes));
    return { title, number: true, key: value, cell: (model) => (value(model) ? bytes(value(model)) : "-") };
  };
  const columns = [
    { title: "model", key: (model) => model.name, cell: (model) => modelTitle(model, 60) },
    { title: "encoding", key: (model) => model.encoding, cell: (model) => element("span", { class: "code" }, model.encoding) },
    { title: "clips", number: true, key: (model) => model.clips.length, cell: (model) => String(model.clips.length) },
    { title: "bones", number: true, key: (model) => model.bones.length, cell: (model) => String(model.bones.length) },
    { title: "vertices", number: true, key: (model) => model.vertices, cell: (model) => String(model.vertices) },
    part("animation", ["animation"]), part("mesh", ["vertices", "indices", "levels of detail", "morph targets", "rest pose", "other"]), part("textures", ["textures"]),
    error("encoding"), error("motion"),
  ];
  const rows = new Map();
  const models = table(columns, report.models, {
    tall: report.models.length > 12,
    pick: (model) => pick(report.models.indexOf(model)),
    row: (model, line) => rows.set(model, line),
  });
  const search = element("input", { type: "search", placeholder: "Filter models", "aria-label": "filter models" });
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    for (const [model, line] of rows) line.hidden = !model.name.toLowerCase().includes(wanted);
  });
  state.rows = rows;
  return [
    element("h2", {}, "Bytes"),
    element("div", { class: "card map" }, element("div", { class: "maphead" }, ...keys, choice),
      ...treemap(report.models, "all", "Area is bytes of files: within animations frames of clips and their bones, within meshes parts. Click a model to see it in detail.")),
    element("h2", {}, "Models"),
    report.models.length > 12 ? element("div", { class: "filters" }, search) : null,
    models,
  ];
}

function pick(index) {
  state.model = index;
  history.replaceState(null, "", "#model-" + index);
  showModel();
  document.getElementById("model").scrollIntoView({ block: "start" });
}

function showModel() {
  const model = state.data.report.models[state.model];
  const place = document.getElementById("model");
  if (!place) return;
  for (const [other, line] of state.rows) line.classList.toggle("picked", other === model);
  place.replaceChildren(...modelDetail(model));
  state.draws.get("model")?.();
  watchClips();
}

function modelDetail(model) {
  const count = (value, one, many) => counted(value, one, many);
  const texture = model.texture;
  const line = [
    model.encoding, count(model.bones.length, "bone", "bones"), count(model.vertices, "vertex", "vertices"),
    count(model.clips.length, "clip", "clips"), count(texture.frames, "frame", "frames"),
    `${texture.width} x ${texture.height} x ${texture.layers} ${texture.format}`,
  ].join(", ");
  const named = (list) => list.flatMap((one, i) => [i ? ", " : "", name(one, 40)]);
  const facts = [];
  if (model.masks.length) facts.push(element("p", { class: "small soft" }, "Masks: ", ...model.masks.flatMap((mask, i) => [i ? ", " : "", name(mask.name, 40), ` (${count(mask.bones, "bone", "bones")})`])));
  if (model.parts.length) facts.push(element("p", { class: "small soft" }, "Parts: ", ...named(model.parts)));
  return [
    element("h2", {}, modelTitle(model, 200)),
    element("p", { class: "soft" }, line),
    ...facts,
    viewerElement(model, state.model),
    modelMap(model),
    element("div", { class: "two" }, element("div", {}, element("h3", {}, "Data"), dataTable(model)), element("div", {}, element("h3", {}, "Levels of detail"), levelTable(model))),
    ...candidates(model),
    ...clipSection(model),
  ].filter(Boolean);
}

// Treemap of one model; `null` if that of all models shows it already.
function modelMap(model) {
  state.draws.delete("model");
  if (state.data.report.models.length < 2) return null;
  return element("div", { class: "card map" }, ...treemap([model], "model", "Area is bytes of this model."));
}

function dataTable(model) {
  const data = shipped(model, state.format);
  const most = Math.max(1, ...data.map((one) => one.bytes));
  const bar = (one) => {
    const made = element("span", { class: "bar" });
    made.style.width = (100 * one.bytes) / most + "%";
    made.style.background = color(one.kind);
    return made;
  };
  return table([
    { title: "kind", key: (one) => one.kind, cell: (one) => one.kind + (one.format ? ", " + one.format : "") },
    { title: "bytes", number: true, key: (one) => one.bytes, cell: (one) => bytes(one.bytes) },
    { title: "", wide: true, cell: bar },
  ], data);
}

function levelTable(model) {
  const rows = model.levels.map((level, number) => ({ ...level, number }));
  const share = (level) => (model.triangles ? digits((100 * level.triangles) / model.triangles) + " %" : "-");
  return table([
    { title: "LOD", number: true, key: (level) => level.number, cell: (level) => String(level.number) },
    { title: "triangles", number: true, key: (level) => level.triangles, cell: (level) => String(level.triangles) },
    { title: "of LOD 0", number: true, key: (level) => level.triangles, cell: share },
    { title: "error", number: true, key: (level) => measured(level.error), cell: (level) => (level.number ? length(level.error) : "") },
  ], rows);
}

function candidates(model) {
  const title = element("h3", {}, "Encodings");
  if (!model.candidates.length) {
    return [title, element("p", { class: "soft small" }, "The manifest names the encoding ", element("code", {}, model.encoding), ". ", element("code", {}, "gpuskin bake --explain --report FILE.html"), " shows the others beside it.")];
  }
  const size = model.vertex_mode ? "B/vertex-frame" : "B/bone-frame";
  const error = (title, key, format) => ({ title, number: true, key: (one) => (one.errors ? measured(one.errors[key]) : -1), cell: (one) => (one.errors ? format(one.errors[key]) : "-") });
  const rows = table([
    { title: "candidate", key: (one) => one.encoding, cell: (one) => element(one.chosen ? "b" : "span", { class: "code" }, one.encoding) },
    { title: "GPU bytes", number: true, key: (one) => one.gpu_bytes, cell: (one) => bytes(one.gpu_bytes) },
    { title: size, number: true, key: (one) => one.bytes_per_sample, cell: (one) => digits(one.bytes_per_sample) },
    error("encoding", "encoding", length), error("p99.96", "encoding_p9996", length), error("motion", "motion", length),
    error("p99.96", "motion_p9996", length), error("normals", "normal_degrees", degrees),
    { title: "", cell: (one) => (one.chosen ? element("b", { class: "good" }, "chosen") : name(one.reason || "", 400)) },
  ], model.candidates);
  const plot = candidatePlot(model);
  const partial = model.candidates.length < 4 ? element("p", { class: "soft small" }, "Encodings that could not be better were not evaluated. ", element("code", {}, "gpuskin bake --explain --report FILE.html"), " shows all.") : null;
  return [title, partial, plot ? element("div", { class: "card candidates" }, plot) : null, plot ? element("p") : null, rows];
}

function ends(clip) {
  const { looped, guessed, change, gap } = clip.ends;
  const changed = change === "none" ? "" : change === "frame added" ? ", one frame added" : ", blended";
  return (looped ? "loop" : "once") + (guessed ? ", guessed" : "") + changed + " (" + length(gap) + ")";
}

function frameText(frame) {
  return Number.isInteger(frame) ? "frame " + frame : "frame " + short(frame) + ", between frames " + Math.floor(frame) + " and " + (Math.floor(frame) + 1);
}

function place(model, error) {
  return [`${short(measured(error.seconds))} s, ${frameText(error.frame)}, vertex ${error.vertex}, bone `, name(model.bones[error.bone] ?? String(error.bone), 60)];
}

function clipSection(model) {
  if (!model.clips.length) return [element("h3", {}, "Clips"), element("p", { class: "soft" }, "The model has no clips.")];
  const cards = new Map();
  const grid = element("div", { class: "clips" }, ...model.clips.map((clip, index) => {
    const card = element("article", { class: "card clip", id: "clip-" + index });
    card.fill = () => fillClip(card, model, clip);
    cards.set(clip, card);
    return card;
  }));
  const error = (kind, key, title, format = length) => ({
    title, number: true, key: (clip) => measured(clip[kind][key]),
    cell: (clip) => element("span", key === "max" && measured(clip[kind].max) > measured(model.budgets[kind].limit) ? { class: "warn" } : {}, format(clip[kind][key])),
  });
  const normals = (clip) => Math.max(measured(clip.encoding.normal_degrees), measured(clip.motion.normal_degrees));
  const rows = table([
    { title: "clip", key: (clip) => clip.name, cell: (clip) => name(clip.name, 48) },
    { title: "frames", number: true, key: (clip) => clip.frames, cell: (clip) => String(clip.frames) },
    { title: "fps", number: true, key: (clip) => clip.fps, cell: (clip) => frameRate(clip.fps) },
    { title: "seconds", number: true, key: (clip) => clip.seconds, cell: (clip) => short(clip.seconds) },
    { title: "ends", key: ends, cell: ends },
    error("encoding", "max", "encoding"), error("encoding", "p9996", "p99.96"), error("motion", "max", "motion"), error("motion", "p9996", "p99.96"),
    { title: "normals", number: true, key: normals, cell: (clip) => degrees(normals(clip)) },
  ], model.clips, { tall: model.clips.length > 12, pick: (clip) => cards.get(clip).scrollIntoView({ block: "center" }) });
  const lineKey = (kind, what, dashed) => {
    const swatch = element("i", { class: dashed ? "dashKey" : "lineKey" });
    swatch.style.borderColor = `var(--${kind})`;
    return element("span", { class: "key" }, swatch, what);
  };
  return [
    element("h3", {}, "Clips"), rows,
    element("h3", {}, "Error over time"),
    element("p", { class: "soft small" }, "Greatest distance of any source vertex to the glTF model, evaluated in 64-bit floats."),
    element("div", { class: "maphead" }, lineKey("frames", "at the frames"), lineKey("between", "between the frames"), lineKey("budget", "tolerance", true)),
    grid,
  ];
}

function fillClip(card, model, clip) {
  const hover = element("div", { class: "facts worst" });
  const resting = () => {
    const step = clip.step_tracks ? `${counted(clip.step_tracks, "STEP track", "STEP tracks")}, excluded between frames. ` : "";
    const between = measured(clip.motion.max) > measured(clip.encoding.max);
    hover.replaceChildren(step, "Worst: ", element("b", {}, length(clip.motion.max)), " at ", ...place(model, clip.motion));
    if (between) hover.append(element("br"), "At frames: ", element("b", {}, length(clip.encoding.max)), " at ", ...place(model, clip.encoding));
  };
  const tell = (at) => {
    if (!at) return resting();
    const row = ([points, i], what) => [what, element("b", {}, length(points.error[i])), " at ", ...place(model, {
      seconds: points.seconds[i], frame: Math.round(measured(points.seconds[i]) * clip.fps * 1000) / 1000, vertex: points.vertex[i], bone: points.bone[i],
    })];
    hover.replaceChildren(...row(at.frames, "At frames: "));
    if (at.between) hover.append(element("br"), ...row(at.between, "Between: "));
  };
  const tags = [clip.root_motion ? "root motion" : "", clip.additive ? "additive" : ""].filter(Boolean);
  const events = clip.events.slice(0, 12).flatMap((event, i) => [i ? ", " : " \u00b7 events: ", name(event.name, 30), " " + short(event.seconds) + " s"]);
  if (clip.events.length > 12) events.push(` and ${clip.events.length - 12} more`);
  const title = element("h4", {}, name(clip.name, 120));
  if (exceeds(model, clip)) title.append(element("span", { class: "warn small" }, " above tolerance"));
  const points = clip.curve.frames_per_point > 1 ? ` \u00b7 one point per ${clip.curve.frames_per_point} frames` : "";
  const facts = element("div", { class: "facts" }, [counted(clip.frames, "frame", "frames"), frameRate(clip.fps) + " fps", short(clip.seconds) + " s", ends(clip), ...tags].join(" \u00b7 ") + points, ...events);
  resting();
  card.replaceChildren(title, facts, curvePlot(model, clip, tell), hover);
}

// Cards of many clips are filled when they come near the window, and emptied when they are far.
const FEW_CLIPS = 24;
let observer = null;
function watchClips() {
  observer?.disconnect();
  const cards = document.querySelectorAll(".clip");
  if (cards.length <= FEW_CLIPS) return cards.forEach((card) => card.fill());
  observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && !entry.target.firstChild) entry.target.fill();
      else if (!entry.isIntersecting && entry.target.firstChild) entry.target.replaceChildren();
    }
  }, { rootMargin: "600px 0px" });
  cards.forEach((card) => observer.observe(card));
}

function diagnosticCard(diagnostic) {
  const span = diagnostic.span;
  const where = span ? element("span", { class: "soft small code" }, name(span.file, 80), `:${span.line}:${span.column}`) : null;
  return element("div", { class: "card diagnostic " + diagnostic.severity },
    element("div", {}, element("b", { class: diagnostic.severity === "error" ? "bad" : "warn" }, diagnostic.severity), " ",
      element("a", { class: "code", href: "#" + codeId(diagnostic.code) }, diagnostic.code), " ", where),
    element("div", { class: "message long" }, name(diagnostic.message, 2000)),
    diagnostic.help ? element("div", { class: "remedy soft long" }, element("b", {}, "Remedy: "), name(diagnostic.help, 2000)) : null);
}

function codeId(code) {
  return code.replaceAll(":", "");
}

// The banner of a failed bake shows the errors.
function diagnostics() {
  const all = shownDiagnostics();
  const failed = state.data.failure || state.data.report.failed;
  const listed = failed ? all.filter((one) => one.severity !== "error") : all;
  if (!all.length) return [element("h2", {}, "Diagnostics"), element("p", { class: "soft" }, "No errors and no warnings.")];
  const most = 200;
  const list = element("div", { class: "diagnostics" });
  const more = element("button", { type: "button" }, "Show more");
  let shown = 0;
  const grow = () => {
    list.append(...listed.slice(shown, shown + most).map(diagnosticCard));
    shown += most;
    more.hidden = shown >= listed.length;
  };
  more.addEventListener("click", grow);
  grow();
  const codes = Object.entries(state.data.codes).filter(([code]) => all.some((one) => one.code === code));
  return [
    ...(listed.length ? [element("h2", {}, "Diagnostics"), list, more] : []),
    element("h2", {}, "Codes"),
    element("dl", { class: "codes" }, ...codes.flatMap(([code, { meaning, remedy }]) => [
      element("dt", { id: codeId(code) }, code),
      element("dd", {}, meaning, element("br"), "Remedy: ", remedy, element("br"), "In the guide: ", element("span", { class: "code" }, "docs/diagnostics.md#" + codeId(code)))])),
  ];
}

function changes() {
  const comparison = state.data.comparison;
  if (!comparison) return [];
  if (!comparison.changes.length) return [element("h2", {}, "Changes"), element("p", { class: "soft" }, "Nothing has changed.")];
  const good = (change) => ["smaller", "better", "repaired"].includes(change.kind);
  const bad = (change) => ["larger", "worse", "new diagnostic"].includes(change.kind);
  return [
    element("h2", {}, "Changes"),
    element("p", { class: "soft" }, comparison.summary),
    table([
      { title: "model", key: (one) => one.model, cell: (one) => name(one.model, 48) },
      { title: "what", key: (one) => one.what, cell: (one) => name(one.what, 80) },
      { title: "before", number: true, cell: (one) => name(one.before, 80) },
      { title: "after", number: true, cell: (one) => name(one.after, 80) },
      { title: "change", number: true, key: (one) => one.percent ?? 0, cell: (one) => one.change },
      { title: "", key: (one) => one.kind, cell: (one) => element("b", { class: good(one) ? "good" : bad(one) ? "bad" : "soft" }, one.kind) },
    ], comparison.changes, { tall: comparison.changes.length > 14 }),
  ];
}

// Draws the page. The model in detail comes after the first paint, unless `whole`.
function render(whole) {
  const report = state.data.report;
  const all = formats(report);
  if (!all.includes(state.format)) state.format = all[0] ?? null;
  state.model = Math.min(state.model, Math.max(0, report.models.length - 1));
  state.rows = new Map();
  state.draws.clear();
  const page = document.getElementById("page");
  page.replaceChildren(...[
    ...header(report), banner(report), ...changes(), ...overview(report),
    element("section", { id: "model" }), ...diagnostics(),
    element("footer", {}, report.baker),
  ].filter(Boolean));
  drawMaps();
  if (!report.models.length) return;
  if (whole === true) showModel();
  else requestAnimationFrame(() => setTimeout(showModel));
}

function setData(text) {
  state.data = JSON.parse(text);
  state.text = text;
}

// The live preview sends the data of each bake.
function listen() {
  const source = new EventSource("events");
  const online = (on) => {
    state.online = on;
    const mark = document.getElementById("live");
    if (mark) {
      mark.className = "live " + (on ? "on" : "off");
      mark.textContent = on ? "live" : "not connected";
    }
  };
  source.addEventListener("open", () => online(true));
  source.addEventListener("error", () => online(false));
  source.addEventListener("bake", (event) => {
    // The first event repeats what the page has.
    if (event.data === state.text) return;
    const model = state.data.report.models[state.model];
    const top = window.scrollY;
    setData(event.data);
    const again = state.data.report.models.findIndex((other) => model && other.name === model.name && other.variant === model.variant);
    state.model = Math.max(0, again);
    render(true);
    window.scrollTo(0, top);
  });
}

async function start() {
  setData(new TextDecoder().decode(await unpacked("data")));
  const linked = /^#model-(\d+)$/.exec(location.hash);
  if (linked) state.model = Number(linked[1]);
  render();
  let resizing = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(drawMaps);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => render(true));
  if (state.data.live) listen();
}

start().catch((error) => {
  const text = "The report cannot be shown: " + (error.message ?? error) + ". The same numbers are in the JSON report: gpuskin bake --report FILE.json";
  document.getElementById("page").replaceChildren(element("p", {}, text));
});
