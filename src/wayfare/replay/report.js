"use strict";
(() => {
  const SVG = document.querySelector("svg").namespaceURI;
  const data = JSON.parse(document.getElementById("runs").textContent);
  const ORIGIN_NAMES = {
    system: "system and tools", summary: "digests and markers", notes: "session notes",
    memory: "memory", user: "user", assistant: "assistant", tool: "tool results",
  };
  const LANE = 15, LEFT = 84, RIGHT = 10, TOP = 20, AXIS = 20;
  const EDITS_SHOWN = 10;

  // ---- values

  const summed = (differences) => {
    let last = 0;
    return Float64Array.from(differences, (difference) => (last += difference));
  };
  const runs = data.runs.map((raw, index) => {
    const run = { ...raw, index, n: raw.tokens.length };
    for (const name of ["tokens", "believed", "entered", "cost"]) run[name] = summed(raw[name]);
    run.origins = data.origins.filter((name) => raw.origins[name])
      .map((name) => ({ name, values: summed(raw.origins[name]) }));
    run.edits = raw.edits.map(([at, before, after, flat]) => {
      const made = [];
      for (let i = 0; i < flat.length; i += 2) made.push([data.passes[flat[i]], data.reasons[flat[i + 1]]]);
      return { at, before, after, saved: before - after, made };
    });
    run.editAt = new Map(run.edits.map((batch) => [batch.at, batch]));
    run.refused = new Set(raw.refused);
    run.peak = run.tokens.reduce((best, value, at) => (value > run.tokens[best] ? at : best), 0);
    return run;
  });
  const sessions = [];
  for (const run of runs) (sessions[run.group] ??= []).push(run);

  const whole = new Intl.NumberFormat("en");
  const full = (value) => whole.format(Math.round(value));
  const short = (value, rounder = 0) => {
    const size = Math.abs(value);
    if (size < 1000) return String(Math.round(value));
    const [unit, scale] = size < 999500 ? ["k", 1e3] : ["M", 1e6];
    const digits = Math.max((size / scale < 10 ? 2 : size / scale < 100 ? 1 : 0) - rounder, 0);
    return (value / scale).toFixed(digits).replace(/\.?0+$/, "") + unit;
  };
  const percent = (part, of) => (of ? Math.round((part / of) * 100) : 0) + " %";

  // ---- elements

  const el = (tag, options = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
      if (name === "class") made.className = value;
      else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  };
  const draw = (parent, tag, attributes, text) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };

  // ---- what is shown

  const state = { session: 0, from: 0, to: 1, pinned: null, hovered: null, scale: "", panels: [] };
  const current = () => sessions[state.session];
  const longest = () => Math.max(1, ...current().map((run) => run.n));

  const scales = {
    context: ["the context", (run) => run.tokens[run.peak] || 1],
    window: ["the window", (run) => Math.max(run.window, run.tokens[run.peak] || 1)],
    entered: ["all that entered", (run) => Math.max(run.window, run.entered[run.n - 1] || 1)],
  };
  const fitting = () => {
    const near = current().some((run) => (run.tokens[run.peak] || 0) > 0.4 * run.limit);
    return near ? "window" : "context";
  };
  const top = () => 1.07 * Math.max(...current().map(scales[state.scale || fitting()][1]));

  const ticks = (upto, count) => {
    const rough = upto / count, power = 10 ** Math.floor(Math.log10(rough || 1));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) || 1;
    const found = [];
    for (let value = 0; value <= upto; value += Math.max(step, 1)) found.push(value);
    return found;
  };

  /** Requests to draw: all, or where there are more than pixels the highest and lowest of each. */
  const sampled = (run, from, to, pixels) => {
    const found = [];
    const count = to - from;
    if (count <= pixels) {
      for (let at = from; at < to; at++) found.push(at);
      return found;
    }
    const bins = Math.floor(pixels / 2);
    for (let bin = 0; bin < bins; bin++) {
      const first = from + Math.floor((bin * count) / bins);
      const stop = from + Math.floor(((bin + 1) * count) / bins);
      let low = first, high = first;
      for (let at = first; at < stop; at++) {
        if (run.tokens[at] < run.tokens[low]) low = at;
        if (run.tokens[at] > run.tokens[high]) high = at;
      }
      found.push(Math.min(low, high));
      if (low !== high) found.push(Math.max(low, high));
    }
    return found;
  };

  // ---- one panel

  const makePanel = (run) => {
    const panel = { run };
    const sent = short(run.tokens.reduce((sum, value) => sum + value, 0));
    const made = run.edits.length;
    panel.plot = el("div", {
      class: "plot", tabindex: 0, role: "slider", "aria-valuemin": 1, "aria-valuemax": Math.max(run.n, 1),
      "aria-label": `Requests under the budget ${run.budget}; arrow keys step, N and P go to the next and previous edit`,
    });
    panel.svg = draw(panel.plot, "svg", { "aria-hidden": "true" });
    panel.legend = el("ul", { class: "legend" });
    panel.readout = el("div", { class: "readout" });
    panel.figure = el("figure", { class: "panel" },
      el("figcaption", {},
        el("h3", {}, run.budget),
        el("span", { class: "soft" },
          `${full(run.n)} requests · ${sent} tokens sent · peak ${short(run.tokens[run.peak] || 0)} · ` +
          `edits at ${full(made)} of them` + (run.refused.size ? ` · ${run.refused.size} refused` : ""))),
      panel.plot, panel.legend, panel.readout);
    listen(panel);
    return panel;
  };

  const measure = (panel) => {
    const width = Math.max(panel.plot.clientWidth, 200);
    const used = data.passes.filter((name) => current().some((run) => run.edits.some((b) => b.made.some(([by]) => by === name))));
    const height = TOP + (width < 480 ? 210 : 280) + AXIS + used.length * LANE + 4;
    const bottom = height - AXIS - used.length * LANE - 4;
    const count = longest();
    const from = Math.floor(state.from * count), to = Math.max(Math.ceil(state.to * count), from + 1);
    const inner = width - LEFT - RIGHT, most = top();
    Object.assign(panel, {
      width, height, bottom, from, to, inner, used, most,
      x: (at) => LEFT + ((at - from) / (to - from)) * inner,
      y: (tokens) => bottom - (Math.min(tokens, most) / most) * (bottom - TOP),
      at: (pixel) => Math.min(Math.max(Math.floor(from + ((pixel - LEFT) / inner) * (to - from)), from), Math.min(to, panel.run.n) - 1),
    });
  };

  const render = (panel) => {
    measure(panel);
    const { svg, width, height } = panel;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    drawGrid(panel);
    drawAreas(panel);
    panel.boxes = [];
    drawBounds(panel);
    drawLanes(panel);
    drawCuts(panel);
    panel.overlay = draw(svg, "g", {});
    point(panel);
  };

  const drawGrid = ({ svg, x, y, most, from, to, bottom, width, inner }) => {
    for (const value of ticks(most, 4)) {
      draw(svg, "line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) });
      draw(svg, "text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, short(value));
    }
    draw(svg, "text", { x: LEFT - 6, y: TOP - 9, "text-anchor": "end" }, "tokens");
    const steps = ticks(to - from, Math.max(inner / 90, 2));
    const stride = Math.max(Math.ceil((steps[1] || 1) - steps[0]), 1);
    for (let at = Math.ceil(from / stride) * stride; at <= to; at += stride) {
      const number = Math.max(at, 1);
      const room = number === 1 ? 0 : full(number).length * 3.2;
      if (number - 1 < from || number > to || x(number - 0.5) - room < LEFT) continue;
      draw(svg, "text", { x: x(number - 0.5), y: bottom + 14, "text-anchor": "middle" }, full(number));
    }
    draw(svg, "text", { x: LEFT - 6, y: bottom + 14, "text-anchor": "end" }, "step");
  };

  const drawAreas = ({ svg, run, x, y, from, to, inner }) => {
    const stop = Math.min(to, run.n);
    if (stop <= from) return;
    const at = sampled(run, from, stop, inner);
    const edges = at.map((index, place) => x(place ? (at[place - 1] + 1 + index) / 2 : from));
    edges.push(x(stop));
    const coordinate = (value) => value.toFixed(1);
    const across = (values) => values.map((value, place) =>
      `H${coordinate(edges[place])}V${coordinate(value)}`).join("") + `H${coordinate(edges.at(-1))}`;
    const back = (values) => values.map((value, place) =>
      `V${coordinate(value)}H${coordinate(edges[place])}`).reverse().join("");
    let below = at.map(() => 0);
    for (const { name, values } of run.origins) {
      const above = below.map((sum, place) => sum + values[at[place]]);
      const upper = above.map(y), lower = below.map(y);
      draw(svg, "path", {
        class: `area o-${name}`,
        d: `M${coordinate(edges[0])} ${coordinate(upper[0])}${across(upper)}${back(lower)}Z`,
      });
      below = above;
    }
    const tops = below.map(y);
    draw(svg, "path", { class: "outline", d: `M${coordinate(edges[0])} ${coordinate(tops[0])}${across(tops)}` });
  };

  const limitText = (run) => `limit ${full(run.limitChars)} characters, about ${short(run.limit)} tokens`;

  /** A text whose room nothing written later takes. */
  const write = (panel, text, at, base, anchor) => {
    const wide = text.length * 6.1 + 4;
    const left = anchor === "end" ? at - wide : at;
    panel.boxes.push({ left, right: left + wide, base });
    draw(panel.svg, "text", { class: "halo", x: at, y: base, "text-anchor": anchor }, text);
  };

  const drawBounds = (panel) => {
    const { svg, run, x, y, most, from, to, inner, width } = panel;
    const stop = Math.min(to, run.n);
    const at = stop > from ? sampled({ tokens: run.entered }, from, stop, inner / 2) : [];
    const shown = [];
    let left = null;
    for (const index of at) {
      if (run.entered[index] > most) {
        shown.push(`${x(index + 0.5).toFixed(1)} ${TOP}`);
        left = x(index + 0.5);
        break;
      }
      shown.push(`${x(index + 0.5).toFixed(1)} ${y(run.entered[index]).toFixed(1)}`);
    }
    if (shown.length > 1) draw(svg, "path", { class: "entered", d: "M" + shown.join("L") });
    for (const [name, value] of [["window", run.window], ["limit", run.limit]]) {
      const fits = value <= most;
      if (fits) draw(svg, "line", { class: `bound ${name}`, x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) });
      const text = name === "limit" && run.limitChars ? limitText(run) : `${name} ${full(value)}`;
      if (fits) write(panel, text, width - RIGHT - 4, y(value) - 4, "end");
    }
    if (run.limit > most) {
      write(panel, width < 480 ? `limit ${short(run.limit)}, window ${short(run.window)} ↑`
        : `limit ${full(run.limit)} and window ${full(run.window)} lie above`, width - RIGHT - 4, TOP + 10, "end");
    }
    const text = `all that entered, ${short(run.entered[run.n - 1])} at the end`;
    const spot = left !== null && shown.length > 1 && freeSpot(panel, left, text.length * 6.1, [TOP + 10], []);
    if (spot && spot.left > left) write(panel, text, spot.left + 2, spot.base, "start");
  };

  const drawLanes = ({ svg, run, x, used, bottom, from, to, width, inner }) => {
    used.forEach((name, lane) => {
      const middle = bottom + AXIS + lane * LANE + LANE / 2;
      draw(svg, "line", { class: "lane", x1: LEFT, x2: width - RIGHT, y1: middle, y2: middle });
      draw(svg, "text", { x: LEFT - 6, y: middle + 4, "text-anchor": "end" }, name);
      const marked = new Set();
      const wide = Math.max(Math.min(inner / (to - from), 6), 1.6);
      for (const batch of run.edits) {
        if (batch.at < from || batch.at >= to || !batch.made.some(([by]) => by === name)) continue;
        const place = Math.round(x(batch.at));
        if (marked.has(place)) continue;
        marked.add(place);
        draw(svg, "rect", { class: "tick", x: place, y: middle - 4.5, width: wide, height: 9 });
      }
    });
    for (const at of run.refused) {
      if (at >= from && at < to) draw(svg, "path", { class: "refused", d: `M${x(at + 0.5)} ${TOP + 9}l-5 -9h10z` });
    }
  };

  /** Arrows from the size before an edit to the size after it; the largest say both numbers. */
  const drawCuts = (panel) => {
    const { svg, run, x, y, most, from, to, inner, width } = panel;
    const byPixel = new Map();
    for (const batch of run.edits) {
      if (batch.at < from || batch.at >= to || batch.saved < most * 0.015) continue;
      const place = Math.round(x(batch.at));
      const known = byPixel.get(place);
      if (!known || known.saved < batch.saved) byPixel.set(place, batch);
    }
    const cuts = [...byPixel].sort(([, a], [, b]) => b.saved - a.saved)
      .map(([place, batch]) => ({ place, batch, high: y(batch.before), low: y(batch.after) }));
    const dense = cuts.length > inner / 8;
    if (dense) cuts.length = Math.floor(inner / 16);
    for (const { place, high, low } of cuts) {
      draw(svg, "line", { class: "cut", x1: place, x2: place, y1: high, y2: low - 3, opacity: dense ? 0.55 : 1 });
      if (!dense) draw(svg, "path", { class: "cut-head", d: `M${place} ${low}l-3.2 -6h6.4z` });
    }
    let labels = Math.max(4, Math.floor(inner / 60));
    for (const { place, batch, high, low } of cuts) {
      const rounder = width < 480 ? 1 : 0;
      const text = `${short(batch.before, rounder)} → ${short(batch.after, rounder)}`;
      const spot = freeSpot(panel, place, text.length * 6.1 + 6, [high + 15, (high + low) / 2, low - 12], dense ? [] : cuts);
      if (!spot) continue;
      write(panel, text, spot.left + 3, spot.base, "start");
      if (--labels === 0) break;
    }
  };

  /** Beside an arrow, where no other text stands and no other arrow passes. */
  const freeSpot = (panel, place, wide, heights, cuts) => {
    const { boxes, width, bottom } = panel;
    for (const base of heights) {
      for (const left of [place + 4, place - 4 - wide]) {
        const right = left + wide;
        if (left < LEFT || right > width - RIGHT || base < TOP + 9 || base > bottom - 3) continue;
        if (boxes.some((b) => left < b.right && right > b.left && Math.abs(base - b.base) < 14)) continue;
        if (cuts.some((c) => c.place > left && c.place < right && base > c.high && base - 11 < c.low)) continue;
        return { left, base };
      }
    }
    return null;
  };

  // ---- the request pointed at

  const pointed = () => state.hovered ?? state.pinned;

  const point = (panel) => {
    const { run, overlay, x, y, bottom, from, to, width } = panel;
    overlay.replaceChildren();
    const chosen = pointed();
    const at = chosen === null ? run.peak : Math.min(chosen, run.n - 1);
    if (state.span) {
      const [a, b] = state.span.map((edge) => Math.min(Math.max(x(edge), LEFT), width - RIGHT));
      draw(overlay, "rect", { class: "span", x: Math.min(a, b), width: Math.abs(a - b), y: TOP, height: bottom - TOP });
    }
    if (chosen !== null && run.n && at >= from && at < to) {
      const place = x(at + 0.5);
      draw(overlay, "line", { class: "cursor", x1: place, x2: place, y1: TOP, y2: panel.height - 4 });
      draw(overlay, "circle", { class: "cursor-dot", cx: place, cy: y(run.tokens[at]), r: 3.5 });
      const right = place > LEFT + panel.inner / 2;
      draw(overlay, "text", { class: "halo", x: place + (right ? -7 : 7), y: TOP - 7, "text-anchor": right ? "end" : "start" },
        `step ${full(at + 1)} · ${full(run.tokens[at])}`);
    }
    tell(panel, at, chosen === null);
  };

  const tell = (panel, at, isPeak) => {
    const { run, legend, readout, plot } = panel;
    if (!run.n) {
      readout.replaceChildren("No request was made.");
      return;
    }
    const sent = run.tokens[at];
    legend.replaceChildren(...[...run.origins].reverse().map(({ name, values }) =>
      el("li", {}, el("span", { class: `swatch o-${name}` }), ORIGIN_NAMES[name] || name, " ",
        el("b", {}, full(values[at])), el("small", {}, percent(values[at], sent)))),
      el("li", {}, el("span", { class: "key" }), "window ", el("b", {}, full(run.window))),
      el("li", {}, el("span", { class: "key limit" }),
        ...(run.limitChars ? [limitText(run)] : ["limit ", el("b", {}, full(run.limit))])),
      el("li", {}, el("span", { class: "key entered" }), "all that entered ", el("b", {}, full(run.entered[at]))));
    const batch = run.editAt.get(at);
    const head = el("div", {}, el("b", {}, `Step ${full(at + 1)}`), isPeak ? " (the largest request)" : "",
      `: ${full(sent)} tokens sent, ${full(run.believed[at])} believed; cost so far ${short(run.cost[at])} input tokens`,
      run.refused.has(at) ? "; refused by the provider" : "", ".");
    const edits = batch
      ? [el("div", {}, "Edits before it, ", el("b", {}, `${full(batch.before)} → ${full(batch.after)} tokens`), ":"),
         el("ul", {}, ...batch.made.slice(0, 6).map(([by, why]) => el("li", {}, el("b", {}, by), ` ${why}`)),
           ...(batch.made.length > 6 ? [el("li", {}, `and ${batch.made.length - 6} more`)] : []))]
      : [el("div", { class: "soft" }, "No edit before it.")];
    readout.replaceChildren(head, ...edits);
    plot.setAttribute("aria-valuenow", at + 1);
    plot.setAttribute("aria-valuetext", `step ${at + 1}, ${full(sent)} tokens, ` + (batch
      ? `edits ${batch.made.map(([by]) => by).join(", ")}, from ${full(batch.before)} to ${full(batch.after)} tokens` : "no edit"));
  };

  const pointAll = () => state.panels.forEach(point);
  const renderAll = () => state.panels.forEach(render);

  // ---- hands

  const zoom = (from, to) => {
    const least = Math.min(8 / longest(), 1);
    if (to - from < least) {
      const middle = (from + to) / 2;
      [from, to] = [middle - least / 2, middle + least / 2];
    }
    const width = Math.min(to - from, 1);
    state.from = Math.min(Math.max(from, 0), 1 - width);
    state.to = state.from + width;
    controls.reset.disabled = width >= 1;
    renderAll();
  };
  const zoomBy = (factor) => {
    const at = pointed();
    const middle = at === null ? (state.from + state.to) / 2 : (at + 0.5) / longest();
    const half = ((state.to - state.from) * factor) / 2;
    zoom(middle - half, middle + half);
  };
  const pin = (at) => {
    const last = longest() - 1;
    state.pinned = Math.min(Math.max(at, 0), last);
    state.hovered = null;
    const share = (state.pinned + 0.5) / longest(), width = state.to - state.from;
    if (share < state.from || share > state.to) zoom(share - width / 2, share + width / 2);
    else pointAll();
  };

  const listen = (panel) => {
    const { plot } = panel;
    const pixel = (event) => event.clientX - plot.getBoundingClientRect().left;
    const raw = (event) => panel.from + ((pixel(event) - LEFT) / panel.inner) * (panel.to - panel.from);
    let pressed = null;
    plot.addEventListener("pointermove", (event) => {
      state.hovered = panel.at(pixel(event));
      if (pressed !== null && event.pointerType === "mouse" && Math.abs(pixel(event) - pressed.pixel) > 5) {
        state.span = [pressed.raw, raw(event)];
      }
      pointAll();
    });
    plot.addEventListener("pointerleave", () => {
      if (pressed === null) state.hovered = null;
      pointAll();
    });
    plot.addEventListener("pointerdown", (event) => {
      pressed = { pixel: pixel(event), raw: raw(event) };
      if (event.pointerType === "mouse") plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener("pointerup", (event) => {
      const span = state.span;
      state.span = null;
      pressed = null;
      if (span) zoom(Math.min(...span) / longest(), Math.max(...span) / longest());
      else pin(panel.at(pixel(event)));
    });
    plot.addEventListener("pointercancel", () => { pressed = null; state.span = null; pointAll(); });
    plot.addEventListener("dblclick", () => zoom(0, 1));
    plot.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { run } = panel;
      const at = Math.min(pointed() ?? run.peak, run.n - 1);
      const page = Math.max(Math.round(run.n / 20), 10);
      const next = run.edits.find((batch) => batch.at > at)?.at;
      const previous = run.edits.findLast((batch) => batch.at < at)?.at;
      const moves = {
        ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + page,
        PageDown: at - page, Home: 0, End: run.n - 1, n: next, p: previous,
      };
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (key in moves) { if (moves[key] !== undefined) pin(moves[key]); }
      else if (key === "+" || key === "=") zoomBy(0.5);
      else if (key === "-") zoomBy(2);
      else if (key === "0") zoom(0, 1);
      else if (key === "Escape") { state.pinned = state.hovered = null; pointAll(); }
      else return;
      event.preventDefault();
    });
  };

  // ---- the edits as a table

  const listEdits = () => {
    const section = document.getElementById("edits");
    const all = current().flatMap((run) => run.edits.map((batch) => ({ run, batch })));
    section.hidden = !all.length;
    section.querySelectorAll(":scope > :not(h2)").forEach((old) => old.remove());
    if (!all.length) return;
    all.sort((a, b) => b.batch.saved - a.batch.saved || a.batch.at - b.batch.at);
    const several = current().length > 1;
    const body = el("tbody");
    const fill = (count) => body.replaceChildren(...all.slice(0, count).map(({ run, batch }) =>
      el("tr", {},
        el("td", {}, el("button", { class: "jump", type: "button", onclick: () => jump(run, batch.at) }, full(batch.at + 1))),
        ...(several ? [el("td", { class: "text" }, run.budget)] : []),
        el("td", { class: "wrap" }, batch.made.map(([by, why]) => `${by}: ${why}`).join("; ")),
        el("td", {}, `${full(batch.before)} → ${full(batch.after)}`),
        el("td", { class: "saved" }, full(batch.saved)))));
    fill(EDITS_SHOWN);
    const head = ["step", ...(several ? ["budget"] : []), "what and why", "tokens", "saved"];
    section.append(
      el("p", { class: "soft" }, `Of this session, the largest first; ${full(all.length)} requests were edited.`),
      el("div", { class: "scroll" }, el("table", { class: "edits-table" },
        el("thead", {}, el("tr", {}, ...head.map((name) => el("th", {
          scope: "col", class: name === "budget" || name.startsWith("what") ? "text" : name === "saved" ? "saved" : "" }, name)))),
        body)));
    if (all.length > EDITS_SHOWN) {
      const more = el("button", { class: "more", type: "button", onclick: () => { fill(all.length); more.remove(); } },
        `Show all ${full(all.length)}`);
      section.append(more);
    }
  };
  const jump = (run, at) => {
    const panel = state.panels.find((one) => one.run === run);
    pin(at);
    panel.figure.scrollIntoView({ block: "nearest" });
    panel.plot.focus({ preventScroll: true });
  };

  // ---- choosing a session, a scale, a span

  const controls = {};
  const makeControls = () => {
    const bar = document.getElementById("controls");
    if (sessions.length > 1) {
      controls.choice = el("select", { onchange: () => choose(Number(controls.choice.value)) },
        ...sessions.map((group, at) => el("option", { value: at }, `${at + 1}. ${group[0].file}`)));
      const go = (by) => choose((state.session + by + sessions.length) % sessions.length);
      bar.append(el("label", {}, "Session", controls.choice), el("span", { class: "spread" },
        el("button", { type: "button", "aria-label": "previous session", onclick: () => go(-1) }, "‹"),
        el("button", { type: "button", "aria-label": "next session", onclick: () => go(1) }, "›")));
    }
    controls.scale = el("select", { onchange: () => { state.scale = controls.scale.value; renderAll(); } },
      el("option", { value: "" }, "what fits"),
      ...Object.entries(scales).map(([name, [text]]) => el("option", { value: name }, text)));
    controls.reset = el("button", { type: "button", disabled: "", onclick: () => zoom(0, 1) }, "All steps");
    bar.append(
      el("label", {}, "Scale up to", controls.scale),
      el("span", { class: "spread" },
        el("button", { type: "button", "aria-label": "zoom in", onclick: () => zoomBy(0.5) }, "+"),
        el("button", { type: "button", "aria-label": "zoom out", onclick: () => zoomBy(2) }, "−"),
        controls.reset));
    bar.hidden = false;
  };

  const choose = (session, keep) => {
    state.session = session;
    Object.assign(state, { from: 0, to: 1, pinned: null, hovered: null, span: null });
    controls.reset.disabled = true;
    if (controls.choice) controls.choice.value = session;
    state.panels = current().map(makePanel);
    document.getElementById("panels").replaceChildren(...state.panels.map((panel) => panel.figure));
    for (const row of document.querySelectorAll("tr[data-session]")) {
      row.toggleAttribute("aria-current", Number(row.dataset.session) === session && sessions.length > 1);
    }
    renderAll();
    listEdits();
    if (!keep && sessions.length > 1) remember(session);
  };
  const remember = (session) => {
    try {
      history.replaceState(null, "", `#session-${session + 1}`);
    } catch {
      // Some viewers show a page under an address that may not change.
    }
  };
  const fromAddress = () => {
    const found = /^#session-(\d+)$/.exec(location.hash);
    return found && sessions[found[1] - 1] ? Number(found[1]) - 1 : null;
  };

  // ---- the table: small drawings, sorting

  const sparkline = (cell, run) => {
    const wide = 120, high = 26, svg = draw(cell, "svg", { class: "spark", width: wide, height: high, "aria-hidden": "true" });
    if (!run.n) return;
    const at = sampled(run, 0, run.n, wide);
    const x = (place) => ((place * wide) / at.length).toFixed(1);
    const most = Math.max(...runs.map((one) => Math.max(one.limit, one.tokens[one.peak] || 0)));
    const y = (tokens) => (high - (tokens / most) * (high - 1)).toFixed(1);
    draw(svg, "path", { class: "o-tool", d: `M0 ${high}` + at.map((index, place) =>
      `V${y(run.tokens[index])}H${x(place + 1)}`).join("") + `V${high}Z` });
    draw(svg, "line", { class: "bound limit", x1: 0, x2: wide, y1: y(run.limit), y2: y(run.limit) });
  };

  const sortable = (table) => {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 3) return;
    const key = (row, column) => {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
    };
    for (const head of table.tHead.rows[0].cells) {
      const button = el("button", { class: "sort", type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") === "descending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].sort((a, b) => {
          const [left, right] = [key(a, head.cellIndex), key(b, head.cellIndex)];
          const order = typeof left === "number" ? left - right : String(left).localeCompare(String(right));
          return up ? order : -order;
        });
        body.append(...rows);
      });
      head.append(button);
    }
  };

  if (!runs.length) return;
  makeControls();
  choose(fromAddress() ?? 0, true);
  document.querySelectorAll("td.spark-cell").forEach((cell, at) => runs[at] && sparkline(cell, runs[at]));
  document.querySelectorAll("table.runs").forEach(sortable);
  addEventListener("hashchange", () => {
    const session = fromAddress();
    if (session === null || session === state.session) return;
    choose(session, true);
    document.getElementById("over-time").scrollIntoView();
  });
  let waiting = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(renderAll);
  }).observe(document.getElementById("panels"));
})();
