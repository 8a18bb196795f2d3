// What the scripts of the report and of an audit's page share. Text only ever becomes text nodes and
// attribute values: nothing of the data is parsed as markup.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);

const build = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
};
const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const bdi = (text) => h("bdi", {}, text); // names and texts may be written from right to left
const number = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Cells of a row; the first `texts` of them are not numbers. */
const cells = (tag, contents, texts) =>
  contents.map((content, at) => h(tag, { class: at < texts ? null : "n" }, content));
const table = (title, heads, rows, texts) => [
  h("h3", {}, title),
  h("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": title },
    h("table", {}, h("thead", {}, h("tr", {}, cells("th", heads, texts))), h("tbody", {}, rows))),
];

/** An object drawn by its outline: x and y in turn, those of a box of two corners. */
const shape = (outline, attributes, ...labels) => {
  const [left, top, right, bottom] = outline;
  const points = outline.length === 4 ? [left, top, right, top, right, bottom, left, bottom] : outline;
  const polygon = (name) => s("polygon", { class: name, points: points.join(" ") });
  return s("g", attributes, polygon("halo"), polygon("edge"), labels);
};

/** A drawing of a place (x, y, width and height), on the place's picture if there is one. */
const drawing = (place, picture, label, ...shapes) => {
  const [x, y, width, height] = place;
  const whole = { x, y, width, height };
  const style = `--ratio: ${width / height}`;
  return h("div", { class: "canvas", role: "img", tabindex: "0", "aria-label": label, style },
    s("svg", { viewBox: place.join(" ") },
      s("rect", { class: "blank", ...whole }),
      picture && s("image", { class: "photo", href: picture, preserveAspectRatio: "none", ...whole }),
      shapes));
};

// A key presses the button that names it.
addEventListener("keydown", ({ key, ctrlKey, metaKey, altKey, target }) => {
  if (ctrlKey || metaKey || altKey || target.matches("select, [type=search]")) return;
  const button = document.querySelector(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
  if (button?.checkVisibility()) button.click();
});
