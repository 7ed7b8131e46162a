// Plots: error of a clip over time, and candidates of the encoding.

// Round steps for about `count` ticks from 0 to `most`.
function ticks(most, count) {
  const raw = most / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw * 0.999);
  const all = [];
  for (let i = 0; i * step <= most * 1.0001; i += 1) all.push(i * step);
  return { all, decimals: Math.max(0, Math.min(6, Math.ceil(-Math.log10(step) - 0.001))) };
}

// Plot of the error of a clip over time.
function curvePlot(model, clip, tell) {
  const width = 640, height = 210, left = 52, right = 14, top = 16, bottom = 34;
  const { at_frames: frames, between } = clip.curve;
  const all = [...frames.error, ...between.error].map(measured).filter(Number.isFinite);
  const worst = Math.max(0, ...all);
  const budgets = [model.budgets.encoding, model.budgets.motion].map((budget) => ({ ...budget, value: measured(budget.limit) }));
  // A budget far above the curve would flatten it: it is named at the upper edge instead.
  const near = budgets.filter((budget) => budget.value <= worst * 2.5);
  const most = Math.max(worst, ...near.map((budget) => budget.value)) * 1.12 || 1e-6;
  const [unit, unitName] = lengthUnit(most);
  const seconds = Math.max(clip.seconds, ...frames.seconds.map(measured)) || 1;
  const x = (time) => left + (measured(time) / seconds) * (width - left - right);
  const y = (error) => height - bottom - Math.min(1, measured(error) / most) * (height - top - bottom);
  const plot = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "error over time" });
  const line = (cls, x1, y1, x2, y2) => plot.append(svg("line", { class: cls, x1, y1, x2, y2 }));
  const text = (value, x, y, anchor, cls = "") => plot.append(svg("text", { x, y, "text-anchor": anchor, class: cls }, value));
  const rows = ticks(most / unit, 4);
  for (const value of rows.all) {
    line("grid", left, y(value * unit), width - right, y(value * unit));
    text(value.toFixed(rows.decimals), left - 7, y(value * unit) + 4, "end");
  }
  text(unitName, left - 7, 9, "end");
  const columns = ticks(seconds, 6);
  for (const value of columns.all) {
    line("axis", x(value), height - bottom, x(value), height - bottom + 4);
    text(value.toFixed(columns.decimals), x(value), height - bottom + 16, "middle");
  }
  text("seconds", (left + width - right) / 2, height - 3, "middle");
  line("axis", left, height - bottom, width - right, height - bottom);
  const path = (points) => points.error.map((error, i) => `${i ? "L" : "M"}${x(points.seconds[i]).toFixed(1)} ${y(error).toFixed(1)}`).join("");
  if (between.error.length) plot.append(svg("path", { class: "between", d: path(between) }));
  if (frames.error.length > 1) plot.append(svg("path", { class: "frames", d: path(frames) }));
  if (frames.error.length <= 90) {
    frames.error.forEach((error, i) => plot.append(svg("circle", { class: "dot", cx: x(frames.seconds[i]).toFixed(1), cy: y(error).toFixed(1), r: 2.2 })));
  }
  let above = 0;
  for (const budget of budgets) {
    if (near.includes(budget)) {
      line("budget", left, y(budget.value), width - right, y(budget.value));
      text(`${budget.key} ${length(budget.limit)}`, width - right - 4, y(budget.value) - 5, "end", "over budgetText");
    } else {
      text(`\u2191 ${budget.key} ${length(budget.limit)}`, width - right - 4, top - 5 + above, "end", "over budgetText");
      above += 13;
    }
  }
  const peaks = [[frames, "dot"], [between, "betweenDot"]].filter(([points]) => points.error.length).map(([points, cls]) => {
    const i = points.error.reduce((best, error, i) => (measured(error) > measured(points.error[best]) ? i : best), 0);
    return { cls, error: measured(points.error[i]), cx: x(points.seconds[i]), cy: y(points.error[i]) };
  });
  for (const { cls, cx, cy } of peaks) plot.append(svg("circle", { class: cls, cx, cy, r: 3.5 }));
  peaks.sort((a, b) => b.error - a.error);
  if (peaks.length) plot.append(svg("circle", { class: "ring", cx: peaks[0].cx, cy: peaks[0].cy, r: 6.5 }));
  const cross = svg("line", { class: "cross", y1: top, y2: height - bottom, x1: 0, x2: 0, visibility: "hidden" });
  plot.append(cross);
  const nearest = (points, time) => points.seconds.reduce((best, at, i) => (Math.abs(at - time) < Math.abs(points.seconds[best] - time) ? i : best), 0);
  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const time = ((((event.clientX - box.left) / box.width) * width - left) / (width - left - right)) * seconds;
    const points = frames.error.length ? frames : between;
    if (!points.error.length) return;
    const i = nearest(points, time);
    cross.setAttribute("x1", x(points.seconds[i]));
    cross.setAttribute("x2", x(points.seconds[i]));
    cross.setAttribute("visibility", "visible");
    const j = between.error.length ? nearest(between, time) : -1;
    tell({ frames: [points, i], between: j < 0 ? null : [between, j] });
  });
  plot.addEventListener("pointerleave", () => {
    cross.setAttribute("visibility", "hidden");
    tell(null);
  });
  return plot;
}

// Plot of the candidates: bytes on the GPU against the error at frames, both logarithmic.
function candidatePlot(model) {
  const shown = model.candidates.filter((one) => one.errors && one.gpu_bytes > 0 && Number.isFinite(measured(one.errors.encoding)));
  if (shown.length < 2) return null;
  const width = 640, height = 320, left = 64, right = 24, top = 20, bottom = 44;
  const limit = measured(model.budgets.encoding.limit);
  const error = (one) => Math.max(measured(one.errors.encoding), 1e-9);
  const range = (values) => [Math.floor(Math.log10(Math.min(...values)) - 0.15), Math.ceil(Math.log10(Math.max(...values)) + 0.05)];
  const [low, high] = range([...shown.map(error), ...(limit > 0 ? [limit] : [])]);
  const sizes = shown.map((one) => Math.log2(one.gpu_bytes));
  const [small, large] = [Math.floor(Math.min(...sizes) - 0.2), Math.ceil(Math.max(...sizes) + 0.2)];
  const x = (count) => left + ((Math.log2(count) - small) / (large - small)) * (width - left - right);
  const y = (value) => height - bottom - ((Math.log10(value) - low) / (high - low)) * (height - top - bottom);
  const plot = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "bytes against error of the candidates" });
  const text = (value, x, y, anchor, cls = "") => plot.append(svg("text", { x, y, "text-anchor": anchor, class: cls }, value));
  const rows = Math.max(1, Math.ceil((high - low) / 7));
  for (let power = low; power <= high; power += rows) {
    plot.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(10 ** power), y2: y(10 ** power) }));
    const [unit, unitName] = lengthUnit(10 ** power * 1.001);
    text(+(10 ** power / unit).toPrecision(3) + " " + unitName, left - 7, y(10 ** power) + 4, "end");
  }
  const columns = Math.max(1, Math.ceil((large - small) / 6));
  for (let power = small; power <= large; power += columns) {
    plot.append(svg("line", { class: "grid", x1: x(2 ** power), x2: x(2 ** power), y1: top, y2: height - bottom }));
    const count = 2 ** power;
    text(count < 1024 ? count + " B" : count < 2 ** 20 ? count / 1024 + " KiB" : count / 2 ** 20 + " MiB", x(count), height - bottom + 16, "middle");
  }
  text("bytes on the GPU: animation and vertices", (left + width - right) / 2, height - 6, "middle");
  text("greatest error at frames", left - 7, 9, "start");
  if (limit > 0 && Number.isFinite(limit)) {
    plot.append(svg("line", { class: "budget", x1: left, x2: width - right, y1: y(limit), y2: y(limit) }));
    text(`${model.budgets.encoding.key} ${length(model.budgets.encoding.limit)}`, width - right - 4, y(limit) - 5, "end", "over budgetText");
  }
  // Labels beside their points; one that would cover another is moved down, or up at the lower edge.
  const taken = [];
  const marks = shown.map((one) => ({ one, cx: x(one.gpu_bytes), cy: y(error(one)) }));
  marks.sort((a, b) => Number(b.one.chosen) - Number(a.one.chosen) || a.cy - b.cy);
  for (const { one, cx, cy } of marks) {
    const wide = one.encoding.length * 6.6 + 8;
    const onLeft = cx + 10 + wide > width;
    const from = onLeft ? cx - 10 - wide : cx + 10;
    const free = (at) => at > top && at < height - bottom && taken.every((other) => other.to < from || other.from > from + wide || Math.abs(other.at - at) > 12);
    const at = [0, 13, -13, 26, -26, 39, -39].map((off) => cy + 4 + off).find(free) ?? cy + 4;
    taken.push({ from, to: from + wide, at });
    plot.append(svg("circle", { class: one.chosen ? "chosen" : "candidate", cx, cy, r: one.chosen ? 6 : 4.5 }));
    text(one.encoding, onLeft ? cx - 10 : cx + 10, at, onLeft ? "end" : "start", one.chosen ? "over strong" : "over");
  }
  return plot;
}
