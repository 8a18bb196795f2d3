"use strict";
// What the scripts of the report and of an audit's page share. Text only ever becomes text nodes and
// attribute values: nothing of the data is parsed as markup.
const byId = (id) => document.getElementById(id);
const build = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
};
const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const bdi = (text) => h("bdi", {}, text); // names and texts may be written from right to left
const isTyping = (element) => element.matches("select, textarea, input:not([type=checkbox]):not([type=radio])");
const number = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const table = (heads, rows, label) => h("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": label }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)));

/** Corners of a box (four numbers) or of a polygon (six or more). */
const cornersOf = (shape) => {
  const [a, b, c, d] = shape;
  const flat = shape.length === 4 ? [a, b, c, b, c, d, a, d] : shape;
  return Array.from({ length: flat.length / 2 }, (_, k) => [flat[2 * k], flat[2 * k + 1]]);
};
const polygon = (shape, className) => s("polygon", { class: className, points: cornersOf(shape).join(" ") });
