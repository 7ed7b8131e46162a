// Formatting of numbers, as `gpuskin bake` prints them (units.rs, cli/text.rs), and of names.

// Rust rounds ties of exact halves to even, JavaScript up.
function fixed(number, decimals) {
  const size = Math.abs(number);
  if ((size * 2 ** (decimals + 1)) % 2 !== 1) return number.toFixed(decimals);
  const down = Math.floor(size * 10 ** decimals);
  return (Math.sign(number) * ((down + (down % 2)) / 10 ** decimals)).toFixed(decimals);
}

function exponential(number) {
  return number.toExponential(2).replace("e+", "e");
}

function digits(number) {
  const size = Math.abs(number);
  return fixed(number, size < 0.9995 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

// A measured number: infinite ones are texts in JSON.
function measured(number) {
  return typeof number === "string" ? (number === "NaN" ? NaN : Infinity) : Math.fround(number);
}

function length(metres) {
  metres = measured(metres);
  const size = Math.abs(metres);
  if (size === 0) return "0";
  if (!Number.isFinite(size)) return Number.isNaN(size) ? "NaN" : "inf";
  if (size >= 1e6) return exponential(metres) + " m";
  const [unit, name] = lengthUnit(size);
  return digits(metres / unit) + " " + name;
}

function lengthUnit(size) {
  return size < 1e-4 ? [1e-6, "um"] : size < 1e-2 ? [1e-3, "mm"] : size < 1 ? [1e-2, "cm"] : [1, "m"];
}

function bytes(count) {
  if (count < 10240) return count + " B";
  return count < 1048576 ? digits(count / 1024) + " KiB" : digits(count / 1048576) + " MiB";
}

function short(number) {
  if (Math.abs(number) >= 1e9) return exponential(number);
  return fixed(number, 3).replace(/\.?0+$/, "");
}

// Frame rate without the rounding errors of key times, as `bake` prints it.
function frameRate(fps) {
  const nominal = [Math.round(fps), Math.round(fps * 1.001) / 1.001].find((rate) => Math.abs(fps - rate) <= 3e-5 * fps);
  return short(nominal ?? fps);
}

function degrees(number) {
  return digits(measured(number)) + " deg";
}

function counted(number, one, many) {
  return number + " " + (number === 1 ? one : many);
}

// Characters that are not seen, or that change the direction of the text around them.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;

// Creates an element. Children are nodes or texts; nothing is parsed as HTML.
function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key === "class") made.className = value;
    else if (key in made && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Text from a file as one line, shortened in the middle, with unseen characters replaced.
function plain(text, most) {
  let characters = Array.from(text.length > 4 * most ? text.slice(0, 2 * most) + text.slice(-2 * most) : text);
  if (characters.length > most || text.length > 4 * most) {
    const start = Math.ceil(most / 2);
    characters = [...characters.slice(0, start), "\u2026", ...characters.slice(start + 1 - most)];
  }
  return characters.map((c) => (UNSEEN.test(c) ? "\u25af" : c)).join("");
}

// Name from a file, in a direction of its own. Unseen characters are shown by their number.
function name(text, most = 80) {
  const made = element("bdi", { class: "name" });
  const characters = Array.from(text.length > 4 * most ? text.slice(0, 2 * most) + text.slice(-2 * most) : text);
  const cut = characters.length > most || text.length > 4 * most;
  const parts = cut ? [characters.slice(0, Math.ceil(most / 2)), characters.slice(-Math.floor(most / 2))] : [characters];
  parts.forEach((part, index) => {
    if (index > 0) made.append(element("span", { class: "cut" }, "\u2026"));
    let run = "";
    for (const c of part) {
      if (UNSEEN.test(c)) {
        const code = c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
        made.append(run, element("span", { class: "unseen" }, "U+" + code));
        run = "";
      } else run += c;
    }
    made.append(run);
  });
  if (cut) made.title = plain(text, 500) + " (" + text.length + " characters)";
  return made;
}
