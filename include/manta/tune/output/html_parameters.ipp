// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a report page draws the parameters of an experiment: values over each of them, two together, and all of them as
// parallel coordinates. Part of the kind of section in html_script.ipp.
#pragma once

#include <string_view>

namespace manta::tune::detail {

inline constexpr std::string_view parameters_script = R"js(
// ---- parameters

function drawSlices(t) {
  const c = card("Value over each parameter", true), box = el("div", c, undefined, "many");
  return t.varying.slice(0, 24).map(i => {
    const list = thin(t.valued.filter(r => r.p[i] !== null), 1500), X = t.scale(list, i);
    return picture(el("div", box), `${t.metric} over ${t.parameters[i]}`, height(210, 280, .72), (g, w, h) => {
      const A = axes(g, w, h, X, t.value, t.parameters[i], t.metric);
      // The dots of one name stand side by side.
      const gap = X.names ? Math.min(2.5, (A.box.r - A.box.l) / X.names.length / 16) : 0;
      const aside = r => (r.id * 7 % 11 - 5) * gap;
      return dots(g, t, list, r => [A.x(r.p[i]) + aside(r), A.y(r.value)]);
    }).redraw;
  });
}
// The quality around each point of a grid, and how much of it is known there.
function smooth(points, n) {
  const quality = new Float32Array(n * n), known = new Float32Array(n * n), reach = .008, most = .25;
  for (let v = 0; v < n; ++v) {
    for (let u = 0; u < n; ++u) {
      let sum = 0, weight = 1e-9;
      for (const [x, y, q] of points) {
        const d = (x - u / (n - 1)) ** 2 + (y - v / (n - 1)) ** 2;
        if (d > most ** 2) continue;
        const k = Math.exp(-d / reach);
        sum += k * q;
        weight += k;
      }
      quality[v * n + u] = sum / weight;
      known[v * n + u] = Math.min(1, weight);
    }
  }
  return {quality, known};
}
function drawField(g, B, field, n) {
  const image = el("canvas"), k = image.getContext("2d"), bits = k.createImageData(n, n);
  image.width = image.height = n;
  for (let i = 0; i < n * n; ++i) {
    const [r, b, c] = ramp(field.quality[i]), at = ((n - 1 - Math.floor(i / n)) * n + i % n) * 4;
    bits.data.set([r, b, c, 190 * field.known[i]], at);
  }
  k.putImageData(bits, 0, 0);
  g.imageSmoothingEnabled = true;
  g.drawImage(image, B.l, B.t, B.r - B.l, B.b - B.t);
}
function drawLevels(g, B, {quality, known}, n) {
  const px = u => B.l + u / (n - 1) * (B.r - B.l), py = v => B.b - v / (n - 1) * (B.b - B.t);
  const sides = [[0, 0, 1, 0], [1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 0, 0]];
  g.strokeStyle = css("card");
  g.lineWidth = 1;
  g.beginPath();
  for (const level of [.25, .5, .75, .9]) {
    for (let v = 0; v + 1 < n; ++v) {
      for (let u = 0; u + 1 < n; ++u) {
        if (known[v * n + u] < .05) continue;
        const cuts = [];
        for (const [a, b, c, d] of sides) {
          const p = quality[(v + b) * n + u + a], q = quality[(v + d) * n + u + c];
          if ((p < level) === (q < level)) continue;
          const f = (level - p) / (q - p);
          cuts.push([px(u + a + f * (c - a)), py(v + b + f * (d - b))]);
        }
        for (let i = 0; i + 1 < cuts.length; i += 2) { g.moveTo(...cuts[i]); g.lineTo(...cuts[i + 1]); }
      }
    }
  }
  g.stroke();
}
function drawContours(t) {
  const names = t.varying.map(i => [i, t.parameters[i]]), n = 48;
  const pairs = [[0, 1], [0, 2], [1, 2]].filter(([, b]) => b < t.varying.length);
  return pairs.map(([first, second], k) => {
    const c = card("Two parameters"), row = bar(c), again = () => { fields.clear(); p.redraw(); }, fields = new Map();
    const a = choose(row, "across", names, t.varying[first], again, "across " + k);
    const b = choose(row, "up", names, t.varying[second], again, "up " + k);
    const p = picture(c, "two parameters", height(260, 400, .7), (g, w, h) => {
      const i = +a.value, j = +b.value, list = thin(t.valued.filter(r => r.p[i] !== null && r.p[j] !== null), 1500);
      const X = t.scale(list, i), Y = t.scale(list, j), A = axes(g, w, h, X, Y, t.parameters[i], t.parameters[j]);
      if (list.length > 5) {
        const point = r => [X.at(r.p[i]), Y.at(r.p[j]), r.quality ?? 0];
        if (!fields.size) fields.set(0, smooth(thin(list, 300).map(point), n));
        drawField(g, A.box, fields.get(0), n);
        drawLevels(g, A.box, fields.get(0), n);
      }
      for (const r of list) if (t.chosen(r) && list.length <= 1000) dot(g, A.x(r.p[i]), A.y(r.p[j]), 4.2, css("card"));
      return dots(g, t, list, r => [A.x(r.p[i]), A.y(r.p[j])]);
    });
    return p.redraw;
  });
}
// ---- parallel coordinates

// changed(): other trials are chosen now.
function drawParallel(t, changed) {
  const c = card("Parallel coordinates", true), row = bar(c);
  const hint = el("span", row), clear = el("button", row, "choose all");
  const shown = t.varying.slice(0, 30), names = [...shown.map(i => t.parameters[i]), t.metric], last = names.length - 1;
  const get = (r, k) => k === last ? r.value : r.p[shown[k]], drawn = thin([...t.ranked].reverse(), 500);
  const scales = names.map((_, k) => k === last ? t.value : t.scale(t.ranked, shown[k]));
  const anyMissing = names.map((_, k) => t.ranked.some(r => get(r, k) === null));
  const isAnyMissing = anyMissing.some(x => x);
  const brushes = new Map(memory.get("brushes", []));
  const top = 40, low = h => h - (isAnyMissing ? 46 : 14);
  const place = (w, h) => ({
    x: k => 54 + (w - 108) * k / Math.max(1, last),
    y: q => q === null ? h - 14 : low(h) - q * (low(h) - top),
  });
  const isInside = r => [...brushes].every(([k, [a, b]]) => {
    const q = scales[k]?.at(get(r, k)) ?? -1;
    return q >= a && q <= b;
  });
  const update = () => {
    t.chosen = brushes.size ? isInside : () => true;
    clear.style.visibility = brushes.size ? "visible" : "hidden";
    const inside = fmt(t.ranked.filter(isInside).length);
    hint.textContent = brushes.size ? `${inside} of ${fmt(t.ranked.length)} trials are chosen, here and below`
                                    : "drag along axes to choose trials";
  };
  const curve = (g, P, r) => {
    g.beginPath();
    names.forEach((_, k) => {
      const x = P.x(k), y = P.y(scales[k].at(get(r, k)));
      if (k === 0) return g.moveTo(x, y);
      const before = P.y(scales[k - 1].at(get(r, k - 1))), middle = (P.x(k - 1) + x) / 2;
      g.bezierCurveTo(middle, before, middle, y, x, y);
    });
    g.stroke();
  };
  const axis = (g, P, k, h, room) => {
    const x = P.x(k), atEnd = k === last && k > 0;
    font(g, 600);
    g.textAlign = k === 0 ? "left" : atEnd ? "right" : "center";
    g.textBaseline = "alphabetic";
    g.fillStyle = css("ink");
    write(g, names[k], k === 0 ? 4 : atEnd ? x + 50 : x, k % 2 && room < 110 ? 32 : 15, room < 110 ? room * 2 : room);
    g.strokeStyle = css("soft");
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, top);
    g.lineTo(x, low(h));
    g.stroke();
    font(g, 400, 11);
    g.textAlign = atEnd ? "left" : "right";
    const space = Math.min(k === 0 || atEnd ? 46 : 1e9, room - 12);
    for (const [q, text] of scales[k].ticks(5)) outlined(g, text, x + (atEnd ? 6 : -6), P.y(q) + 4, space);
    g.textAlign = "center";
    if (anyMissing[k]) outlined(g, "missing", x, h - 22, room);
    const b = brushes.get(k);
    if (!b) return;
    g.fillStyle = css("b");
    g.globalAlpha = .35;
    g.fillRect(x - 8, P.y(b[1]), 16, P.y(b[0]) - P.y(b[1]));
    g.globalAlpha = 1;
  };
  update();
  const p = picture(el("div", c, undefined, "wide"), "parallel coordinates", 380, (g, w, h) => {
    const P = place(w, h), points = [], on = drawn.filter(t.chosen), room = (w - 108) / Math.max(1, last);
    g.lineWidth = 1;
    g.strokeStyle = css("line");
    if (on.length < drawn.length) for (const r of drawn) if (!t.chosen(r)) curve(g, P, r);
    g.lineWidth = 1.3;
    for (const r of on) {
      g.strokeStyle = t.colour(r, on.length > 300 ? .55 : .85);
      curve(g, P, r);
      names.forEach((_, k) => points.push({x: P.x(k), y: P.y(scales[k].at(get(r, k))), key: r}));
    }
    names.forEach((_, k) => axis(g, P, k, h, room));
    const highlight = (over, r) => {
      if (!r.p) return;
      over.strokeStyle = css("b");
      over.lineWidth = 3.5;
      curve(over, P, r);
    };
    return {points, text: r => t.label(r), highlight};
  }, 108 + 72 * last);
  p.canvas.style.touchAction = "pan-x";
  brush(p, brushes, e => {
    const box = p.canvas.getBoundingClientRect(), P = place(p.w, p.h);
    const x = e.clientX - box.left, y = e.clientY - box.top;
    const k = names.reduce((best, _, i) => Math.abs(P.x(i) - x) < Math.abs(P.x(best) - x) ? i : best, 0);
    return {k, isNear: Math.abs(P.x(k) - x) < 22, q: Math.max(0, Math.min(1, (low(p.h) - y) / (low(p.h) - top)))};
  }, () => { update(); p.redraw(); }, () => { memory.set("brushes", [...brushes]); changed(); });
  clear.onclick = () => { brushes.clear(); memory.set("brushes", []); update(); p.redraw(); changed(); };
}
function outlined(g, text, x, y, room) {
  g.lineWidth = 3;
  g.strokeStyle = css("card");
  g.fillStyle = css("soft");
  let shown = text;
  for (let n = text.length - 1; n > 0 && g.measureText(shown).width > room; --n) shown = text.slice(0, n) + "\u2026";
  g.strokeText(shown, x, y);
  g.fillText(shown, x, y);
}
// Stretches of axes are chosen by dragging, and left by a click. where(event): {k, isNear, q}.
function brush(p, brushes, where, dragged, ended) {
  let from = null;
  p.canvas.addEventListener("pointerdown", e => {
    const at = where(e);
    if (!at.isNear) return;
    from = at;
    brushes.delete(at.k);
    p.canvas.setPointerCapture(e.pointerId);
    dragged();
  });
  p.canvas.addEventListener("pointermove", e => {
    if (!from) return;
    const q = where(e).q;
    if (Math.abs(q - from.q) > .01) brushes.set(from.k, [Math.min(q, from.q), Math.max(q, from.q)]);
    dragged();
  });
  const end = () => { if (from) ended(); from = null; };
  p.canvas.addEventListener("pointerup", end);
  p.canvas.addEventListener("pointercancel", end);
}
)js";

}  // namespace manta::tune::detail
