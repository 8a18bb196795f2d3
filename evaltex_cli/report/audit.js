(() => {
  const { kinds, suspects, patch } = JSON.parse(byId("data").textContent);
  const UNDECIDED = 0, ACCEPTED = 1, REJECTED = 2;
  const SIGNS = ["", "✓", "✗"], OUTCOMES = ["Undecided", "Accepted", "Rejected"];
  const LIST_ROWS = 50;
  const all = [...suspects.keys()], decisions = suspects.map(() => UNDECIDED), undone = [];
  const state = { at: 0, kind: "", undecided: false, saved: 0 }; // saved: how many steps could be undone then
  if (!suspects.length) return;

  /** The other suspects that change an object of this one; a patch may change an object only once. */
  const rivals = (k) => all.filter((other) => other !== k && suspects[other].image === suspects[k].image && suspects[other].objects.some((id) => suspects[k].objects.includes(id)));
  const total = (outcome) => decisions.filter((one) => one === outcome).length;
  const matches = (k) => (!state.kind || suspects[k].kind === state.kind) && !(state.undecided && decisions[k]);
  const named = (k) => `${kinds[suspects[k].kind]} in ${suspects[k].image}, suspicion ${suspects[k].suspicion.toFixed(2)}`;
  const say = (text) => { byId("message").textContent = text; };

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

  const shape = (one, kind) => s("g", { class: `object ${kind} ${one.dontCare ? "dont-care" : ""}` }, polygon(one.shape, "halo"), polygon(one.shape, "edge"));
  const agreement = (one) => (one.agrees ? "agreeing" : "single");
  const swatch = (kind) => s("svg", { class: `swatch object ${kind}`, viewBox: "0 0 30 14", "aria-hidden": "true" }, s("polygon", { class: "edge", points: "2,2 28,2 28,12 2,12" }));

  function figure(suspect, kind, title, none) {
    const objects = suspect[kind], others = suspect[kind === "now" ? "proposed" : "now"];
    const [url, [x, y, x1, y1]] = suspect.crop ?? [null, suspect.region], place = { x, y, width: x1 - x, height: y1 - y };
    const text = (one, at) => h("li", {}, one.text ? marked(one.text, others.length === objects.length ? others[at].text : one.text) : h("span", { class: "quiet" }, "no transcription"), one.dontCare ? " (don’t care)" : null);
    const svg = s("svg", { class: "canvas crop", viewBox: `${x} ${y} ${x1 - x} ${y1 - y}`, role: "img", "aria-label": `${title}: ${number(objects.length, "object")}, ${number(suspect.found.length, "detection")}` },
      s("rect", { class: "blank", ...place }), url && s("image", { href: url, preserveAspectRatio: "none", ...place }),
      suspect.near.map((one) => shape(one, "near")), suspect.found.map((one) => shape(one, `found ${agreement(one)}`)), objects.map((one) => shape(one, kind)));
    return h("figure", {}, h("figcaption", {}, swatch(kind), " ", title), svg, h("ul", {}, objects.length ? objects.map(text) : h("li", { class: "quiet" }, none)));
  }

  function detectionTable(suspect) {
    if (!suspect.found.length) return "";
    const heads = ["detector", "text", "confidence"].map((head, at) => h("th", { scope: "col", class: at > 1 ? "n" : null }, head));
    const light = (at, on) => document.querySelectorAll(".crop").forEach((svg) => svg.querySelectorAll(".found")[at].classList.toggle("selected", on));
    const row = (one, at) => h("tr", { onpointerenter: () => light(at, true), onpointerleave: () => light(at, false) }, h("th", { scope: "row" }, swatch(agreement(one)), " ", bdi(one.by)), h("td", {}, one.text ? bdi(one.text) : "–"), h("td", { class: "n" }, one.confidence ?? "–"));
    return [h("h3", {}, "Detections"), table(heads, suspect.found.map(row), "Detections")];
  }

  function showList(order) {
    const list = byId("list"), had = list.contains(document.activeElement), place = Math.max(0, order.indexOf(state.at)), first = place - (place % LIST_ROWS);
    const row = (k) => h("li", {}, h("button", { type: "button", "aria-current": k === state.at ? "true" : null, onclick: () => go(k) },
      h("span", { class: ["", "good", "bad"][decisions[k]], role: "img", "aria-label": OUTCOMES[decisions[k]] }, SIGNS[decisions[k]]),
      h("span", {}, kinds[suspects[k].kind], h("span", { class: "quiet" }, bdi(suspects[k].image))), h("span", { class: "n" }, suspects[k].suspicion.toFixed(2))));
    const turn = (label, to) => h("button", { type: "button", disabled: order[to] === undefined, onclick: () => go(order[to]) }, label);
    list.replaceChildren(h("p", { class: "quiet" }, order.length ? `${first + 1} to ${Math.min(first + LIST_ROWS, order.length)} of ${order.length}` : "None is left."),
      h("ol", {}, order.slice(first, first + LIST_ROWS).map(row)), order.length > LIST_ROWS ? h("div", { class: "bar" }, turn("‹ Earlier", first - LIST_ROWS), turn("Later ›", first + LIST_ROWS)) : "");
    if (had) list.querySelector("[aria-current]")?.focus();
  }

  function show() {
    const k = state.at, suspect = suspects[k], order = all.filter(matches), decided = total(ACCEPTED) + total(REJECTED);
    byId("progress").value = decided;
    byId("decided").textContent = `${decided} of ${suspects.length} decided: ${total(ACCEPTED)} accepted, ${total(REJECTED)} rejected`;
    byId("undo").disabled = !undone.length;
    showList(order);
    byId("about").replaceChildren(
      h("h2", { id: "title" }, `${kinds[suspect.kind]} in `, bdi(suspect.image)),
      h("p", {}, h("span", { class: `outcome o${decisions[k]}` }, `${SIGNS[decisions[k]]} ${OUTCOMES[decisions[k]]}`), " Suspicion ", h("b", {}, suspect.suspicion.toFixed(2)), suspect.objects.length ? `, ${suspect.objects.length === 1 ? "object" : "objects"} ${suspect.objects.join(", ")}` : null),
      h("p", {}, suspect.reason),
      h("p", { class: "quiet" }, suspect.by.length ? ["Agreeing: ", suspect.by.map((by, at) => [at ? ", " : "", bdi(by)])] : "No detector agrees on a proposal."));
    byId("pictures").replaceChildren(figure(suspect, "now", "Ground truth now", "nothing"), figure(suspect, "proposed", "Proposed", "nothing: the object is removed"));
    byId("detections").replaceChildren(...[detectionTable(suspect)].flat());
    for (const [id, step] of [["back", -1], ["next", 1]]) byId(id).disabled = neighbour(step) === undefined;
    for (const [id, outcome] of [["accept", ACCEPTED], ["reject", REJECTED]]) byId(id).setAttribute("aria-pressed", decisions[k] === outcome);
  }

  // ---------------------------------------------------------------- what the reader does

  const neighbour = (by) => (by > 0 ? all.find((k) => k > state.at && matches(k)) : all.findLast((k) => k < state.at && matches(k)));
  const go = (k) => { state.at = k; show(); };
  const step = (by) => { const to = neighbour(by); if (to !== undefined) { say(named(to)); go(to); } };

  function filter(change) {
    Object.assign(state, change);
    go(matches(state.at) ? state.at : (all.find(matches) ?? state.at));
  }

  function decide(outcome) {
    const k = state.at, isOpen = (other) => !decisions[other] && (!state.kind || suspects[other].kind === state.kind);
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
    const changed = undone.pop(), [[k]] = changed;
    for (const [one, before] of changed) decisions[one] = before;
    if (undone.length < state.saved) state.saved = -1;
    watch();
    if (!matches(k)) { state.kind = ""; document.querySelector("[name=kind]").checked = true; }
    say(`Undone: ${named(k)}`);
    go(k);
  }

  const ask = (event) => event.preventDefault();
  /** Let the browser ask before it closes the page while there is something to save. */
  const watch = () => (undone.length === state.saved ? removeEventListener : addEventListener)("beforeunload", ask);

  function save() {
    const { suspects: entries, ...head } = patch; // `decided` only tells this page later what was rejected
    const lines = entries.map((entry, k) => JSON.stringify({ ...entry, accept: decisions[k] === ACCEPTED, ...(decisions[k] ? { decided: true } : {}) }));
    const text = `${JSON.stringify(head, null, 1).slice(0, -2)},\n"suspects": [\n${lines.join(",\n")}\n]\n}\n`;
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    h("a", { href: url, download: "patch.json" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    state.saved = undone.length;
    watch();
    say(`Saved as patch.json: ${number(total(ACCEPTED), "accepted suspect")}. Apply it with: evaltex convert GT NEW --patch patch.json`);
  }

  /** Take the decisions of a patch that this page saved; any other patch has other entries. */
  async function open({ target }) {
    const [file] = target.files, bare = (one) => JSON.stringify(one, (name, value) => (name === "accept" || name === "decided" ? undefined : value));
    if (!file) return;
    try {
      const opened = JSON.parse(await file.text());
      if (bare(opened) !== bare(patch)) throw new TypeError("other entries");
      opened.suspects.forEach((entry, k) => { decisions[k] = entry.accept === true ? ACCEPTED : entry.decided === true ? REJECTED : UNDECIDED; });
      undone.length = state.saved = 0;
      watch();
      state.at = Math.max(0, decisions.indexOf(UNDECIDED));
      say(`Opened ${file.name}: ${total(ACCEPTED) + total(REJECTED)} of ${suspects.length} are decided.`);
    } catch {
      say(`${file.name} is not a patch of this audit; open one that this page saved.`);
    }
    target.value = "";
    show();
  }

  const PRESSES = { a: "accept", r: "reject", n: "next", ArrowRight: "next", p: "back", ArrowLeft: "back", u: "undo", s: "save", d: "show-found", o: "show-near", h: "show-shapes" };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || (event.key.startsWith("Arrow") && event.target.matches("input"))) return;
    byId(PRESSES[event.key])?.click();
  });
  const actions = { accept: () => decide(ACCEPTED), reject: () => decide(REJECTED), back: () => step(-1), next: () => step(1), undo, save };
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
  for (const name of ["found", "near", "shapes"]) byId(`show-${name}`).addEventListener("change", ({ target }) => byId("suspect").classList.toggle(`no-${name}`, !target.checked));
  document.querySelectorAll("[name=kind]").forEach((input) => input.addEventListener("change", () => filter({ kind: input.value })));
  byId("undecided").addEventListener("change", ({ target }) => filter({ undecided: target.checked }));
  byId("open").addEventListener("change", open);
  show();
})();
