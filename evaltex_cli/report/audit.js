(() => {
  const UNDECIDED = 0, ACCEPTED = 1, REJECTED = 2;
  const SIGNS = ["", "✓", "✗"], OUTCOMES = ["Undecided", "Accepted", "Rejected"];
  const LIST_ROWS = 50;
  const audit = island("audit"), count = audit.kind.length, all = [...Array(count).keys()];
  const [kinds, titles] = [audit.kinds.map(([kind]) => kind), audit.kinds.map(([, title]) => title)];
  const decisions = new Uint8Array(count), undone = [], blocks = [];
  const state = { at: 0, kind: -1, undecided: false, saved: 0 }; // how many steps could be undone when it was saved

  const ofObject = new Map(); // an object's image and ID -> the suspects that change it
  const objectKeys = (k) => audit.objects[k].map((id) => `${id} ${audit.image[k]}`);
  for (const k of all) for (const key of objectKeys(k)) ofObject.set(key, [...(ofObject.get(key) ?? []), k]);
  /** The other suspects that change an object of this one; a patch can have only one change of an object. */
  const rivals = (k) => [...new Set(objectKeys(k).flatMap((key) => ofObject.get(key)))].filter((other) => other !== k);

  const isReady = () => document.readyState !== "loading"; // blocks and crops come after this program in the file
  const details = (k) => {
    const part = Math.floor(k / audit.block);
    if (!blocks[part] && !byId(`suspects-${part}`)) return null;
    return (blocks[part] ??= island(`suspects-${part}`))[k % audit.block];
  };
  const crop = (k) => (byId(`crop-${k}`) ? island(`crop-${k}`) : [null, null]);
  const total = (outcome) => decisions.reduce((sum, one) => sum + (one === outcome), 0);
  const matches = (k) => (state.kind < 0 || audit.kind[k] === state.kind) && !(state.undecided && decisions[k]);
  const number = (value, noun) => `${value} ${noun}${value === 1 ? "" : "s"}`;

  // ---------------------------------------------------------------- what is drawn

  /** A text with what differs from another one marked. */
  function marked(text, other) {
    const [a, b] = [[...text], [...other]];
    let start = 0, end = 0;
    while (start < a.length && a[start] === b[start]) start++;
    while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
    const [head, middle, tail] = [a.slice(0, start), a.slice(start, a.length - end), a.slice(a.length - end)].map((part) => part.join(""));
    return h("bdi", {}, head, middle ? h("mark", {}, middle) : null, tail);
  }

  const shape = (one, kind) => {
    const points = pointsOf(one.shape), hatch = one.dontCare ? s("polygon", { class: "hatch", points }) : null;
    return s("g", { class: `object ${kind}` }, s("polygon", { class: "halo", points }), s("polygon", { class: "edge", points }), hatch);
  };

  const caption = (objects, others, none) =>
    objects.length ? objects.map((one, at) => h("li", {}, one.text ? marked(one.text, others.length === objects.length ? others[at].text : one.text) : h("span", { class: "quiet" }, "no transcription"), one.dontCare ? " (don’t care)" : null)) : h("li", { class: "quiet" }, none);

  function figure(k, data, kind, title, none) {
    const objects = data[kind], others = data[kind === "now" ? "proposed" : "now"];
    const [url, cut] = crop(k), [x0, y0, x1, y1] = cut ?? data.region, place = { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
    const step = (x1 - x0) / 50;
    const svg = s("svg", { class: "canvas crop", viewBox: [x0, y0, x1 - x0, y1 - y0].join(" "), role: "img", "aria-label": `${title}: ${number(objects.length, "object")}, ${number(data.found.length, "detection")}` },
      s("defs", {}, s("pattern", { id: `hatch-${kind}`, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)", width: step, height: step }, s("rect", { width: step / 4, height: step }))),
      s("rect", { class: "blank", ...place }), url ? s("image", { href: url, preserveAspectRatio: "none", ...place }) : null,
      data.near.map((one) => shape(one, "near")), data.found.map((one, at) => shape(one, `found ${data.evidence.includes(at) ? "agreeing" : "single"}`)), objects.map((one) => shape(one, kind)));
    return h("figure", { class: kind }, h("figcaption", {}, swatch(kind), title), svg, h("ul", { class: "texts" }, caption(objects, others, none)));
  }

  const swatch = (kind) => s("svg", { class: `swatch object ${kind}`, viewBox: "0 0 30 14", "aria-hidden": "true" }, s("polygon", { class: "edge", points: "2,2 28,2 28,12 2,12" }));

  function foundTable(data, figures) {
    if (!data.found.length) return null;
    const light = (at, on) => figures.forEach((one) => one.querySelectorAll(".found")[at].classList.toggle("lit", on));
    const row = (one, at) => h("tr", { onpointerenter: () => light(at, true), onpointerleave: () => light(at, false) },
      h("th", { scope: "row" }, swatch(data.evidence.includes(at) ? "agreeing" : "single"), " ", bdi(audit.detectors[one.by])),
      h("td", {}, data.evidence.includes(at) ? "yes" : ""), h("td", { class: "text" }, one.text ? bdi(one.text) : "–"), h("td", { class: "n" }, one.confidence ?? "–"));
    const heads = ["Detector", "Agrees", "Transcription", "Confidence"].map((head, at) => h("th", { scope: "col", class: at === 3 ? "n" : null }, head));
    return h("details", { open: true }, h("summary", {}, `Detections (${data.found.length})`), scroll(h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, data.found.map(row)))));
  }

  // ---------------------------------------------------------------- the parts of the page

  const button = (id, label, key, press) => h("button", { type: "button", id, "aria-keyshortcuts": key, onclick: press }, label, " ", h("kbd", { "aria-hidden": "true" }, key));
  const choice = (input, ...label) => h("label", { class: "choice" }, h("input", input), ...label);
  const toggle = (name, key, ...label) => choice({ type: "checkbox", id: `show-${name}`, checked: true, onchange: ({ target }) => byId("suspect").classList.toggle(`no-${name}`, !target.checked) }, label, h("kbd", { "aria-hidden": "true" }, key));
  const counts = kinds.map((_, kind) => audit.kind.filter((one) => one === kind).length);
  const kindChoice = (label, kind, many) => choice({ type: "radio", name: "kind", value: kind, checked: kind === -1, onchange: () => filter({ kind }) }, label, h("span", { class: "quiet" }, many));
  const KEYS = [["a", "accept"], ["r", "reject"], ["n →", "go on"], ["p ←", "back"], ["u", "undo"], ["s", "save"], ["d", "detections"], ["o", "other objects"], ["h", "all shapes"]];

  function buildPage() {
    document.title = `evaltex audit: ${audit.groundTruth}`;
    byId("header").append(
      h("h1", {}, "Audit of ", bdi(audit.groundTruth)),
      h("p", { class: "quiet" }, `${number(count, "suspect")}; ${number(audit.detectors.length, "detector")}: `, audit.detectors.map((label, k) => [k ? ", " : "", bdi(label)]), audit.independent < audit.detectors.length ? `; ${audit.independent} count, the others are copies or empty` : null));
    if (!count) return byId("main").replaceChildren(h("p", {}, "No place of the ground truth is suspect."));
    byId("header").append(
      h("div", { class: "bar screen" }, h("progress", { id: "progress", max: count || 1, value: 0, "aria-labelledby": "decided" }), h("span", { id: "decided" }),
        button("save", "Save the patch", "s", save), h("label", { class: "choice file" }, "Open a saved patch …", h("input", { type: "file", id: "open", accept: ".json,application/json", onchange: open }))));
    return byId("main").replaceChildren(
      h("fieldset", { id: "kinds", class: "screen" }, h("legend", {}, "Kind"), kindChoice("All", -1, count), kinds.map((_, kind) => (counts[kind] ? kindChoice(titles[kind].replace(/ objects?$/, ""), kind, counts[kind]) : null)),
        choice({ type: "checkbox", id: "undecided", onchange: ({ target }) => filter({ undecided: target.checked }) }, "undecided only")),
      h("div", { id: "columns" },
        h("section", { id: "suspect", "aria-labelledby": "title" },
          h("div", { id: "about" }),
          h("div", { class: "bar screen", id: "keys" }, button("accept", "Accept", "a", () => decide(ACCEPTED)), button("reject", "Reject", "r", () => decide(REJECTED)), button("back", "Back", "p", () => step(-1)), button("next", "Go on", "n", () => step(1)), button("undo", "Undo", "u", undo), h("span", { id: "message", class: "quiet", role: "status" })),
          h("div", { id: "pictures", class: "sides" }),
          h("fieldset", { class: "screen" }, h("legend", {}, "Show"), toggle("found", "d", swatch("agreeing"), "detections that agree", swatch("single"), "other detections"), toggle("near", "o", swatch("near"), "other objects"), toggle("shapes", "h", "all shapes")),
          h("div", { id: "detections" }),
          h("p", { class: "quiet screen" }, "Keys: ", KEYS.map(([key, what]) => [h("kbd", {}, key), ` ${what} `]))),
        h("nav", { id: "list", class: "screen", "aria-label": "Suspects" })));
  }

  function showProgress() {
    const [accepted, rejected] = [total(ACCEPTED), total(REJECTED)];
    byId("progress").value = accepted + rejected;
    byId("decided").textContent = `${accepted + rejected} of ${count} decided: ${accepted} accepted, ${rejected} rejected`;
    byId("save").disabled = !isReady();
    byId("undo").disabled = !undone.length;
  }

  function showList(order) {
    const list = byId("list"), had = list.contains(document.activeElement);
    const place = Math.max(0, order.indexOf(state.at)), first = place - (place % LIST_ROWS);
    const row = (k) => h("li", {}, h("button", { type: "button", "aria-current": k === state.at ? "true" : null, onclick: () => go(k) },
      h("span", { class: `sign ${["", "good", "bad"][decisions[k]]}`, role: "img", "aria-label": OUTCOMES[decisions[k]] }, SIGNS[decisions[k]]),
      h("span", {}, titles[audit.kind[k]], h("span", { class: "quiet" }, bdi(audit.images[audit.image[k]]))), h("span", { class: "n" }, audit.suspicion[k].toFixed(2))));
    const turn = (label, to) => h("button", { type: "button", disabled: order[to] === undefined, onclick: () => go(order[to]) }, label);
    list.replaceChildren(h("p", { class: "quiet" }, order.length ? `${first + 1} to ${Math.min(first + LIST_ROWS, order.length)} of ${order.length}` : "None of these is left."),
      h("ol", {}, order.slice(first, first + LIST_ROWS).map(row)),
      order.length > LIST_ROWS ? h("div", { class: "bar" }, turn("‹ Earlier", first - LIST_ROWS), turn("Later ›", first + LIST_ROWS)) : "");
    const current = list.querySelector("[aria-current]");
    if (had) current?.focus();
    if (current) list.scrollTop += current.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
  }

  function showSuspect(order) {
    const k = state.at, data = details(k), place = order.indexOf(k);
    if (!data) return; // shown when the rest of the file is there
    const about = audit.suspicion[k].toFixed(2), ids = audit.objects[k].join(", ");
    byId("about").replaceChildren(
      h("h2", { id: "title" }, `${titles[audit.kind[k]]} in `, bdi(audit.images[audit.image[k]])),
      h("p", { class: "facts" }, h("span", { class: `outcome o${decisions[k]}` }, `${SIGNS[decisions[k]]} ${OUTCOMES[decisions[k]]}`), h("span", {}, "Suspicion ", h("b", {}, about)), h("span", { class: "level", "aria-hidden": "true" }, s("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none" }, s("rect", { width: 100 * audit.suspicion[k], height: 8 }))),
        ids ? h("span", {}, `${audit.objects[k].length === 1 ? "Object" : "Objects"} ${ids}`) : null, h("span", { class: "quiet" }, place < 0 ? "" : `${place + 1} of ${order.length}`)),
      h("p", {}, data.reason),
      h("p", { class: "quiet" }, data.by.length ? ["Agreeing: ", data.by.map((by, at) => [at ? ", " : "", bdi(audit.detectors[by])])] : "No detector agrees on a proposal."));
    const figures = [figure(k, data, "now", "Ground truth now", "nothing"), figure(k, data, "proposed", "Proposed", "nothing: the object is removed")];
    byId("pictures").replaceChildren(...figures);
    byId("detections").replaceChildren(...[foundTable(data, figures)].filter(Boolean));
    for (const [id, step] of [["back", -1], ["next", 1]]) byId(id).disabled = neighbour(step) === undefined;
    for (const [id, outcome] of [["accept", ACCEPTED], ["reject", REJECTED]]) byId(id).setAttribute("aria-pressed", decisions[k] === outcome);
  }

  function show() {
    if (!count) return;
    showProgress();
    const order = all.filter(matches);
    showList(order);
    showSuspect(order);
  }

  // ---------------------------------------------------------------- what the reader does

  const say = (text) => { byId("message").textContent = text; };
  const named = (k) => `${titles[audit.kind[k]]} in ${audit.images[audit.image[k]]}, suspicion ${audit.suspicion[k].toFixed(2)}`;
  const neighbour = (by) => (by > 0 ? all.find((k) => k > state.at && matches(k)) : all.findLast((k) => k < state.at && matches(k)));

  function go(k) {
    state.at = k;
    show();
  }

  function step(by) {
    const to = neighbour(by);
    if (to === undefined) return say(by > 0 ? "This is the last one." : "This is the first one.");
    say(named(to));
    return go(to);
  }

  function filter(change) {
    Object.assign(state, change);
    if (!matches(state.at)) state.at = all.find(matches) ?? state.at;
    show();
  }

  function decide(outcome) {
    const k = state.at, isOpen = (other) => !decisions[other] && (state.kind < 0 || audit.kind[other] === state.kind);
    const replaced = outcome === ACCEPTED ? rivals(k).filter((other) => decisions[other] !== REJECTED) : [];
    undone.push([k, ...replaced].map((one) => [one, decisions[one]]));
    decisions[k] = outcome;
    for (const other of replaced) decisions[other] = REJECTED;
    watch();
    const to = all.find((other) => other > k && isOpen(other)) ?? all.find(isOpen);
    const also = replaced.length ? ` Rejected ${number(replaced.length, "other change")} of the same object.` : "";
    say(`${OUTCOMES[outcome]}.${also} ${to === undefined ? "All of these are decided: save the patch." : `Next: ${named(to)}`}`);
    go(to ?? k);
  }

  function undo() {
    if (!undone.length) return;
    const changed = undone.pop(), [[k]] = changed;
    for (const [one, before] of changed) decisions[one] = before;
    if (undone.length < state.saved) state.saved = -1;
    watch();
    if (!matches(k)) { state.kind = -1; document.querySelector("[name=kind]").checked = true; }
    say(`Undone: ${named(k)}`);
    go(k);
  }

  const ask = (event) => event.preventDefault();
  /** Let the browser ask before it closes the page while there is something to save. */
  const watch = () => (undone.length === state.saved ? removeEventListener : addEventListener)("beforeunload", ask);

  /** The patch's file with what is decided; `decided` serves only to go on later. */
  function patched() {
    const { suspects, ...head } = island("patch");
    const entries = suspects.map((entry, k) => JSON.stringify({ ...entry, accept: decisions[k] === ACCEPTED, ...(decisions[k] ? { decided: true } : {}) }));
    return `${JSON.stringify(head, null, 1).slice(0, -2)},\n"suspects": [\n${entries.join(",\n")}\n]\n}\n`;
  }

  function save() {
    const url = URL.createObjectURL(new Blob([patched()], { type: "application/json" }));
    h("a", { href: url, download: "patch.json" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    state.saved = undone.length;
    watch();
    say(`Saved as patch.json: ${number(total(ACCEPTED), "accepted suspect")}. Apply it with: evaltex convert GT NEW --patch patch.json`);
  }

  /** Take the decisions of a patch that this page saved; any other patch has other entries. */
  async function open({ target }) {
    const [file] = target.files, bare = (patch) => JSON.stringify(patch, (name, value) => (name === "accept" || name === "decided" ? undefined : value));
    if (!file) return;
    try {
      const patch = JSON.parse(await file.text());
      if (bare(patch) !== bare(island("patch"))) throw new TypeError("other entries");
      patch.suspects.forEach((entry, k) => { decisions[k] = entry.accept === true ? ACCEPTED : entry.decided === true ? REJECTED : UNDECIDED; });
      undone.length = state.saved = 0;
      watch();
      state.at = all.find((k) => !decisions[k]) ?? 0;
      say(`Opened ${file.name}: ${total(ACCEPTED) + total(REJECTED)} of ${count} are decided.`);
    } catch {
      say(`${file.name} is not a patch of this audit; open one that this page saved.`);
    }
    target.value = "";
    show();
  }

  const PRESSES = { a: "accept", r: "reject", n: "next", ArrowRight: "next", p: "back", ArrowLeft: "back", u: "undo", s: "save", d: "show-found", o: "show-near", h: "show-shapes" };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key.startsWith("Arrow") && event.target.matches("input")) return;
    byId(PRESSES[event.key])?.click();
  });
  addEventListener("DOMContentLoaded", show);
  buildPage();
  show();
})();
