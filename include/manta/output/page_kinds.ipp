// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The kinds of sections of a report page: each is drawn by the function of its name in `kinds`, to which libraries add
// their own (page::script). What they are made of is in page_script.ipp.
#pragma once

#include <string_view>

namespace manta::output {

inline constexpr std::string_view page_kinds = R"js(
// ---- lines

// Where a line ends, and how: a cross if it failed, a bar if it was stopped, else a dot.
function drawEnd(g, x, y, state, colour) {
  if (state !== "failed" && state !== "stopped") return dot(g, x, y, 3, colour);
  g.beginPath();
  if (state === "failed") {
    g.strokeStyle = css("bad");
    g.moveTo(x - 4, y - 4);
    g.lineTo(x + 4, y + 4);
    g.moveTo(x - 4, y + 4);
    g.lineTo(x + 4, y - 4);
  } else {
    g.moveTo(x, y - 5);
    g.lineTo(x, y + 5);
  }
  g.stroke();
}
function drawLine(g, A, l, colour) {
  let on = false, last = null;
  g.strokeStyle = colour;
  g.beginPath();
  for (const [x, y] of l.points) {
    if (isMissing(y)) { on = false; continue; }
    on ? g.lineTo(A.x(x), A.y(y)) : g.moveTo(A.x(x), A.y(y));
    on = true;
    last = [A.x(x), A.y(y)];
  }
  g.stroke();
  if (last && (l.state || l.few)) drawEnd(g, ...last, l.state, colour);
}
// What lies between the least and the largest value of each point.
function drawBand(g, A, l, colour) {
  const edge = (i, side) => [A.x(l.points[i][0]), A.y(l.band[i][side])];
  g.beginPath();
  l.band.forEach((_, i) => g.lineTo(...edge(i, 0)));
  for (let i = l.band.length - 1; i >= 0; --i) g.lineTo(...edge(i, 1));
  g.globalAlpha = .18;
  g.fillStyle = colour;
  g.fill();
  g.globalAlpha = 1;
}
// lines: {name, points, band, end, state, key}; a y that is null breaks a line.
function drawCurves(parent, name, nameX, nameY, lines, colourOf) {
  for (const l of lines) l.few = lines.length <= 12;
  const X = scale(lines.flatMap(l => l.points.map(p => p[0])), {tight: true});
  const Y = scale(lines.flatMap(l => [...l.points.map(p => p[1]), ...(l.band ?? []).flat()]), {robust: true});
  return picture(parent, name, height(240, 380, .55), (g, w, h) => {
    const A = axes(g, w, h, X, Y, nameX, nameY), points = [];
    g.lineWidth = lines.length > 40 ? 1.2 : 2;
    lines.forEach((l, i) => { if (l.band) drawBand(g, A, l, colourOf(i, l)); });
    lines.forEach((l, i) => {
      drawLine(g, A, l, colourOf(i, l));
      l.points.forEach(([x, y], at) => {
        if (isMissing(y)) return;
        const range = l.band ? `\n${fmt(l.band[at][0])} to ${fmt(l.band[at][1])}` : "";
        const text = () => `${l.name}\n${nameX} ${fmt(x)}\n${nameY} ${fmt(y)}${range}` + (l.end ? "\n" + l.end : "");
        points.push({x: A.x(x), y: A.y(y), key: l.key ?? l, text});
      });
    });
    const highlight = (over, key) => {
      const l = lines.find(one => (one.key ?? one) === key);
      if (!l) return;
      over.lineWidth = 3.5;
      drawLine(over, A, l, css("b"));
    };
    return {points, highlight};
  });
}

// ---- tables

// Options: order, [column, is ascending]; last(row), whether the row comes last in that column; colour(row), of the dot
// in its first cell; key(row), what all pictures mark while the reader points at the row; shown(row), whether it is
// listed; text(value, column), what a cell shows; link(row), the path of the page that its first cell leads to.
function drawTable(parent, columns, rows, options = {}) {
  const {order = [0, true], last = () => false, colour, key, shown = () => true, text = fmt, link} = options;
  const head = bar(parent), find = el("input", head), count = el("span", head);
  const box = el("div", parent, undefined, "scroll");
  find.placeholder = "find";
  find.type = "search";
  find.setAttribute("aria-label", "find");
  const table = el("table", box), titles = el("tr", el("thead", table)), body = el("tbody", table);
  const isText = columns.map((_, i) => rows.some(r => !isMissing(r[i]) && !isNumber(r[i])));
  let [by, up] = memory.get("order", order), filled = 0, list = [];
  columns.forEach((c, i) => {
    const h = el("th", titles, c, isText[i] ? "t" : "");
    h.tabIndex = 0;
    h.onclick = () => {
      up = by === i ? !up : i !== order[0] || order[1];
      by = i;
      memory.set("order", [by, up]);
      fill();
    };
    h.onkeydown = e => { if (e.key === "Enter") h.onclick(); };
  });
  function more(n) {
    for (const r of list.slice(filled, filled + n)) {
      const tr = el("tr", body);
      r.forEach((v, i) => {
        const td = el("td", tr, text(v, i), (isText[i] ? "t" : "") + (isMissing(v) ? " none" : ""));
        if (i === 0 && link?.(r)) {
          td.textContent = "";
          el("a", td, text(v, i)).href = link(r).split("/").map(encodeURIComponent).join("/");
        }
        if (!isMissing(v)) td.title = v;
        if (i === 0 && colour) { const mark = el("i"); mark.style.background = colour(r); td.prepend(mark); }
      });
      if (!key) continue;
      tr.onpointerenter = () => mark(key(r));
      tr.onclick = () => pick(key(r));
    }
    filled += n;
  }
  function fill() {
    const wanted = find.value.toLowerCase();
    const isFound = v => !isMissing(v) && String(v).toLowerCase().includes(wanted);
    list = rows.filter(r => shown(r) && (!wanted || r.some(isFound)));
    list.sort((a, b) => {
      const x = a[by], y = b[by];
      if (isMissing(x) || isMissing(y)) return isMissing(x) - isMissing(y);
      return (by === order[0] ? last(a) - last(b) : 0) || (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
    });
    [...titles.children].forEach((h, i) => {
      h.textContent = columns[i] + (i === by ? up ? " \u25b4" : " \u25be" : "");
    });
    body.textContent = "";
    filled = 0;
    count.textContent = list.length === 1 ? "1 row" : fmt(list.length) + " rows";
    more(60);
  }
  box.onscroll = () => {
    if (box.scrollTop + box.clientHeight > box.scrollHeight - 400 && filled < list.length) more(200);
  };
  if (key) body.onpointerleave = () => mark(null);
  find.oninput = fill;
  fill();
  return {fill};
}
// ---- kinds of sections

const kinds = {
  facts(s) {
    const d = el("dl", card(s.title));
    for (const [name, value] of s.facts) { el("dt", d, name); el("dd", d, fmt(value)); }
  },
  text(s) { el("pre", card(s.title, true), s.text); },
  // Texts one after the other, as a film.
  frames(s) {
    const c = card(s.title), row = bar(c), last = s.frames.length - 1;
    const play = el("button", row), at = el("input", row), which = el("span", row);
    const shown = el("pre", c, undefined, "frame");
    at.type = "range";
    at.max = last;
    at.setAttribute("aria-label", "state");
    let timer = 0;
    const show = i => { at.value = i; shown.textContent = s.frames[i]; which.textContent = `state ${i} of ${last}`; };
    const run = on => {
      clearInterval(timer);
      timer = on ? setInterval(() => show((+at.value + 1) % (last + 1)), 60) : 0;
      play.textContent = on ? "stop" : "play";
    };
    play.onclick = () => run(!timer);
    at.oninput = () => { run(false); show(+at.value); };
    show(0);
    run(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  },
  table(s) { drawTable(card(s.title, true), s.columns, s.rows); },
  curves(s) {
    const c = card(s.title);
    if (s.lines.length > 1 && s.lines.length <= 12) {
      const names = bar(c);
      s.lines.forEach((l, i) => {
        const n = el("span", names);
        el("span", n, "\u25cf ").style.color = palette(i);
        n.append(l.name);
      });
    }
    drawCurves(c, s.title, s.x, s.y, s.lines, palette);
  }
};
)js";

/// Comes last, behind the kinds of the libraries.
inline constexpr std::string_view page_start = R"js(
document.title = data.title;
const h1 = el("h1", el("header", main), data.title);
for (const s of data.sections) kinds[s.kind](s);
redrawAll();
theme.addEventListener("change", () => { colours = {}; redrawAll(); });
let pending = 0, width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;  // a telephone's bars come and go
  width = innerWidth;
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(redrawAll);
});
if (memory.get("scroll", 0)) { scrollTo(0, memory.get("scroll", 0)); memory.set("scroll", 0); }
if (data.running) {
  const badge = el("span", h1, "", "badge"), opened = Date.now();
  let touched = 0;
  const touch = () => { touched = Date.now(); };
  for (const kind of ["pointermove", "pointerdown", "keydown", "wheel"]) addEventListener(kind, touch, {passive: true});
  const tick = () => {
    const now = Date.now();
    const age = Math.max(0, Math.round(now / 1000 - data.written));
    badge.textContent = "still running \u00b7 written " + duration(age) + " ago";
    if (now - opened < 5000 || now - touched < 3000) return;  // not while somebody points at something
    memory.set("scroll", scrollY);
    location.reload();
  };
  tick();
  setInterval(tick, 1000);
}
)js";

}  // namespace manta::output
