// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The style of report pages (page.hpp), light and dark. `--r0` to `--r4` are the colours from the worst to the best.
#pragma once

#include <string_view>

namespace manta::output {

inline constexpr std::string_view page_style = R"css(
:root {
  color-scheme: light dark;
  --bg: #f5f6f8; --card: #fff; --ink: #1b2330; --soft: #5c6675; --line: #e1e5ea; --none: #9aa3af;
  --a: #2563c9; --b: #d9600c; --bad: #c4314b;
  --r0: #cfc588; --r1: #8cc796; --r2: #3fb0b3; --r3: #2c78b8; --r4: #2a3590;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #11151b; --card: #191f28; --ink: #e6eaf0; --soft: #98a3b3; --line: #2b333f; --none: #667080;
    --a: #6ea8ff; --b: #ff9d57; --bad: #ff7a90;
    --r0: #6a6150; --r1: #66894f; --r2: #2fa08c; --r3: #52bfe6; --r4: #dcf4ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); }
body, select, button, input { font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main {
  max-width: 1640px; margin: 0 auto; padding: 20px clamp(10px, 2.5vw, 32px) 40px;
  display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr);
}
.group { display: flex; flex-wrap: wrap; gap: 16px; }
.group > section { flex: 1 1 min(100%, 400px); }
@media (min-width: 900px) { .group > :only-child { max-width: calc(50% - 8px); } }
.many { display: grid; gap: 12px 20px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 230px), 1fr)); }
h1 { margin: 0; font-size: 26px; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { margin: 0 0 10px; font-size: 16px; font-weight: 600; overflow-wrap: anywhere; }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 14px 16px; min-width: 0;
}
.badge {
  display: inline-block; background: var(--a); color: var(--card); border-radius: 20px; padding: 2px 12px;
  font-size: 13px; font-weight: 400; letter-spacing: 0; margin-left: 12px; vertical-align: 4px;
}
.picture { position: relative; }
.picture canvas { display: block; touch-action: pan-y; }
.picture canvas + canvas { position: absolute; inset: 0; pointer-events: none; }
.row {
  display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: center; margin-bottom: 8px;
  color: var(--soft); font-size: 13px;
}
.note { color: var(--soft); font-size: 13px; margin: 8px 0 0; }
.ramp {
  display: inline-block; width: 90px; height: 10px; border-radius: 5px; margin: 0 6px;
  background: linear-gradient(90deg, var(--r0), var(--r1), var(--r2), var(--r3), var(--r4));
}
select, button, input {
  color: inherit; background: var(--bg); border: 1px solid var(--line); border-radius: 7px; padding: 3px 8px;
  font-size: 14px; max-width: 100%;
}
.scroll {
  overflow: auto; max-height: 620px;  /* a shadow where there is more at the right */
  background: linear-gradient(to left, var(--card) 30%, transparent) right / 36px 100% no-repeat local,
    linear-gradient(to left, var(--line), transparent) right / 14px 100% no-repeat scroll;
}
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
td, th { padding: 5px 10px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
td.t, th.t { text-align: left; }
.scroll th {
  position: sticky; top: 0; z-index: 1; background: var(--card); cursor: pointer; user-select: none;
  border: 0; box-shadow: inset 0 -1px var(--line);
}
.scroll td { max-width: 340px; overflow: hidden; text-overflow: ellipsis; }
.scroll tbody tr:hover, tr.on { background: var(--bg); }
td i { display: inline-block; width: 9px; height: 9px; border-radius: 9px; margin-right: 7px; }
dl { display: grid; grid-template-columns: minmax(80px, 34%) minmax(0, 1fr); margin: 0; }
dt, dd { padding: 5px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
dt { color: var(--soft); padding-right: 10px; }
dd { margin: 0; font-weight: 600; }
dt:last-of-type, dd:last-of-type, .plain tr:last-child > * { border: 0; }
.plain td { white-space: normal; overflow-wrap: anywhere; vertical-align: top; }
.plain td:nth-child(2) { overflow-wrap: normal; min-width: 90px; }
.plain th { font-weight: 400; color: var(--soft); }
.plain td:first-child, .plain th:first-child { padding-left: 0; }
.none { color: var(--none); }
a { color: var(--a); }
.differs { font-weight: 600; background: var(--bg); }
#picked {
  position: fixed; right: 14px; bottom: 14px; z-index: 8; background: var(--a); color: var(--card); display: none;
}
@media (max-width: 560px) {
  .plain tr:first-child { display: none; }
  .plain tr { display: grid; grid-template-columns: 38% 62%; border-bottom: 1px solid var(--line); }
  .plain tr > * { border: 0; padding-left: 0; }
  .plain tr > :nth-child(3) { grid-column: 1 / -1; padding-top: 0; }
}
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: inherit; }
.frame { white-space: pre; overflow: auto; font: 14px/1.25 ui-monospace, Menlo, Consolas, monospace; }
#tip {
  position: fixed; pointer-events: none; background: var(--ink); color: var(--bg); padding: 6px 10px;
  border-radius: 7px; font-size: 13px; max-width: min(340px, 90vw); overflow-wrap: anywhere; white-space: pre-line;
  display: none; z-index: 9;
}
)css";

}  // namespace manta::output
