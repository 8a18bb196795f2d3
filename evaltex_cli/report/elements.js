"use strict";
// What the programs of all pages share.
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const island = (id) => JSON.parse(byId(id).textContent);

// Text only ever becomes text nodes and attribute values: nothing of the data is parsed as markup.
const build = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
};
const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);
const bdi = (text) => h("bdi", {}, text);
const isTyping = (element) => element.matches("select, textarea, input:not([type=checkbox]):not([type=radio])");

/** Corners of a box (four numbers) or of a polygon (six or more). */
const cornersOf = (shape) => {
  const [a, b, c, d] = shape;
  const flat = shape.length === 4 ? [a, b, c, b, c, d, a, d] : shape;
  return Array.from({ length: flat.length / 2 }, (_, k) => [flat[2 * k], flat[2 * k + 1]]);
};
const pointsOf = (shape) => cornersOf(shape).map((corner) => corner.join(",")).join(" ");

// What is wider than the window scrolls, and can then be reached by the keyboard.
const overflows = new ResizeObserver((entries) => {
  for (const box of new Set(entries.map(({ target }) => target.closest(".scroll")))) {
    if (box.scrollWidth > box.clientWidth) build(box, { tabindex: "0", role: "group", "aria-label": "wide table" }, []);
    else for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
  }
});
const scroll = (content) => {
  const box = h("div", { class: "scroll" }, content);
  overflows.observe(box);
  overflows.observe(content);
  return box;
};

