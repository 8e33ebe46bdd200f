// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a report page shows the trials that the reader has clicked on: up to three side by side. Part of the kind of
// section in html_script.ipp.
#pragma once

#include <string_view>

namespace manta::tune::detail {

inline constexpr std::string_view chosen_script = R"js(
// ---- trials that the reader has chosen

function drawChosen(t) {
  const c = card("Chosen trials", true), body = el("div", c), most = 3;
  const lines = () => t.curves.filter(([id]) => pinned.has(t.byId.get(id)));
  const draw = (g, w, h) => drawChosenCurves(g, w, h, t, lines());
  const p = picture(c, "curves of the chosen trials", height(200, 300, .4), draw);
  const button = el("button", document.body, "");
  button.id = "picked";
  button.onclick = () => c.scrollIntoView({behavior: "smooth"});
  const update = () => {
    body.textContent = "";
    const n = pinned.size, isCurve = lines().some(l => l[1].length > 1);
    button.textContent = n === 1 ? "1 trial is chosen" : n + " trials are chosen";
    button.style.display = n ? "block" : "none";
    p.canvas.parentElement.style.display = isCurve ? "" : "none";
    if (!n) note(body, "Click on a trial, in a picture or in the table, to see it here: its configuration to copy, " +
      "its curve, why it ended. Up to three stand side by side.");
    else compareTrials(el("div", body, undefined, "wide"), t, [...pinned], pick);
    for (const one of pictures) one.highlight();
  };
  pick = r => {
    if (!r?.p) return;  // no trial
    if (!pinned.delete(r)) pinned.add(r);
    if (pinned.size > most) pinned.delete([...pinned][0]);
    memory.set("chosen", [...pinned].map(one => one.id));
    update();
    p.redraw();
  };
  for (const id of memory.get("chosen", [])) if (t.byId.has(id)) pinned.add(t.byId.get(id));
  update();
}
function drawChosenCurves(g, w, h, t, lines) {
  const all = lines.flatMap(l => l[1]), colour = id => palette([...pinned].findIndex(r => r.id === id));
  const X = scale(all.map(p => p[0]), {tight: true}), Y = scale(all.map(p => p[1]), {robust: true});
  const A = axes(g, w, h, X, Y, t.clock, t.metric), points = [];
  g.lineWidth = 2;
  for (const [id, list] of lines) {
    const r = t.byId.get(id);
    drawLine(g, A, {points: list, state: r.state}, colour(id));
    for (const [x, y] of list) {
      const text = () => `trial ${id}\n${t.clock} ${fmt(x)}\n${t.metric} ${fmt(y)}`;
      if (!isMissing(y)) points.push({x: A.x(x), y: A.y(y), key: r, text});
    }
  }
  return {points, highlight() {}};
}
// A column for each trial; what differs between them stands out.
function compareTrials(parent, t, trials, remove) {
  const table = el("table", parent), head = el("tr", table);
  el("th", head, "", "t");
  trials.forEach((r, i) => {
    const h = el("th", head, undefined, "t");
    el("span", h, "\u25cf ").style.color = palette(i);
    el("a", h, "trial " + r.id).href = `trials/${String(r.id).padStart(5, "0")}/`;
    const row = bar(h);
    row.style.margin = "6px 0 0";
    for (const [name, text] of [["copy C++", cppOf], ["copy JSON", jsonOf]]) {
      const b = el("button", row, name);
      b.onclick = () => copyText(text(t, r), b);
    }
    el("button", row, "remove").onclick = () => remove(r);
  });
  const line = (name, cells, isPlain) => {
    const tr = el("tr", table), isSame = cells.every(x => x === cells[0]);
    el("td", tr, name, "t").style.color = "var(--soft)";
    for (const x of cells) el("td", tr, x, "t" + (isSame || isPlain ? "" : " differs")).style.whiteSpace = "normal";
  };
  line("ended", trials.map(r => t.fate(r)), true);
  line(t.metric, trials.map(r => t.exact(r)), true);
  line(t.clock, trials.map(r => fmt(r.at)), true);
  line("seconds", trials.map(r => fmt(r.seconds)), true);
  t.parameters.forEach((n, i) => line(n, trials.map(r => fmt(r.p[i]))));
  t.metrics.forEach((n, i) => line(n, trials.map(r => fmt(r.m[i])), true));
}
const given = (t, r) => t.parameters.map((n, i) => [n, r.p[i]]).filter(([, v]) => !isMissing(v));
const jsonOf = (t, r) => JSON.stringify(Object.fromEntries(given(t, r)), null, 2);
// As one of .first.
function cppOf(t, r) {
  const text = v => Array.isArray(v) ? `{${v.map(text).join(", ")}}` : JSON.stringify(v);
  return `{${given(t, r).map(([n, v]) => `{${JSON.stringify(n)}, ${text(v)}}`).join(", ")}}`;
}
async function copyText(text, button) {
  const name = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // not allowed for this page: as by the keyboard
    const area = el("textarea", document.body, text);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "copied";
  setTimeout(() => { button.textContent = name; }, 1200);
}
)js";

}  // namespace manta::tune::detail
