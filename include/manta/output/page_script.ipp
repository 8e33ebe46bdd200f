// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The script of report pages (page.hpp): plain JavaScript without a library. Here is what sections are made of: numbers
// as texts, cards, colours, scales, axes, and pictures. A picture is a canvas: `picture` calls a function that draws,
// and learns from it which points can be pointed at. page_kinds.ipp goes on.
#pragma once

#include <string_view>

namespace manta::output {

inline constexpr std::string_view page_script = R"js("use strict";
const data = JSON.parse(document.getElementById("data").textContent), main = document.querySelector("main");

// ---- numbers and texts

const isNumber = v => typeof v === "number", isMissing = v => v === null || v === undefined;
const minus = text => text.replace(/-/g, "\u2212");
const raised = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
const superscript = n => String(n).replace(/./g, c => c === "-" ? "\u207b" : raised[c]);
const grouped = new Intl.NumberFormat("en-US", {maximumFractionDigits: 8});
function fmt(x) {
  if (isMissing(x)) return "\u2013";
  if (!isNumber(x)) return String(x);
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-3 || a >= 1e7)) {
    const [m, e] = x.toExponential(3).split("e"), power = "10" + superscript(+e);
    return +m === 1 ? power : minus(String(+m)) + "\u00d7" + power;
  }
  const rounded = a < 1000 ? +x.toPrecision(5) : Number.isInteger(x) ? x : +x.toFixed(1);
  return minus(grouped.format(rounded).replace(/,/g, "\u202f"));
}
const percent = share => fmt(Math.round(share * 1000) / 10) + " %";
function duration(s) {
  if (s < 100) return fmt(+s.toPrecision(3)) + " s";
  const whole = Math.round(s);
  if (whole < 6000) return Math.floor(whole / 60) + " min " + whole % 60 + " s";
  return Math.floor(whole / 3600) + " h " + Math.floor(whole % 3600 / 60) + " min";
}
// At most that many of the points, evenly chosen.
function thin(list, most) {
  if (list.length <= most) return list;
  return Array.from({length: most}, (_, i) => list[Math.floor(i * list.length / most)]);
}

// ---- the page

function el(tag, parent, text, cls) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  if (parent) parent.append(e);
  return e;
}
// What the reader has chosen survives that the page reloads itself.
const memory = {
  key: "report " + location.pathname,
  all: {},
  load() { try { this.all = JSON.parse(sessionStorage.getItem(this.key)) ?? {}; } catch { this.all = {}; } },
  get(name, otherwise) { return this.all[name] ?? otherwise; },
  set(name, value) {
    this.all[name] = value;
    try { sessionStorage.setItem(this.key, JSON.stringify(this.all)); } catch { /* it is not allowed here */ }
  }
};
memory.load();
// Narrow cards that follow each other stand side by side.
let group = null;
const nextGroup = () => { group = null; };
function card(title, wide) {
  if (wide) group = null;
  else group ??= el("div", main, undefined, "group");
  const s = el("section", wide ? main : group);
  if (title) el("h2", s, title);
  return s;
}
const bar = parent => el("div", parent, undefined, "row");
const note = (parent, text) => el("p", parent, text, "note");
// options: pairs of value and name; key: under which the choice is remembered.
function choose(parent, label, options, first, change, key = label) {
  const l = el("label", parent, label + " "), e = el("select", l);
  for (const [v, n] of options) el("option", e, n).value = v;
  const before = memory.get(key, first);
  e.value = options.some(o => String(o[0]) === String(before)) ? before : first;
  e.onchange = () => { memory.set(key, e.value); change(); };
  return e;
}

// ---- colours of the theme that is shown

const theme = matchMedia("(prefers-color-scheme: dark)");
let colours = {};
const css = name => colours[name] ??= getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const rgb = name => colours[name + " rgb"] ??= [1, 3, 5].map(i => parseInt(css(name).slice(i, i + 2), 16));
// From the worst (0) to the best (1).
function ramp(q) {
  const at = Math.max(0, Math.min(3.9999, q * 4)), i = Math.floor(at), a = rgb("r" + i), b = rgb("r" + (i + 1));
  return a.map((x, k) => Math.round(x + (b[k] - x) * (at - i)));
}
const rampColour = (q, alpha = 1) => `rgba(${ramp(q)},${alpha})`;
const palette = i => `hsl(${(215 + i * 137.5) % 360},60%,${theme.matches ? 65 : 45}%)`;

// ---- scales and axes

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
function nameScale(values) {
  const names = [...new Set(values.map(String))].sort(), at = i => (i + .5) / names.length;
  return {
    names, at: v => isMissing(v) ? null : at(names.indexOf(String(v))), ticks: () => names.map((n, i) => [at(i), n])
  };
}
// Maps values, names or numbers, to 0..1. The scale of numbers is logarithmic where they span decades or the caller
// wants it. robust: far outliers lie at the edge.
function scale(all, {linear, decades, robust, tight} = {}) {
  const values = all.filter(v => !isMissing(v));
  if (values.some(v => !isNumber(v))) return nameScale(values);
  let low = values.length ? values.reduce((a, b) => Math.min(a, b)) : 0;
  let high = values.length ? values.reduce((a, b) => Math.max(a, b)) : 1;
  const log = !linear && low > 0 && (decades || high / low >= 100), f = log ? Math.log10 : x => x;
  if (robust && !log && values.length > 20) {
    const sorted = Float64Array.from(values).sort(), a = quantile(sorted, .05), b = quantile(sorted, .95);
    const room = 4 * (b - a);
    if (b > a && high > b + room) high = b + (b - a) * .3;
    if (b > a && low < a - room) low = a - (b - a) * .3;
  }
  let a = f(low), b = f(high);
  const pad = a === b ? Math.abs(a) * .1 || .5 : tight ? 0 : (b - a) * .04;
  a -= pad;
  b += pad;
  const at = v => isMissing(v) ? null : log && v <= 0 ? 0 : Math.max(0, Math.min(1, (f(v) - a) / (b - a)));
  const ticks = n => log && b - a >= 1.5 ? powers(a, b, n) : steps(a, b, n, log, values.every(Number.isInteger));
  return {at, log, ticks};
}
function powers(a, b, n) {
  const out = [], every = Math.ceil((b - a) / n);
  for (let e = Math.ceil(a); e <= b; ++e) if (e % every === 0) out.push([(e - a) / (b - a), fmt(10 ** e)]);
  return out;
}
function steps(a, b, n, log, whole) {
  const out = [], low = log ? 10 ** a : a, high = log ? 10 ** b : b;
  const raw = (high - low) / n, power = 10 ** Math.floor(Math.log10(raw));
  const candidates = [1, 2, 5, 10, ...whole ? [1 / power] : []].map(k => k * power);
  const step = candidates.find(s => s >= raw * .999 && (s >= 1 || !whole));
  for (let i = Math.ceil(low / step); i * step <= high; ++i) {
    const x = +(i * step).toPrecision(10);
    out.push([((log ? Math.log10(x) : x) - a) / (b - a), fmt(x)]);
  }
  return out;
}
const font = (g, weight = 400, size = 12) => { g.font = `${weight} ${size}px system-ui, sans-serif`; };
// A text that is cut off where it has no room.
function write(g, text, x, y, room) {
  let shown = text;
  for (let n = text.length - 1; n > 0 && g.measureText(shown).width > room; --n) shown = text.slice(0, n) + "\u2026";
  g.fillText(shown, x, y);
}
// Draws both axes; gives their box, and the places of values.
function axes(g, w, h, X, Y, nameX, nameY) {
  font(g);
  const yTicks = Y.ticks(Math.max(2, Math.floor(h / 42)));
  const left = Math.min(w * .3, 14 + Math.max(10, ...yTicks.map(t => g.measureText(t[1]).width)));
  const box = {l: left, t: nameY ? 26 : 8, r: w - 10, b: h - 40};
  const px = p => box.l + p * (box.r - box.l), py = p => box.b - p * (box.b - box.t);
  g.strokeStyle = css("line");
  g.fillStyle = css("soft");
  g.lineWidth = 1;
  g.textAlign = "right";
  g.textBaseline = "middle";
  for (const [p, text] of yTicks) {
    g.beginPath();
    g.moveTo(box.l, py(p));
    g.lineTo(box.r, py(p));
    g.stroke();
    write(g, text, box.l - 7, py(p), left - 8);
  }
  g.textBaseline = "top";
  const xTicks = X.ticks(Math.max(3, Math.floor((box.r - box.l) / 70)));
  const room = (box.r - box.l) / Math.max(1, xTicks.length) - 4;
  for (const [p, text] of xTicks) {
    g.beginPath();
    g.moveTo(px(p), box.b);
    g.lineTo(px(p), box.b + 4);
    g.stroke();
    const half = Math.min(room, g.measureText(text).width) / 2;
    g.textAlign = "center";
    write(g, text, Math.max(half, Math.min(px(p), w - half)), box.b + 7, Math.max(room, 30));
  }
  write(g, nameX + (X.log ? " (log)" : ""), (box.l + box.r) / 2, h - 15, w);
  g.textAlign = "left";
  write(g, nameY + (Y.log ? " (log)" : ""), 0, 2, w);
  return {box, x: v => px(X.at(v)), y: v => py(Y.at(v))};
}

// ---- pictures

const tip = el("div", document.body);
tip.id = "tip";
function showTip(text, e) {
  tip.style.display = text ? "block" : "none";
  if (!text) return;
  tip.textContent = text;
  const below = e.clientY + 18 + tip.offsetHeight < innerHeight;
  tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 6)) + "px";
  tip.style.top = Math.max(4, below ? e.clientY + 18 : e.clientY - tip.offsetHeight - 12) + "px";
}
// Small dots are squares, which are drawn much faster.
function dot(g, x, y, r, colour) {
  g.fillStyle = colour;
  if (r < 2) return g.fillRect(x - r, y - r, 2 * r, 2 * r);
  g.beginPath();
  g.arc(x, y, r, 0, 7);
  g.fill();
}
const pictures = [];
// Pictures near the visible part of the page are drawn at once; the others follow one by one while the page is idle.
const undrawn = new Set();
let drawsLater = 0;
function drawLater() {
  const end = performance.now() + 40;
  for (const p of [...undrawn]) if (performance.now() < end) p.paint();
  drawsLater = undrawn.size ? setTimeout(drawLater, 10) : 0;
}
function drawNear() {
  for (const p of [...undrawn].filter(p => p.isNear())) p.paint();
  if (undrawn.size) drawsLater ||= setTimeout(drawLater, 100);
}
function redrawAll() {
  const widths = pictures.map(p => p.room());
  pictures.forEach((p, i) => p.resize(widths[i]));
  drawNear();
}
addEventListener("scroll", drawNear, {passive: true});
addEventListener("beforeprint", () => { for (const p of [...undrawn]) p.paint(); });
// The key of the thing that the reader points at; all pictures mark it.
let marked = null;
function mark(key) {
  if (key === marked) return;
  marked = key;
  for (const p of pictures) p.highlight();
}
// Things that stay marked, and what happens when the reader clicks on one; a kind of section may set it.
const pinned = new Set();
let pick = () => {};
// A picture as wide as its place, but at least `least`. draw(g, w, h) may return {points, text, highlight}. The reader
// can point at the points {x, y, key, width, text}, and then sees the point's text(), or the picture's text(key) if the
// point has none. Instead of points, find(x, y) may give {key, text}. highlight(g, key) marks a key; without it, rings
// around the points with that key do.
function picture(parent, name, height, draw, least = 0) {
  const frame = el("div", parent, undefined, "picture"), canvas = el("canvas", frame), over = el("canvas", frame);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", name);
  const p = {canvas, drawn: {points: []}};
  const prepare = (c, w, h) => {
    const r = devicePixelRatio || 1, g = c.getContext("2d");
    const width = Math.round(w * r), height = Math.round(h * r);
    if (c.width !== width || c.height !== height) { c.width = width; c.height = height; }
    c.style.width = w + "px";
    c.style.height = h + "px";
    g.setTransform(r, 0, 0, r, 0, 0);
    g.clearRect(0, 0, w, h);
    g.lineJoin = "round";
    font(g);
    return g;
  };
  p.room = () => Math.max(least, parent.clientWidth - (parent.tagName === "SECTION" ? 32 : 0));
  p.resize = width => {
    p.w = width;
    p.h = typeof height === "function" ? height(p.w) : height;
    frame.style.width = p.w + "px";
    frame.style.height = p.h + "px";
    undrawn.add(p);
  };
  p.isNear = () => {
    const box = frame.getBoundingClientRect();
    return box.bottom > -200 && box.top < innerHeight + 200;
  };
  p.paint = () => {
    undrawn.delete(p);
    p.drawn = {points: [], ...draw(prepare(canvas, p.w, p.h), p.w, p.h)};
    p.highlight();
  };
  p.redraw = () => { undrawn.add(p); drawNear(); };
  p.highlight = () => {
    if (undrawn.has(p)) return;
    const g = prepare(over, p.w, p.h), keys = new Set(marked === null ? pinned : [...pinned, marked]);
    if (!keys.size) return;
    if (p.drawn.highlight) return keys.forEach(key => p.drawn.highlight(g, key));
    g.strokeStyle = css("b");
    g.lineWidth = 2;
    for (const q of p.drawn.points) {
      if (!keys.has(q.key)) continue;
      g.beginPath();
      if (q.width) g.rect(q.x, q.y - 6, q.width, 12);
      else g.arc(q.x, q.y, 6, 0, 7);
      g.stroke();
    }
  };
  const point = e => {
    const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    let best = p.drawn.find?.(x, y) ?? null, least = 18 ** 2;
    for (const q of p.drawn.points) {
      const dx = q.width && q.x <= x && x <= q.x + q.width ? 0 : q.x - x, d = dx ** 2 + (q.y - y) ** 2;
      if (d < least) { least = d; best = q; }
    }
    mark(best?.key ?? null);
    showTip(best && (best.text ? best.text() : p.drawn.text?.(best.key)), e);
  };
  canvas.addEventListener("pointermove", point);
  let down = null;
  canvas.addEventListener("pointerdown", e => { down = e; point(e); });
  canvas.addEventListener("click", e => {
    if (marked !== null && Math.hypot(e.clientX - down?.clientX, e.clientY - down?.clientY) < 6) pick(marked);
  });
  canvas.addEventListener("pointerleave", () => { showTip(null); mark(null); });
  pictures.push(p);
  return p;
}
const height = (least, most, share) => w => Math.max(least, Math.min(most, w * share));
)js";

}  // namespace manta::output
