// The model, drawn by the runtime within the page.

// Contents of the picture, in the order of the program's numbers. Masks follow.
const SHOWN = ["as baked", "errors", "source", "source - baked"];
const [BAKED, ERRORS, SOURCE, DIFFERENCE, MASKS] = [0, 1, 2, 3, 4];
const OVERLAYS = [["bones", 1], ["bounds", 2], ["grid", 4], ["root motion", 8], ["sockets", 16]];
const SOCKETS = OVERLAYS.findIndex(([what]) => what === "sockets");
const viewer = {
  // The program's Viewer, once it is open; a promise of it; and why there is none.
  program: null, opening: null, failure: null,
  canvas: null, shown: null, wanted: null, pending: false,
  // Content of the picture, and the power of ten that multiplies a difference.
  look: BAKED, power: 2,
  clip: 0, seconds: 0, playing: true, speed: 1, level: 0, far: false, overlays: 4,
  yaw: 0.6, pitch: 0.18, zoom: 1, last: 0, frame: null, elements: null,
  // Fields of the frame that the canvas shows: the same frame is not drawn again.
  drawn: "",
};

async function modelBytes(index) {
  if (state.data.live) {
    const response = await fetch("model/" + index);
    if (!response.ok) throw new Error("the server has no such model");
    return inflate(new Uint8Array(await response.arrayBuffer()));
  }
  return unpacked("model-data-" + index);
}

async function openProgram() {
  if (!navigator.gpu) throw new Error("this browser has no WebGPU");
  await wasm_bindgen({ module_or_path: (await unpacked("viewer-program")).buffer });
  viewer.frame = new wasm_bindgen.Frame();
  viewer.program = await wasm_bindgen.Viewer.open(viewer.canvas);
}

// Returns the element of the viewer for a model. It is made once, and kept when the page is drawn again.
function viewerElement(model, index) {
  if (!state.data.drawn[index]) {
    return element("p", { class: "soft small" }, "The model is not drawn here: its files are too large, or not in the output folder.");
  }
  viewer.elements ??= makeViewer();
  const { root, clips, levels } = viewer.elements;
  if (viewer.model !== model) {
    const before = viewer.model;
    const kept = before && before.name === model.name && before.clips[viewer.clip]?.name;
    viewer.model = model;
    viewer.drawn = "";
    viewer.clip = Math.max(0, model.clips.findIndex((clip) => clip.name === kept));
    if (!kept) Object.assign(viewer, { seconds: 0, level: 0, far: false, zoom: 1 });
    viewer.level = Math.min(viewer.level, model.levels.length - 1);
    clips.replaceChildren(...model.clips.map((clip, i) => element("option", { value: String(i) }, plain(clip.name, 60))));
    clips.value = String(viewer.clip);
    levels.replaceChildren(...model.levels.map((level, i) => element("option", { value: String(i) }, `LOD ${i}: ${counted(level.triangles, "triangle", "triangles")}`)));
    levels.value = String(viewer.level);
    showTimeline();
  }
  viewer.wanted = { index, hash: state.data.drawn[index] };
  loadWanted();
  return root;
}

function makeViewer() {
  viewer.canvas = element("canvas", { tabindex: "0", "aria-label": "the baked model; drag to turn it, scroll to come nearer" });
  const message = element("p", { class: "viewer-message soft small" }, "Loading \u2026");
  const clips = element("select", { "aria-label": "clip" });
  const levels = element("select", { "aria-label": "level of detail" });
  const far = element("input", { type: "checkbox" });
  const looks = element("select", { "aria-label": "what is shown" });
  const power = element("input", { type: "range", min: "0", max: "3", step: "0.05", value: String(viewer.power), "aria-label": "factor of the difference" });
  const factor = element("label", { class: "key", hidden: true }, power, element("span"));
  const play = element("button", { type: "button" }, "Pause");
  const speeds = element("select", { "aria-label": "speed" }, ...[0.1, 0.25, 0.5, 1, 2].map((speed) => element("option", { value: String(speed) }, speed + " x")));
  speeds.value = "1";
  const time = element("input", { type: "range", min: "0", max: "1", step: "any", value: "0", "aria-label": "time" });
  const marks = element("div", { class: "viewer-marks" });
  const facts = element("div", { class: "facts" });
  const boxes = OVERLAYS.map(([, bit]) => {
    const box = element("input", { type: "checkbox", checked: (viewer.overlays & bit) !== 0 });
    box.addEventListener("change", () => { viewer.overlays ^= bit; });
    return box;
  });
  const overlays = OVERLAYS.map(([what], i) => element("label", { class: "key" }, boxes[i], " " + what));
  clips.addEventListener("change", () => { viewer.clip = Number(clips.value); viewer.seconds = 0; showTimeline(); });
  levels.addEventListener("change", () => { viewer.level = Number(levels.value); });
  looks.addEventListener("change", () => { viewer.look = Number(looks.value); showFactor(); });
  power.addEventListener("input", () => { viewer.power = Number(power.value); showFactor(); });
  far.addEventListener("change", () => { viewer.far = far.checked; });
  speeds.addEventListener("change", () => { viewer.speed = Number(speeds.value); });
  const setPlaying = (on) => { viewer.playing = on; play.textContent = on ? "Pause" : "Play"; };
  play.addEventListener("click", () => {
    const clip = viewer.model.clips[viewer.clip];
    if (!viewer.playing && clip && viewer.seconds >= clip.seconds) viewer.seconds = 0;
    setPlaying(!viewer.playing);
  });
  time.addEventListener("input", () => { setPlaying(false); viewer.seconds = Number(time.value); });
  const pointers = new Map();
  viewer.canvas.addEventListener("pointerdown", (event) => {
    viewer.canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel"]) viewer.canvas.addEventListener(end, (event) => pointers.delete(event.pointerId));
  viewer.canvas.addEventListener("pointermove", (event) => {
    const from = pointers.get(event.pointerId);
    if (!from) return;
    const other = [...pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
    if (other) {
      const apart = (pointer) => Math.max(1, Math.hypot(pointer.clientX - other.clientX, pointer.clientY - other.clientY));
      zoomBy(apart(from) / apart(event));
    } else {
      viewer.yaw -= 0.008 * (event.clientX - from.clientX);
      viewer.pitch = Math.min(1.5, Math.max(-1.5, viewer.pitch + 0.008 * (event.clientY - from.clientY)));
    }
    pointers.set(event.pointerId, event);
  });
  // The page scrolls unless the canvas was clicked first.
  viewer.canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== viewer.canvas) return;
    event.preventDefault();
    zoomBy(Math.exp(0.001 * event.deltaY));
  }, { passive: false });
  viewer.canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    if (step) {
      viewer.yaw += step[0];
      viewer.pitch = Math.min(1.5, Math.max(-1.5, viewer.pitch + step[1]));
    } else if (event.key === "+" || event.key === "-") zoomBy(event.key === "+" ? 0.9 : 1.1);
    else return;
    event.preventDefault();
  });
  const root = element("div", { class: "card viewer" },
    element("div", { class: "viewer-canvas" }, viewer.canvas, message),
    element("div", { class: "viewer-time" }, play, element("div", { class: "viewer-track" }, time, marks), speeds),
    element("div", { class: "maphead" }, clips, looks, factor, levels, element("label", { class: "key" }, far, " at its distance"), ...overlays),
    facts);
  requestAnimationFrame(drawViewer);
  return { root, message, clips, looks, factor, levels, far, time, marks, facts, boxes };
}

function zoomBy(factor) {
  viewer.zoom = Math.min(20, Math.max(0.15, viewer.zoom * factor));
}

function showFactor() {
  const { factor } = viewer.elements;
  factor.hidden = viewer.look !== DIFFERENCE;
  factor.lastChild.textContent = digits(10 ** viewer.power) + " x";
}

// Offers the contents and overlays that the program can show of the model.
function showLooks() {
  const { looks, boxes } = viewer.elements;
  const source = viewer.program.has_source();
  const all = [...SHOWN, ...viewer.model.masks.map((mask) => "mask " + plain(mask.name, 40))];
  if ((!source && [SOURCE, DIFFERENCE].includes(viewer.look)) || viewer.look >= all.length) viewer.look = BAKED;
  looks.replaceChildren(...all.map((what, look) => element("option", { value: String(look) }, what)));
  for (const look of [SOURCE, DIFFERENCE]) looks.options[look].disabled = !source;
  looks.value = String(viewer.look);
  boxes[SOCKETS].disabled = !viewer.program.has_sockets();
  showFactor();
}

// Describes the content of the picture. Lengths in metres: brightest colour, and greatest difference at the time.
function lookText(brightest, difference) {
  if (viewer.look === BAKED) {
    if (viewer.program.has_source()) return "";
    return " \u00b7 the report has no source poses of this model: it is too large";
  }
  if (viewer.look >= MASKS) {
    const { name: mask, bones } = viewer.model.masks[viewer.look - MASKS];
    return ` \u00b7 weight of the ${counted(bones, "bone", "bones")} of mask ${plain(mask, 40)}: grey 0, green 1`;
  }
  if (viewer.look === ERRORS && brightest < 0) return " \u00b7 no errors of vertices";
  const colors = `: black 0, blue, red, yellow, white ${length(brightest)}`;
  if (viewer.look === ERRORS) return ` \u00b7 greatest error of each vertex at the frames of the clip${colors}`;
  const now = `, now ${length(difference)} from the baked pose`;
  if (viewer.look === SOURCE) return ` \u00b7 vertices of the source${now}`;
  return ` \u00b7 vertices moved by ${digits(10 ** viewer.power)} x (source - baked)${now}${colors}`;
}

function showTimeline() {
  const clip = viewer.model.clips[viewer.clip];
  const { time, marks } = viewer.elements;
  time.max = String(clip ? clip.seconds : 0);
  time.disabled = !clip;
  marks.replaceChildren(...(clip ? clip.events.slice(0, 200) : []).map((event) => {
    const mark = element("i", { title: plain(event.name, 60) + " " + short(event.seconds) + " s" });
    mark.style.left = (100 * event.seconds) / Math.max(1e-9, clip.seconds) + "%";
    return mark;
  }));
}

// Loads the model that is wanted, until it is the one that is shown.
async function loadWanted() {
  if (viewer.pending) return;
  viewer.pending = true;
  try {
    viewer.opening ??= openProgram();
    await viewer.opening;
    while (viewer.wanted.hash !== viewer.shown) {
      const { index, hash } = viewer.wanted;
      viewer.program.show(await modelBytes(index));
      viewer.shown = hash;
      showLooks();
      document.body.dataset.viewer = "shown " + hash;
    }
    viewer.elements.message.hidden = true;
    viewer.failure = null;
    viewer.drawn = "";
  } catch (error) {
    viewerFailed(error);
  } finally {
    viewer.pending = false;
  }
}

function viewerFailed(error) {
  viewer.failure = error.message ?? String(error);
  viewer.elements.message.hidden = false;
  viewer.elements.message.textContent = "The model cannot be drawn: " + plain(viewer.failure, 300);
  document.body.dataset.viewer = "failed";
}

// Fills the frame for the canvas and the controls as they are, and returns its fields.
function setFrame(frame) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const clip = viewer.model.clips[viewer.clip];
  const greatest = clip ? measured(clip.motion.max) : 0;
  const fields = {
    width: Math.max(1, Math.round(viewer.canvas.clientWidth * ratio)),
    height: Math.max(1, Math.round(viewer.canvas.clientHeight * ratio)),
    clip: viewer.clip,
    seconds: viewer.seconds,
    yaw: viewer.yaw,
    pitch: viewer.pitch,
    distance: 1.75 * viewer.program.diagonal(viewer.clip) * viewer.zoom,
    level: viewer.level,
    far: viewer.far,
    overlays: viewer.overlays,
    shown: viewer.look,
    factor: 10 ** viewer.power,
    brightest: Number.isFinite(greatest) ? greatest : 0,
  };
  Object.assign(frame, fields);
  return fields;
}

function drawViewer(now) {
  requestAnimationFrame(drawViewer);
  const clip = viewer.model?.clips[viewer.clip];
  const elapsed = Math.min(0.1, (now - viewer.last) / 1000);
  viewer.last = now;
  if (!viewer.program || !viewer.shown || viewer.failure || !viewer.canvas.isConnected) return;
  if (viewer.playing && clip) {
    viewer.seconds += elapsed * viewer.speed;
    if (viewer.seconds > clip.seconds) viewer.seconds = clip.ends.looped ? viewer.seconds % Math.max(1e-6, clip.seconds) : clip.seconds;
  }
  try {
    const drawn = Object.values(setFrame(viewer.frame)).join();
    if (drawn === viewer.drawn) return;
    viewer.drawn = drawn;
    if (viewer.canvas.width !== viewer.frame.width) viewer.canvas.width = viewer.frame.width;
    if (viewer.canvas.height !== viewer.frame.height) viewer.canvas.height = viewer.frame.height;
    const [distance, own, brightest, difference] = viewer.program.draw(viewer.frame);
    const { time, facts } = viewer.elements;
    time.value = String(viewer.seconds);
    const at = clip ? `${fixed(viewer.seconds, 2)} s, frame ${fixed(viewer.seconds * clip.fps, 1)}` : "no clips";
    const level = viewer.level ? `LOD ${viewer.level}: ${length(viewer.model.levels[viewer.level].error)} off, which is a pixel at ${length(own)}` : "LOD 0";
    facts.textContent = `${at} \u00b7 ${level} \u00b7 seen from ${length(distance)}${lookText(brightest, difference)}`;
  } catch (error) {
    viewerFailed(error);
  }
}
