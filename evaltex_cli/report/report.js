// The report's images: a table to sort and filter, and each image with its objects. The address names
// the protocol and the image that are shown.

const { detectors, images, kinds } = data;
const [MISSED, FALSE_POSITIVE, MISREAD] = [4, 5, 7];
const SIGNS = ["1:1", "1:n", "n:1", "n:m", "missed", "false", "", "misread"];
const SIDES = { gt: "Ground truth", det: "Detection" };
const LARGEST = 8; // times as large as the whole picture
const several = detectors.length > 1;

let protocol = data.protocols[0];
let current = null; // the image that is shown
let order = images; // those in the table
// The number of a column, at first that of the errors or of the first change, and whether high values come first.
let sorting = several ? { column: 2 + detectors.length, down: false } : { column: 1, down: true };
let pictures = []; // of the current image, one a detector
let selected = null; // an object of a picture
let zoomed = 1;

const words = (name) => name.replaceAll("_", " ");
const isCount = (value) => Number.isInteger(value) && Math.abs(value) > 1;
const shown = (value) => (typeof value !== "number" || isCount(value) ? String(value ?? "–") : value.toFixed(4));
const signed = (value) => (value > 0 ? "+" : "") + shown(value);
const headline = () => data.headlines[data.protocols.indexOf(protocol)];
const results = (image) => image.results[data.protocols.indexOf(protocol)];
const address = (image) => `#${new URLSearchParams({ protocol, ...(image && { image: image.name }) })}`;

/** How many objects of a kind all detectors have in an image; false ones are detections. */
const count = (image, kind) =>
  results(image).flatMap((result) => (kind === FALSE_POSITIVE ? result.det : result.gt))
    .filter((object) => object[0] === kind).length;
const isError = ({ kind }) => [MISSED, FALSE_POSITIVE, MISREAD].includes(kind);
const errors = (image) => count(image, MISSED) + count(image, FALSE_POSITIVE) + count(image, MISREAD);

// The table of images

/** Columns: the heading, the value of an image, and how it is written. */
function columns() {
  const names = several ? headline().slice(-1) : headline();
  const score = (image, at, name) => results(image)[at].scores[name];
  const scores = detectors.flatMap((label, at) => names.map((name) =>
    [several ? `${words(name)}, ${label}` : words(name), (image) => score(image, at, name), shown]));
  const change = (image, at) => {
    const [first, other] = [0, at].map((one) => score(image, one, names[0]));
    return first == null || other == null ? null : other - first;
  };
  const changes = detectors.map((label, at) => [`change, ${label}`, (image) => change(image, at), signed]);
  const counts = kinds.map((kind, code) => [kind, (image) => count(image, code), String]);
  return [
    ["image", (image) => image.name, (name) => name],
    ["errors", errors, String],
    ...scores,
    ...(several ? changes.slice(1) : counts.filter(([, value]) => images.some(value))),
  ];
}

function showIndex() {
  const all = columns();
  const name = byId("filter").value.toLowerCase();
  const kind = byId("kind").value;
  order = images.filter((image) => image.name.toLowerCase().includes(name) && (!kind || count(image, Number(kind))));
  const value = all[sorting.column][1];
  const sign = sorting.down ? -1 : 1;
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  // An undefined score is neither good nor bad: it comes last either way.
  order.sort((a, b) => (value(a) == null) - (value(b) == null) || sign * compare(value(a), value(b)));
  const head = ([title], column) => {
    const direction = sorting.column === column ? (sorting.down ? "descending" : "ascending") : "none";
    const button = h("button", { type: "button", onclick: () => sortBy(column) }, bdi(title));
    return h("th", { class: column ? "n" : null, "aria-sort": direction }, button);
  };
  const row = (image) => {
    const values = all.slice(1).map(([, value, write]) => write(value(image)));
    return h("tr", {}, cells("td", [h("a", { href: address(image) }, bdi(image.name)), ...values], 1));
  };
  byId("index").replaceChildren(h("thead", {}, h("tr", {}, all.map(head))), h("tbody", {}, order.map(row)));
  byId("matching").textContent = `${order.length} of ${number(images.length, "image")}`;
}

function sortBy(column) {
  sorting = { column, down: sorting.column === column && !sorting.down };
  showIndex();
  byId("index").querySelectorAll("th button")[column].focus();
}

// One image

/** Left, top, right and bottom of an outline. */
function boundsOf(outline) {
  const [xs, ys] = [0, 1].map((axis) => outline.filter((_, k) => k % 2 === axis));
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

function objectsOf(image, at) {
  const side = (name, listed) => listed.map(([id, outline, text, confidence], n) => {
    const [kind, partners, values] = results(image)[at][name][n];
    return { side: name, id, outline, text, confidence, kind, partners, values };
  });
  return [...side("gt", image.gt), ...side("det", image.det[at])];
}

/** The place of an image: its size, or what its objects need. */
function extent({ size, gt, det }) {
  if (size) return [0, 0, ...size];
  const outlines = [...gt, ...det.flat()].map(([, outline]) => outline ?? []);
  const [left, top, right, bottom] = boundsOf([0, 0, 100, 60, ...outlines.flat()]);
  return [left, top, 1.03 * right - left, 1.03 * bottom - top];
}

/** Mark an object and its partners, and say all about it. */
function select(picture, object) {
  const { side, id, text, kind, partners, confidence, values } = object;
  for (const other of picture.objects) {
    const isPartner = other.side !== side && partners.includes(other.id);
    for (const element of other.elements) {
      element.classList.toggle("selected", other === object);
      element.classList.toggle("partner", isPartner);
    }
  }
  selected = object;
  const others = { [side === "gt" ? "detections" : "objects"]: partners.join(", ") || "none" };
  const facts = Object.entries({ ...others, confidence, ...values }).filter(([, value]) => value != null);
  const written = facts.map(([name, value]) => `, ${words(name)} ${shown(value)}`);
  const name = h("b", {}, `${SIDES[side]} ${id}`);
  picture.facts.replaceChildren(name, text ? " " : "", bdi(text), `: ${kinds[kind]}`, ...written);
}

function label({ side, id, kind, outline }) {
  const [x, top, , bottom] = boundsOf(outline);
  return side === "gt"
    ? s("text", { class: "label", x, y: top, dy: "-.2em" }, `${id} ${SIGNS[kind]}`)
    : s("text", { class: "label", x, y: bottom, dy: "1em" }, `d${id}`);
}

function objectTable(picture, title, side) {
  const listed = picture.objects.filter((object) => object.side === side);
  const names = [...new Set(listed.flatMap(({ values }) => Object.keys(values)))];
  const heads = ["ID", "text", "match", side === "gt" ? "detections" : "objects", ...names.map(words)];
  const rows = listed.map((object) => {
    const { id, text, kind, partners, values } = object;
    const button = h("button", { type: "button", onclick: () => zoomTo(picture, object) }, id);
    const match = h("span", { class: `kind k${kind}` }, kinds[kind]);
    const numbers = names.map((name) => shown(values[name]));
    const contents = [button, bdi(text), match, partners.join(", ") || "–", ...numbers];
    const row = h("tr", { class: classesOf(object) }, cells("td", contents, 4));
    object.elements.push(row);
    return row;
  });
  return listed.length ? table(title, heads, rows, 4) : [];
}

const classesOf = (object) => `${object.side} k${object.kind} ${isError(object) ? "error" : ""}`;

/** Labels stay at 12 pixels, however large a drawing is. */
const resized = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    target.style.fontSize = `${(12 * target.viewBox.baseVal.width) / contentRect.width}px`;
  }
});

function buildPicture(image, at) {
  const picture = { objects: objectsOf(image, at) };
  picture.facts = h("p", { class: "facts", "aria-live": "polite" }, "Click an object to see its values.");
  const area = ({ outline }) => {
    const [left, top, right, bottom] = boundsOf(outline);
    return (right - left) * (bottom - top);
  };
  for (const object of picture.objects) {
    const attributes = { class: `object ${classesOf(object)}`, onclick: () => select(picture, object) };
    object.elements = object.outline ? [shape(object.outline, attributes, label(object))] : [];
  }
  const drawn = picture.objects.filter(({ outline }) => outline);
  drawn.sort((a, b) => area(b) - area(a) || (a.side === "gt") - (b.side === "gt")); // small ones on top
  const shapes = drawn.map(({ elements }) => elements[0]);
  picture.canvas = drawing(extent(image), image.picture, image.name, shapes);
  movable(picture.canvas);
  resized.observe(picture.canvas.firstChild);
  const scores = headline().map((name) => `${words(name)} ${shown(results(image)[at].scores[name])}`);
  picture.section = h("section", {},
    several ? h("h3", {}, bdi(detectors[at])) : null,
    h("p", {}, scores.join(", ")),
    shapes.length || image.picture ? picture.canvas : null,
    picture.facts,
    objectTable(picture, "Ground truth", "gt"),
    objectTable(picture, "Detections", "det"));
  return picture;
}

/** Pictures scroll together; the mouse drags them, and its wheel zooms with Ctrl. */
function movable(drawn) {
  drawn.addEventListener("scroll", () => {
    const { scrollLeft, scrollTop } = drawn;
    for (const { canvas } of pictures) Object.assign(canvas, { scrollLeft, scrollTop });
  });
  drawn.addEventListener("pointermove", ({ buttons, pointerType, movementX, movementY }) => {
    if (buttons && pointerType === "mouse") drawn.scrollBy(-movementX, -movementY);
  });
  drawn.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? zoomed / 1.2 : zoomed * 1.2);
  });
}

/** Show the pictures so many times as large as they fit, around the same middle. */
function zoom(times) {
  const factor = Math.min(Math.max(times, 1), LARGEST) / zoomed;
  zoomed *= factor;
  byId("pictures").style.setProperty("--zoom", zoomed);
  for (const { canvas } of pictures) {
    canvas.scrollLeft += (factor - 1) * (canvas.scrollLeft + canvas.clientWidth / 2);
    canvas.scrollTop += (factor - 1) * (canvas.scrollTop + canvas.clientHeight / 2);
  }
}

/** Select an object, and show it with what is around it. */
function zoomTo(picture, object) {
  select(picture, object);
  if (!object.outline) return;
  const [left, top, right, bottom] = boundsOf(object.outline);
  const [, , width, height] = extent(current);
  zoom(Math.min(width / (right - left), height / (bottom - top)) / 3);
  object.elements[0].scrollIntoView({ block: "center", inline: "center" });
}

/** Go to the next error of the image, or to the next image that has one. */
function nextError() {
  const all = pictures.flatMap((picture) => picture.objects.filter(isError).map((object) => [picture, object]));
  const next = all[all.findIndex(([, object]) => object === selected) + 1];
  if (next) zoomTo(...next);
  else go(order.slice(order.indexOf(current) + 1).find(errors));
}

function go(image) {
  if (image) location.hash = address(image);
}

function showImage() {
  const at = order.indexOf(current);
  byId("name").replaceChildren(bdi(current.name));
  byId("position").textContent = at < 0 ? "" : `${at + 1} of ${order.length}`;
  byId("back").href = address();
  byId("previous").disabled = at < 1;
  byId("next").disabled = at < 0 || at === order.length - 1;
  selected = null;
  pictures = detectors.map((_, n) => buildPicture(current, n));
  byId("pictures").replaceChildren(...pictures.map(({ section }) => section));
  zoom(1);
  scrollTo(0, 0);
  byId("name").focus({ preventScroll: true });
  if (current.picture && !current.size) measure(current);
}

/** Take the size of a picture for that of an image without one. */
function measure(image) {
  const picture = new Image();
  picture.onload = () => {
    image.size = [picture.naturalWidth, picture.naturalHeight];
    show();
  };
  picture.src = image.picture;
}

// What is shown

function show() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const before = current;
  protocol = data.protocols.find((name) => name === wanted.get("protocol")) ?? data.protocols[0];
  current = images.find(({ name }) => name === wanted.get("image")) ?? null;
  for (const section of document.querySelectorAll("[data-protocol]")) {
    section.hidden = section.dataset.protocol !== protocol;
  }
  for (const input of document.querySelectorAll("[name=protocol]")) input.checked = input.value === protocol;
  if (images.length) showIndex();
  byId("overview").hidden = current !== null;
  byId("viewer").hidden = current === null;
  if (current) showImage();
  else if (before) byId("index").querySelector(`[href="${CSS.escape(address(before))}"]`)?.focus();
}

const presses = {
  previous: () => go(order[order.indexOf(current) - 1]),
  next: () => go(order[order.indexOf(current) + 1]),
  "next-error": nextError,
  "zoom-in": () => zoom(zoomed * 1.4),
  "zoom-out": () => zoom(zoomed / 1.4),
  fit: () => zoom(1),
};
for (const [id, press] of Object.entries(presses)) byId(id).addEventListener("click", press);
for (const input of document.querySelectorAll("[name=protocol]")) {
  input.addEventListener("change", () => {
    protocol = input.value;
    location.hash = address(current);
  });
}
byId("search")?.addEventListener("input", showIndex);
addEventListener("hashchange", show);
show();
