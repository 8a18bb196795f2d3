(() => {
  const data = JSON.parse(byId("data").textContent);
  const { kinds, detectors, images } = data;
  const [MISSED, FALSE_POSITIVE, MISREAD] = [4, 5, 7];
  const SIGNS = ["1:1", "1:n", "n:1", "n:m", "missed", "false", "", "misread"];
  const SIDES = { gt: "Ground truth", det: "Detection" };
  const several = detectors.length > 1;
  const state = { protocol: 0, sort: several ? null : 0, down: !several, text: "", kind: "", hidden: new Set(), image: null };
  let order = []; // positions of the images in the table, in its order

  const words = (name) => name.replaceAll("_", " ");
  const shown = (value) => (value == null ? "–" : typeof value !== "number" || (Number.isInteger(value) && Math.abs(value) > 1) ? String(value) : value.toFixed(4));
  const signed = (value) => (value == null ? "–" : (value > 0 ? "+" : "") + shown(value));
  const isError = (kind) => kind === MISSED || kind === FALSE_POSITIVE || kind === MISREAD;
  const results = (image) => images[image].results[state.protocol];
  /** Objects of a kind in an image's result; pairs are counted by their objects, not by their detections. */
  const count = (result, kind) => (kind === FALSE_POSITIVE ? result.det : result.gt).filter((one) => one[0] === kind).length;
  const errors = (result) => count(result, MISSED) + count(result, FALSE_POSITIVE) + count(result, MISREAD);

  // ---------------------------------------------------------------- the table of images

  /** Columns: heading, value of an image, and how it is written. */
  function columns() {
    const headline = data.headlines[state.protocol], main = headline.at(-1);
    const sum = (image) => results(image).reduce((total, one) => total + errors(one), 0);
    if (!several) {
      const used = kinds.map((_, kind) => kind).filter((kind) => images.some((_, k) => count(results(k)[0], kind)));
      return [["errors", sum, String], ...headline.map((name) => [words(name), (k) => results(k)[0].scores[name], shown]), ...used.map((kind) => [kinds[kind], (k) => count(results(k)[0], kind), String])];
    }
    const change = (k, at) => { const [a, b] = [results(k)[0].scores[main], results(k)[at].scores[main]]; return a == null || b == null ? null : b - a; };
    return [["errors", sum, String], ...detectors.map((label, at) => [`${main}, ${label}`, (k) => results(k)[at].scores[main], shown]), ...detectors.slice(1).map((label, at) => [`change, ${label}`, (k) => change(k, at + 1), signed])];
  }

  function showIndex() {
    const all = columns(), wanted = state.text.toLowerCase();
    order = images.map((_, k) => k).filter((k) => images[k].name.toLowerCase().includes(wanted) && (state.kind === "" || results(k).some((one) => count(one, +state.kind))));
    if (state.sort !== null || several) {
      const worst = (k) => Math.min(...all.slice(detectors.length + 1).map(([, change]) => change(k) ?? 0));
      const value = state.sort === null ? worst : state.sort < 0 ? (k) => images[k].name : all[state.sort][1], sign = state.down ? -1 : 1;
      const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
      // An undefined score is neither good nor bad: it comes last either way.
      order.sort((a, b) => (value(a) == null) - (value(b) == null) || sign * compare(value(a), value(b)) || a - b);
    }
    const sortBy = (at) => { state.down = state.sort === at ? !state.down : at === 0; state.sort = at; showIndex(); byId("index").querySelectorAll("th button")[at + 1].focus(); };
    const head = (name, at) => h("th", { scope: "col", class: at < 0 ? null : "n", "aria-sort": state.sort === at ? (state.down ? "descending" : "ascending") : "none" }, h("button", { type: "button", onclick: () => sortBy(at) }, bdi(name)));
    const row = (k) => h("tr", {}, h("th", { scope: "row" }, h("a", { href: address(k) }, bdi(images[k].name))), all.map(([, value, write]) => h("td", { class: "n" }, write(value(k)))));
    byId("index").replaceChildren(h("thead", {}, h("tr", {}, head("image", -1), all.map(([name], at) => head(name, at)))), h("tbody", {}, order.map(row)));
    byId("matching").textContent = `${order.length} of ${number(images.length, "image")}`;
  }

  function buildSearch() {
    const options = [["", "all images"], ...kinds.map((kind, code) => [code, `images with ${kind}`])];
    byId("search").append(
      h("label", {}, "Name contains ", h("input", { type: "search", id: "filter", oninput: ({ target }) => { state.text = target.value; showIndex(); } })),
      h("label", {}, "Show ", h("select", { id: "kind", onchange: ({ target }) => { state.kind = target.value; showIndex(); } }, options.map(([value, text]) => h("option", { value }, text)))),
      h("output", { id: "matching", class: "quiet" }));
  }

  // ---------------------------------------------------------------- one image

  let view = null; // whole and box: x, y, width and height of all, and of what is shown; pictures: one a detector

  function objectsOf(k, at) {
    const image = images[k], result = results(k)[at];
    const side = (name, shapes) => shapes.map(([id, shape, text, confidence], n) => {
      const [kind, partners, values] = result[name][n];
      return { side: name, id, shape, text, confidence, kind, partners, values };
    });
    return [...side("gt", image.gt), ...side("det", image.det[at])];
  }

  function extent({ size, gt, det }) {
    if (size) return [0, 0, ...size];
    const corners = [...gt, ...det.flat()].flatMap(([, shape]) => (shape ? cornersOf(shape) : []));
    if (!corners.length) return [0, 0, 100, 60];
    const [xs, ys] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
    const [x, y] = [Math.min(0, ...xs), Math.min(0, ...ys)];
    return [x, y, 1.03 * Math.max(...xs) - x, 1.03 * Math.max(...ys) - y];
  }

  function describe(picture, one) {
    const partners = one.partners.length ? one.partners.join(", ") : "none";
    const facts = [["match", kinds[one.kind]], [one.side === "gt" ? "detections" : "objects", partners], ["confidence", one.confidence], ...Object.entries(one.values)].filter(([, value]) => value != null);
    picture.facts.replaceChildren(h("p", {}, h("b", {}, `${SIDES[one.side]} ${one.id} `), bdi(one.text)), h("dl", {}, facts.map(([name, value]) => h("div", {}, h("dt", {}, words(name)), h("dd", { class: name === "match" ? `kind k${one.kind}` : null }, shown(value))))));
  }

  /** Mark an object and its partners, and say all about it. */
  function select(picture, one, focus) {
    for (const other of picture.objects) {
      const isPartner = other.side !== one.side && one.partners.includes(other.id);
      for (const element of [other.element, other.row]) {
        element?.classList.toggle("selected", other === one);
        element?.classList.toggle("partner", isPartner);
      }
      other.element?.setAttribute("tabindex", other === one ? "0" : "-1");
    }
    picture.selected = one;
    describe(picture, one);
    if (focus) one.element?.focus({ preventScroll: true });
  }

  function buildPicture(k, at) {
    const image = images[k], objects = objectsOf(k, at), [x, y, width, height] = view.whole;
    const picture = { objects, selected: null, facts: h("div", { class: "facts", "aria-live": "polite" }, h("p", { class: "quiet" }, "Click an object to see its values.")) };
    const area = ({ shape }) => { const c = cornersOf(shape); return Math.abs(c.reduce((sum, [ax, ay], n) => { const [bx, by] = c[(n + 1) % c.length]; return sum + ax * by - bx * ay; }, 0)); };
    const drawn = objects.filter((one) => one.shape).sort((a, b) => area(b) - area(a) || (a.side === "gt") - (b.side === "gt")); // small ones on top
    for (const one of drawn) {
      const corners = cornersOf(one.shape), isGt = one.side === "gt";
      const [left, top] = corners.reduce((a, b) => (a[0] + a[1] <= b[0] + b[1] ? a : b));
      const [low, bottom] = corners.reduce((a, b) => (b[1] > a[1] || (b[1] === a[1] && b[0] < a[0]) ? b : a));
      const name = `${SIDES[one.side]} ${one.id}${one.text ? ` “${one.text}”` : ""}: ${kinds[one.kind]}`;
      one.element = s("g", { class: `object ${one.side} k${one.kind}`, role: "button", tabindex: "-1", "aria-label": name, onclick: () => select(picture, one), onfocus: () => select(picture, one) },
        polygon(one.shape, "halo"), polygon(one.shape, "edge"), s("text", { x: isGt ? left : low, y: isGt ? top : bottom, dy: isGt ? "-.2em" : "1em" }, isGt ? `${one.id} ${SIGNS[one.kind]}` : `d${one.id}`));
    }
    drawn.findLast((one) => one.element)?.element.setAttribute("tabindex", "0");
    const photo = image.picture && s("image", { class: "photo", href: image.picture, x, y, width, height, preserveAspectRatio: "none" });
    picture.svg = s("svg", { class: "canvas", role: "group", tabindex: drawn.length ? null : "0", "aria-label": `${image.name}: arrow keys go through the objects` }, s("rect", { class: "blank", x, y, width, height }), photo, drawn.map((one) => one.element));
    if (photo && !image.size) measure(image, k);
    picture.svg.style.aspectRatio = width / height;
    picture.svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const visible = objects.filter((one) => one.element && !isHidden(one)), now = visible.indexOf(picture.selected);
      if (visible.length) select(picture, visible[(now + step + visible.length) % visible.length], true);
      event.preventDefault();
    });
    pannable(picture.svg);
    return picture;
  }

  /** Take the size of a picture for that of an image without one. */
  function measure(image, k) {
    const probe = new Image();
    probe.onload = () => { image.size = [probe.naturalWidth, probe.naturalHeight]; if (state.image === k) showImage(k); };
    probe.src = image.picture;
  }

  function pannable(svg) {
    let last = null;
    svg.addEventListener("pointerdown", (event) => { last = event; });
    svg.addEventListener("pointermove", (event) => {
      if (!last || !event.buttons) return;
      const scale = svg.getScreenCTM().a;
      view.box[0] -= (event.clientX - last.clientX) / scale;
      view.box[1] -= (event.clientY - last.clientY) / scale;
      last = event;
      frame();
    });
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, at);
    }, { passive: false });
  }

  function zoom(factor, at) {
    const [x, y, width, height] = view.box, center = at ?? { x: x + width / 2, y: y + height / 2 };
    view.box = [center.x - (center.x - x) * factor, center.y - (center.y - y) * factor, width * factor, height * factor];
    frame();
  }

  function zoomTo({ shape }) {
    const corners = cornersOf(shape), [xs, ys] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
    const [x, y, width, height] = view.whole, ratio = height / width;
    const wide = Math.min(width, Math.max(3 * (Math.max(...xs) - Math.min(...xs)), (3 * (Math.max(...ys) - Math.min(...ys))) / ratio, width / 8));
    view.box = [(Math.min(...xs) + Math.max(...xs) - wide) / 2, (Math.min(...ys) + Math.max(...ys) - wide * ratio) / 2, wide, wide * ratio];
    frame();
  }

  function frame() {
    for (const { svg } of view.pictures) {
      svg.setAttribute("viewBox", view.box.join(" "));
      svg.setAttribute("font-size", 12 / (svg.getScreenCTM()?.a || 1));
    }
  }

  const isHidden = (one) => state.hidden.has(one.side) || state.hidden.has(String(one.kind));

  function applyFilter() {
    for (const { objects, svg } of view.pictures) {
      for (const one of objects) for (const element of [one.element, one.row]) element?.classList.toggle("hidden", isHidden(one));
      for (const name of ["photo", "labels"]) svg.classList.toggle(`no-${name}`, state.hidden.has(name));
    }
  }

  function filters() {
    const used = kinds.map((_, kind) => kind).filter((kind) => view.pictures.some(({ objects }) => objects.some((one) => one.kind === kind)));
    const toggle = (keys, on) => { for (const key of keys) state.hidden[on ? "delete" : "add"](key); applyFilter(); };
    const box = (key, label, name) => h("label", { class: `choice ${name ?? ""}` }, h("input", { type: "checkbox", "data-key": key, checked: !state.hidden.has(key), onchange: ({ target }) => toggle([key], target.checked) }), label);
    const onlyErrors = () => { const rest = used.filter((kind) => !isError(kind)).map(String), on = rest.every((kind) => state.hidden.has(kind)); toggle(rest, on); byId("filters").replaceWith(filters()); byId("errors").focus(); };
    return h("fieldset", { id: "filters" }, h("legend", {}, "Show"), used.map((kind) => box(String(kind), `${kinds[kind]}`, `kind k${kind}`)), box("gt", "ground truth (solid)"), box("det", "detections (dashed)"), box("labels", "labels"), box("photo", "picture"), h("button", { type: "button", id: "errors", onclick: onlyErrors }, "Errors only"));
  }

  function objectTable(picture, side) {
    const listed = picture.objects.filter((one) => one.side === side);
    if (!listed.length) return h("p", { class: "quiet" }, side === "gt" ? "No ground truth." : "No detections.");
    const names = [...new Set(listed.flatMap((one) => Object.keys(one.values)))];
    const heads = ["ID", "text", "match", side === "gt" ? "detections" : "objects", ...names.map(words)].map((name, at) => h("th", { scope: "col", class: at > 3 ? "n" : null }, name));
    const show = (one) => { select(picture, one); if (one.element) { zoomTo(one); picture.svg.scrollIntoView({ block: "nearest" }); } };
    const rows = listed.map((one) => (one.row = h("tr", {}, h("td", {}, h("button", { type: "button", class: "plain", onclick: () => show(one) }, String(one.id))), h("td", {}, bdi(one.text)), h("td", { class: `kind k${one.kind}` }, kinds[one.kind]), h("td", {}, one.partners.join(", ") || "–"), names.map((name) => h("td", { class: "n" }, shown(one.values[name]))))));
    return table(heads, rows, SIDES[side]);
  }

  /** Go to the next error of the image, or to the next image that has one. */
  function nextError() {
    const all = view.pictures.flatMap((picture) => picture.objects.filter((one) => isError(one.kind) && one.element).map((one) => [picture, one]));
    const next = all[all.findIndex(([picture, one]) => picture.selected === one) + 1];
    if (next) { zoomTo(next[1]); select(...next, true); return; }
    const at = order.indexOf(state.image), other = [...order.slice(at + 1), ...order.slice(0, at)].find((k) => results(k).some(errors));
    if (other !== undefined) location.hash = address(other);
  }

  function showImage(k) {
    const image = images[k], headline = data.headlines[state.protocol];
    const whole = extent(image), at = order.indexOf(k), hasShapes = [...image.gt, ...image.det.flat()].some(([, shape]) => shape) || image.picture;
    view = { whole, box: [...whole], pictures: [] };
    view.pictures = detectors.map((_, n) => buildPicture(k, n));
    const button = (id, label, press, key, disabled) => h("button", { type: "button", id, disabled, "aria-keyshortcuts": key, onclick: press }, label, " ", h("kbd", { "aria-hidden": "true" }, key));
    const go = (to) => () => { location.hash = address(to); };
    const scores = (n) => headline.map((name) => `${words(name)} ${shown(results(k)[n].scores[name])}`).join(", ");
    byId("viewer").replaceChildren(
      h("nav", { class: "bar", "aria-label": "Images" }, h("a", { href: `#${state.protocol}` , id: "back" }, "← All images"), button("previous", "Previous", go(order[at - 1]), "p", at < 1), button("next", "Next", go(order[at + 1]), "n", at < 0 || at + 1 >= order.length), button("next-error", "Next error", nextError, "e"),
        hasShapes ? [button("zoom-in", "Zoom in", () => zoom(1 / 1.4), "+"), button("zoom-out", "Zoom out", () => zoom(1.4), "-"), button("fit", "Fit", () => { view.box = [...view.whole]; frame(); }, "0")] : null, h("span", { class: "quiet" }, at < 0 ? "" : `${at + 1} of ${order.length}`)),
      h("h2", { id: "name", tabindex: "-1" }, bdi(image.name)),
      ...(hasShapes ? [filters()] : [h("p", { class: "quiet" }, "The outlines of the objects are not in this report. Make it with --gt and --det to see them drawn.")]),
      h("div", { class: "sides" }, view.pictures.map((picture, n) => h("section", { "aria-label": detectors[n] }, h("p", {}, several ? [h("b", {}, bdi(detectors[n])), ": "] : null, scores(n)), hasShapes ? picture.svg : null, picture.facts, h("h3", {}, "Ground truth"), objectTable(picture, "gt"), h("h3", {}, "Detections"), objectTable(picture, "det")))));
    frame();
    applyFilter();
    byId("name").focus({ preventScroll: true });
  }

  // ---------------------------------------------------------------- what is shown

  /** The address of the overview, or of an image: the protocol and the image's name. */
  const address = (k) => `#${state.protocol}/${encodeURIComponent(images[k].name)}`;

  function show() {
    const [protocol, name] = location.hash.slice(1).split("/");
    let wanted = "";
    try { wanted = decodeURIComponent(name ?? ""); } catch { /* a malformed address shows the overview */ }
    const before = state.image, k = name === undefined ? -1 : images.findIndex((image) => image.name === wanted);
    state.protocol = data.protocols[protocol] ? +protocol : 0;
    state.image = k < 0 ? null : k;
    document.querySelectorAll("section.protocol").forEach((section, at) => { section.hidden = at % data.protocols.length !== state.protocol; });
    document.querySelectorAll("[name=protocol]").forEach((input, at) => { input.checked = at === state.protocol; });
    if (images.length) showIndex();
    byId("overview").hidden = k >= 0;
    byId("viewer").hidden = k < 0;
    if (k >= 0) { showImage(k); scrollTo(0, 0); }
    else if (before !== null) [...byId("index").querySelectorAll("a")].find((link) => link.getAttribute("href") === address(before))?.focus();
  }

  const PRESSES = { n: "next", p: "previous", e: "next-error", o: "errors", "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", 0: "fit", Escape: "back" };
  addEventListener("keydown", (event) => {
    if (state.image === null || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    byId(PRESSES[event.key])?.click();
  });
  addEventListener("hashchange", show);
  addEventListener("resize", () => view && state.image !== null && frame());
  document.querySelectorAll("[name=protocol]").forEach((input) => input.addEventListener("change", () => {
    location.hash = state.image === null ? input.value : `${input.value}/${encodeURIComponent(images[state.image].name)}`;
  }));
  if (images.length) buildSearch();
  show();
})();
