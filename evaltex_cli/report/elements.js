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

