// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The style and the script of report pages (page.hpp): plain CSS and JavaScript without a library. The script reads
// the block of data, and draws each section by the function of its kind in `kinds`.
#pragma once

#include <string_view>

namespace manta::output {

inline constexpr std::string_view page_style = R"css(
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1b2330;--soft:#5c6675;--line:#dfe3e9;--a:#2563c9;--b:#d9600c;--good:#16825d;--bad:#c4314b;--none:#9aa3af}
@media(prefers-color-scheme:dark){:root{--bg:#12161c;--card:#1a2029;--ink:#e6eaf0;--soft:#98a3b3;--line:#2c3440;--a:#6ea8ff;--b:#ff9d57;--good:#4cc79a;--bad:#ff7a90;--none:#667080}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1500px;margin:0 auto;padding:20px clamp(10px,2.5vw,32px);display:grid;gap:16px;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr))}
header,.wide{grid-column:1/-1}h1{margin:0;font-size:26px;letter-spacing:-.01em}h2{margin:0 0 8px;font-size:16px;font-weight:600}
section{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px;min-width:0}
.badge{display:inline-block;background:var(--a);color:var(--card);border-radius:20px;padding:1px 10px;font-size:13px;margin-left:10px;vertical-align:4px}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:10px 18px;margin:0}dt{color:var(--soft);font-size:13px}dd{margin:0;font-weight:600;overflow-wrap:anywhere}
canvas{display:block;width:100%;touch-action:pan-y}.row{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin-bottom:8px;color:var(--soft);font-size:13px}
select,button,input{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);border-radius:6px;padding:3px 8px;max-width:100%}
.scroll{overflow:auto;max-height:560px}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
th{position:sticky;top:0;background:var(--card);cursor:pointer;text-align:right;white-space:nowrap;user-select:none;box-shadow:inset 0 -1px var(--line)}
td,th{padding:5px 10px;text-align:right}td{border-bottom:1px solid var(--line);white-space:nowrap}td.t,th.t{text-align:left}td.t{max-width:340px;overflow:hidden;text-overflow:ellipsis}
tbody tr:hover{background:var(--bg)}.none{color:var(--none)}.note{color:var(--soft);font-size:13px;margin:6px 0 0}pre{white-space:pre-wrap;margin:0;font:inherit}.frame{white-space:pre;overflow:auto;font:14px/1.25 ui-monospace,Menlo,Consolas,monospace}
#tip{position:fixed;pointer-events:none;background:var(--ink);color:var(--bg);padding:6px 10px;border-radius:6px;font-size:13px;max-width:min(340px,90vw);white-space:pre-line;display:none;z-index:9}
)css";

inline constexpr std::string_view page_script = R"js("use strict";
const data = JSON.parse(document.getElementById("data").textContent), main = document.querySelector("main");
const num = v => typeof v === "number", theme = matchMedia("(prefers-color-scheme: dark)");
let colours = {};  // of the theme that is shown
const css = n => colours[n] ??= getComputedStyle(document.documentElement).getPropertyValue("--" + n).trim();
const el = (tag, parent, text, cls) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (cls) e.className = cls; if (parent) parent.append(e); return e; };
const superscript = n => String(n).replace(/./g, c => c === "-" ? "\u207b" : "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[c]);
function fmt(x) {
  if (x === null || x === undefined) return "\u2013";
  if (!num(x)) return String(x);
  const a = Math.abs(x);
  if (a !== 0 && (a < 1e-3 || a >= 1e7)) { const [m, e] = x.toExponential(3).split("e"); return String(+m).replace("-", "\u2212") + "\u00d710" + superscript(+e); }
  return (a >= 1000 ? Number.isInteger(x) ? x : +x.toFixed(1) : +x.toPrecision(5)).toLocaleString("en-US", {maximumFractionDigits: 8}).replace(/,/g, "\u202f").replace("-", "\u2212");
}
const duration = s => s < 100 ? fmt(+s.toPrecision(3)) + " s" : s < 6000 ? Math.floor(s / 60) + " min " + Math.round(s % 60) + " s" : Math.floor(s / 3600) + " h " + Math.round(s % 3600 / 60) + " min";
const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];

// A scale from values to 0..1: of numbers, with decades where they are spanned, or of names. Far outliers lie at the edge.
function scale(all, opts = {}) {
  const values = all.filter(v => v !== null && v !== undefined);
  if (values.some(v => !num(v))) {
    const names = [...new Set(values.map(String))].sort();
    return {names, at: v => v === null || v === undefined ? null : (names.indexOf(String(v)) + .5) / names.length, ticks: () => names.map((n, i) => [(i + .5) / names.length, n])};
  }
  values.sort((a, b) => a - b);
  let low = values.length ? values[0] : 0, high = values.length ? values[values.length - 1] : 1;
  const log = opts.log !== false && low > 0 && high / low >= 100;
  const f = log ? Math.log10 : x => x;
  let cut = 0;
  if (opts.robust && !log && values.length > 20) {
    const a = quantile(values, .05), b = quantile(values, .95), room = 4 * (b - a);
    if (b > a && high > b + room) { high = b + (b - a) * .3; cut = 1; }
    if (b > a && low < a - room) { low = a - (b - a) * .3; cut = 1; }
  }
  if (opts.zero) low = Math.min(0, low);
  let a = f(low), b = f(high);
  if (a === b) { const pad = Math.abs(a) * .1 || .5; a -= pad; b += pad; } else if (!opts.tight) { const pad = (b - a) * .04; b += pad; if (!opts.zero) a -= pad; }
  const at = v => v === null || v === undefined ? null : log && v <= 0 ? 0 : Math.max(0, Math.min(1, (f(v) - a) / (b - a)));
  function ticks(n) {
    const out = [];
    if (log && b - a >= 1.5) {
      const every = Math.ceil((b - a) / n);
      for (let e = Math.ceil(a); e <= b; ++e) if (e % every === 0) out.push([(e - a) / (b - a), fmt(10 ** e)]);
      return out;
    }
    const lo = log ? 10 ** a : a, hi = log ? 10 ** b : b, raw = (hi - lo) / n, p = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(k => k * p).find(s => s >= raw * .999);
    for (let i = Math.ceil(lo / step); i * step <= hi; ++i) out.push([(f(+(i * step).toPrecision(10)) - a) / (b - a), fmt(+(i * step).toPrecision(10))]);
    return out;
  }
  return {at, ticks, log, cut, inverse: p => log ? 10 ** (a + p * (b - a)) : a + p * (b - a)};
}

const tip = el("div", document.body); tip.id = "tip";
const pictures = [];
function showTip(text, e) {
  tip.style.display = text ? "block" : "none";
  if (!text) return;
  tip.textContent = text;
  tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 6)) + "px";
  tip.style.top = Math.max(4, e.clientY + 16 + tip.offsetHeight > innerHeight ? e.clientY - tip.offsetHeight - 10 : e.clientY + 16) + "px";
}
// A canvas as wide as its place. draw(g, width, height) may return points [x, y, text] that can be pointed at.
function picture(parent, height, draw) {
  const canvas = el("canvas", parent), p = {canvas, points: []};
  p.redraw = () => {
    const w = parent.clientWidth - 32, r = devicePixelRatio || 1, h = typeof height === "function" ? height(w) : height;
    canvas.width = w * r; canvas.height = h * r; canvas.style.height = h + "px";
    const g = canvas.getContext("2d");
    g.scale(r, r); g.font = "12px system-ui,sans-serif"; g.lineJoin = "round";
    p.points = draw(g, w, h) || [];
  };
  canvas.addEventListener("pointermove", e => {
    const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    let best = null, distance = 18 ** 2;
    for (const q of p.points) { const w = q[3] || 0, dx = q[0] <= x && x <= q[0] + w ? 0 : q[0] - x, d = dx ** 2 + (q[1] - y) ** 2; if (d < distance) { distance = d; best = q; } }
    if (p.hover) p.hover(best);
    showTip(best && best[2], e);
  });
  canvas.addEventListener("pointerleave", e => { showTip(null, e); if (p.hover) p.hover(null); });
  pictures.push(p);
  return p;
}
function axes(g, w, h, X, Y, nameX, nameY) {
  g.font = "12px system-ui,sans-serif";
  const yt = Y.ticks(Math.max(2, Math.floor(h / 42))), left = Math.min(w * .35, 14 + Math.max(...yt.map(t => g.measureText(t[1]).width), 10));
  const box = {l: left, t: 24, r: w - 10, b: h - 38}, px = p => box.l + p * (box.r - box.l), py = p => box.b - p * (box.b - box.t);
  g.strokeStyle = css("line"); g.fillStyle = css("soft"); g.lineWidth = 1;
  g.textAlign = "right"; g.textBaseline = "middle";
  for (const [p, t] of yt) { g.beginPath(); g.moveTo(box.l, py(p)); g.lineTo(box.r, py(p)); g.stroke(); g.fillText(t, box.l - 6, py(p), left - 8); }
  g.textAlign = "center"; g.textBaseline = "top";
  const xt = X.ticks(Math.max(2, Math.floor((box.r - box.l) / 65)));
  for (const [p, t] of xt) { g.beginPath(); g.moveTo(px(p), box.b); g.lineTo(px(p), box.b + 4); g.stroke(); g.fillText(t, Math.min(px(p), w - g.measureText(t).width / 2), box.b + 6, (box.r - box.l) / Math.max(1, xt.length) + 20); }
  g.fillText(nameX + (X.log ? " (log)" : ""), (box.l + box.r) / 2, h - 15);
  g.textAlign = "left"; g.fillText(nameY + (Y.log ? " (log)" : ""), 0, 2);
  return {box, x: v => px(X.at(v)), y: v => py(Y.at(v))};
}
// Small dots are squares, which are drawn much faster.
const dot = (g, x, y, r, colour) => { g.fillStyle = colour; if (r < 2) g.fillRect(x - r, y - r, 2 * r, 2 * r); else { g.beginPath(); g.arc(x, y, r, 0, 7); g.fill(); } };
// From the worst (0) to the best (1).
const dark = () => colours.dark ??= theme.matches;
const rankColour = (q, a = 1) => dark() ? `hsla(${30 + 180 * q},${45 + 35 * q}%,${38 + 30 * q}%,${a})` : `hsla(${40 + 180 * q},${50 + 25 * q}%,${72 - 30 * q}%,${a})`;
const card = (title, wide) => { const s = el("section", main, undefined, wide ? "wide" : ""); if (title) el("h2", s, title); return s; };
function thin(list, most) { if (list.length <= most) return list; const out = []; for (let i = 0; i < most; ++i) out.push(list[Math.floor(i * list.length / most)]); return out; }

function drawTable(s, columns, rows, order) {
  const bar = el("div", s, undefined, "row"), find = el("input", bar), count = el("span", bar), box = el("div", s, undefined, "scroll");
  find.placeholder = "find"; find.setAttribute("aria-label", "find");
  const t = el("table", box), head = el("tr", el("thead", t)), body = el("tbody", t);
  const texts = columns.map((c, i) => rows.some(r => r[i] !== null && !num(r[i])));
  let by = order ? order[0] : 0, up = order ? order[1] : true, shown = 0, list = [];
  columns.forEach((c, i) => { const h = el("th", head, c, texts[i] ? "t" : ""); h.tabIndex = 0; const sort = () => { up = by === i ? !up : true; by = i; fill(); }; h.onclick = sort; h.onkeydown = e => { if (e.key === "Enter") sort(); }; });
  function more(n) {
    for (const r of list.slice(shown, shown + n)) { const tr = el("tr", body); r.forEach((v, i) => { const td = el("td", tr, fmt(v), (texts[i] ? "t" : "") + (v === null ? " none" : "")); if (v !== null) td.title = v; }); }
    shown += n;
  }
  function fill() {
    const q = find.value.toLowerCase();
    list = rows.filter(r => !q || r.some(v => v !== null && String(v).toLowerCase().includes(q)));
    list.sort((a, b) => { const x = a[by], y = b[by]; if (x === null || y === null) return (x === null) - (y === null); return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1); });
    [...head.children].forEach((h, i) => h.textContent = columns[i] + (i === by ? up ? " \u25b4" : " \u25be" : ""));
    body.textContent = ""; shown = 0; count.textContent = list.length.toLocaleString("en-US") + " rows"; more(100);
  }
  box.onscroll = () => { if (box.scrollTop + box.clientHeight > box.scrollHeight - 400 && shown < list.length) more(200); };
  find.oninput = fill; fill();
}
function drawCurves(s, nameX, nameY, lines, colourOf) {
  const X = scale(lines.flatMap(l => l.points.map(p => p[0])), {tight: true}), Y = scale(lines.flatMap(l => l.points.map(p => p[1])), {robust: true});
  let marked = null;
  const p = picture(s, w => Math.max(240, Math.min(380, w * .55)), (g, w, h) => {
    const A = axes(g, w, h, X, Y, nameX, nameY), points = [];
    lines.forEach((l, i) => {
      g.strokeStyle = colourOf(i); g.lineWidth = l === marked ? 3 : lines.length > 40 ? 1 : 1.8; g.globalAlpha = marked && l !== marked ? .25 : 1;
      g.beginPath(); let on = false;
      for (const q of l.points) { if (q[1] === null) { on = false; continue; } on ? g.lineTo(A.x(q[0]), A.y(q[1])) : g.moveTo(A.x(q[0]), A.y(q[1])); on = true; points.push([A.x(q[0]), A.y(q[1]), `${l.name}\n${nameX} ${fmt(q[0])}\n${nameY} ${fmt(q[1])}` + (l.end ? "\n" + l.end : ""), 0, l]); }
      g.stroke();
      const last = l.points.filter(q => q[1] !== null).pop();
      if (last && (l.state || lines.length < 12)) { const x = A.x(last[0]), y = A.y(last[1]);
        if (l.state === "failed") { g.strokeStyle = css("bad"); g.beginPath(); g.moveTo(x - 4, y - 4); g.lineTo(x + 4, y + 4); g.moveTo(x - 4, y + 4); g.lineTo(x + 4, y - 4); g.stroke(); }
        else if (l.state === "stopped") { g.beginPath(); g.moveTo(x, y - 4); g.lineTo(x, y + 4); g.stroke(); }
        else dot(g, x, y, 3, colourOf(i)); }
      g.globalAlpha = 1;
    });
    return points;
  });
  p.hover = q => { const now = q ? q[4] : null; if (now !== marked) { marked = now; p.redraw(); } };
}
const palette = i => `hsl(${(215 + i * 137.5) % 360},60%,${dark() ? 65 : 45}%)`;

const kinds = {
  facts(s) { const c = card(s.title, true), d = el("dl", c); for (const [n, v] of s.facts) { const g = el("div", d); el("dt", g, n); el("dd", g, fmt(v)); } },
  text(s) { el("pre", card(s.title, true), s.text); },
  frames(s) {
    const c = card(s.title), bar = el("div", c, undefined, "row"), play = el("button", bar), at = el("input", bar), note = el("span", bar), picture = el("pre", c, undefined, "frame"), last = s.frames.length - 1;
    at.type = "range"; at.max = last; at.setAttribute("aria-label", "state");
    let timer = 0;
    const show = i => { at.value = i; picture.textContent = s.frames[i]; note.textContent = `state ${i} of ${last}`; };
    const run = on => { clearInterval(timer); timer = on ? setInterval(() => show((+at.value + 1) % (last + 1)), 60) : 0; play.textContent = on ? "stop" : "play"; };
    play.onclick = () => run(!timer); at.oninput = () => { run(false); show(+at.value); };
    show(0); run(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  },
  table(s) { drawTable(card(s.title, true), s.columns, s.rows); },
  curves(s) {
    const c = card(s.title);
    if (s.lines.length > 1 && s.lines.length <= 12) { const bar = el("div", c, undefined, "row"); s.lines.forEach((l, i) => { const t = el("span", bar, "\u25cf "); t.style.color = palette(i); el("span", bar, l.name); }); }
    drawCurves(c, s.x, s.y, s.lines, palette);
  },
  trials(s) {
    const P = s.parameters, rows = s.rows.map(r => ({id: r[0], state: r[1], value: r[2], at: r[3], seconds: r[4], p: r[5], m: r[6], why: r[7]}));
    const good = rows.filter(r => r.value !== null), better = (a, b) => s.maximised ? a > b : a < b;
    const ranked = [...good].sort((a, b) => s.maximised ? b.value - a.value : a.value - b.value);
    ranked.forEach((r, i) => r.rank = ranked.length > 1 ? 1 - i / (ranked.length - 1) : 1);
    const label = r => `trial ${r.id}, ${r.state}\n${s.metric} ${fmt(r.value)}\n` + P.map((n, i) => r.p[i] === null ? "" : `${n} ${fmt(r.p[i])}\n`).join("") + r.why;
    const of = r => r.value;
    if (ranked.length) { const c = card("Best: trial " + ranked[0].id, true), d = el("dl", c); for (const [n, v] of [[s.metric, ranked[0].value], ...P.map((n, i) => [n, ranked[0].p[i]])]) { const g = el("div", d); el("dt", g, n); el("dd", g, fmt(v)); } }
    if (good.length) {
      const X = scale(rows.map(r => r.id), {log: false}), Y = scale(good.map(of), {robust: true}), most = thin(good, 2500);
      picture(card("Value of every trial, and the best so far"), w => Math.max(240, Math.min(380, w * .55)), (g, w, h) => {
        const A = axes(g, w, h, X, Y, "trial", s.metric);
        for (const r of most) dot(g, A.x(r.id), A.y(r.value), good.length > 1000 ? 1.5 : 3.2, rankColour(r.rank, .85));
        g.strokeStyle = css("b"); g.lineWidth = 2; g.beginPath(); let best = null;
        for (const r of good) { if (best !== null) g.lineTo(A.x(r.id), A.y(best)); if (best === null) g.moveTo(A.x(r.id), A.y(r.value)); if (best === null || better(r.value, best)) best = r.value; g.lineTo(A.x(r.id), A.y(best)); }
        g.lineTo(A.box.r, A.y(best)); g.stroke();
        return most.map(r => [A.x(r.id), A.y(r.value), label(r)]);
      });
    }
    if (s.curves.some(c => c[1].length > 1)) {
      const byId = new Map(rows.map(r => [r.id, r]));
      const lines = s.curves.map(([id, points]) => { const r = byId.get(id); return {name: "trial " + id, points, state: r.state, end: r.state + (r.why ? ": " + r.why : ""), rank: r.rank ?? 0}; }).sort((a, b) => a.rank - b.rank);
      const c = card("Learning curves");
      drawCurves(c, s.clock, s.metric, lines, i => rankColour(lines[i].rank));
      el("p", c, "\u25cf complete or running   | stopped   \u2715 failed" + (rows.length > lines.length ? `   \u2013 the best ${lines.length} trials` : ""), "note");
    }
    if (s.importance.length) picture(card("What matters"), w => 20 + 30 * s.importance.length, (g, w, h) => {
      g.textBaseline = "middle"; const left = Math.min(w * .4, Math.max(...s.importance.map(i => g.measureText(i[0]).width)) + 12);
      return s.importance.map(([n, v], i) => { const y = 20 + 30 * i, x = left + (w - left - 60) * Math.min(1, v); g.fillStyle = css("ink"); g.textAlign = "right"; g.fillText(n, left - 8, y, left - 8); g.fillStyle = css("a"); g.fillRect(left, y - 9, Math.max(1, x - left), 18); g.fillStyle = css("soft"); g.textAlign = "left"; g.fillText(fmt(Math.round(v * 100)) + " %", x + 6, y); return [left, y, `${n} alone explains ${fmt(Math.round(v * 100))} % of the variation`, x - left]; });
    });
    const varying = P.map((n, i) => i).filter(i => new Set(rows.map(r => r.p[i])).size > 1);
    if (varying.length && good.length) {
      parallel(s, rows, ranked, varying, label);
      const pick = (bar, list, first, name) => { const e = el("select", bar); e.setAttribute("aria-label", name); list.forEach(([v, n]) => { const o = el("option", e, n); o.value = v; }); e.value = first; return e; };
      const listed = varying.map(i => [i, P[i]]), important = s.importance.map(i => P.indexOf(i[0])).filter(i => varying.includes(i)), first = important[0] ?? varying[0];
      { const c = card("Value over a parameter"), e = pick(el("div", c, undefined, "row"), listed, first, "parameter");
        const p = picture(c, w => Math.max(240, Math.min(360, w * .5)), (g, w, h) => { const i = +e.value, list = thin(good.filter(r => r.p[i] !== null), 2500), A = axes(g, w, h, scale(list.map(r => r.p[i])), scale(good.map(of), {robust: true}), P[i], s.metric);
          return list.map(r => { const x = A.x(r.p[i]) + (num(r.p[i]) ? 0 : (r.id * 7 % 11 - 5) * 1.5); dot(g, x, A.y(r.value), good.length > 1000 ? 1.5 : 3.2, rankColour(r.rank, .85)); return [x, A.y(r.value), label(r)]; }); });
        e.onchange = () => p.redraw(); }
      if (varying.length > 1) contour(s, good, listed, first, important[1] ?? varying.find(i => i !== first), pick, label);
    }
    if (s.metrics.length) {
      const c = card("Other metrics"), bar = el("div", c, undefined, "row"), e = el("select", bar); s.metrics.forEach((n, i) => { el("option", e, n).value = i; });
      const p = picture(c, w => Math.max(240, Math.min(360, w * .5)), (g, w, h) => { const i = +e.value, list = thin(good.filter(r => r.m[i] !== null), 2500), A = axes(g, w, h, scale(list.map(r => r.m[i])), scale(good.map(of), {robust: true}), s.metrics[i], s.metric); return list.map(r => { dot(g, A.x(r.m[i]), A.y(r.value), good.length > 1000 ? 1.5 : 3.2, rankColour(r.rank, .85)); return [A.x(r.m[i]), A.y(r.value), `${s.metrics[i]} ${fmt(r.m[i])}\n` + label(r)]; }); });
      e.onchange = () => p.redraw();
    }
    schedule(s, rows);
    drawTable(card("Trials", true), ["trial", "state", s.metric, s.clock, "seconds", ...P, ...s.metrics, "why"], rows.map(r => [r.id, r.state, r.value, r.at, r.seconds, ...r.p, ...r.m, r.why]), [2, !s.maximised]);
  }
};
function parallel(s, rows, ranked, varying, label) {
  const c = card("Parallel coordinates", true), bar = el("div", c, undefined, "row"), note = el("span", bar), clear = el("button", bar, "clear"), names = [...varying.map(i => s.parameters[i]), s.metric];
  const get = (r, k) => k < varying.length ? r.p[varying[k]] : r.value, drawn = thin([...ranked].reverse(), 500), S = names.map((n, k) => scale(ranked.map(r => get(r, k)), {robust: k === varying.length})), brushes = new Map();
  let drag = null, marked = null;
  const inside = r => [...brushes].every(([k, [a, b]]) => { const q = S[k].at(get(r, k)); return q !== null && q >= a && q <= b; });
  const top = 34, geometry = (w, h) => ({x: k => 46 + (w - 92) * k / Math.max(1, names.length - 1), y: q => q === null ? h - 10 : h - 44 - q * (h - 44 - top)});
  const p = picture(c, 360, (g, w, h) => {
    const G = geometry(w, h), points = [], hit = drawn.filter(inside);
    note.textContent = brushes.size ? `${ranked.filter(inside).length} of ${ranked.length} trials` : "drag along an axis to choose trials; click it to choose all again";
    for (const r of drawn) {
      const on = inside(r); g.strokeStyle = on ? rankColour(r.rank, drawn.length > 300 ? .5 : .8) : css("line"); g.lineWidth = r === marked ? 3.5 : 1.2; g.globalAlpha = on ? 1 : .35;
      g.beginPath(); names.forEach((n, k) => { const x = G.x(k), y = G.y(S[k].at(get(r, k))); k ? g.bezierCurveTo((G.x(k - 1) + x) / 2, G.y(S[k - 1].at(get(r, k - 1))), (G.x(k - 1) + x) / 2, y, x, y) : g.moveTo(x, y); if (on) points.push([x, y, label(r), 0, r]); }); g.stroke();
    }
    g.globalAlpha = 1; g.textBaseline = "alphabetic";
    names.forEach((n, k) => {
      const x = G.x(k), last = k === names.length - 1 && k > 0, room = (w - 92) / Math.max(1, names.length - 1) - 6; g.textAlign = k === 0 ? "left" : last ? "right" : "center"; g.fillStyle = css("ink"); g.font = "600 12px system-ui"; g.fillText(n, k === 0 ? 0 : last ? w : x, k % 2 && room < 70 ? 26 : 12, Math.max(room * (room < 70 ? 2 : 1), 40));
      g.strokeStyle = css("soft"); g.lineWidth = 1; g.beginPath(); g.moveTo(x, top); g.lineTo(x, h - 44); g.stroke(); g.font = "11px system-ui"; g.fillStyle = css("soft"); g.textAlign = last ? "left" : "right";
      for (const [q, t] of S[k].ticks(5)) { const y = G.y(q); g.lineWidth = 3; g.strokeStyle = css("card"); g.strokeText(t, x + (last ? 5 : -5), y + 4, 42); g.fillText(t, x + (last ? 5 : -5), y + 4, 42); g.lineWidth = 1; }
      if (rows.some(r => r.value !== null && get(r, k) === null)) { g.textAlign = "center"; g.strokeStyle = css("card"); g.lineWidth = 3; g.strokeText("missing", x, h - 18); g.fillText("missing", x, h - 18); }
      const b = brushes.get(k); if (b) { g.fillStyle = css("b"); g.globalAlpha = .3; g.fillRect(x - 7, G.y(b[1]), 14, G.y(b[0]) - G.y(b[1])); g.globalAlpha = 1; }
    });
    return points;
  });
  p.hover = q => { const now = q ? q[4] : null; if (!drag && now !== marked) { marked = now; p.redraw(); } };
  const where = e => { const b = p.canvas.getBoundingClientRect(), w = b.width, h = b.height, x = e.clientX - b.left, y = e.clientY - b.top, G = geometry(w, h); let k = 0; names.forEach((n, i) => { if (Math.abs(G.x(i) - x) < Math.abs(G.x(k) - x)) k = i; }); return {k, near: Math.abs(G.x(k) - x) < 22, q: Math.max(0, Math.min(1, (h - 44 - y) / (h - 44 - top)))}; };
  p.canvas.addEventListener("pointerdown", e => { const o = where(e); if (!o.near) return; drag = o; brushes.delete(o.k); p.canvas.setPointerCapture(e.pointerId); p.redraw(); });
  p.canvas.addEventListener("pointermove", e => { if (!drag) return; const q = where(e).q; if (Math.abs(q - drag.q) > .01) brushes.set(drag.k, [Math.min(q, drag.q), Math.max(q, drag.q)]); p.redraw(); });
  p.canvas.addEventListener("pointerup", () => { drag = null; });
  clear.onclick = () => { brushes.clear(); p.redraw(); };
}
function contour(s, good, listed, i0, j0, pick, label) {
  const c = card("Two parameters"), bar = el("div", c, undefined, "row"), a = pick(bar, listed, i0, "across"), b = pick(bar, listed, j0, "up");
  const p = picture(c, w => Math.max(260, Math.min(400, w * .65)), (g, w, h) => {
    const i = +a.value, j = +b.value, list = thin(good.filter(r => r.p[i] !== null && r.p[j] !== null), 1500), X = scale(list.map(r => r.p[i])), Y = scale(list.map(r => r.p[j])), A = axes(g, w, h, X, Y, s.parameters[i], s.parameters[j]);
    const at = thin(list, 400).map(r => [X.at(r.p[i]), Y.at(r.p[j]), r.rank]), n = 44, B = A.box, cw = (B.r - B.l) / n, ch = (B.b - B.t) / n;
    if (at.length > 5) for (let u = 0; u < n; ++u) for (let v = 0; v < n; ++v) { const x = (u + .5) / n, y = (v + .5) / n; let sum = 0, weight = 1e-9; for (const q of at) { const k = Math.exp(-((q[0] - x) ** 2 + (q[1] - y) ** 2) / .008); sum += k * q[2]; weight += k; } if (weight > .02) { g.fillStyle = rankColour(Math.round(sum / weight * 8) / 8, Math.min(.55, weight)); g.fillRect(B.l + u * cw, B.b - (v + 1) * ch, cw, ch); } }
    return list.map(r => { const x = A.x(r.p[i]), y = A.y(r.p[j]); dot(g, x, y, 3.6, css("card")); dot(g, x, y, 2.6, rankColour(r.rank)); return [x, y, label(r)]; });
  });
  a.onchange = b.onchange = () => p.redraw();
}
function schedule(s, rows) {
  if (!s.ran.length) return;
  const ranks = [...new Set(s.ran.map(r => r[1]))].sort((a, b) => a - b), end = Math.max(s.seconds, ...s.ran.map(r => r[3])), drawn = thin(s.ran, 8000), byId = new Map(rows.map(r => [r.id, r]));
  const busy = new Map(ranks.map(k => [k, 0])); for (const r of s.ran) busy.set(r[1], busy.get(r[1]) + r[3] - r[2]);
  const idle = 1 - [...busy.values()].reduce((a, b) => a + b, 0) / (ranks.length * end || 1), c = card("Schedule", true), line = Math.max(6, Math.min(22, 500 / ranks.length));
  if (ranks[0] >= 0) el("p", c, `Ranks were idle for ${fmt(Math.max(0, Math.round(idle * 1000) / 10))} % of the time.`, "note");
  picture(c, () => 70 + line * ranks.length, (g, w, h) => {
    const X = scale([0, end], {log: false, tight: true}), Y = {ticks: () => ranks.map((k, i) => [1 - (i + .5) / ranks.length, k < 0 ? "no rank" : "rank " + k]).filter((t, i) => i % Math.ceil(14 / line) === 0), at: v => v}, A = axes(g, w, h, X, Y, "seconds", "");
    return drawn.map(([id, k, from, to]) => { const r = byId.get(id), x = A.x(from), y = A.y(1 - (ranks.indexOf(k) + .5) / ranks.length), width = Math.max(1, A.x(to) - x); g.fillStyle = r.state === "failed" ? css("bad") : r.rank === undefined ? css("none") : rankColour(r.rank); g.fillRect(x, y - line / 2 + 1, Math.max(.7, width - .6), line - 2); return [x, y, `trial ${id} on rank ${k}\nfrom ${duration(from)} to ${duration(to)}\n${r.state}${r.why ? ": " + r.why : ""}`, width]; });
  });
}
document.title = data.title;
const head = el("header", main), h1 = el("h1", head, data.title);
if (data.running) { el("span", h1, "still running", "badge"); setTimeout(() => { sessionStorage.setItem("y", scrollY); location.reload(); }, 5000); }
for (const s of data.sections) kinds[s.kind](s);
const redraw = () => { for (const p of pictures) p.redraw(); };
redraw();
{ const y = sessionStorage.getItem("y"); if (y) { scrollTo(0, +y); sessionStorage.removeItem("y"); } }
let pending = 0; addEventListener("resize", () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(redraw); });
theme.addEventListener("change", () => { colours = {}; redraw(); });
)js";

}  // namespace manta::output
