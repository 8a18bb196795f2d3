(() => {
  const PAGE_ROWS = [25, 50, 100, 500];
  const MANY = 3; // detectors beyond which tables show their scores only, to fit the window
  const THUMBNAILS = 6;
  const LEAST_HEIGHT = 240; // of a picture, in pixels of the screen
  const SIGNS = ["1:1", "1:n", "n:1", "n:m", "miss", "false", "ign."];
  const MISSED = 4, FALSE_POSITIVE = 5, IGNORED = 6;
  const DASHES = ["none", "7 4", "2 3", "9 3 2 3"];

  const overview = island("overview");
  const types = overview.matchTypes;
  const systems = overview.systems;
  const compared = systems.length > 1;
  const protocols = overview.protocols.map(() => null);
  const NUMBERS = { i1: Int8Array, i2: Int16Array, i4: Int32Array, f8: Float64Array };
  const NOTHING = ["i1", 1, ""];
  const byName = (values, change) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
  const sum = (values) => values.reduce((total, value) => total + value, 0);

  /** The numbers of a column (image_columns.packed_numbers) from one place up to another, null where undefined. */
  function numbersOf([kind, scale, content, repeated] = NOTHING, start, stop) {
    if (repeated) return Array(stop - start).fill(numbersOf([kind, scale, content], 0, 1)[0]);
    const type = NUMBERS[kind], size = type.BYTES_PER_ELEMENT;
    const first = Math.floor((start * size) / 3), before = start * size - 3 * first; // three bytes are four characters
    const bytes = Uint8Array.from(atob(content.slice(4 * first, 4 * Math.ceil((stop * size) / 3))), (one) => one.charCodeAt(0));
    const none = kind === "f8" ? NaN : -(2 ** (8 * size - 1));
    return Array.from(new type(bytes.buffer.slice(before, before + (stop - start) * size)), (value) => (Object.is(value, none) ? null : value / scale));
  }

  /** What is said of a protocol, with the columns of its table of images as lists. */
  function readProtocol(k) {
    const data = island(`protocol-${k}`), list = (column) => numbersOf(column, 0, overview.images.length);
    data.images = data.images?.map(({ scores, counts }) => ({ scores: byName(scores, list), counts: counts.map(list) }));
    return data;
  }
  const protocol = (k) => (protocols[k] ??= readProtocol(k));
  const position = new Map(overview.images.map((name, k) => [name, k]));

  const WORDS = { fscore: "F-score", hmean: "harmonic mean", e2e: "end-to-end", emd: "EMD", iou: "IoU", siou: "SIoU", pq: "panoptic quality (PQ)", rq: "recognition quality (RQ)", sq: "segmentation quality (SQ)" };
  const words = (name) => name.split("_").map((word) => WORDS[word] ?? word).join(" ");
  const title = (name) => words(name).replace(/^./, (first) => first.toUpperCase());
  const number = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const shown = (value) => {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value) && Math.abs(value) > 1) return String(value);
    return Math.abs(value) <= 1 ? value.toFixed(4) : String(+value.toPrecision(6));
  };
  const signed = (value) => (value === null || value === undefined ? "–" : (value > 0 ? "+" : value < 0 ? "−" : "") + shown(Math.abs(value)));
  const between = (interval, show = shown) => (interval ? `[${show(interval[0])}, ${show(interval[1])}]` : "");

  /** Details whose content is made when they are opened first. */
  const folded = (attributes, summary, make) => h("details", { ...attributes, ontoggle: ({ target }) => target.childElementCount === 1 && target.append(...[make()].flat().filter(Boolean)) }, h("summary", {}, summary));

  // ---------------------------------------------------------------- charts

  const axisTop = (values) => Math.max(0.1, Math.ceil(10 * Math.max(0, ...values) - 1e-9) / 10);

  function histogram(name, all) {
    const [width, height, left, top, bottom] = [520, 250, 40, 18, 36];
    const bins = all[0].shares.length, high = axisTop(all.flatMap((one) => one.shares));
    const y = (share) => height - bottom - (share / high) * (height - bottom - top);
    const slot = (width - left - 4) / bins, bar = (slot * 0.86) / all.length;
    const chart = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title(name)}; figures in the table below` });
    const tickStep = high > 0.5 ? 0.2 : high > 0.2 ? 0.1 : 0.05;
    for (let tick = 0; tick <= high + 1e-9; tick += tickStep) {
      chart.append(s("line", { class: "gridline", x1: left, x2: width, y1: y(tick), y2: y(tick) }), s("text", { x: left - 5, y: y(tick) + 4, "text-anchor": "end" }, String(+tick.toFixed(2))));
    }
    const every = Math.ceil(bins / 10);
    for (let b = 0; b < bins; b++) {
      all.forEach((one, k) => {
        const x = left + b * slot + slot * 0.07 + k * bar, share = one.shares[b];
        const what = `${compared ? systems[k] + ", " : ""}${binText(b, bins)}: ${shown(share)}${one.counts ? ` (${one.counts[b]})` : ""}`;
        chart.append(s("rect", { class: `s${k % 4}`, x, y: y(share), width: bar, height: Math.max(0, y(0) - y(share)) }, s("title", {}, what)));
        if (one.counts && bins <= 12 && !compared && one.counts[b]) chart.append(s("text", { x: x + bar / 2, y: y(share) - 3, "text-anchor": "middle" }, String(one.counts[b])));
      });
      if (b % every === 0) chart.append(s("text", { x: left + b * slot, y: height - bottom + 15, "text-anchor": "middle" }, String(+(b / bins).toFixed(3))));
    }
    chart.append(s("text", { x: width - 4, y: height - bottom + 15, "text-anchor": "end" }, "1"), s("line", { class: "axis", x1: left, x2: width, y1: y(0), y2: y(0) }));
    chart.append(s("text", { x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, name.replace("_histogram", "")));
    const rows = all[0].shares.map((_, b) => [binText(b, bins), ...all.flatMap((one) => [shown(one.shares[b]), ...(one.counts ? [String(one.counts[b])] : [])])]);
    const heads = ["Bin", ...all.flatMap((one, k) => [compared ? `${systems[k]}: share` : "Share", ...(one.counts ? ["Number"] : [])])];
    return h("figure", {}, h("figcaption", {}, title(name)), compared ? legend(systems) : null, chart, folded({}, "Figures", () => plainTable(heads, rows)));
  }

  const binText = (b, bins) => `[${+(b / bins).toFixed(4)}, ${+((b + 1) / bins).toFixed(4)}${b === bins - 1 ? "]" : ")"}`;
  const legend = (labels) => h("div", { class: "bar quiet" }, labels.map((label, k) => h("span", {}, s("svg", { class: "swatch", viewBox: "0 0 30 14" }, s("rect", { class: `s${k % 4}`, width: 30, height: 14 })), " ", bdi(label))));

  /** Round values between two, at most seven. */
  function ticks(low, high) {
    const power = 10 ** Math.floor(Math.log10((high - low) / 6));
    const step = power * [1, 2, 5, 10].find((factor) => (high - low) / (power * factor) <= 6);
    const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
    return Array.from({ length: last - first + 1 }, (_, k) => +((first + k) * step).toPrecision(6));
  }

  function lineChart(plot, systemLabel) {
    const [width, height, left, top, right, bottom] = [520, 320, 40, 10, 12, 40];
    const low = Math.min(...plot.x), high = Math.max(...plot.x), span = high - low || 1;
    const x = (value) => left + ((value - low) / span) * (width - left - right);
    const y = (value) => height - bottom - value * (height - bottom - top);
    const name = systemLabel ? `${plot.title}, ${systemLabel}` : plot.title;
    const chart = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name}; figures in the table below` });
    for (let k = 0; k <= 5; k++) {
      chart.append(s("line", { class: "gridline", x1: left, x2: width - right, y1: y(k / 5), y2: y(k / 5) }), s("text", { x: left - 5, y: y(k / 5) + 4, "text-anchor": "end" }, (k / 5).toFixed(1)));
    }
    for (const tick of ticks(low, low + span)) chart.append(s("text", { x: x(tick), y: height - bottom + 16, "text-anchor": "middle" }, String(tick)));
    chart.append(s("line", { class: "axis", x1: left, x2: width - right, y1: y(0), y2: y(0) }), s("text", { x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, plot.x_label));
    const lines = Object.entries(plot.lines);
    lines.forEach(([, values], k) => {
      const points = values.flatMap((value, at) => (value === null ? [] : [`${x(plot.x[at]).toFixed(2)},${y(value).toFixed(2)}`])).join(" ");
      chart.append(s("polyline", { class: `s${k % 4}`, points, "stroke-dasharray": DASHES[k % 4] }));
    });
    const keys = h("div", { class: "bar quiet" }, lines.map(([label], k) => h("span", {}, s("svg", { class: "swatch", viewBox: "0 0 30 14" }, s("line", { class: `s${k % 4}`, x1: 0, x2: 30, y1: 7, y2: 7, "stroke-dasharray": DASHES[k % 4] })), " ", title(label))));
    const rows = plot.x.map((value, at) => [String(+value.toPrecision(6)), ...lines.map(([, values]) => shown(values[at]))]);
    return h("figure", {}, h("figcaption", {}, bdi(name)), keys, chart, folded({}, "Figures", () => plainTable([plot.x_label, ...lines.map(([label]) => title(label))], rows)));
  }

  /** A value (a dot) and its interval (a line) on an axis from 0 to 1. */
  function whiskers(value, interval, k) {
    const chart = s("svg", { class: "whiskers", viewBox: "0 0 200 16", "aria-hidden": "true" });
    const x = (at) => 4 + 192 * Math.min(1, Math.max(0, at));
    chart.append(s("line", { class: "gridline", x1: 4, x2: 196, y1: 8, y2: 8 }));
    if (interval) chart.append(s("line", { class: `s${k % 4}`, x1: x(interval[0]), x2: x(interval[1]), y1: 8, y2: 8 }));
    if (value !== null) chart.append(s("circle", { class: `s${k % 4}`, cx: x(value), cy: 8, r: 3.5 }));
    return chart;
  }

  const plainTable = (heads, rows) =>
    scroll(h("table", {}, h("thead", {}, h("tr", {}, heads.map((head, k) => h("th", { scope: "col", class: k ? "n" : null }, bdi(head))))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, k) => h("td", { class: k ? "n" : null }, cell)))))));

  /** A table with a column for each detector under every heading; cells that are lists hold one entry a detector. */
  function groupedTable(heads, rows) {
    const isNumber = (k) => Array.isArray(rows[0].cells[k]);
    const top = h("tr", {}, heads.map((head, k) => (isNumber(k) ? h("th", { scope: compared ? "colgroup" : "col", colspan: systems.length, class: compared ? "n group" : "n" }, head) : h("th", { scope: "col", rowspan: compared ? 2 : 1 }, head))));
    const below = compared ? h("tr", {}, heads.map((_, k) => (isNumber(k) ? systems.map((label, at) => h("th", { scope: "col", class: at ? "n" : "n group" }, bdi(label))) : []))) : null;
    const line = ({ cells, total }) => h("tr", { class: total ? "total" : null }, cells.map((cell, k) => (isNumber(k) ? cell.map((one, at) => h("td", { class: compared && !at ? "n group" : "n" }, one)) : k ? h("td", { class: "quiet meaning" }, cell) : h("th", { scope: "row" }, cell))));
    return scroll(h("table", {}, h("thead", {}, top, below), h("tbody", {}, rows.map(line))));
  }

  // ---------------------------------------------------------------- where the score is lost

  /** The kinds of mistakes, then what no single kind stands for, in one order everywhere. */
  const lossParts = (one) => [...one.kinds, { kind: "interaction", shares: one.interaction }, { kind: "unexplained", shares: one.unexplained }];
  const TEN_THOUSANDTHS = 10000;
  const units = (value) => Math.round(+value.toFixed(4) * TEN_THOUSANDTHS);

  /** Values in ten-thousandths, rounded such that they sum to the total; exact zeros stay. */
  function roundedTo(values, total) {
    const scaled = values.map((value) => value * TEN_THOUSANDTHS), whole = scaled.map(Math.floor);
    const short = () => total - whole.reduce((sum, value) => sum + value, 0);
    const order = values.map((_, k) => k).sort((a, b) => whole[a] - scaled[a] - (whole[b] - scaled[b]));
    for (const k of order.slice(0, Math.max(0, short()))) whole[k] += 1;
    whole[whole.length - 1] += short();
    return whole;
  }

  /** Of one detector: score -> share of each part as shown. */
  const shownShares = (one) => Object.fromEntries(Object.entries(one.scores).map(([name, score]) => [name, roundedTo(lossParts(one).map((part) => part.shares[name]), TEN_THOUSANDTHS - units(score)).map((value) => value / TEN_THOUSANDTHS)]));

  const counted = (part) => (part.counted ? `${part.count} ${part.count === 1 ? part.counted.slice(0, -1) : part.counted}` : "");

  /** A figure of one score: a bar for each part and detector, from 0 to its share, which stands at the right. */
  function lossBars(name, all, rounded, [low, high]) {
    const [width, left, right, top, bottom] = [390, 86, 58, 4, 24], bar = compared ? 13 : 15, slot = all.length * bar + 9;
    const parts = lossParts(all[0]), height = top + parts.length * slot + bottom;
    const x = (share) => left + ((share - low) / (high - low)) * (width - left - right);
    const chart = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Shares of the ${words(name)} lost; figures in the table below` });
    for (const tick of ticks(low, high)) {
      chart.append(s("line", { class: "gridline", x1: x(tick), x2: x(tick), y1: top, y2: height - bottom }), s("text", { x: x(tick), y: height - bottom + 16, "text-anchor": "middle" }, String(tick).replace("-", "−")));
    }
    parts.forEach(({ kind }, p) => {
      const y = top + p * slot + 4;
      chart.append(s("text", { x: left - 8, y: y + (slot - 9) / 2 + 4, "text-anchor": "end" }, kind));
      all.forEach((one, k) => {
        const part = lossParts(one)[p], share = part.shares[name], value = signed(rounded[k][name][p]);
        const what = `${compared ? `${systems[k]}, ` : ""}${kind}${part.counted ? ` (${counted(part)})` : ""}: ${value}`;
        chart.append(
          s("rect", { class: `s${k % 4}${part.counted ? "" : " hollow"}`, x: Math.min(x(0), x(share)), y: y + k * bar, width: Math.abs(x(share) - x(0)), height: bar - 1 }, s("title", {}, what)),
          s("text", { class: rounded[k][name][p] ? null : "faint", x: width, y: y + k * bar + bar - 3, "text-anchor": "end" }, value));
      });
    });
    chart.append(s("line", { class: "axis", x1: x(0), x2: x(0), y1: top, y2: height - bottom }));
    const lost = all.map((one, k) => [k ? ", " : "", compared ? [bdi(systems[k]), " "] : null, shown(1 - units(one.scores[name]) / TEN_THOUSANDTHS)]);
    return h("figure", { "data-score": name }, h("figcaption", {}, `${title(name)} lost: `, lost), chart);
  }

  function lossTable(all, rounded, main) {
    const names = Object.keys(all[0].scores), parts = all.map(lossParts);
    const lines = parts[0].map(({ kind }, p) => ({ cells: [kind, parts.map((of) => counted(of[p])), ...names.map((name) => rounded.map((of) => signed(of[name][p]))), overview.meanings[kind]] }));
    const sums = (label, value, meaning) => ({ total: true, cells: [label, all.map(() => ""), ...names.map((name) => all.map((one) => shown(value(units(one.scores[name])) / TEN_THOUSANDTHS))), meaning] });
    if (systems.length > MANY) {
      const narrow = ({ cells, total }) => ({ total, cells: [cells[0], cells[2 + names.indexOf(main)]] });
      return groupedTable(["Mistake", title(main)], [...lines, sums("= loss", (score) => TEN_THOUSANDTHS - score, ""), sums("1 − loss", (score) => score, "")].map(narrow));
    }
    return groupedTable(["Mistake", "Number", ...names.map(title), "What it is"], [...lines, sums("= loss", (score) => TEN_THOUSANDTHS - score, "the sum of the above"), sums("1 − loss", (score) => score, "the score")]);
  }

  const rangeText = ({ low, high }) => (low === null ? (high === null ? "all" : `below ${high}`) : high === null ? `from ${low}` : `${low} to ${high}`);

  /** Of one detector everything; of several their recall. */
  function breakdownTable(property, all) {
    const bins = all.map((one) => one.breakdowns[property]), first = bins[0][0];
    const recall = ["Recall", (bin) => shown(bin.recall)];
    const matches = Object.keys(first.matches).map((type) => [title(type), (bin) => String(bin.matches[type])]);
    const means = Object.keys(first.means).map((value) => [`Mean ${words(value)}`, (bin) => shown(bin.means[value])]);
    const columns = compared ? [recall] : [["Objects", (bin) => String(bin.objects)], ["Found", (bin) => String(bin.found)], recall, ...matches, ...means];
    const rows = bins[0].map((bin, b) => ({ cells: [compared ? `${rangeText(bin)} (${number(bin.objects, "object")})` : rangeText(bin), ...columns.map(([, show]) => bins.map((of) => show(of[b])))] }));
    return groupedTable([title(property), ...columns.map(([head]) => head)], rows);
  }

  /** What a detector misreads most often; nothing of a protocol that does not compare texts. */
  function misreadTables({ misread }, k) {
    if (!misread) return null;
    const cell = (text) => h("td", {}, text === "" ? h("span", { class: "quiet" }, "nothing") : bdi(text));
    const table = (head, rows) => scroll(h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, head), h("th", { scope: "col" }, "Read as"), h("th", { scope: "col", class: "n" }, "Number"))), h("tbody", {}, rows.map((one) => h("tr", {}, cell(one.expected), cell(one.read), h("td", { class: "n" }, String(one.count)))))));
    return folded({ "data-property": "misread" }, [compared ? [bdi(systems[k]), ": "] : null, `Misread most often, of ${misread.pairs} ${misread.pairs === 1 ? "pair" : "pairs"} with a wrong text`], () => [table("Text", misread.words), table("Character", misread.characters)]);
  }

  /** The mistakes as a chart or as a table, as chosen. */
  function lossChoice(chart, figures) {
    const shownAs = h("div", {});
    const draw = () => shownAs.replaceChildren(...(state.mistakes === "table" ? figures() : chart()).filter(Boolean));
    const choice = (value) => h("label", { class: "choice" }, h("input", { type: "radio", name: "mistakes", value, checked: value === state.mistakes, onchange: () => { state.mistakes = value; remember(); draw(); } }), value);
    draw();
    return [h("fieldset", { class: "screen" }, h("legend", {}, "Mistakes as"), choice("chart"), choice("table")), shownAs];
  }

  function lossSection({ losses, main_score: main }) {
    if (!losses) return null;
    const head = h("h2", {}, "Where the score is lost");
    if (losses.note) return h("section", { id: "losses" }, head, h("p", {}, losses.note));
    const all = losses.systems, names = Object.keys(all[0].scores), rounded = all.map(shownShares);
    const shares = all.flatMap((one) => lossParts(one).flatMap((part) => Object.values(part.shares)));
    const range = [Math.min(0, ...shares), Math.max(0.01, ...shares)];
    return h("section", { id: "losses" }, head,
      h("p", { class: "quiet" }, "A bar shows what the score would gain if that kind of mistake alone were corrected; below 0, it would lose. Hollow bars (interaction, unexplained) belong to no single kind. All bars add up to the loss."),
      lossChoice(() => [compared ? legend(systems) : null, h("div", { class: "charts thirds" }, names.map((name) => lossBars(name, all, rounded, range)))], () => [lossTable(all, rounded, main)]),
      Object.keys(all[0].breakdowns).map((property) => folded({ "data-property": property }, `By ${overview.properties[property]}`, () => breakdownTable(property, all))),
      all.map(misreadTables));
  }

  // ---------------------------------------------------------------- overview

  function header(current, onImage) {
    document.title = `evaltex: ${systems.join(" and ")}`;
    const choose = (k) => () => go(k, onImage), choosing = document.activeElement?.name === "protocol";
    byId("header").replaceChildren(
      h("h1", {}, "Text detection: ", systems.length > MANY ? `${systems.length} detectors` : systems.map((label, k) => [k ? " and " : "", bdi(label)])),
      overview.protocols.length > 1
        ? h("fieldset", { class: "screen" }, h("legend", {}, "Protocol"), overview.protocols.map((name, k) => h("label", { class: "choice" }, h("input", { type: "radio", name: "protocol", value: name, checked: k === current, onchange: choose(k) }), name)))
        : h("p", { class: "quiet" }, `Protocol: ${overview.protocols[0]}`),
    );
    if (choosing) byId("header").querySelector(":checked")?.focus();
  }

  function scoreSection(data) {
    const names = Object.keys(data.systems[0].scores);
    const comparison = new Map((data.comparison || []).map((row) => [row.score, row]));
    const interval = (name, k) => (comparison.size ? comparison.get(name)?.intervals[k] : data.systems[k].intervals[name]) || null;
    const some = names.some((name) => interval(name, 0));
    const difference = (name, k) => comparison.get(name)?.differences[k] ?? null;
    const summary = compared
      ? scroll(h("table", { class: "headline" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Detector"), data.headline.map((name) => h("th", { scope: "col", class: "n" }, title(name))))), h("tbody", {}, systems.map((label, k) => h("tr", {}, h("th", { scope: "row" }, s("svg", { class: "swatch", viewBox: "0 0 30 14", "aria-hidden": "true" }, s("rect", { class: `s${k % 4}`, width: 30, height: 14 })), " ", bdi(label)), data.headline.map((name) => h("td", { class: "n" }, h("b", {}, shown(data.systems[k].scores[name])), k && difference(name, k) !== null ? h("span", { class: `change ${difference(name, k) < 0 ? "bad" : difference(name, k) > 0 ? "good" : "quiet"}` }, ` ${signed(difference(name, k))}`) : null)))))))
      : h("div", { class: "tiles" }, data.headline.map((name) => h("div", { class: "tile" }, title(name), h("b", { class: "s0" }, shown(data.systems[0].scores[name])), h("span", { class: "quiet" }, between(interval(name, 0))))));
    const differs = comparison.size > 0, pHead = systems.length > 2 ? "p / p (Holm)" : "p";
    const heads = ["Score", ...(compared ? ["Detector"] : []), "Value", ...(some ? ["Interval"] : []), ...(differs ? ["Difference", "Its interval", pHead] : []), ""];
    const rows = names.flatMap((name) => systems.map((label, k) => {
      const row = comparison.get(name), value = data.systems[k].scores[name], hasDifference = k && row;
      const differences = hasDifference ? [signed(row.differences[k]), between(row.difference_intervals[k], signed), row.p_shown[k]] : ["", "", ""];
      const chart = value === null || Math.abs(value) <= 1 ? whiskers(value, interval(name, k), k) : "";
      const cells = [shown(value), ...(some ? [between(interval(name, k))] : []), ...(differs ? differences : [])];
      return h("tr", { class: compared && !k ? "first" : null }, k ? null : h("th", { scope: "rowgroup", rowspan: systems.length }, title(name)), compared ? h("td", {}, bdi(label)) : null, cells.map((cell, at) => h("td", { class: at && at !== (some ? 2 : 1) ? "n minor" : "n" }, cell)), h("td", { class: "minor" }, chart));
    }));
    const table = scroll(h("table", {}, h("thead", {}, h("tr", {}, heads.map((head, at) => h("th", { scope: "col", class: at > (compared ? 1 : 0) ? (["Value", "Difference"].includes(head) ? "n" : "n minor") : null }, head)))), h("tbody", {}, rows)));
    const note = some ? h("p", { class: "quiet" }, `Intervals: ${+(100 * data.level).toPrecision(4)} %, over images.${comparison.size ? " Differences are to " : ""}`, comparison.size ? [bdi(systems[0]), "."] : null) : null;
    const footer = (data.footer || []).map((line) => h("p", { class: "quiet" }, line));
    return h("section", { id: "scores" }, h("h2", {}, `Scores: ${data.title}`), summary, note, footer, h("details", {}, h("summary", {}, "All scores"), table));
  }

  /** The gates of all protocols, whichever is shown. */
  function gateSection() {
    const rows = overview.gates.flatMap((gates, k) => gates.map((gate) => [compared ? bdi(systems[k]) : null, gate]));
    if (!rows.length) return null;
    const failed = rows.filter(([, gate]) => !gate.passed).length;
    const line = ([label, gate]) => h("tr", {}, h("td", { class: gate.passed ? "good" : "bad" }, gate.passed ? "✓ passed" : "✗ FAILED"), compared ? h("td", {}, label) : null, h("td", {}, h("code", {}, gate.expression)), h("td", {}, `${gate.protocol} ${gate.score}`), [gate.value, gate.limit, gate.baseline].map((value) => h("td", { class: "n" }, shown(value))));
    const heads = ["State", ...(compared ? ["Detector"] : []), "Fails if", "Score", "Value", "Limit", "Baseline"];
    return h("section", { id: "gates" }, h("h2", {}, "Gates: ", h("span", { class: failed ? "bad" : "good" }, failed ? `${failed} of ${rows.length} failed` : `all ${rows.length} passed`)), scroll(h("table", {}, h("thead", {}, h("tr", {}, heads.map((head, k) => h("th", { scope: "col", class: k >= heads.length - 3 ? "n" : null }, head)))), h("tbody", {}, rows.map(line)))));
  }

  function chartSection(data) {
    const histograms = data.systems[0].histograms.map((one, k) => histogram(one.name, data.systems.map((system) => system.histograms[k])));
    const curves = data.systems.flatMap((system, k) => system.plots.map((plot) => lineChart(plot, compared ? systems[k] : "")));
    if (!histograms.length && !curves.length) return null;
    const head = histograms.length && curves.length ? "Histograms and curves" : curves.length ? "Curves" : "Histograms";
    return h("section", { id: "charts" }, h("h2", {}, head), h("div", { class: "charts" }, histograms, curves));
  }

  function originSection(data) {
    const one = (system, k) => {
      const side = (name) => [name === "gt" ? "Ground truth" : "Detections", Object.entries(system.inputs[name]).map(([key, value]) => `${key.replaceAll("_", " ")} ${value}`).join(", ")];
      const rows = [["Signature", system.signature], side("gt"), side("det"), ["Parameters", Object.entries(system.parameters).map(([key, value]) => `${key}=${value}`).join(", ")]];
      return [compared ? h("h3", {}, bdi(systems[k])) : null, h("table", {}, h("tbody", {}, rows.map(([name, text]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "text" }, bdi(text)))))), system.warnings.length ? h("ul", {}, system.warnings.map((text) => h("li", {}, bdi(text)))) : null];
    };
    const warnings = data.systems.reduce((sum, system) => sum + system.warnings.length, 0);
    return h("details", { id: "origin" }, h("summary", {}, `How this was made: signature, inputs, parameters${warnings ? `, ${number(warnings, "warning")}` : ""}`), data.systems.map(one));
  }

  // ---------------------------------------------------------------- table of images

  /** What the reader has chosen; the address has it, so that it can be kept and passed on. `sort` is a column, -1 the names. */
  const INITIAL = { text: "", type: "", sort: null, descending: false, rows: PAGE_ROWS[1], page: 0, mistakes: "chart", errors: false, hidden: "", zoom: "" };
  const state = { ...INITIAL };
  let order = []; // the images of the table, in its order
  const collator = new Intl.Collator("en", { numeric: true });

  // Whether any object or detection of an image counts: if not, its scores are conventions.
  const hasCounted = (data, k) => types.some((_, code) => code !== IGNORED && data.images.some((of) => of.counts[code][k] > 0));

  const errorsOf = (data) => overview.images.map((_, k) => data.images.reduce((sum, of) => sum + of.counts[MISSED][k] + of.counts[FALSE_POSITIVE][k], 0));

  function columnsOf(data) {
    const main = data.main_score, index = data.images, columns = [];
    const add = (head, values, kind) => columns.push({ head, values, kind });
    if (!compared) {
      add("Errors", errorsOf(data), "count");
      for (const name of data.headline) add(title(name), index[0].scores[name], "share");
      types.forEach((type, code) => add(title(type), index[0].counts[code], "count"));
      return columns;
    }
    const change = (k, at) => (hasCounted(data, at) ? (index[k].scores[main][at] ?? 0) - (index[0].scores[main][at] ?? 0) : null);
    const changes = systems.map((_, k) => overview.images.map((_, at) => change(k, at)));
    systems.forEach((label, k) => add(`${title(main)}, ${label}`, index[k].scores[main], "share"));
    if (systems.length > MANY) {
      add("Worst change", overview.images.map((_, at) => (changes[0][at] === null ? null : Math.min(...changes.slice(1).map((of) => of[at])))), "change");
      return columns;
    }
    systems.forEach((label, k) => k && add(`Change${systems.length > 2 ? `, ${label}` : ""}`, changes[k], "change"));
    for (const code of [MISSED, FALSE_POSITIVE]) systems.forEach((label, k) => add(`${title(types[code])}, ${label}`, index[k].counts[code], "count"));
    return columns;
  }

  /** Where the reader has chosen no order: by errors, of several detectors by what became worse. */
  const orderOf = (columns) => {
    const at = columns.findIndex((column) => column.kind === "change");
    return state.sort !== null && state.sort < columns.length ? [state.sort, state.descending] : at < 0 ? [0, true] : [at, false];
  };

  function orderRows(data, columns) {
    const wanted = state.text.toLowerCase(), has = (of, code, k) => of.counts[code][k] > 0;
    const listed = [];
    const change = columns.find((column) => column.kind === "change");
    overview.images.forEach((name, k) => {
      if (wanted && !name.toLowerCase().includes(wanted)) return;
      if (state.type === "worse" || state.type === "better") { if (!(state.type === "worse" ? change?.values[k] < 0 : change?.values[k] > 0)) return; }
      else if (state.type !== "" && !data.images.some((of) => has(of, +state.type, k))) return;
      listed.push(k);
    });
    const [sort, descending] = orderOf(columns), sign = descending ? -1 : 1;
    if (sort === -1) listed.sort((a, b) => sign * collator.compare(overview.images[a], overview.images[b]) || a - b);
    else {
      const values = columns[sort].values, errors = errorsOf(data), score = data.images[data.images.length - 1].scores[data.main_score];
      const last = overview.images.map((_, k) => values[k] === null || !hasCounted(data, k));
      // An undefined score, or that of an image where nothing counts, is neither good nor bad: it comes last either way. Among equals the one with more errors comes first, then the one with the lower score.
      listed.sort((a, b) => last[a] - last[b] || sign * (values[a] - values[b]) || errors[b] - errors[a] || (score[a] ?? 2) - (score[b] ?? 2) || a - b);
    }
    order = listed;
  }

  function imageSection(k) {
    const data = protocol(k);
    if (!data.images) return h("section", { id: "images" }, h("h2", {}, "Images"), h("p", {}, "This run kept no results of single images; run it again with -a."));
    const columns = columnsOf(data);
    const heads = ["Image", ...columns.map((column) => column.head)];
    const body = h("tbody"), count = h("output", { class: "quiet" }), headRow = h("tr"), pager = h("div", { class: "bar screen" });
    const draw = () => {
      const pages = Math.max(1, Math.ceil(order.length / state.rows));
      state.page = Math.min(state.page, pages - 1);
      remember();
      const start = state.page * state.rows;
      body.replaceChildren(...order.slice(start, start + state.rows).map((image) => imageRow(k, image, columns)));
      count.textContent = `${order.length} of ${number(overview.images.length, "image")}`;
      const turn = (label, to, off) => h("button", { type: "button", disabled: off, "data-turn": label, onclick: () => { state.page = to; draw(); (pager.querySelector(`[data-turn="${label}"]:enabled`) || pager.querySelector("button:enabled"))?.focus(); } }, label);
      pager.replaceChildren(turn("First", 0, !state.page), turn("Previous", state.page - 1, !state.page), h("span", { "aria-live": "polite" }, `Page ${state.page + 1} of ${pages}`), turn("Next", state.page + 1, state.page >= pages - 1), turn("Last", pages - 1, state.page >= pages - 1));
    };
    const refresh = () => { state.page = 0; orderRows(data, columns); draw(); };
    const heading = () => headRow.replaceChildren(...heads.map((head, at) => {
      const [sort, descending] = orderOf(columns), sorted = sort === at - 1;
      return h("th", { scope: "col", class: at ? "n" : null, "aria-sort": sorted ? (descending ? "descending" : "ascending") : "none" }, h("button", { type: "button", onclick: () => { state.descending = sorted ? !descending : at > 0 && columns[at - 1].kind === "count"; state.sort = at - 1; heading(); refresh(); headRow.children[at].firstChild.focus(); } }, bdi(head)));
    }));
    const options = [["", "all images"], ...types.map((type, code) => [String(code), `with ${type}`]), ...(compared ? [["worse", "that became worse"], ["better", "that became better"]] : [])];
    const controls = h("div", { class: "bar screen", role: "search" },
      h("label", {}, "Name contains ", h("input", { type: "search", id: "filter", value: state.text, oninput: (event) => { state.text = event.target.value; refresh(); } })),
      h("label", {}, "Show ", h("select", { id: "type", onchange: (event) => { state.type = event.target.value; refresh(); } }, options.map(([value, text]) => h("option", { value, selected: value === state.type }, text)))),
      h("label", {}, "Rows ", h("select", { id: "rows", onchange: (event) => { state.rows = +event.target.value; state.page = 0; draw(); } }, PAGE_ROWS.map((rows) => h("option", { value: rows, selected: rows === state.rows }, String(rows))))),
      count);
    heading();
    orderRows(data, columns);
    draw();
    return h("section", { id: "images" }, h("h2", {}, "Images", h("span", { class: "quiet" }, ` – ${compared ? "what became worst" : "what costs most"} first; a heading sorts, a name opens`)), controls, scroll(h("table", {}, h("thead", {}, headRow), body)), pager);
  }

  function imageRow(k, image, columns) {
    const cells = columns.map(({ values, kind }) => {
      const value = values[image];
      if (kind === "change") return h("td", { class: `n ${value < 0 ? "bad" : value > 0 ? "good" : ""}` }, signed(value));
      const cell = h("td", { class: kind === "share" ? "n share" : "n" }, kind === "count" ? String(value) : shown(value));
      if (kind === "share") cell.style.setProperty("--value", value ?? 0);
      return cell;
    });
    return h("tr", {}, h("td", { class: "text" }, h("a", { href: address(k, image) }, bdi(overview.images[image]))), cells);
  }

  /** Small pictures of the first images of the table, with what was missed and what is false; once the details are read. */
  function fillWorst(k, section) {
    const data = protocol(k);
    if (!data.images || !section.isConnected) return;
    const errors = errorsOf(data), change = columnsOf(data).find((column) => column.kind === "change");
    const thumbnail = (image) => {
      const small = details(image), url = pictureOf(image, small);
      if (!url) return null;
      const [x0, y0, x1, y1] = extent(small), drawn = objectsOf(small, k, systems.length - 1).filter((one) => one.shape && isError(one));
      const picture = s("svg", { viewBox: [x0, y0, x1 - x0, y1 - y0].join(" "), "aria-hidden": "true" }, s("image", { href: url, x: 0, y: 0, width: x1, height: y1, preserveAspectRatio: small.size ? "none" : "xMidYMid" }), drawn.map((one) => s("polygon", { class: `t${one.type}`, points: pointsOf(one.shape) })));
      return h("a", { href: address(k, image) }, picture, bdi(overview.images[image]), h("span", { class: "quiet" }, change ? signed(change.values[image]) : number(errors[image], "error")));
    };
    const images = order.slice(0, THUMBNAILS).filter((image) => (change ? change.values[image] < 0 : errors[image] > 0)).map(thumbnail).filter(Boolean);
    if (!images.length) return;
    section.append(h("h2", {}, compared ? "Images that became worst" : "Images that cost most"), h("div", { class: "thumbnails" }, images));
    section.hidden = false;
    contents();
  }

  // ---------------------------------------------------------------- one image

  const view = { hidden: new Set(), box: null, full: null, canvases: [], lists: [], wantsError: false };
  const KEYS = [["n", "next image,"], ["p", "previous,"], ["e", "next error,"], ["o", "errors only,"], ["z", "zoom to the object,"], ["+", "and"], ["−", "zoom,"], ["0", "all; drag moves."]];
  const chunks = new Map();
  const details = (image) => {
    const chunk = overview.chunkStarts.findLastIndex((start) => start <= image);
    if (!chunks.has(chunk)) {
      chunks.clear();
      chunks.set(chunk, island(`images-${chunk}`));
    }
    return imageOf(chunks.get(chunk), image - overview.chunkStarts[chunk]);
  };

  /** A list for each of some objects, of a column that has as many for each as another says. */
  function listsOf(column, counts, start, stop) {
    let at = sum(numbersOf(counts, 0, start));
    return numbersOf(counts, start, stop).map((count) => numbersOf(column, at, (at += count)));
  }

  /** One image of a chunk. */
  function imageOf({ objects, matches, picture }, at) {
    const placeOf = ({ count }) => { const counts = numbersOf(count, 0, at + 1), stop = sum(counts); return [stop - counts[at], stop]; };
    const ofGt = placeOf(objects[0].gt), ofDet = objects.map(({ det }) => placeOf(det));
    const drawn = ({ id, shape, numbers, text = [], confidence }, place) => ({ id: numbersOf(id, ...place), shape: listsOf(shape, numbers, ...place), text: text.slice(...place), confidence: numbersOf(confidence, ...place) });
    const said = ({ type, partners, links, values }, place) => ({ type: numbersOf(type, ...place), partners: listsOf(partners, links, ...place), values: byName(values, (column) => numbersOf(column, ...place)) });
    const size = numbersOf(objects[0].size, 2 * at, 2 * at + 2);
    return {
      gt: drawn(objects[0].gt, ofGt), det: objects.map(({ det }, system) => drawn(det, ofDet[system])),
      matches: matches.map((row) => row.map((one, system) => one && { gt: said(one.gt, ofGt), det: said(one.det, ofDet[system]) })),
      picture: picture[at], size: size[0] ? size : null,
    };
  }

  /** One entry an object of the image, of one system: what is drawn, listed and shown of it. */
  function objectsOf(data, k, system) {
    const matches = data.matches[k][system], side = (name) => (name === "gt" ? data.gt : data.det[system]);
    const list = ["gt", "det"].flatMap((name) =>
      side(name).id.map((id, at) => ({
        side: name, id, at, system,
        text: side(name).text?.[at] ?? "",
        shape: side(name).shape?.[at] ?? null,
        confidence: side(name).confidence?.[at] ?? null,
        type: matches[name].type[at],
        partners: matches[name].partners[at],
        values: Object.entries(matches[name].values).map(([key, values]) => [key, values[at]]),
      })));
    for (const one of list) one.key = `${one.side}${one.id}`;
    return list;
  }

  const kindText = (one) => (one.side === "gt" ? "Ground truth" : "Detection");
  const partnersText = (one) => (one.partners.length ? `${one.side === "gt" ? "detection" : "ground truth"} ${one.partners.join(", ")}` : "none");
  const spoken = (one) => `${kindText(one)} ${one.id}${one.text ? ` “${one.text}”` : ""}: ${types[one.type]}, partners: ${partnersText(one)}${one.values.map(([key, value]) => `, ${words(key)} ${shown(value)}`).join("")}`;

  function describe(one, at) {
    const tip = byId("tip"), entries = [["Partners", partnersText(one)], ...(one.confidence === null ? [] : [["Confidence", shown(one.confidence)]]), ...one.values.map(([key, value]) => [title(key), shown(value)])];
    tip.replaceChildren(h("b", {}, `${kindText(one)} ${one.id} `), h("bdi", {}, one.text), h("div", { class: `mark t${one.type}` }, `${types[one.type]}`), h("dl", {}, entries.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(at.x + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${Math.max(4, at.y + 16 + height > innerHeight ? at.top - height - 12 : at.y + 16)}px`;
  }

  function light(objects, one) {
    for (const other of objects) {
      const lit = one !== null && other === one;
      const partner = one !== null && !lit && other.side !== one.side && one.partners.includes(other.id);
      for (const element of [other.element, other.row]) {
        element?.classList.toggle("lit", lit);
        element?.classList.toggle("partner", partner);
      }
    }
    if (one === null) byId("tip").hidden = true;
  }

  const isError = (one) => one.type === MISSED || one.type === FALSE_POSITIVE;
  const pictureOf = (image, data) => (data.picture === true ? island(`picture-${image}`) : data.picture);

  function extent(data) {
    if (data.size) return [0, 0, data.size[0], data.size[1]];
    const corners = [data.gt, ...data.det].flatMap((side) => (side.shape || []).flatMap(cornersOf));
    if (!corners.length) return [0, 0, 100, 60];
    const xs = corners.map((corner) => corner[0]), ys = corners.map((corner) => corner[1]);
    return [Math.min(0, ...xs), Math.min(0, ...ys), Math.max(...xs) * 1.03, Math.max(...ys) * 1.03];
  }

  function canvas(image, data, k, system, objects) {
    const [x, y, width, height] = [view.full[0], view.full[1], view.full[2] - view.full[0], view.full[3] - view.full[1]];
    const blank = s("rect", { class: "blank", x, y, width, height });
    const shapes = s("g", { class: "objects" }), labels = s("g", { class: "labels" });
    const svg = s("svg", { class: "canvas", role: "group", tabindex: objects.length ? null : "0", "aria-label": `${overview.images[image]}${compared ? `, ${systems[system]}` : ""}: arrow keys go through the objects, plus and minus zoom, 0 shows all` }, blank);
    const url = pictureOf(image, data);
    if (url) {
      const picture = s("image", { class: "picture", href: url, x: 0, y: 0, preserveAspectRatio: "none", width: data.size ? width : null, height: data.size ? height : null });
      const probe = new Image();
      probe.onload = () => {
        if (data.size || !picture.isConnected) return;
        data.size = [probe.naturalWidth, probe.naturalHeight];
        view.full = [0, 0, ...data.size];
        picture.setAttribute("width", data.size[0]);
        picture.setAttribute("height", data.size[1]);
        fit();
      };
      probe.src = url;
      svg.append(picture);
    }
    const area = (one) => { const c = cornersOf(one.shape); return Math.abs(c.reduce((sum, [px, py], at) => { const [qx, qy] = c[(at + 1) % c.length]; return sum + px * qy - qx * py; }, 0)); };
    const drawn = objects.filter((one) => one.shape);
    for (const one of [...drawn].sort((a, b) => area(b) - area(a))) {
      const points = pointsOf(one.shape);
      one.element = s("g", { class: `object ${one.side} t${one.type}`, tabindex: one === drawn[0] ? "0" : "-1", role: "img", "aria-label": spoken(one), "data-key": one.key }, s("polygon", { class: "halo", points }), s("polygon", { class: "edge", points }));
      one.element.addEventListener("pointermove", (event) => { light(objects, one); describe(one, { x: event.clientX, y: event.clientY, top: event.clientY }); });
      one.element.addEventListener("pointerleave", () => light(objects, null));
      one.element.addEventListener("focus", () => {
        for (const other of drawn) other.element.setAttribute("tabindex", other === one ? "0" : "-1");
        const box = one.element.getBoundingClientRect();
        light(objects, one);
        describe(one, { x: box.left, y: box.bottom, top: box.top });
      });
      one.element.addEventListener("blur", () => light(objects, null));
      shapes.append(one.element);
      const corners = cornersOf(one.shape), start = corners.reduce((best, corner) => (corner[0] + corner[1] < best[0] + best[1] ? corner : best));
      one.anchor = [start[0], one.side === "gt" ? start[1] : Math.max(...corners.map((corner) => corner[1]))];
      one.label = s("text", { class: "label", x: one.anchor[0], y: one.anchor[1], dx: ".15em", dy: one.side === "gt" ? "-.25em" : "1em" }, `${one.side === "gt" ? "" : "d"}${one.id} ${SIGNS[one.type]}`);
      labels.append(one.label);
    }
    svg.append(shapes, labels);
    svg.addEventListener("keydown", (event) => {
      const visible = drawn.filter((one) => one.element.style.display !== "none"), at = visible.findIndex((one) => one.element === document.activeElement);
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step && visible.length) visible[(at + step + visible.length) % visible.length].element.focus();
      else if (event.key === "+" || event.key === "=") zoom(1 / 1.4);
      else if (event.key === "-") zoom(1.4);
      else if (event.key === "0") fit();
      else return;
      event.preventDefault();
    });
    pannable(svg);
    view.canvases.push({ svg, labels, drawn, scale: 0 });
    return svg;
  }

  function pannable(svg) {
    let last = null;
    const scale = () => (svg.getScreenCTM() || { a: 1 }).a;
    svg.addEventListener("pointerdown", (event) => { if (event.button === 0) { last = event; svg.setPointerCapture(event.pointerId); } });
    svg.addEventListener("pointermove", (event) => {
      if (!last || !(event.buttons & 1)) return;
      view.box[0] -= (event.clientX - last.clientX) / scale();
      view.box[1] -= (event.clientY - last.clientY) / scale();
      last = event;
      frame();
    });
    svg.addEventListener("pointerup", () => { last = null; });
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, at);
    }, { passive: false });
  }

  /** Show one object with what is around it. */
  function zoomTo(one) {
    const corners = cornersOf(one.shape), [xs, ys] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const whole = view.full[2] - view.full[0], width = Math.min(whole, Math.max(3 * (x1 - x0), 3 * (y1 - y0), whole / 8)), height = width * (view.full[3] - view.full[1]) / whole;
    view.box = [(x0 + x1 - width) / 2, (y0 + y1 - height) / 2, width, height];
    frame();
  }

  const focused = () => view.lists.flat().find((one) => one.element && one.element === document.activeElement);

  function focusOn(one) {
    zoomTo(one);
    one.element.focus({ preventScroll: true });
  }

  /** Go to the next error: of this image, or of the next one in the table that has any. */
  function nextError(k, image) {
    const errors = view.lists.flat().filter((one) => one.element && isError(one) && !one.hidden);
    const next = errors[errors.indexOf(focused()) + 1];
    if (next) return focusOn(next);
    const counts = errorsOf(protocol(k)), from = order.indexOf(image) + 1;
    const other = [...order.slice(from), ...order.slice(0, from)].find((one) => counts[one] > 0);
    if (other === undefined) return undefined;
    if (other === image) return errors.length ? focusOn(errors[0]) : undefined;
    view.wantsError = true;
    return go(k, other);
  }

  function zoom(factor, at) {
    const [x, y, width, height] = view.box, center = at || { x: x + width / 2, y: y + height / 2 };
    view.box = [center.x - (center.x - x) * factor, center.y - (center.y - y) * factor, width * factor, height * factor];
    frame();
  }

  function fit() {
    const [x0, y0, x1, y1] = view.full, pad = 0.015 * Math.max(x1 - x0, y1 - y0);
    view.whole = [x0 - pad, y0 - pad, x1 - x0 + 2 * pad, y1 - y0 + 2 * pad];
    view.box = [...view.whole];
    for (const { svg } of view.canvases) {
      const blank = svg.querySelector(".blank");
      blank.setAttribute("width", x1 - x0);
      blank.setAttribute("height", y1 - y0);
      svg.style.aspectRatio = view.box[2] / view.box[3];
    }
    fitWindow();
    frame();
  }

  /** Let the picture and what belongs to it fit the window. */
  function fitWindow() {
    const below = byId("toggles")?.getBoundingClientRect().height || 0;
    for (const { svg } of view.canvases) svg.style.maxHeight = "";
    const top = Math.max(...view.canvases.map(({ svg }) => svg.getBoundingClientRect().top + scrollY));
    const room = Math.max(LEAST_HEIGHT, innerHeight - (top < innerHeight / 2 ? top : 0) - Math.min(below, innerHeight / 4) - 16);
    for (const { svg } of view.canvases) svg.style.maxHeight = `${room}px`;
  }

  function frame() {
    const isWhole = view.box.every((value, k) => Math.abs(value - view.whole[k]) < 1e-9);
    state.zoom = isWhole ? "" : view.box.map((value) => +value.toFixed(1)).join(",");
    remember();
    for (const one of view.canvases) {
      one.svg.setAttribute("viewBox", view.box.join(" "));
      const scale = one.svg.getScreenCTM()?.a || 1;
      if (scale !== one.scale) letter(Object.assign(one, { scale }));
    }
  }

  /** Letter a canvas at a size that does not zoom; of labels that would overlap, those of errors stay, then the first. */
  function letter({ labels, drawn, scale }) {
    const size = 11 / scale, kept = [];
    labels.setAttribute("font-size", size);
    for (const one of [...drawn].sort((a, b) => isError(b) - isError(a))) {
      const [x, bottom] = [one.anchor[0], one.anchor[1] + (one.side === "gt" ? 0 : 1.2 * size)];
      const box = [x, bottom - 1.1 * size, x + 0.66 * size * one.label.textContent.length, bottom];
      const free = !one.hidden && !view.hidden.has("labels") && kept.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
      if (free) kept.push(box);
      one.label.style.display = free ? "" : "none";
    }
  }

  function toggles(lists, apply) {
    const count = (code, side) => lists[0].filter((one) => one.type === code && (!side || one.side === side)).length;
    const used = types.map((_, code) => code).filter((code) => lists.some((list) => list.some((one) => one.type === code)));
    const box = (key, label, swatch) => h("label", { class: swatch ? "choice" : "choice view" }, h("input", { type: "checkbox", checked: !view.hidden.has(key), "data-toggle": key, onchange: (event) => { view.hidden[event.target.checked ? "delete" : "add"](key); state.hidden = [...view.hidden].sort().join(","); remember(); apply(); } }), swatch, label);
    const swatch = (code) => s("svg", { class: `swatch t${code}`, viewBox: "0 0 30 14", "aria-hidden": "true" }, s("rect", { x: 2, y: 2, width: 26, height: 10, fill: "var(--c)", stroke: "none" }));
    const edge = (side) => s("svg", { class: "swatch", viewBox: "0 0 30 14", "aria-hidden": "true" }, s("rect", { x: 2, y: 2, width: 26, height: 10, fill: "none", stroke: "currentColor", "stroke-width": 2.5, "stroke-dasharray": side === "det" ? "6 4" : null }));
    return h("fieldset", { id: "toggles" }, h("legend", {}, "Show"),
      h("label", { class: "choice" }, h("input", { type: "checkbox", id: "errors", checked: state.errors, onchange: (event) => { state.errors = event.target.checked; remember(); apply(); } }), "errors only"),
      used.map((code) => box(`type${code}`, `${types[code]} (${SIGNS[code]}${compared ? "" : `, ${count(code)}`})`, swatch(code))),
      box("gt", "ground truth", edge("gt")), box("det", "detections", edge("det")), box("labels", "labels"), box("picture", "picture"));
  }

  function apply(lists) {
    const off = (key) => view.hidden.has(key);
    for (const one of lists.flat()) {
      one.hidden = off(`type${one.type}`) || off(one.side) || (state.errors && !isError(one));
      if (one.element) one.element.style.display = one.hidden ? "none" : "";
      if (one.row) one.row.hidden = one.hidden;
    }
    view.canvases.forEach(letter);
    // Tab must reach a visible object.
    for (const list of lists) {
      const visible = list.filter((one) => one.element && one.element.style.display !== "none");
      list.forEach((one) => one.element?.setAttribute("tabindex", one === visible[0] ? "0" : "-1"));
    }
    for (const { svg } of view.canvases) svg.querySelectorAll(".picture").forEach((picture) => { picture.style.display = off("picture") ? "none" : ""; });
  }

  function objectTable(objects, side) {
    const listed = objects.filter((one) => one.side === side);
    if (!listed.length) return h("p", { class: "quiet" }, side === "gt" ? "No ground truth." : "No detections.");
    const names = listed[0].values.map(([key]) => key), texts = listed.some((one) => one.text);
    const heads = ["ID", ...(texts ? ["Transcription"] : []), "Match", side === "gt" ? "Detections" : "Objects", ...names.map(title)];
    const line = (one) => {
      one.row = h("tr", { "data-row": one.key }, h("td", {}, one.element ? h("button", { type: "button", class: "plain", "aria-label": `Show ${words(kindText(one)).toLowerCase()} ${one.id}`, onclick: () => { one.element.closest("svg").scrollIntoView({ block: "nearest" }); focusOn(one); } }, String(one.id)) : String(one.id)), texts ? h("td", { class: "text" }, bdi(one.text)) : null, h("td", { class: `mark t${one.type}` }, types[one.type]), h("td", {}, one.partners.join(", ") || "–"), one.values.map(([, value]) => h("td", { class: "n" }, shown(value))));
      one.row.addEventListener("pointerenter", () => light(objects, one));
      one.row.addEventListener("pointerleave", () => light(objects, null));
      return one.row;
    };
    return scroll(h("table", {}, h("thead", {}, h("tr", {}, heads.map((head, at) => h("th", { scope: "col", class: at >= heads.length - names.length ? "n" : null }, head)))), h("tbody", {}, listed.map(line))));
  }

  function imageView(k, image) {
    const data = details(image), info = protocol(k);
    if (!data.matches[k].every(Boolean)) return [h("p", {}, "This protocol's run kept no results of single images; run it again with -a.")];
    const lists = systems.map((_, system) => objectsOf(data, k, system));
    orderRows(info, columnsOf(info));
    const at = order.indexOf(image);
    const step = (label, to, id) => h("button", { type: "button", id, disabled: to === undefined, onclick: () => go(k, to) }, label);
    const scores = (system) => info.headline.map((name) => `${title(name)} ${shown(info.images[system].scores[name][image])}`).join(" · ");
    Object.assign(view, { full: extent(data), canvases: [], lists });
    const hasShapes = overview.hasShapes || data.picture;
    const refresh = () => apply(lists);
    const figures = systems.map((label, system) => h("figure", {}, h("figcaption", {}, compared ? [bdi(label), ": "] : null, scores(system)), hasShapes ? canvas(image, data, k, system, lists[system]) : null));
    const tables = systems.map((label, system) => h("div", {}, h("h3", {}, "Ground truth", compared ? [", ", bdi(label)] : null), objectTable(lists[system], "gt"), h("h3", {}, "Detections", compared ? [", ", bdi(label)] : null), objectTable(lists[system], "det")));
    const button = (id, label, press) => h("button", { type: "button", id, onclick: press }, label);
    const nodes = [
      h("nav", { class: "bar screen", "aria-label": "Images" }, button("back", "← All images", () => go(k, null)), step("‹ Previous", order[at - 1], "previous"), step("Next ›", at < 0 ? undefined : order[at + 1], "next"), button("next-error", "Next error", () => nextError(k, image)),
        hasShapes ? [button("zoom-in", "Zoom in", () => zoom(1 / 1.4)), button("zoom-out", "Zoom out", () => zoom(1.4)), button("fit", "Fit", fit)] : null,
        h("span", { class: "quiet" }, at < 0 ? "" : `${at + 1} of ${order.length} in the table's order`)),
      h("h2", { id: "image-name", tabindex: "-1" }, bdi(overview.images[image])),
      hasShapes ? null : h("p", { class: "quiet" }, "The objects' shapes are not in this report: make it with --gt and --det."),
      h("div", { class: "sides" }, figures),
      hasShapes ? toggles(lists, refresh) : null,
      h("p", { class: "quiet screen" }, KEYS.map(([key, what]) => [h("kbd", {}, key), ` ${what} `]), hasShapes ? "Solid: ground truth, dashed: detection (d)." : null),
      h("div", { class: "sides wide" }, tables),
    ];
    const ready = () => {
      if (!hasShapes) return;
      const zoomed = state.zoom.split(",").map(Number);
      fit();
      refresh();
      if (zoomed.length === 4 && zoomed.every(Number.isFinite) && zoomed[2] > 0 && zoomed[3] > 0) { view.box = zoomed; frame(); }
      if (view.wantsError) nextError(k, image);
      view.wantsError = false;
    };
    return { nodes, ready };
  }

  // ---------------------------------------------------------------- addresses

  /** The address of a protocol's overview, or of an image, with what the reader has chosen. */
  function address(k, image, zoomed = "") {
    const chosen = Object.entries({ ...state, zoom: zoomed }).filter(([name, value]) => value !== INITIAL[name]);
    const query = new URLSearchParams(chosen).toString();
    return `#/${encodeURIComponent(overview.protocols[k])}${image === null ? "" : `/${encodeURIComponent(overview.images[image])}`}${query ? `?${query}` : ""}`;
  }
  const go = (k, image) => { location.hash = address(k, image); };

  let waiting = null;
  /** Put what the reader has chosen into the address, without a step back for each choice. */
  function remember() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const [k, image] = current();
      if (!location.hash || location.hash.startsWith("#/")) history.replaceState(null, "", address(k, image, image === null ? "" : state.zoom));
    }, 200);
  }

  function current() {
    const [path] = location.hash.split("?"), [, name = "", ...rest] = path.split("/");
    let image = null;
    try {
      image = rest.length ? (position.get(decodeURIComponent(rest.join("/"))) ?? null) : null;
    } catch { /* a malformed address: the overview */ }
    return [Math.max(0, overview.protocols.findIndex((other) => encodeURIComponent(other) === name)), image];
  }

  /** Take what the address says; what is malformed or missing is as at first. */
  function recall() {
    const query = new URLSearchParams(location.hash.split("?").slice(1).join("?"));
    const whole = (value, otherwise) => (/^-?\d{1,6}$/.test(value ?? "") ? +value : otherwise);
    for (const [name, initial] of Object.entries(INITIAL)) {
      const value = query.get(name);
      state[name] = typeof initial === "boolean" ? value === "true" : typeof initial === "number" || initial === null ? whole(value, initial) : (value ?? initial);
    }
    state.sort = state.sort === null || state.sort < -1 ? null : state.sort;
    state.page = Math.max(0, state.page);
    if (!["worse", "better"].includes(state.type) && !types[+state.type]) state.type = INITIAL.type;
    if (!PAGE_ROWS.includes(state.rows)) state.rows = INITIAL.rows;
    view.hidden = new Set(state.hidden.split(",").filter(Boolean));
  }

  let opened = null;
  function show() {
    const anchor = location.hash.startsWith("#/") ? "" : location.hash.slice(1), main = byId("main");
    if (anchor && main.querySelector("section")) return;
    recall();
    const [k, image] = current();
    // The overview stands before the images' details in the file, so it is shown while these are still being read.
    if (image !== null && document.readyState === "loading") return;
    byId("tip").hidden = true;
    header(k, image);
    if (image === null) {
      const data = protocol(k);
      view.canvases = [];
      const images = imageSection(k), worst = h("section", { id: "worst", hidden: true });
      main.replaceChildren(...[h("nav", { id: "contents", class: "bar screen", "aria-label": "Contents" }), gateSection(), scoreSection(data), worst, lossSection(data), chartSection(data), images, originSection(data)].filter(Boolean));
      contents();
      const fill = () => { fillWorst(k, worst); if (anchor) byId(anchor)?.scrollIntoView(); };
      // the images' details come after the overview in the file
      if (document.readyState === "loading") addEventListener("DOMContentLoaded", fill, { once: true });
      else fill();
      const link = opened === null ? null : [...main.querySelectorAll("#images a")].find((a) => a.getAttribute("href") === address(k, opened));
      link?.focus();
      opened = null;
      return;
    }
    const { nodes, ready } = imageView(k, image);
    main.replaceChildren(...nodes.filter(Boolean));
    if (opened !== image) { scrollTo(0, 0); byId("image-name").focus({ preventScroll: true }); }
    ready();
    opened = image;
  }

  const CONTENTS = { gates: "Gates", scores: "Scores", worst: "Worst images", losses: "Mistakes", charts: "Charts", images: "All images", origin: "How it was made" };

  function contents() {
    byId("contents").replaceChildren(...Object.entries(CONTENTS).filter(([id]) => byId(id) && !byId(id).hidden).map(([id, label]) => h("a", { href: `#${id}`, onclick: (event) => { event.preventDefault(); byId(id).open = true; byId(id).scrollIntoView(); build(byId(id), { tabindex: "-1" }, []).focus({ preventScroll: true }); } }, label)));
  }

  const PRESSES = { n: "next", p: "previous", e: "next-error", o: "errors" };

  addEventListener("hashchange", show);
  addEventListener("keydown", (event) => {
    if (opened === null || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "z" && focused()) zoomTo(focused());
    else byId(PRESSES[event.key])?.click();
  });
  addEventListener("beforeprint", () => document.querySelectorAll("#scores details, #origin").forEach((closed) => { closed.open = true; }));
  addEventListener("resize", () => { if (view.canvases.length) { fitWindow(); frame(); } });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || opened === null) return;
    if (!byId("tip").hidden) byId("tip").hidden = true;
    else go(current()[0], null);
  });
  addEventListener("DOMContentLoaded", () => current()[1] !== null && show());
  show();
})();
