// The page of an audit: its suspects are decided one by one, and saved as a patch.

const { kinds, evidence, patch } = data;
const suspects = patch.suspects.map((entry, k) => ({ ...entry, ...evidence[k] }));
const [UNDECIDED, ACCEPTED, REJECTED] = ["Undecided", "Accepted", "Rejected"];
const all = [...suspects.keys()];
const rows = [...document.querySelectorAll("#list button")];

const decisions = suspects.map(() => UNDECIDED);
const steps = []; // to undo: for each decision, the suspects that it changed and how they were decided before
let saved = String(decisions);
let at = 0; // the suspect that is shown

/** The other suspects that change an object of this one; a patch may change an object only once. */
const rivals = (k) => all.filter((other) => other !== k && suspects[other].image === suspects[k].image
  && suspects[other].objects.some((id) => suspects[k].objects.includes(id)));
const total = (decision) => decisions.filter((one) => one === decision).length;
const matches = (k) => [suspects[k].kind, ""].includes(byId("kind").value);
const next = () => all.find((k) => k > at && matches(k));
const back = () => all.findLast((k) => k < at && matches(k));
const describe = (k) => `${kinds[suspects[k].kind]} in ${suspects[k].image}`;
const say = (text) => { byId("message").textContent = text; };

// What is drawn

/** A text with what differs from another one marked. */
function marked(text, other) {
  const [a, b] = [[...text], [...other]];
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  let end = 0;
  while (start < shorter && a[start] === b[start]) start++;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const part = (from, to) => a.slice(from, to).join("");
  return [part(0, start), h("mark", {}, part(start, a.length - end)), part(a.length - end)];
}

function showObjects(kind, objects, others, nothing) {
  const { crop, region, near, found } = suspects[at];
  const [url, [left, top, right, bottom]] = crop ?? [null, region];
  const draw = (object, name) =>
    shape(object.vertices.flat(), { class: `object ${name} ${object.dont_care ? "dont-care" : ""}` });
  const label = `${number(objects.length, "object")}, ${number(found.length, "detection")}`;
  const text = (object, n) => h("li", {},
    bdi(marked(object.text, others.length === objects.length ? others[n].text : object.text)),
    object.text ? null : "no transcription",
    object.dont_care ? " (don’t care)" : null);
  byId(kind).replaceChildren(
    drawing([left, top, right - left, bottom - top], url, label,
      near.map((object) => draw(object, "near")),
      found.map((detection) => draw(detection, `found ${detection.agrees ? "agreeing" : "single"}`)),
      objects.map((object) => draw(object, kind))),
    h("ul", {}, objects.length ? objects.map(text) : h("li", {}, nothing)));
}

function showDetections(detections) {
  const heads = ["detector", "text", "confidence"];
  const detectionRows = detections.map(({ by, agrees, text, confidence }) => {
    const detector = h("span", { class: `kind ${agrees ? "agreeing" : "single"}` }, bdi(by));
    return h("tr", {}, cells("td", [detector, bdi(text || "–"), confidence ?? "–"], 2));
  });
  byId("detections").replaceChildren(...(detections.length ? table("Detections", heads, detectionRows, 2) : []));
}

function show() {
  const { image, kind, suspicion, objects, reason, by, current, proposed, found } = suspects[at];
  const decided = total(ACCEPTED) + total(REJECTED);
  byId("progress").value = decided;
  byId("decided").textContent =
    `${decided} of ${suspects.length} decided: ${total(ACCEPTED)} accepted, ${total(REJECTED)} rejected`;
  byId("about").replaceChildren(
    h("h2", { id: "title" }, `${kinds[kind]} in `, bdi(image)),
    h("p", {}, h("b", { class: decisions[at] }, decisions[at]), `. Suspicion ${suspicion.toFixed(2)}`,
      objects.length ? `, ${objects.length === 1 ? "object" : "objects"} ${objects.join(", ")}` : null),
    h("p", {}, reason),
    h("p", { class: "quiet" }, by.length ? `Agreeing: ${by.join(", ")}` : "No detector agrees on a proposal."));
  showObjects("current", current, proposed, "nothing");
  showObjects("proposed", proposed, current, "nothing: the object is removed");
  showDetections(found);
  rows.forEach((row, k) => {
    row.hidden = !matches(k);
    row.className = decisions[k];
    row.setAttribute("aria-current", k === at);
  });
  byId("list").scrollTop = rows[at].offsetTop - byId("list").clientHeight / 2;
  byId("accept").setAttribute("aria-pressed", decisions[at] === ACCEPTED);
  byId("reject").setAttribute("aria-pressed", decisions[at] === REJECTED);
  byId("back").disabled = back() === undefined;
  byId("next").disabled = next() === undefined;
  byId("undo").disabled = !steps.length;
  // The browser asks before it closes the page while there is something to save.
  window.onbeforeunload = String(decisions) === saved ? null : (event) => event.preventDefault();
}

// What the reader does

function go(k) {
  at = k ?? at;
  show();
}

function step(k) {
  say(describe(k));
  go(k);
}

function decide(decision) {
  const replaced = decision === ACCEPTED ? rivals(at).filter((other) => decisions[other] !== REJECTED) : [];
  steps.push([at, ...replaced].map((k) => [k, decisions[k]]));
  decisions[at] = decision;
  for (const other of replaced) decisions[other] = REJECTED;
  const open = all.filter((k) => decisions[k] === UNDECIDED && matches(k));
  const to = open.find((k) => k > at) ?? open[0];
  const also = replaced.length ? ` Rejected ${number(replaced.length, "other change")} of the same object.` : "";
  const then = to === undefined ? "All of these are decided: save the patch." : `Next: ${describe(to)}`;
  say(`${decision}.${also} ${then}`);
  go(to);
}

function undo() {
  const changed = steps.pop();
  const [[k]] = changed;
  for (const [one, before] of changed) decisions[one] = before;
  if (!matches(k)) byId("kind").value = "";
  say(`Undone: ${describe(k)}`);
  go(k);
}

/** Save the patch; `decided` tells this page later what was rejected. */
function save() {
  const { suspects: entries, ...head } = patch;
  const lines = entries.map((entry, k) => {
    const decided = decisions[k] === UNDECIDED ? {} : { decided: true };
    return JSON.stringify({ ...entry, accept: decisions[k] === ACCEPTED, ...decided });
  });
  const text = `${JSON.stringify(head, null, 1).slice(0, -2)},\n"suspects": [\n${lines.join(",\n")}\n]\n}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  h("a", { href: url, download: "patch.json" }).click();
  saved = String(decisions);
  const accepted = number(total(ACCEPTED), "accepted suspect");
  say(`Saved as patch.json: ${accepted}. Apply it with: evaltex convert GT NEW --patch patch.json`);
  show();
}

/** Take the decisions of a patch that this page saved; any other patch has other entries. */
async function open() {
  const [file] = byId("open").files;
  if (!file) return;
  const isDecision = (name) => name === "accept" || name === "decided";
  const bare = (one) => JSON.stringify(one, (name, value) => (isDecision(name) ? undefined : value));
  try {
    const opened = JSON.parse(await file.text());
    if (bare(opened) !== bare(patch)) throw new TypeError("other entries");
    opened.suspects.forEach(({ accept, decided }, k) => {
      decisions[k] = accept ? ACCEPTED : decided ? REJECTED : UNDECIDED;
    });
    steps.length = 0;
    saved = String(decisions);
    say(`Opened ${file.name}: ${total(ACCEPTED) + total(REJECTED)} of ${suspects.length} are decided.`);
    go(Math.max(0, decisions.indexOf(UNDECIDED)));
  } catch {
    say(`${file.name} is not a patch of this audit; open one that this page saved.`);
  }
  byId("open").value = "";
}

const presses = {
  accept: () => decide(ACCEPTED),
  reject: () => decide(REJECTED),
  back: () => step(back()),
  next: () => step(next()),
  undo,
  save,
};
for (const [id, press] of Object.entries(presses)) byId(id).addEventListener("click", press);
byId("open").addEventListener("change", open);
byId("kind").addEventListener("change", () => go(matches(at) ? at : all.find(matches)));
rows.forEach((row, k) => row.addEventListener("click", () => go(k)));
show();
