// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The pages that a server has of its own. Each is one file without anything from elsewhere, fed by
// /api/status or /openapi.json.
#pragma once

#include <string_view>

namespace manta::serve::detail {

inline constexpr std::string_view status_page = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="data:,"><title>manta: serving</title>
<style>
:root{color-scheme:light dark;--good:#2a8;--busy:#48c;--new:#e90;--bad:#d33;--line:#8884}
body{font:15px/1.45 system-ui,sans-serif;max-width:64rem;margin:1.5rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:1.6rem 0 .3rem}
nav a{margin-right:1rem}.quiet{opacity:.7}.bad{color:var(--bad)}.wide{overflow-x:auto}
#verdict{font-weight:600;margin:.4rem 0}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:.3rem .5rem;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child{text-align:left}th{font-weight:600;vertical-align:bottom}
.box{border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem;margin:.6rem 0}
.box b{margin-right:.5rem}.dots{display:flex;flex-wrap:wrap;gap:4px;margin:.4rem 0}
.dot{min-width:1.6rem;padding:0 .25rem;border-radius:.3rem;color:#fff;font-size:12px;text-align:center}
.ready{background:var(--good)}.busy{background:var(--busy)}.starting,.ending{background:var(--new)}
.missing{background:none;color:inherit;border:1px dashed var(--bad)}
svg{width:100%;height:7rem;display:block}svg text{font-size:11px;fill:currentColor}
@media(max-width:40rem){.less{display:none}body{margin:1rem auto}th,td{padding:.3rem .3rem}}
</style></head><body>
<h1>manta</h1><div id="verdict">…</div><div id="about" class="quiet"></div>
<nav><a data-to="docs">try a call</a><a data-to="openapi.json">openapi.json</a><a data-to="metrics">metrics</a></nav>
<h2>Answers per second</h2><svg id="load" viewBox="0 0 600 110" preserveAspectRatio="none" role="img"></svg>
<div id="deployments"></div>
<h2>Routes</h2><div class="wide"><table><thead><tr><th>route</th><th class="less">model</th><th>under way</th>
<th>answered</th><th>per s</th><th class="less">mean</th><th>p50 ≤</th><th>p99 ≤</th><th>other answers</th></tr>
</thead>
<tbody id="routes"></tbody></table></div>
<script>
const id=name=>document.getElementById(name);
const number=n=>n>=1e7?(n/1e6).toFixed(1)+' M':n>=1e4?(n/1e3).toFixed(1)+' k':String(Math.round(n*10)/10);
const time=s=>s==0?'–':s<1e-3?(s*1e6).toFixed(0)+' µs':s<1?(s*1e3).toFixed(s<.01?1:0)+' ms':s.toFixed(1)+' s';
const long=s=>s<120?Math.round(s)+' s':s<7200?Math.round(s/60)+' min':(s/3600).toFixed(1)+' h';
function add(tag,parent,text,kind){const e=document.createElement(tag);
  if(text!==undefined)e.textContent=text;if(kind)e.className=kind;parent.append(e);return e}
for(const a of document.querySelectorAll('[data-to]'))a.href=a.dataset.to+location.search;
let before={},then=0;const history=[];
function draw(rate){
  history.push(rate);if(history.length>120)history.shift();
  const most=Math.max(1,...history),svg=id('load'),w=600,h=90;svg.replaceChildren();
  const make=(tag,its,text)=>{const e=document.createElementNS('http://www.w3.org/2000/svg',tag);
    for(const k in its)e.setAttribute(k,its[k]);if(text)e.textContent=text;svg.append(e)};
  const x=i=>w-(history.length-1-i)*w/119,y=v=>h-v/most*(h-14);
  const line=history.map((v,i)=>x(i).toFixed(1)+','+y(v).toFixed(1)).join(' ');
  make('polygon',{points:x(0)+','+h+' '+line+' '+w+','+h,fill:'#48c4'});
  make('polyline',{points:line,fill:'none',stroke:'#48c','stroke-width':2,'vector-effect':'non-scaling-stroke'});
  make('line',{x1:0,x2:w,y1:h,y2:h,stroke:'#8888'});
  svg.setAttribute('aria-label','answers per second; now '+number(rate)+', at most '+number(most));
  const at=svg.nextElementSibling;if(at.id!='scale'){const p=document.createElement('div');p.id='scale';
    p.className='quiet';svg.after(p)}
  id('scale').textContent='now '+number(rate)+', at most '+number(most)+' in the last '+long(history.length)}
function routes(s,now){
  let all=0;
  const rows=s.routes.map(r=>{
    const rate=then&&r.path in before?(r.answered-before[r.path])/(now-then)*1e3:null;
    before[r.path]=r.answered;all+=rate||0;
    const others=Object.entries(r.answers).filter(a=>a[0]!='200').map(a=>a[0]+': '+number(a[1])).join(', ');
    const row=document.createElement('tr');
    [[r.path],[r.name,'less'],[r.under_way],[number(r.answered)],[rate===null?'–':number(rate)],
     [time(r.mean_seconds),'less'],[time(r.p50_at_most)],[time(r.p99_at_most)],[others]]
      .forEach(([text,kind])=>add('td',row,text,kind));
    return row});
  id('routes').replaceChildren(...rows);
  if(then)draw(all)}
function dots(d,box){
  const line=add('div',box,undefined,'dots');
  for(const r of d.each){const dot=add('span',line,r.rank<0?'?':r.rank,'dot '+r.state);
    dot.title='rank '+r.rank+', version '+r.version+': '+r.state+(r.calls?', '+r.calls+' calls':'')}
  for(let i=d.each.length;i<d.wanted;i++)add('span',line,'–','dot missing').title='a replica is missing'}
function versions(d,box){
  const t=add('table',add('div',box,undefined,'wide')),head=add('tr',add('thead',t)),body=add('tbody',t);
  for(const h of ['version','part','replicas','served','failed','p50','p99'])add('th',head,h);
  d.versions.forEach((v,i)=>{const row=add('tr',body);
    for(const c of [v.version+(i?' (canary)':''),Math.round(v.weight*100)+' %',v.replicas,number(v.served),
      number(v.failed),time(v.p50_ms/1e3),time(v.p99_ms/1e3)])add('td',row,c)})}
function deployments(s){
  const seen={},root=document.createElement('div'),problems=[];
  for(const r of s.routes){
    const d=r.deployment,name=d?d.name||r.name:r.name;
    if((!d&&!r.problem)||name in seen)continue;
    seen[name]=1;
    const box=add('div',root,undefined,'box');add('b',box,name);
    if(!d){add('span',box,r.problem,'bad');problems.push(name+': '+r.problem);continue}
    const old=r.age_seconds>=10;
    if(old)problems.push(name+': '+r.problem);
    else if(!d.ready)problems.push(name+' is not ready'+(d.problem?': '+d.problem:''));
    add('span',box,d.replicas+' of '+d.wanted+' replicas'+(d.starting?', '+d.starting+' starting':'')+
      ' · '+d.queued+' in the queue · '+d.running+' running',d.ready&&!old?'':'bad');
    if(d.change)add('div',box,d.change);
    if(d.problem)add('div',box,d.problem,'bad');
    if(r.problem)add('div',box,r.problem,old?'bad':'quiet');
    dots(d,box);versions(d,box);
    const rare=[['failed','failed'],['retried','run again'],['refused','refused'],['expired','expired'],
      ['cancelled','cancelled'],['overdue','overdue']].filter(k=>d[k[0]]).map(k=>number(d[k[0]])+' '+k[1]).join(' · ');
    add('div',box,'mean batch '+(d.batches?number(d.served/d.batches):'–')+(rare?' · '+rare:''),'quiet')}
  const old=id('deployments');old.replaceChildren();
  if(Object.keys(seen).length){add('h2',old,'Deployments');
    add('div',old,'Each square is a replica with its rank: green is idle, blue works, orange starts or ends, a '+
      'dashed one is missing.','quiet');
    old.append(root)}
  return problems}
async function look(){
  try{
    const answer=await fetch('api/status'+location.search);
    if(!answer.ok)
      throw new Error(answer.status==401?'the page needs ?token=… in its address':'status '+answer.status);
    const s=await answer.json(),now=performance.now();
    id('about').textContent=s.servers.map(v=>v.url+(s.servers.length>1?' (rank '+v.rank+')':'')+' · up '+
      long(v.seconds)+' · '+v.connections+' connections'+(s.servers.length>1?' · '+number(v.answered)+' answered':'')+
      (v.refused?' · '+number(v.refused)+' requests refused':'')).join('; ');
    routes(s,now);
    const problems=deployments(s),bad=problems.length>0||s.draining;
    id('verdict').textContent=s.draining?'The server is about to end.':bad?problems.join('; '):'All is well.';
    id('verdict').className=bad?'bad':'';
    then=now;
  }catch(e){id('verdict').textContent='No answer: '+e.message;id('verdict').className='bad'}
}
look();setInterval(look,1000);
</script></body></html>
)html";

inline constexpr std::string_view docs_page = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="data:,"><title>manta: try a call</title>
<style>
:root{color-scheme:light dark;--line:#8886}
body{font:15px/1.5 system-ui,sans-serif;max-width:54rem;margin:1.5rem auto;padding:0 1rem}
nav a{margin-right:1rem}section{border:1px solid var(--line);border-radius:.5rem;padding:.6rem 1rem;margin:1rem 0}
h3{margin:0;font-family:monospace;font-size:1rem;overflow-wrap:anywhere}p{margin:.3rem 0}
label{display:block;margin:.3rem 0}input{font:13px monospace}
textarea{width:100%;box-sizing:border-box;font:13px monospace}
pre{overflow:auto;background:#8882;padding:.5rem;border-radius:.3rem;max-height:20rem}pre:empty{display:none}
button{margin:.4rem .4rem .4rem 0}.quiet{opacity:.7}
</style></head><body>
<h1>Try a call</h1><nav><a data-to="status">status</a><a data-to="openapi.json">openapi.json</a></nav>
<p>Each route takes a value in JSON and answers one. The text below a route is an example that fits its types; change
it, and call. Errors are objects with a text, <code>{"error": ".."}</code>.</p><div id="routes">…</div>
<script>
for(const a of document.querySelectorAll('[data-to]'))a.href=a.dataset.to+location.search;
function add(tag,parent,text,kind){const e=document.createElement(tag);
  if(text!==undefined)e.textContent=text;if(kind)e.className=kind;parent.append(e);return e}
let schemas={};
function sample(s){
  if(s&&s.$ref)s=schemas[s.$ref.split('/').pop()];
  if(!s)return null;if(s.enum)return s.enum[0];
  const kind=Array.isArray(s.type)?s.type.find(t=>t!='null'):s.type||(s.anyOf&&sample(s.anyOf[0]));
  switch(kind){case'object':{const o={};for(const k in s.properties||{})o[k]=sample(s.properties[k]);return o}
  case'array':if(s.prefixItems)return s.prefixItems.map(sample);
    return s.items?Array(Math.min(3,Math.max(2,s.minItems||0))).fill().map(()=>sample(s.items)):[];
  case'string':return'text';case'boolean':return true;case'integer':return Math.max(1,s.minimum||1);
  case'number':return 1.5;default:return kind===undefined?null:kind}}
function operation(path,method,its,token){
  const box=add('section',document.getElementById('routes')),values={};
  add('h3',box,method.toUpperCase()+' '+path);
  if(its.summary)add('p',box,its.summary);
  if(its.description)add('p',box,its.description,'quiet');
  for(const p of its.parameters||[]){const l=add('label',box,p.name+' ('+p.in+') ');
    values[p.name]=[p,add('input',l)];const v=p.required?sample(p.schema):'';
    values[p.name][1].value=typeof v=='object'?JSON.stringify(v):v}
  const content=its.requestBody&&its.requestBody.content,kind=content&&Object.keys(content)[0];
  const its_content=kind&&content[kind];let body;
  if(content){body=add('textarea',box);body.rows=4;
    body.value=its_content.example!==undefined?JSON.stringify(its_content.example):
      kind=='application/json'?JSON.stringify(sample(its_content.schema)):'';
    if(its_content.schema){const d=add('details',box);add('summary',d,'types');
      add('pre',d,JSON.stringify(its_content.schema,null,1))}}
  const go=add('button',box,'call'),stop=add('button',box,'stop'),out=add('pre',box,'');stop.hidden=true;
  go.onclick=async()=>{
    const begin=performance.now(),end=new AbortController();stop.hidden=false;stop.onclick=()=>end.abort();
    let at=path;const query=new URLSearchParams(location.search);
    for(const n in values){const [p,input]=values[n];
      if(p.in=='path')at=at.replace('{'+n+'}',encodeURIComponent(input.value));
      else if(input.value!=='')query.append(n,input.value)}
    const q=query.toString();out.textContent='…';
    try{
      const r=await fetch(at+(q?'?'+q:''),{method:method.toUpperCase(),signal:end.signal,
        headers:body?{'Content-Type':kind}:{},body:body?body.value:undefined});
      const first=r.status+' after '+(performance.now()-begin).toFixed(1)+' ms\n';out.textContent=first;
      const type=r.headers.get('Content-Type')||'';
      if(!/json|text|event/.test(type)){out.textContent=first+(await r.blob()).size+' bytes of '+type;return}
      const read=r.body.getReader(),decode=new TextDecoder();
      for(;;){const part=await read.read();if(part.done)break;out.textContent+=decode.decode(part.value,{stream:true})}
    }catch(e){out.textContent+='\n'+e}finally{stop.hidden=true}}}
(async()=>{
  const r=await fetch('openapi.json'+location.search),root=document.getElementById('routes');
  if(!r.ok){root.textContent=r.status==401?'The page needs ?token=… in its address.':'status '+r.status;return}
  const api=await r.json();schemas=api.components.schemas;root.textContent='';
  for(const group of api.tags){let begun=false;
    for(const path in api.paths)for(const method in api.paths[path]){
      const its=api.paths[path][method];if(!its.tags||its.tags[0]!=group.name)continue;
      if(!begun){begun=true;add('h2',root,group.name);add('p',root,group.description,'quiet')}
      operation(path,method,its)}}
})();
</script></body></html>
)html";

}  // namespace manta::serve::detail
