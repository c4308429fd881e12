
"use strict";

// Names of systems reach the page by textContent and setAttribute only; they are never parsed as HTML.
const SVG = new Set(["svg", "line", "circle", "text"]);

function make(tag, attributes = {}, ...children) {
  const node = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const numbersIn = (text) => (text.match(/[-+]?\d+(\.\d+)?(e[-+]?\d+)?/g) ?? []).map(Number);
const number = (text) => numbersIn(text)[0];

// ---- Tables that sort and search

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  for (const head of heads.filter((each) => !each.classList.contains("plot"))) {
    head.replaceChildren(make("button", { type: "button", onclick: () => sort(table, head) }, head.textContent));
  }
  if (["#", "rank"].includes(heads[0].textContent)) heads[0].ariaSort = "ascending";
}

function sort(table, head) {
  const body = table.tBodies[0], isName = head.classList.contains("name");
  const direction = head.ariaSort === "ascending" ? -1 : 1;
  const keyOf = (text) => (isName ? text : number(text));
  const compare = isName ? (a, b) => a.localeCompare(b, "en", { numeric: true }) : (a, b) => a - b;
  const keyed = [...body.rows].map((row) => [keyOf(row.cells[head.cellIndex].textContent), row]);
  // Rows without a number stay last in both directions.
  const missing = ([key]) => (key === undefined ? 1 : 0);
  keyed.sort((a, b) => missing(a) - missing(b) || (missing(a) ? 0 : direction * compare(a[0], b[0])));
  body.append(...keyed.map(([, row]) => row));
  for (const each of table.tHead.rows[0].cells) each.ariaSort = null;
  head.ariaSort = direction === 1 ? "ascending" : "descending";
}

function searchable(table) {
  const rows = [...table.tBodies[0].rows], status = make("output");
  const search = () => {
    const wanted = field.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.querySelector("th").textContent.toLowerCase().includes(wanted);
    status.textContent = wanted && `${rows.filter((row) => !row.hidden).length} of ${rows.length} systems`;
  };
  const label = "Search systems";
  const field = make("input", { type: "search", placeholder: label, "aria-label": label, oninput: search });
  table.closest(".scroll").before(make("div", { class: "tools" }, field, status));
}

// ---- Points with their intervals, in a column of a table

function scaleOf(values) {
  let low = Math.min(...values), high = Math.max(...values);
  if (low === high) [low, high] = [low - 1, high + 1];
  const rough = (high - low) / 4.5, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough * (1 - 1e-9));
  const digits = Math.min(20, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
  const at = (value) => `${(6 + (88 * (value - low)) / (high - low)).toFixed(2)}%`;
  const written = (tick) => (step < 1e-5 || step >= 1e5 ? tick.toExponential(1) : tick.toFixed(digits));
  return { at, ticks, text: (tick) => (Math.abs(tick) < step / 2 ? "0" : written(tick)) };
}

const upright = (kind, x) => make("line", { class: kind, x1: x, x2: x, y1: 0, y2: "100%" });

function axis({ ticks, at, text }) {
  const labels = ticks.map((tick) => make("text", { x: at(tick), y: 12, "text-anchor": "middle" }, text(tick)));
  return make("svg", { class: "axis", "aria-hidden": "true" }, ...labels);
}

function dot({ ticks, at }, [point, low, high], { zero = false, filled = true } = {}) {
  const marks = ticks.map((tick) => upright("tick", at(tick)));
  if (zero) marks.push(upright("zero", at(0)));
  const middle = { y1: "50%", y2: "50%" };
  if (high !== undefined) marks.push(make("line", { class: "interval", x1: at(low), x2: at(high), ...middle }));
  marks.push(make("circle", { class: filled ? "filled" : "open", cx: at(point), cy: "50%", r: 4 }));
  return make("svg", { class: "dot", "aria-hidden": "true" }, ...marks);
}

function plotScores(table) {
  const heads = [...table.tHead.rows[0].cells];
  const score = heads.findIndex((head) => head.textContent === "score");
  const interval = heads.findIndex((head) => head.textContent.endsWith(" interval"));
  const cells = [...table.tBodies[0].rows].map((row) => [row.cells[score], row.cells[interval]]);
  const values = cells.map((pair) => pair.flatMap((cell) => numbersIn(cell.textContent)));
  const scale = scaleOf(values.flat());
  heads[score].before(make("th", { class: "plot", scope: "col", "aria-label": "plot" }, axis(scale)));
  cells.forEach(([cell], i) => cell.before(make("td", { class: "plot" }, dot(scale, values[i]))));
}

// ---- The pairs of one metric and test

const negated = (text) => (number(text) ? text.replace(/[-+]/, (sign) => (sign === "+" ? "-" : "+")) : text);

function turned(pair) {
  const [delta, low, high] = [pair.delta, pair.high, pair.low].map(negated);
  return { ...pair, a: pair.b, b: pair.a, delta, low, high };
}

/** `exactly(a, b)` is system a minus b, null where it was not tested; `either(a, b)` may be b minus a instead. */
function pairsOf(data) {
  const names = ["a", "b", "delta", "low", "high", "p", "adjusted", "marks", "method"];
  const columns = names.map((name) => data[name].split(" "));
  const rows = new Map(columns[0].map((a, row) => [`${a} ${columns[1][row]}`, row]));
  const tested = (a, b) => {
    const row = rows.get(`${a} ${b}`);
    if (row === undefined) return null;
    const pair = Object.fromEntries(names.map((name, i) => [name, columns[i][row]]));
    return { ...pair, a, b, method: data.methods[pair.method], significant: /\d/.test(pair.marks) };
  };
  const backward = (a, b) => data.turns && tested(b, a) ? turned(tested(b, a)) : null;
  const exactly = (a, b) => tested(a, b) ?? backward(a, b);
  return { exactly, either: (a, b) => exactly(a, b) ?? tested(b, a) };
}

function family(section, data) {
  const listeners = [], pairs = pairsOf(data), names = data.systems;
  const choose = (a, b) => {
    const pair = pairs.either(a, b);
    if (pair) for (const listener of listeners) listener(pair, a, b);
  };
  const title = (pair) => `${names[pair.a]} \u2212 ${names[pair.b]}`;
  const view = { data, pairs, names, choose, title, isGrid: data.kind === "grid", isPair: data.kind === "pair" };
  view.onChoice = (listener) => listeners.push(listener);
  const parts = view.isGrid ? [heatMap(view), card(view)] : [];
  parts.push(forest(view), ...(view.isGrid || view.isPair ? [] : [card(view)]));
  section.append(make("div", { class: view.isPair ? "" : `explorer ${data.kind}` }, ...parts));
  const other = names.findIndex((_, i) => pairs.either(i, data.reference));
  choose(...(view.isGrid ? [data.reference, other] : [other, data.reference]));
}

const between = (pair) => (number(pair.low) === undefined ? pair.low : `[${pair.low}, ${pair.high}]`);

function chooser(names, title, onchange) {
  const options = names.map((name, i) => make("option", { value: i }, `${i + 1} ${name}`));
  const select = make("select", { onchange }, ...options);
  return [select, make("label", {}, `${title} `, select)];
}

const VERDICTS = {
  "-": "No significant difference",
  "?": "Not significant so far, but undecided: more resamples could tell",
  "=": "Equal scores: there is no difference to test",
};

/** What is known of the chosen pair. */
function card({ data, names, choose, title, onChoice, isGrid }) {
  const heading = make("h4"), verdict = make("p"), facts = make("dl");
  const change = () => choose(+first.value, +second.value);
  const [[first, firstLabel], [second, secondLabel]] = ["System", "minus"].map((each) => chooser(names, each, change));
  onChoice((pair, a, b) => {
    [first.value, second.value] = [a, b];
    heading.textContent = title(pair);
    verdict.textContent = VERDICTS[pair.marks] ?? `${names[Math.min(pair.a, pair.b)]} is significantly better`;
    verdict.className = pair.significant ? "verdict significant" : "verdict";
    const scores = `${data.scores[pair.a]} and ${data.scores[pair.b]}`;
    const lines = [["Scores", scores], ["Delta", pair.delta], [data.interval, between(pair)], ["p", pair.p]];
    lines.push(...(data.decides === "p" ? [] : [["Adjusted p", pair.adjusted]]), ["Method", pair.method]);
    facts.replaceChildren(...lines.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  });
  const tools = isGrid ? [make("div", { class: "tools" }, firstLabel, secondLabel)] : [];
  const said = make("div", { "aria-live": "polite" }, heading, verdict, facts);
  return make("div", { class: "card" }, ...tools, said);
}

// ---- The heat map of all pairs

const SHADES = {
  p: (pair) => (pair.significant ? `p${pair.marks}` : "n"),
  delta: (pair, most) => {
    const shade = Math.ceil((5 * Math.abs(number(pair.delta))) / most);
    return shade ? `${pair.a < pair.b ? "better" : "worse"}${shade}` : "n";
  },
};
const SIGNS = { "-": "\u00b7", "?": "?", "=": "=" };
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function heatMap({ data, pairs, names, choose, title, onChoice }) {
  const most = Math.max(...data.delta.split(" ").map((text) => Math.abs(number(text)))) || 1;
  const size = data.numbers ? "numbers" : names.length <= 60 ? "small" : "tiny";
  const heads = names.map((name, i) => make("th", { scope: "col", title: name, "aria-label": name }, i + 1));
  const corner = make("th", { scope: "col", class: "name" }, "system");
  const head = make("thead", {}, make("tr", {}, corner, ...heads)), body = make("tbody");
  const caption = make("caption", {}, "Row minus column; choose a pair by mouse or arrow keys");
  const table = make("table", { class: `heat ${size}`, role: "grid" }, caption, head, body);
  const legend = make("p", { class: "legend" });
  const textOf = (pair, by) => {
    if (data.numbers) return by === "p" ? pair.adjusted : pair.delta;
    return by === "p" && size === "small" ? SIGNS[pair.marks] ?? "" : "";
  };
  let chosen = [], by = "p";

  const cellAt = (i, j) => body.rows[i]?.cells[j + 1];
  const placeOf = (cell) => [cell.parentNode.sectionRowIndex, cell.cellIndex - 1];
  const mark = (i, j) => {
    for (const each of chosen) each.classList.remove("chosen");
    chosen = [body.rows[i].cells[0], heads[j], cellAt(i, j)];
    for (const each of chosen) each.classList.add("chosen");
    for (const each of body.querySelectorAll("[tabindex]")) each.removeAttribute("tabindex");
    const pair = pairs.exactly(i, j);
    chosen[2].ariaLabel = !pair ? "not tested" : by === "p" ? `${data.decides} ${pair.adjusted}` : `delta ${pair.delta}`;
    chosen[2].tabIndex = 0;
  };
  const go = (i, j) => {
    if (!heads[i] || !heads[j]) return;
    mark(i, j);
    if (pairs.exactly(i, j)) choose(i, j);
    cellAt(i, j).focus();
  };
  const draw = () => {
    const row = (_, i) => {
      const line = names.map((_, j) => pairs.exactly(i, j));
      const cells = line.map((pair) => (pair ? `<td class="${SHADES[by](pair, most)}">` : "<td>"));
      return [line, `<tr><th scope="row" class="name">${cells.join("")}`];
    };
    const rows = names.map(row), again = chosen.length ? placeOf(chosen[2]) : null;
    body.innerHTML = rows.map(([, markup]) => markup).join("");
    rows.forEach(([line], i) => {
      const cells = body.rows[i].cells;
      cells[0].append(`${i + 1} ${data.short[i]}`);
      cells[0].title = names[i];
      line.forEach((pair, j) => pair && size !== "tiny" && cells[j + 1].append(textOf(pair, by)));
    });
    if (again) mark(...again);
    const limits = data.limits.map((limit, i) => [`p${i}`, `p < ${limit}`]);
    const rest = size === "small" ? "\u00b7 not significant, ? undecided, = equal scores" : "not significant";
    const largest = `row worse; the strongest: ${Number(most.toPrecision(3))}`;
    const keys = by === "p" ? [...limits, ["n", rest]] : [["better5", "row better"], ["worse5", largest]];
    legend.replaceChildren(...keys.flatMap(([kind, text]) => [make("span", { class: `key ${kind}` }), text]));
  };

  table.addEventListener("click", ({ target }) => target.closest("td") && go(...placeOf(target.closest("td"))));
  table.addEventListener("keydown", (event) => {
    const step = event.target.tagName === "TD" && STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const [i, j] = placeOf(event.target);
    go(i + step[0], j + step[1]);
  });
  table.addEventListener("mouseover", ({ target }) => {
    const cell = target.closest("td"), pair = cell && pairs.exactly(...placeOf(cell));
    if (pair) cell.title = `${title(pair)}: delta ${pair.delta}, ${data.decides} ${pair.adjusted}`;
  });
  onChoice((_, a, b) => mark(a, b));
  const radios = Object.entries({ p: data.decides, delta: "delta" }).map(([value, text]) => {
    const onchange = () => ((by = value), draw());
    const checked = value === by ? { checked: "" } : {};
    const radio = make("input", { type: "radio", name: `by-${data.id}`, value, onchange, ...checked });
    return make("label", {}, radio, text);
  });
  draw();
  const tools = make("fieldset", { class: "tools" }, make("legend", {}, "Colour by"), ...radios);
  return make("div", { class: "map" }, tools, make("div", { class: "scroll" }, table), legend);
}

// ---- The forest plot: deltas of all systems to one

function forest({ data, pairs, names, choose, title, isGrid, isPair }) {
  const caption = make("caption"), head = make("thead"), body = make("tbody");
  const table = make("table", {}, caption, head, body);
  const nameOf = (pair, reference) => {
    if (isPair) return title(pair);
    if (data.turns) return names[pair.a];
    return pair.a === reference ? `\u2212 ${names[pair.b]}` : `${names[pair.a]} \u2212`;
  };
  const every = [
    ["name", data.turns && !isPair ? "system" : "pair"], ["plot", ""], ["", "delta"],
    ["wide", data.interval], ...(data.decides === "p" ? [] : [["wide", "p"]]), ["", data.decides],
  ];
  const draw = (reference) => {
    // The table of systems has the numbers of the deltas to the best or the baseline, that of a pair its own.
    const isDrawing = isPair || (data.turns && reference === data.reference);
    const columns = isDrawing ? every.slice(0, 2) : every;
    table.className = isDrawing ? "forest one" : "forest";
    const shown = names.map((_, i) => pairs.either(i, reference)).filter(Boolean);
    const values = shown.map((pair) => [pair.delta, pair.low, pair.high].flatMap(numbersIn));
    const scale = scaleOf([0, ...values.flat()]);
    const heads = columns.map(([kind, text]) => make("th", { scope: "col", class: kind }, text));
    heads[1].append(axis(scale));
    heads[1].ariaLabel = "plot";
    head.replaceChildren(make("tr", {}, ...heads));
    caption.textContent = isPair ? "Delta" : `Deltas ${data.turns ? "to" : "with"} ${names[reference]}`;
    const rows = shown.map((pair, i) => {
      const onclick = () => choose(pair.a, pair.b), filled = pair.significant;
      const button = make("button", { type: "button", title: title(pair), onclick }, nameOf(pair, reference));
      const name = make("th", { scope: "row", class: "name" }, button);
      const plot = make("td", { class: "plot" }, dot(scale, values[i], { zero: true, filled }));
      const texts = [pair.delta, between(pair), ...(data.decides === "p" ? [] : [pair.p]), pair.adjusted];
      const cells = columns.slice(2).map(([kind], j) => make("td", { class: kind }, texts[j]));
      return make("tr", {}, name, plot, ...cells);
    });
    body.replaceChildren(...rows);
    if (!isPair) sortable(table);
  };
  const [select, label] = chooser(names, "Deltas of all systems to", () => draw(+select.value));
  select.value = data.reference;
  draw(data.reference);
  const box = { class: "scroll", tabindex: 0, role: "region", "aria-label": "Deltas" };
  const key = `Points with ${data.interval}; filled: ${data.decides} < ${data.limits.at(-1)}`;
  const tools = isGrid ? [make("div", { class: "tools" }, label)] : [];
  return make("div", { class: "deltas" }, ...tools, make("div", box, table), make("p", { class: "small" }, key));
}

for (const table of document.querySelectorAll("table.paper")) sortable(table);
for (const table of document.querySelectorAll("table.systems")) {
  plotScores(table);
  sortable(table);
  if (table.tBodies[0].rows.length > 5) searchable(table);
}
const families = JSON.parse(document.getElementById("data").textContent);
for (const section of document.querySelectorAll("[data-family]")) {
  family(section, { ...families[section.dataset.family], id: section.dataset.family });
}
