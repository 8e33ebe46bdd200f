// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The pages that a server has of its own. Each is one file without anything from elsewhere, fed by /api/status or
// /openapi.json.
#pragma once

#include <string_view>

namespace manta::serve::detail {

inline constexpr std::string_view status_page = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>manta: serving</title>
<style>
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:right;padding:.35rem .6rem;border-bottom:1px solid #8884}
th:first-child,td:first-child{text-align:left}th{font-weight:600}code{font-size:.95em}.bad{color:#c33}.quiet{opacity:.7}
</style></head><body>
<h1>manta</h1><p id="about" class="quiet">…</p>
<table><thead><tr><th>route</th><th>model</th><th>under way</th><th>answered</th><th>per s</th><th>mean</th>
<th>p50 ≤</th><th>p99 ≤</th><th>other answers</th></tr></thead><tbody id="routes"></tbody></table>
<div id="more"></div>
<p><a href="docs">try a call</a> · <a href="openapi.json">openapi.json</a> · <a href="metrics">metrics</a></p>
<script>
const time=s=>s==0?'–':s<1e-3?(s*1e6).toFixed(0)+' µs':s<1?(s*1e3).toFixed(1)+' ms':s.toFixed(2)+' s';
let before={},then=0;
const id=name=>document.getElementById(name);
function row(cells){const r=document.createElement('tr');
  for(const c of cells){const d=document.createElement('td');d.textContent=c;r.append(d)}return r}
async function look(){
  try{
    const s=await(await fetch('api/status'+location.search)).json(),now=performance.now();
    id('about').textContent=s.url+' · up '+Math.round(s.seconds)+' s · '+s.connections+' connections'+
      (s.refused?' · '+s.refused+' refused':'')+(s.draining?' · about to end':'');
    const rows=s.routes.map(r=>{
      const rate=then&&r.path in before?((r.answered-before[r.path])/(now-then)*1e3).toFixed(1):'–';
      before[r.path]=r.answered;
      const others=Object.entries(r.answers).filter(a=>a[0]!='200').map(a=>a[0]+': '+a[1]).join(', ');
      return row([r.path,r.name,r.under_way,r.answered,rate,
        time(r.mean_seconds),time(r.p50_at_most),time(r.p99_at_most),others])});
    id('routes').replaceChildren(...rows);
    const more=id('more');more.replaceChildren();
    for(const r of s.routes)if(r.deployment){const p=document.createElement('pre');
      p.textContent=r.name+' '+JSON.stringify(r.deployment,null,1);more.append(p)}
    then=now;
  }catch(e){id('about').textContent='no answer: '+e;id('about').className='bad'}
}
look();setInterval(look,1000);
</script></body></html>
)html";

inline constexpr std::string_view docs_page = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>manta: try a call</title>
<style>
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}
section{border:1px solid #8886;border-radius:.5rem;padding:.5rem 1rem;margin:1rem 0}
textarea{width:100%;box-sizing:border-box;font:13px monospace}
pre{overflow:auto;background:#8882;padding:.5rem;border-radius:.3rem}
</style></head><body>
<h1>Try a call</h1><p><a href="status">status</a> · <a href="openapi.json">openapi.json</a></p><div id="routes"></div>
<script>
function sample(s){if(!s||!s.type)return null;
  switch(s.type){case'object':{const o={};for(const k in s.properties||{})o[k]=sample(s.properties[k]);return o}
  case'array':return s.items?[sample(s.items)]:[];case'string':return'';case'boolean':return false;
  default:return s.minimum||0}}
function add(tag,parent,text){const e=document.createElement(tag);
  if(text!==undefined)e.textContent=text;parent.append(e);return e}
(async()=>{
  const api=await(await fetch('openapi.json'+location.search)).json();
  for(const path in api.paths){
    const post=api.paths[path].post,box=add('section',document.getElementById('routes'));
    add('h3',box,'POST '+path);
    const schema=post.requestBody&&post.requestBody.content['application/json'].schema;
    let body;if(schema){body=add('textarea',box);body.rows=4;body.value=JSON.stringify(sample(schema));
      const d=add('details',box);add('summary',d,'schema');add('pre',d,JSON.stringify(schema,null,1))}
    const go=add('button',box,'call'),out=add('pre',box,'');
    go.onclick=async()=>{const begin=performance.now();out.textContent='…';
      try{const r=await fetch(path+location.search,
          {method:'POST',headers:{'Content-Type':'application/json'},body:schema?body.value:''});
        const t=await r.text();out.textContent=r.status+' in '+(performance.now()-begin).toFixed(1)+' ms\n'+t}
      catch(e){out.textContent=String(e)}};
  }
})();
</script></body></html>
)html";

}  // namespace manta::serve::detail
