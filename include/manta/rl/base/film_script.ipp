// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The parts of a film's page (film.hpp): style, body and script. In the script `film` has the kind of the picture, the
// states, actions and rewards. Each kind draws a state as SVG in coordinates of its own.
#pragma once

#include <string_view>

namespace manta::rl::detail {

inline constexpr std::string_view film_style = R"css(
.film { max-width: 860px; width: 100%; margin: 0 auto; }
#stage { display: block; width: 100%; max-height: min(56vh, 520px); }
#curve { display: block; width: 100%; height: 70px; margin-top: 8px; }
#at { flex: 1 1 160px; padding: 0; }
#said { font-variant-numeric: tabular-nums; }
)css";

inline constexpr std::string_view film_body = R"html(
<section><svg id="stage" role="img" aria-label="the state of the environment"></svg></section>
<section>
<div class="row">
<button id="play">Play</button>
<input id="at" type="range" min="0" value="0" aria-label="state">
<select id="speed" aria-label="speed"><option value=".25">0.25 x</option><option value="1" selected>1 x</option>
<option value="2">2 x</option><option value="5">5 x</option></select>
</div>
<div class="row" id="said"></div>
<svg id="curve" viewBox="0 0 600 100" preserveAspectRatio="none" role="img" aria-label="the return so far"></svg>
<p class="note">The curve is the sum of the rewards so far.</p>
</section></main>
)html";

inline constexpr std::string_view film_script = R"js(
const line = (x1, y1, x2, y2, c, w) =>
  `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="var(--${c})" stroke-width="${w}" ` +
  'stroke-linecap="round"/>';
const dot = (x, y, r, c) => `<circle cx="${x}" cy="${y}" r="${r}" fill="var(--${c})"/>`;
const rect = (x, y, w, h, c, more = "") =>
  `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="var(--${c})" ${more}/>`;
const arrow = (x, y, dx) => {
  const end = x + dx, back = end - Math.sign(dx) * .07;
  return Math.abs(dx) < 1e-3 ? "" : line(x, y, end, y, "b", .04) + line(end, y, back, y - .05, "b", .04) +
    line(end, y, back, y + .05, "b", .04);
};
const grid = (rows, columns, cell) => {
  let out = "";
  for (let y = 0; y < rows; ++y) for (let x = 0; x < columns; ++x)
    out += rect(x + .04, y + .04, .92, .92, cell(y, x), 'rx=".12"');
  return out;
};
const hill = x => -Math.sin(3 * x) * .45 - .55;
const road = () => {
  let path = "";
  for (let x = -1.2; x <= .61; x += .02) path += `${x.toFixed(2)},${hill(x).toFixed(3)} `;
  return `<polyline points="${path}" fill="none" stroke="var(--soft)" stroke-width=".015"/>`;
};
const car = (o, push) => {
  const x = o[0], y = hill(x), turn = Math.atan(-1.35 * Math.cos(3 * x)) * 180 / Math.PI;
  return road() + line(.5, hill(.5), .5, hill(.5) - .2, "b", .012) + rect(.5, hill(.5) - .2, .1, .06, "b") +
    `<g transform="translate(${x},${y}) rotate(${turn})">` + rect(-.07, -.07, .14, .045, "a", 'rx=".015"') +
    dot(-.045, -.02, .02, "ink") + dot(.045, -.02, .02, "ink") + "</g>" +
    (push ? line(x, y - .12, x + push * .1, y - .12, "b", .015) + dot(x + push * .1, y - .12, .014, "b") : "");
};
const pictures = {
  cart_pole: {box: [-2.6, -1.7, 5.2, 2.3], ms: 20, draw: (o, a) =>
    line(-2.4, 0, 2.4, 0, "soft", .02) + line(-2.4, -.1, -2.4, .1, "bad", .03) +
    line(2.4, -.1, 2.4, .1, "bad", .03) +
    rect(o[0] - .25, -.15, .5, .3, "a", 'rx=".05"') + line(o[0], 0, o[0] + Math.sin(o[2]), -Math.cos(o[2]), "b", .1) +
    dot(o[0], 0, .05, "ink") + (a ? arrow(o[0], .35, a[0] ? .4 : -.4) : "")},
  acrobot: {box: [-2.3, -2.3, 4.6, 4.6], ms: 60, draw: (o, a) => {
    const t = Math.atan2(o[1], o[0]), s = t + Math.atan2(o[3], o[2]);
    const x = Math.sin(t), y = Math.cos(t), u = x + Math.sin(s), v = y + Math.cos(s);
    return line(-2.2, -1, 2.2, -1, "bad", .02) + line(0, 0, x, y, "a", .14) + line(x, y, u, v, "r2", .14) +
      dot(0, 0, .09, "ink") + dot(x, y, .09, "ink") + dot(u, v, .09, "b") + (a ? arrow(x, y, (a[0] - 1) * .35) : "");
  }},
  mountain_car: {box: [-1.3, -1.35, 2, 1.4], ms: 33, draw: (o, a) => car(o, a ? a[0] - 1 : 0)},
  mountain_car_continuous: {box: [-1.3, -1.35, 2, 1.4], ms: 33, draw: (o, a) =>
    car(o, a ? Math.max(-1, Math.min(1, a[0])) : 0)},
  pendulum: {box: [-1.4, -1.4, 2.8, 2.8], ms: 50, draw: (o, a) =>
    line(0, 0, -o[1], -o[0], "a", .18) + dot(0, 0, .06, "ink") + dot(-o[1], -o[0], .13, "b") +
    (a ? arrow(0, -1.25, -a[0] * .3) : "")},
  lunar_lander: {box: [-1.15, -1.2, 2.3, 1.45], ms: 20, draw: (o, a) => {
    let main = 0, side = 0;  // how strong the engines are, and on which side
    if (a && a.length === 1) {
      main = a[0] === 2 ? 1 : 0;
      side = a[0] === 1 ? -1 : a[0] === 3 ? 1 : 0;
    } else if (a) {
      main = Math.max(0, a[0]);
      side = Math.abs(a[1]) > .5 ? a[1] : 0;
    }
    return line(-1.1, .04, 1.1, .04, "soft", .01) + line(-.2, .04, .2, .04, "b", .025) +
      line(-.2, .04, -.2, -.12, "b", .01) + line(.2, .04, .2, -.12, "b", .01) +
      `<g transform="translate(${o[0]},${-o[1] * 2 / 3}) rotate(${-o[4] * 180 / Math.PI})">` +
      (main ? line(0, 0, 0, .12 + .06 * main, "bad", .035) : "") +
      (side ? line(side * .06, -.06, side * .14, -.06, "bad", .02) : "") +
      rect(-.06, -.1, .12, .1, "a", 'rx=".02"') + line(-.05, 0, -.09, .05, o[6] ? "b" : "ink", .014) +
      line(.05, 0, .09, .05, o[7] ? "b" : "ink", .014) + "</g>";
  }},
  catch_ball: {box: [0, 0, 5, 10], ms: 250, draw: o =>
    grid(10, 5, (y, x) => o[5 * y + x] ? (y === 9 ? "a" : "b") : "line")},
  frozen_lake: {box: [0, 0, 4, 4], ms: 300, draw: o =>
    grid(4, 4, (y, x) => ({H: "ink", G: "r2", S: "none"})["SFFFFHFHFFFHHFFG"[4 * y + x]] || "line") +
    dot(o[0] % 4 + .5, Math.floor(o[0] / 4) + .5, .26, "b")},
  breakout: {box: [0, 0, 10, 10], ms: 120, draw: o => grid(10, 10, (y, x) => {
    const at = c => o[100 * c + 10 * y + x];
    return at(0) ? "a" : at(1) ? "b" : at(2) ? "none" : at(3) ? "r2" : "line";
  })},
};
if (film.kind === "board") {
  const board = film.states[0], rows = board.length, columns = board[0].length;
  pictures.board = {box: [0, 0, columns, rows], ms: 700, draw: o => grid(rows, columns, () => "line") +
    o.map((row, y) => [...row].map((c, x) => c === "." ? "" : dot(x + .5, y + .5, .36, c === "x" ? "a" : "b"))
      .join("")).join("")};
}
const picture = pictures[film.kind], last = film.states.length - 1;
const [stage, at, play, speed, said, curve] =
  ["stage", "at", "play", "speed", "said", "curve"].map(id => document.getElementById(id));
stage.setAttribute("viewBox", picture.box.join(" "));
at.max = last;
const sums = [0];
for (const r of film.rewards) sums.push(sums[sums.length - 1] + r);
const low = Math.min(...sums), high = Math.max(...sums), place = i =>
  `${(600 * i / Math.max(1, last)).toFixed(1)},${(95 - 90 * (sums[i] - low) / (high - low || 1)).toFixed(1)}`;
const show = i => {
  at.value = i;
  stage.innerHTML = picture.draw(film.states[i], film.actions[i]);
  said.textContent = `state ${i} of ${last}, return ${+sums[i].toPrecision(5)} of ` +
    `${+sums[last].toPrecision(5)}` + (i === last ? `, ${film.end}` : "");
  const [x] = place(i).split(",");
  const thin = 'stroke-width="2" vector-effect="non-scaling-stroke"';
  curve.innerHTML =
    `<polyline points="${sums.map((_, k) => place(k)).join(" ")}" fill="none" stroke="var(--a)" ${thin}/>` +
    `<line x1="${x}" x2="${x}" y1="0" y2="100" stroke="var(--b)" ${thin}/>`;
};
let now = 0, before = 0, running = false;
const step = time => {
  if (!running) return;
  now = Math.min(last, now + (time - before) / picture.ms * +speed.value);
  before = time;
  show(Math.floor(now));
  if (now >= last) return pause();
  requestAnimationFrame(step);
};
const pause = () => { running = false; play.textContent = "Play"; };
const start = () => {
  if (now >= last) now = 0;
  running = true;
  play.textContent = "Pause";
  before = performance.now();
  requestAnimationFrame(step);
};
play.onclick = () => running ? pause() : start();
at.oninput = () => { pause(); now = +at.value; show(now); };
show(0);
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) start();
)js";

}  // namespace manta::rl::detail
