// Treemap of bytes: models, in each model the kinds of data, in its animation the clips with their bones, and in its mesh
// the parts.

const KINDS = ["animation", "vertices", "indices", "levels of detail", "morph targets", "rest pose", "other", "textures"];
// A model has morph targets in bone mode, and a rest pose in vertex mode.
const KIND_COLORS = { "levels of detail": "levels", "morph targets": "rest", "rest pose": "rest" };

function color(kind) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + (KIND_COLORS[kind] || kind)).trim();
}

// Data of a model in the chosen format of textures.
function shipped(model, format) {
  return model.data.filter((data) => !data.format || data.format === format);
}

// Squarified layout (Bruls, Huizing and van Wijk): places items, largest first, into a rectangle.
function squarify(items, x, y, width, height, place) {
  let rest = items.filter((item) => item.size > 0);
  let total = rest.reduce((sum, item) => sum + item.size, 0);
  let next = 0;
  while (next < rest.length && width > 0 && height > 0) {
    const side = Math.min(width, height);
    const scale = (width * height) / total;
    let row = 0, end = next, worst = Infinity;
    while (end < rest.length) {
      const sum = row + rest[end].size;
      const thick = (sum * scale) / side;
      const ratio = (item) => {
        const long = (item.size * scale) / thick;
        return Math.max(long / thick, thick / long);
      };
      const now = Math.max(ratio(rest[next]), ratio(rest[end]));
      if (now > worst) break;
      worst = now;
      row = sum;
      end += 1;
    }
    const thick = Math.min((row * scale) / side, Math.max(width, height));
    let along = 0;
    for (; next < end; next += 1) {
      const long = (rest[next].size * scale) / thick;
      if (width >= height) place(rest[next], x, y + along, thick, long);
      else place(rest[next], x + along, y, long, thick);
      along += long;
    }
    if (width >= height) (x += thick), (width -= thick);
    else (y += thick), (height -= thick);
    total -= row;
  }
}

// Least area of a cell within clips and meshes, in square pixels.
const MIN_CELL = 30;

function partName({ part }) {
  return part === null ? "always visible" : plain(part, 40);
}

// Draws the treemap. Returns a function from a position to the model there, with its clip and bone or kind and part.
function drawTreemap(canvas, models, format) {
  const width = canvas.clientWidth, height = Math.max(220, Math.min(440, Math.round(width * 0.36)));
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(document.documentElement);
  const colors = Object.fromEntries(KINDS.map((kind) => [kind, color(kind)]));
  const font = getComputedStyle(document.body).fontFamily;
  const placed = [];
  const items = models.map((model, index) => {
    const data = shipped(model, format);
    return { model, index, data, size: data.reduce((sum, one) => sum + one.bytes, 0) };
  });
  items.sort((a, b) => b.size - a.size || a.index - b.index);
  const write = (text, x, y, most) => {
    if (most < 24) return;
    let shown = text;
    while (context.measureText(shown).width > most && shown.length > 1) shown = shown.slice(0, -2) + "\u2026";
    if (shown.length > 1) context.fillText(shown, x, y);
  };
  const outline = (shade, x, y, w, h) => {
    context.strokeStyle = `rgb(255 255 255 / ${shade}%)`;
    context.strokeRect(x + 0.5, y + 0.5, Math.max(0, w - 1), Math.max(0, h - 1));
  };
  // The kind and the bytes are written above the cells.
  const below = (h) => (h > 44 ? 34 : h > 18 ? h : 0);
  // Bones share a clip in equal parts: each is a row of the texture.
  const drawBones = (item, clip, x, y, w, h) => {
    const { bones, vertex_mode: vertices } = item.model;
    const head = h > 40 ? 18 : 0;
    if (vertices || w * (h - head) < MIN_CELL * bones.length) return;
    squarify(bones.map((bone) => ({ bone, size: 1 })), x, y + head, w, h - head, ({ bone }, x, y, w, h) => {
      outline(16, x, y, w, h);
      context.fillStyle = "rgb(255 255 255 / 80%)";
      if (h > 14) write(plain(bone, 40), x + 4, y + 11, w - 8);
      placed.push({ item, clip, bone, x, y, w, h });
    });
  };
  // Clips by their number of frames.
  const drawClips = (item, x, y, w, h) => {
    const clips = item.model.clips.map((clip) => ({ clip, size: clip.frames })).sort((a, b) => b.size - a.size);
    const head = below(h);
    squarify(clips, x, y + head, w, h - head, ({ clip }, x, y, w, h) => {
      outline(35, x, y, w, h);
      context.fillStyle = "#fff";
      if (head && h > 18) write(plain(clip.name, 40), x + 5, y + 14, w - 10);
      drawBones(item, clip, x, y, w, h);
      placed.push({ item, clip, x, y, w, h });
    });
  };
  const drawParts = (item, kind, x, y, w, h) => {
    const parts = (item.model.part_bytes ?? []).map((part) => ({ part, size: part[kind] ?? 0 })).sort((a, b) => b.size - a.size);
    const head = below(h);
    if (w * (h - head) < MIN_CELL * parts.length) return;
    squarify(parts, x, y + head, w, h - head, ({ part, size }, x, y, w, h) => {
      outline(35, x, y, w, h);
      context.fillStyle = "#fff";
      if (head && h > 18) write(partName(part), x + 5, y + 14, w - 10);
      placed.push({ item, kind, part, size, x, y, w, h });
    });
  };
  squarify(items, 0, 0, width, height, (item, x, y, w, h) => {
    const head = w > 60 && h > 44 ? 20 : 0;
    const gap = w > 6 && h > 6 ? 1 : 0;
    context.fillStyle = style.getPropertyValue("--tint");
    context.fillRect(x + gap, y + gap, w - 2 * gap, h - 2 * gap);
    if (head) {
      context.fillStyle = style.getPropertyValue("--ink");
      context.font = "600 12px " + font;
      write(plain(item.model.name, 60), x + 7, y + 15, w - 14);
    }
    const data = item.data.map((one) => ({ ...one, size: one.bytes })).sort((a, b) => b.size - a.size);
    const inner = [x + 2 * gap, y + 2 * gap + head, w - 4 * gap, h - 4 * gap - head];
    squarify(data, ...inner, (one, x, y, w, h) => {
      context.fillStyle = colors[one.kind];
      context.fillRect(x, y, Math.max(0, w - (w > 3 ? 1 : 0)), Math.max(0, h - (h > 3 ? 1 : 0)));
      context.fillStyle = "#fff";
      context.font = "11px " + font;
      if (h > 18) write(one.kind, x + 5, y + 14, w - 10);
      if (h > 34) write(bytes(one.bytes), x + 5, y + 28, w - 10);
      if (one.kind === "animation" && w > 8 && h > 8) drawClips(item, x, y, w - 1, h - 1);
      else if (w > 8 && h > 8) drawParts(item, one.kind, x, y, w - 1, h - 1);
    });
    placed.push({ item, x, y, w, h });
  });
  return (x, y) => placed.find((at) => x >= at.x && x < at.x + at.w && y >= at.y && y < at.y + at.h) ?? null;
}
