// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a report page draws the trials of an experiment: the kind of section "trials", added to those of output/page.hpp.
// A trial is an object {id, state, value, at, seconds, p, m, why, when, quality}: its parameters and other metrics in
// the order of their names, and its quality by rank among all, 1 for the best. It is the key by which pictures mark it.
#pragma once

#include <string_view>

namespace manta::tune::detail {

inline constexpr std::string_view trials_script = R"js(
kinds.trials = s => {
  const t = readTrials(s), redrawn = [], again = () => redrawn.forEach(f => f());
  drawBest(t);
  drawChosen(t);
  nextGroup();
  redrawn.push(...drawHistory(t), ...drawLearning(t));
  nextGroup();
  if (s.importance.length) drawImportance(t);
  if (t.good.length > 9) drawDistribution(t);
  if (s.metrics.length && t.good.length) redrawn.push(...drawMetrics(t));
  nextGroup();
  if (t.varying.length && t.good.length) {
    drawParallel(t, again);
    redrawn.push(...drawSlices(t), ...drawContours(t));
    nextGroup();
  }
  redrawn.push(...drawSchedule(t));
  redrawn.push(drawTrials(t));
};

// ---- what there is

function readTrials(s) {
  const names = ["id", "state", "value", "at", "seconds", "p", "m", "why", "when"];
  const rows = s.rows.map(row => Object.fromEntries(names.map((name, i) => [name, row[i]])));
  const errors = s.metrics.indexOf("standard_error/" + s.metric);  // of means over repeats
  for (const r of rows) r.error = errors < 0 ? null : r.m[errors];
  const valued = rows.filter(r => r.value !== null);
  const good = valued.filter(r => s.bestMayFail || r.state !== "failed"), sign = s.maximised ? -1 : 1;
  const ranked = [...good].sort((a, b) => sign * (a.value - b.value) || a.id - b.id);
  ranked.forEach((r, i) => {
    const before = ranked[i - 1];
    r.quality = before?.value === r.value ? before.quality : ranked.length > 1 ? 1 - i / (ranked.length - 1) : 1;
  });
  const varying = s.parameters.map((_, i) => i).filter(i => new Set(rows.map(r => r.p[i])).size > 1);
  const places = new Map(s.importance.map(([name], k) => [s.parameters.indexOf(name), k]));
  varying.sort((a, b) => (places.get(a) ?? 1e9) - (places.get(b) ?? 1e9) || a - b);  // what matters comes first
  return {
    ...s, rows, valued, good, ranked, varying, byId: new Map(rows.map(r => [r.id, r])), chosen: () => true,
    better: (a, b) => sign * (a - b) < 0,
    value: scale(good.map(r => r.value), {robust: true}),
    scale: (list, i) => scale(list.map(r => r.p[i]), {linear: s.log[i] === false, decades: s.log[i]}),
    exact: r => fmt(r.value) + (r.error === null ? "" : " \u00b1 " + fmt(r.error)),
    fate: r => r.state + (r.why && r.why !== r.state ? ": " + r.why : ""),
    label(r) {
      const parts = s.parameters.map((n, i) => r.p[i] === null ? "" : `${n} ${fmt(r.p[i])}\n`);
      return `trial ${r.id}\n${s.metric} ${this.exact(r)}\n${parts.join("")}${this.fate(r)}`;
    },
    colour: (r, alpha = 1) =>
      r.quality === undefined ? css(r.state === "failed" ? "bad" : "none") : rampColour(r.quality, alpha),
  };
}
const legend = (parent, t) => {
  const b = note(parent, "");
  b.append("worse ");
  el("span", b, undefined, "ramp");
  b.append(" better");
  if (t.rows.some(r => isPart(r))) b.append("   \u25cf complete   \u25cb stopped or running");
  return b;
};
// Its value is one on the way: it has not come to its end.
const isPart = r => r.state !== "complete" && r.state !== "failed";

function ring(g, x, y, r, colour) {
  g.strokeStyle = colour;
  g.lineWidth = 1.5;
  g.beginPath();
  g.arc(x, y, r - .4, 0, 7);
  g.stroke();
}
// Trials as dots, those that have not come to their end as rings. Those that are not chosen lie behind,
// then those that failed.
function dots(g, t, list, place) {
  const size = list.length > 1000 ? 1.5 : 3.2, points = [];
  for (const r of list) {
    if (!t.chosen(r)) dot(g, ...place(r), Math.min(size, 2), css("line"));
  }
  for (const r of [...list].sort((a, b) => (a.quality ?? -1) - (b.quality ?? -1))) {
    if (!t.chosen(r)) continue;
    const [x, y] = place(r);
    if (!isPart(r)) dot(g, x, y, size, t.colour(r, .9));
    else if (size < 2) dot(g, x, y, size, t.colour(r, .4));
    else ring(g, x, y, size, t.colour(r));
    points.push({x, y, key: r});
  }
  return {points, text: r => t.label(r)};
}

// ---- the best, and the way there

function drawBest(t) {
  const best = t.ranked[0], c = card(best ? `Best: trial ${best.id}` : "Best");
  if (!best && t.valued.length) return note(c, "All trials that have reported a value have failed.");
  if (!best) return note(c, "No trial has reported a value yet.");
  const table = el("table", el("div", c, undefined, "wide"), undefined, "plain"), head = el("tr", table);
  for (const [text, cls] of [["", "t"], ["value", "t"], ["searched in", "t"]]) el("th", head, text, cls);
  const line = (name, value, where) => {
    const tr = el("tr", table), unused = isMissing(value);
    el("th", tr, name, "t");
    el("td", tr, unused ? "missing" : fmt(value), unused ? "t none" : "t").style.fontWeight = unused ? 400 : 600;
    el("td", tr, where ?? "", "t").style.color = "var(--soft)";
  };
  line(t.metric, t.exact(best), t.maximised ? "maximised" : "minimised");
  const most = 20, rest = t.parameters.length - most;
  const lines = (from, to) => {
    t.parameters.slice(from, to).forEach((n, i) => line(n, best.p[from + i], t.domains[from + i]));
  };
  lines(0, rest > 3 ? most : undefined);
  if (rest <= 3) return;
  const all = el("button", bar(c), `show ${rest} more parameters`);
  all.onclick = () => { all.remove(); lines(most); };
}
function drawHistory(t) {
  const c = card("Value of every trial, and the best so far");
  if (!t.good.length) return note(c, "No trial has a value yet."), [];
  const ways = {trial: r => r.id, seconds: r => r.when};
  const by = choose(bar(c), "over", [["trial", "trial"], ["seconds", "time"]], "trial", () => p.redraw());
  const p = picture(c, "value of every trial", height(240, 380, .55), (g, w, h) => {
    const at = ways[by.value], order = [...t.good].sort((a, b) => at(a) - at(b));
    const A = axes(g, w, h, scale(t.rows.map(at), {linear: true}), t.value, by.value, t.metric);
    if (t.good.length <= 500) drawErrors(g, t, A, at);
    const drawn = dots(g, t, thin(t.valued, 2500), r => [A.x(at(r)), A.y(r.value)]);
    let best = null;
    g.strokeStyle = css("b");
    g.lineWidth = 2;
    g.beginPath();
    for (const r of order) {
      if (best !== null && !t.better(r.value, best)) continue;
      best === null ? g.moveTo(A.x(at(r)), A.y(r.value)) : g.lineTo(A.x(at(r)), A.y(best));
      best = r.value;
      g.lineTo(A.x(at(r)), A.y(best));
    }
    g.lineTo(A.box.r, A.y(best));
    g.stroke();
    return drawn;
  });
  legend(c, t);
  return [p.redraw];
}
// The standard errors of the means, where trials are repeated.
function drawErrors(g, t, A, at) {
  g.lineWidth = 1;
  for (const r of t.good.filter(r => r.error !== null && t.chosen(r))) {
    g.strokeStyle = t.colour(r, .6);
    g.beginPath();
    g.moveTo(A.x(at(r)), A.y(r.value - r.error));
    g.lineTo(A.x(at(r)), A.y(r.value + r.error));
    g.stroke();
  }
}
function drawLearning(t) {
  if (!t.curves.some(c => c[1].length > 1)) return [];
  const lines = t.curves.map(([id, points]) => {
    const r = t.byId.get(id);
    return {name: "trial " + id, points, key: r, state: r.state, end: t.fate(r)};
  }).sort((a, b) => (a.key.quality ?? 0) - (b.key.quality ?? 0));
  const c = card("Learning curves");
  const most = 20, part = t.rows.length > lines.length ?
    `   \u2013 the best ${most} trials, and a sample of ${lines.length - most} others` : "";
  bar(c).textContent = "\u25cf complete or running   | stopped   \u2715 failed" + part;
  const faint = lines.length > 2 * most ? .3 : 1;  // the best stand out
  const colour = (i, l) => t.chosen(l.key) ? t.colour(l.key, i >= lines.length - most ? 1 : faint) : css("line");
  return [drawCurves(c, "learning curves", t.clock, t.metric, lines, colour).redraw];
}

// ---- what matters

function drawImportance(t) {
  const c = card("What matters"), shown = t.importance.slice(0, 14), share = v => percent(Math.round(v * 100) / 100);
  const parts = bar(c);
  for (const [colour, text] of [["a", "alone"], ["r2", "in pairs with others"]]) {
    const part = el("span", parts);
    el("span", part, "\u25a0 ").style.color = `var(--${colour})`;
    part.append(text);
  }
  picture(c, "what matters", 14 + 28 * shown.length, (g, w) => {
    g.textBaseline = "middle";
    const left = Math.min(w * .4, Math.max(...shown.map(i => g.measureText(i[0]).width)) + 12);
    return {points: shown.map(([name, alone, pairs], i) => {
      const y = 20 + 28 * i, room = w - left - 56;
      const a = Math.max(1, room * Math.min(1, alone)), b = room * Math.min(1, pairs);
      g.textAlign = "right";
      g.fillStyle = css("ink");
      write(g, name, left - 8, y, left - 8);
      g.fillStyle = css("a");
      g.fillRect(left, y - 8, a, 16);
      g.fillStyle = css("r2");
      g.fillRect(left + a, y - 8, b, 16);
      g.textAlign = "left";
      g.fillStyle = css("soft");
      g.fillText(share(alone + pairs), left + a + b + 7, y);
      const text = () => `${name} alone explains ${share(alone)} of the variation of ${t.metric}` +
        `\nhalf of what its pairs explain together: ${share(pairs)}`;
      return {x: left, y, width: a + b, key: name, text};
    }), highlight() {}};
  });
  if (t.comparedAt || t.compared < t.rows.length) {
    note(c, `From ${fmt(t.compared)} of ${fmt(t.rows.length)} trials, by their values ` +
      (t.comparedAt ? `at ${fmt(t.comparedAt)}, to which the others did not come` : "at their ends") +
      (t.compared < 10 * shown.length ? ". They are few, so take this as a hint." : "."));
  }
  if (!t.pairs.length) return;
  note(c, "Pairs that explain something only together: " +
    t.pairs.map(([a, b, v]) => `${a} \u00d7 ${b} ${share(v)}`).join(", "));
}
function drawDistribution(t) {
  const values = t.ranked.map(r => r.value), n = values.length, points = [];
  values.forEach((v, i) => { if (i % Math.ceil(n / 500) === 0 || i === n - 1) points.push([v, (i + 1) / n * 100]); });
  const c = card("How many trials are that good");
  const line = {name: "that good or better", points, state: "complete"};
  drawCurves(c, "how many trials are that good", t.metric, "% of the trials", [line], () => css("a"));
}
function drawMetrics(t) {
  const c = card("Other metrics"), names = t.metrics.map((n, i) => [i, n]);
  const which = choose(bar(c), "metric", names, 0, () => p.redraw());
  const p = picture(c, "other metrics", height(240, 380, .55), (g, w, h) => {
    const i = +which.value, list = thin(t.good.filter(r => r.m[i] !== null), 2500);
    const A = axes(g, w, h, scale(list.map(r => r.m[i]), {robust: true}), t.value, t.metrics[i], t.metric);
    const text = r => `${t.metrics[i]} ${fmt(r.m[i])}\n` + t.label(r);
    return {...dots(g, t, list, r => [A.x(r.m[i]), A.y(r.value)]), text};
  });
  return [p.redraw];
}

// ---- who ran when and where

function drawSchedule(t) {
  if (!t.ran.length) return [];
  const ranks = [...new Set([...t.ranks, ...t.ran.map(r => r[1])])].sort((a, b) => a - b), n = ranks.length;
  const places = new Map(ranks.map((k, i) => [k, i]));
  const c = card("Schedule", true), line = Math.max(5, Math.min(24, 600 / n)), drawn = thin(t.ran, 8000);
  const first = t.ran.reduce((a, r) => Math.min(a, r[2]), t.seconds);  // of many stretches the last ones are here
  const X = scale([first > .05 * t.seconds ? first : 0, t.seconds], {linear: true, tight: true});
  const at = i => 1 - (i + .5) / n, nameOf = k => k < 0 ? "no rank" : "rank " + k;
  const ticks = () => ranks.map((k, i) => [at(i), nameOf(k)]).filter((_, i) => i % Math.ceil(15 / line) === 0);
  const Y = {at: k => at(places.get(k)), ticks};
  bar(c).textContent = t.idle === null ? "" : `The ranks were idle for ${percent(t.idle)} of the time.`;
  const p = picture(c, "schedule", 48 + line * n, (g, w, h) => {
    const A = axes(g, w, h, X, Y, "seconds", "");
    return {points: drawn.map(([id, rank, from, to]) => {
      const r = t.byId.get(id), x = A.x(from), y = A.y(rank), width = Math.max(1, A.x(to) - x);
      g.fillStyle = !t.chosen(r) ? css("line") : r.state === "failed" ? css("bad") : t.colour(r);
      g.fillRect(x, y - line / 2 + 1, Math.max(.7, width - .6), Math.max(1, line - 2));
      const text = () => `trial ${id}${rank < 0 ? "" : " on rank " + rank}\n` +
        `from ${duration(from)} to ${duration(to)}\n${t.metric} ${fmt(r.value)}\n${t.fate(r)}`;
      return {x, y, width, key: r, text};
    })};
  });
  const b = legend(c, t);
  if (t.rows.some(r => r.state === "failed")) {
    el("span", b, "   \u25a0 ").style.color = "var(--bad)";
    b.append("failed");
  }
  return [p.redraw];
}
function drawTrials(t) {
  const columns = ["trial", "state", t.metric, t.clock, "seconds", ...t.parameters, ...t.metrics, "why"];
  const rows = t.rows.map(r => [r.id, r.state, r.value, r.at, r.seconds, ...r.p, ...r.m, r.why]);
  const of = row => t.byId.get(row[0]);
  return drawTable(card("Trials", true), columns, rows, {
    order: [2, !t.maximised],
    last: row => row[2] !== null && of(row).quality === undefined,
    colour: row => t.colour(of(row)),
    key: of,
    shown: row => t.chosen(of(row)),
  }).fill;
}
)js";

}  // namespace manta::tune::detail
