// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The script of the page about a run (run_page.hpp): kinds of sections beside those of output/page.
#pragma once

#include <string_view>

namespace manta::report {

inline constexpr std::string_view page_script = R"js(
// ---- states, functions and times

el("style", document.head, `
:root {
  --task: #2563c9; --own: #7a6fd0; --fetch: #c2477f; --gang: #e0a526; --actor: #5aa6a6; --idle: #d5d9e0;
  --driver: #4a5568; --dead: #8e1b2f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --task: #5b93ea; --own: #958bea; --fetch: #df6c9f; --gang: #e8b84c; --actor: #6fbcbc; --idle: #39414d;
    --driver: #8fa0b8; --dead: #c65a6c;
  }
}
.about { color: var(--soft); margin: 4px 0 0; overflow-wrap: anywhere; }
.group > .third { flex: 1 1 min(100%, 260px); max-width: none; }
.stack { display: flex; height: 26px; border-radius: 6px; overflow: hidden; margin: 2px 0 10px; }
.key { display: flex; flex-wrap: wrap; gap: 4px 16px; color: var(--soft); font-size: 14px; }
.key b { color: var(--ink); }
.key i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; }
.big { font-size: 27px; font-weight: 650; }
.advice { margin: 0; padding-left: 22px; }
.advice li { margin: 8px 0; overflow-wrap: anywhere; }
.advice b { display: block; font-weight: 600; }
.advice span { color: var(--soft); }
.pick { position: absolute; top: 0; bottom: 0; background: var(--a); opacity: .2; pointer-events: none; }
`);
const run = data.sections.find(s => s.kind === "about").run;
const states = run.states;
const colourNames = ["#2563c9", "#1d8a55", "#8a5a2b", "#0e8f9c", "#7b8f1d", "#b5532a", "#5a5fc0", "#3f7f5f"];
const lightNames = ["#5b93ea", "#45b97d", "#c08d56", "#3fbccb", "#a9bf45", "#e0805a", "#8b90ee", "#6fb892"];
// Functions are sorted by their time: the first ones have colours of their own.
function functionColour(i) {
  if (i < 0) return css("task");
  return (theme.matches ? lightNames : colourNames)[i] ?? (theme.matches ? "#8a94a3" : "#7c8694");
}
const parts = {};  // "#rrggbb" as numbers
const numbersOf = c => parts[c] ??= [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16));
function clock(s) {
  const all = Math.round(s), two = n => String(n).padStart(2, "0");
  return all < 3600 ? `${Math.floor(all / 60)}:${two(all % 60)}`
                    : `${Math.floor(all / 3600)}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`;
}
const exactClock = (s, step) => step >= 1 ? clock(s) : fmt(+s.toPrecision(6)) + " s";
function span(s) {
  for (const [length, to, unit] of [[1e-9, 1e-6, "ns"], [1e-6, 1e-3, "\u00b5s"], [1e-3, 1, "ms"], [1, 600, "s"],
                                    [60, 3600, "min"]]) {
    if (s < to) return fmt(+(s / length).toPrecision(3)) + " " + unit;
  }
  return fmt(+(s / 3600).toPrecision(3)) + " h";
}
function bytes(n) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  for (; n >= 1024 && i + 1 < units.length; ++i) n /= 1024;
  return fmt(+n.toPrecision(3)) + " " + units[i];
}
const units = {s: x => x === 0 ? "0" : span(x), B: x => x === 0 ? "0" : bytes(x)};

// ---- time on the x axis

const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
function timeStep(length, n) {
  if (length / n < 1) {
    const power = 10 ** Math.floor(Math.log10(length / n));
    return [1, 2, 5, 10].map(k => k * power).find(s => s >= length / n);
  }
  return timeSteps.find(s => s >= length / n) ?? Math.ceil(length / n / 86400) * 86400;
}
// The part of the run that both pictures show.
let view = memory.get("view", [0, run.seconds]);
const isBeyond = view[1] > run.seconds * 1.001 || !data.running && view[1] > run.seconds;
if (!(view[0] < view[1]) || isBeyond) view = [0, run.seconds];
const timed = [];
function show(begin, end) {
  view = [Math.max(0, begin), Math.min(run.seconds, end)];
  memory.set("view", view[0] <= 0 && view[1] >= run.seconds ? null : view);
  for (const f of timed) f();
}
function timeAxis(g, l, r, h, phases) {
  const [begin, end] = view, x = t => l + (t - begin) / (end - begin) * (r - l);
  const step = timeStep(end - begin, Math.max(2, (r - l) / 80));
  font(g);
  g.fillStyle = css("soft");
  g.textBaseline = "alphabetic";
  for (let t = Math.ceil(begin / step) * step; t <= end + step * 1e-6; t += step) {
    const text = exactClock(t, step), half = g.measureText(text).width / 2;
    g.textAlign = "center";
    g.fillText(text, Math.max(l + half - 8, Math.min(x(t), r - half)), h - 4);
  }
  g.textAlign = "left";
  for (const p of phases) {
    if (p.begin > end || (p.end || run.seconds) < begin) continue;
    const at = Math.max(l, x(p.begin));
    g.fillStyle = css("soft");
    g.fillRect(at, 0, 1, h - 18);
    write(g, p.name, at + 5, 12, Math.min(r, x(p.end || run.seconds)) - at - 8);
  }
  return x;
}
// A picture over the time of the run; a drag over it shows that part alone.
function timePicture(parent, name, height, left, draw) {
  const p = picture(parent, name, height, (g, w, h) => draw(g, w, h)), frame = p.canvas.parentElement;
  const pick = el("div", frame, undefined, "pick");
  pick.hidden = true;
  let from = null;
  const place = e => e.clientX - p.canvas.getBoundingClientRect().left;
  const timeAt = x => view[0] + Math.max(0, Math.min(1, (x - left()) / (p.w - left() - 1))) * (view[1] - view[0]);
  p.canvas.addEventListener("pointerdown", e => {
    if (e.pointerType === "touch") return;
    from = place(e);
    p.canvas.setPointerCapture(e.pointerId);
  });
  p.canvas.addEventListener("pointermove", e => {
    if (from === null) return;
    const to = place(e);
    pick.hidden = Math.abs(to - from) < 5;
    pick.style.left = Math.min(from, to) + "px";
    pick.style.width = Math.abs(to - from) + "px";
  });
  p.canvas.addEventListener("pointerup", e => {
    if (from !== null && Math.abs(place(e) - from) >= 5) {
      const [a, b] = [timeAt(from), timeAt(place(e))].sort((x, y) => x - y);
      if (b - a > run.bin / 4) show(a, b);
    }
    from = null;
    pick.hidden = true;
  });
  p.canvas.addEventListener("dblclick", () => show(0, run.seconds));
  timed.push(p.redraw);
  return p;
}
function zoomBar(parent) {
  const row = bar(parent);
  const button = (text, f) => { el("button", row, text).onclick = f; };
  const scaled = k => () => {
    const middle = (view[0] + view[1]) / 2, half = Math.max(run.bin, (view[1] - view[0]) * k / 2);
    show(middle - half, middle + half);
  };
  button("whole run", () => show(0, run.seconds));
  button("+", scaled(.5));
  button("\u2212", scaled(2));
  el("span", row, "drag over a picture to see a part of it");
}

// ---- rows of bins

// Nine bytes a bin: the share of each state, from 0 to 255, and the index of the main function, 255 for none.
const rows = run.rows.map(r => ({...r, data: Uint8Array.from(atob(r.data), c => c.charCodeAt(0))}));
const binCount = Math.max(0, ...rows.map(r => r.data.length / 9));
const shareOf = (row, bin, state) => row.data[bin * 9 + state] / 255;
function functionOf(row, bin) {
  const i = row.data[bin * 9 + 8];
  return i === 255 ? -1 : i;
}
const stateColour = (row, bin, state) => states[state].name === "task" ? functionColour(functionOf(row, bin))
                                                                      : css(states[state].name);
// The colours of all states, mixed by their shares: for rows that are too low for bars.
function mixed(row, bin) {
  const sum = [0, 0, 0];
  let all = 0;
  for (let s = 0; s < 8; ++s) {
    const share = shareOf(row, bin, s);
    if (share === 0) continue;
    const c = numbersOf(stateColour(row, bin, s));
    for (let k = 0; k < 3; ++k) sum[k] += share * c[k];
    all += share;
  }
  return all === 0 ? null : `rgb(${sum.map(x => Math.round(x / all))})`;
}
function drawBin(g, row, bin, x, y, w, h) {
  if (h < 8) {
    const colour = mixed(row, bin);
    if (colour) { g.fillStyle = colour; g.fillRect(x, y, w, h); }
    return;
  }
  let bottom = y + h;
  for (let s = 0; s < 8; ++s) {
    const part = shareOf(row, bin, s) * h;
    if (part <= 0) continue;
    g.fillStyle = stateColour(row, bin, s);
    g.fillRect(x, bottom - part, w, part);
    bottom -= part;
  }
}
// Where a bin begins and ends between l and r, on whole pixels: there are no seams between equal bins.
function edges(bin, l, r) {
  const x = t => l + (t - view[0]) / (view[1] - view[0]) * (r - l);
  const from = Math.floor(x(bin * run.bin)), to = Math.max(from + 1, Math.floor(x((bin + 1) * run.bin)));
  return [Math.max(l, from), Math.min(r, to)];
}
function describe(row, bin) {
  const begin = exactClock(bin * run.bin, run.bin), end = exactClock((bin + 1) * run.bin, run.bin);
  const lines = [row.label + ", " + begin + " to " + end];
  for (let s = 0; s < 8; ++s) {
    const share = shareOf(row, bin, s), name = run.functions[functionOf(row, bin)];
    if (share < .004) continue;
    lines.push(percent(share) + " " + states[s].words + (states[s].name === "task" && name ? ", most in " + name : ""));
  }
  return lines.join("\n");
}

// ---- kinds of sections

Object.assign(kinds, {
  about(s) {
    const header = main.querySelector("header");
    for (const line of s.lines) el("p", header, line, "about");
  },
  stack(s) {
    const c = card(s.title, true), bar = el("div", c, undefined, "stack"), key = el("div", c, undefined, "key");
    for (const [name, share] of s.parts) {
      const state = states.find(one => one.name === name), part = el("i", bar), entry = el("span", key);
      part.style.width = 100 * share + "%";
      part.style.background = `var(--${name})`;
      part.title = state.words;
      el("i", entry).style.background = `var(--${name})`;
      el("b", entry, percent(share));
      entry.append(" " + state.words);
    }
    if (s.note) note(c, s.note);
    nextGroup();
  },
  figure(s) {
    const c = card(s.title);
    c.className = "third";
    el("div", c, s.value, "big");
    note(c, s.note);
  },
  advice(s) {
    const list = el("ol", card(s.title, true), undefined, "advice");
    for (const [what, remedy] of s.items) {
      const item = el("li", list);
      el("b", item, what);
      if (remedy) el("span", item, remedy);
    }
    nextGroup();
  },
  // How many ranks were in tasks, by the main function of each bin.
  busy(s) {
    const c = card(s.title, true), left = () => 34, most = s.ranks;
    zoomBar(c);
    timePicture(c, s.title, () => 170, left, (g, w, h) => {
      const l = left(), bottom = h - 18, y = n => bottom - n / most * (bottom - 8);
      font(g);
      g.textAlign = "right";
      g.textBaseline = "middle";
      for (const n of [0, Math.round(most / 2), most]) {
        g.fillStyle = css("line");
        g.fillRect(l, y(n), w - l, 1);
        g.fillStyle = css("soft");
        g.fillText(fmt(n), l - 6, y(n));
      }
      const names = s.functions;
      for (let b = 0; b < binCount; ++b) {
        const [from, to] = edges(b, l, w);
        if (to <= from) continue;
        let below = 0;
        names.forEach((f, i) => {
          const n = s.busy[i][b] ?? 0;
          if (n <= 0) return;
          g.fillStyle = functionColour(f);
          g.fillRect(from, y(below + n), to - from, y(below) - y(below + n));
          below += n;
        });
      }
      timeAxis(g, l, w, h, s.phases);
      const find = (px) => {
        const b = Math.floor((view[0] + (px - l) / (w - l) * (view[1] - view[0])) / run.bin);
        if (px < l || b < 0 || b >= binCount) return null;
        const all = names.map((f, i) => [f, s.busy[i][b] ?? 0]).filter(one => one[1] > .05);
        const lines = all.map(([f, n]) => `${fmt(+n.toPrecision(3))} in ${run.functions[f] ?? "other functions"}`);
        const time = exactClock(b * run.bin, run.bin);
        return {key: null, text: () => [time, ...lines.length ? lines : ["none"]].join("\n")};
      };
      return {find};
    });
    nextGroup();
  },
  timeline(s) {
    const c = card(s.title, true), wide = () => c.clientWidth > 600, left = () => wide() ? 84 : 40;
    const rowHeight = rows.length <= 24 ? 18 : rows.length <= 80 ? 7 : 3;
    timePicture(c, s.title, () => rows.length * rowHeight + 20, left, (g, w, h) => {
      const l = left(), gap = rowHeight >= 7 ? 1 : 0;
      const first = Math.max(0, Math.floor(view[0] / run.bin)), last = Math.min(binCount, Math.ceil(view[1] / run.bin));
      rows.forEach((row, i) => {
        for (let b = first; b < last && b * 9 < row.data.length; ++b) {
          const [from, to] = edges(b, l, w);
          if (to > from) drawBin(g, row, b, from, i * rowHeight, to - from, rowHeight - gap);
        }
      });
      font(g);
      g.fillStyle = css("soft");
      g.textAlign = "right";
      g.textBaseline = "middle";
      let free = 0;  // the first y where a name has room
      rows.forEach((row, i) => {
        const y = (i + .5) * rowHeight, isFirst = i === 0 || rows[i - 1].node !== row.node;
        if (y < free || !isFirst && y - 6 < free) return;
        const text = wide() && isFirst ? row.label : row.short;
        if (!isFirst && rows.slice(i + 1, i + Math.ceil(14 / rowHeight)).some((r, k) => r.node !== row.node)) return;
        g.fillText(text, l - 6, Math.max(7, y));
        free = y + 13;
      });
      timeAxis(g, l, w, h, []);
      const find = (px, py) => {
        const row = rows[Math.floor(py / rowHeight)];
        const b = Math.floor((view[0] + (px - l) / (w - l) * (view[1] - view[0])) / run.bin);
        return !row || px < l || b < 0 || b * 9 >= row.data.length ? null : {key: null, text: () => describe(row, b)};
      };
      return {find};
    });
    const key = el("div", c, undefined, "key"), swatches = [];
    const entry = (text, colour) => {
      const e = el("span", key), swatch = el("i", e);
      e.append(text);
      swatches.push(() => { swatch.style.background = colour(); });
    };
    s.functions.forEach(f => entry(run.functions[f], () => functionColour(f)));
    for (const name of s.states) entry(states.find(one => one.name === name).words, () => `var(--${name})`);
    const paint = () => { for (const f of swatches) f(); };
    theme.addEventListener("change", () => { colours = {}; paint(); });
    paint();
    note(c, s.note);
    nextGroup();
  },
  // A table whose columns have units: "s" for durations, "B" for bytes.
  figures(s) {
    const text = (v, i) => isMissing(v) ? "" : units[s.units[i]] ? units[s.units[i]](v) : fmt(v);
    const options = {order: s.order, text};
    if (s.colours) options.colour = r => functionColour(s.rows.indexOf(r));
    drawTable(card(s.title, true), s.columns, s.rows, options);
    nextGroup();
  }
});
)js";

}  // namespace manta::report
