// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The page of manta::dashboard: one file without anything from elsewhere, fed by /api/state, with /report in a frame.
#pragma once

namespace manta::serve::detail {

inline constexpr const char* dashboard_page = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="data:,"><title>manta: live</title>
<style>
:root{color-scheme:light dark;--bg:#f3f4f6;--card:#fff;--ink:#1b2230;--soft:#5b6472;--line:#e2e5ea;--run:#2563c9;
--bad:#c8372d}
@media(prefers-color-scheme:dark){:root{--bg:#14171c;--card:#1d2229;--ink:#e6e9ee;--soft:#98a2b0;--line:#2d343e;
--run:#5b93ea}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
main{max-width:1180px;margin:0 auto;padding:20px;display:grid;gap:14px;grid-template-columns:repeat(4,1fr)}
h1{grid-column:1/-1;font-size:24px;margin:0}h1 small{font-weight:400;color:var(--soft);font-size:15px;display:block}
h2{font-size:16px;margin:0 0 8px}.bad{color:var(--bad)}.soft{color:var(--soft)}
section{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px;grid-column:1/-1;
min-width:0}
section.q{grid-column:span 1}section.h{grid-column:span 2}.big{font-size:27px;font-weight:650}
@media(max-width:760px){section.h{grid-column:span 2}main{grid-template-columns:repeat(2,1fr);padding:12px}
.less{display:none}}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
td,th{padding:5px 8px;text-align:left;border-bottom:1px solid var(--line)}th{color:var(--soft);font-weight:500}
td.n,th.n{text-align:right;white-space:nowrap}tr.task,.wait>div{cursor:pointer}
tr.task:hover,tr.task:focus,.wait>div:hover,.wait>div:focus{background:var(--line)}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px}
iframe{width:100%;height:80vh;border:1px solid var(--line);border-radius:10px;background:var(--card)}
#frame{grid-column:1/-1}ul{margin:0;padding-left:20px}a{color:var(--run)}
</style></head><body><main>
<h1><span id="title">manta</span><small id="about">waits for the first answer</small></h1>
<section class="q"><h2>Done</h2><div class="big" id="done">–</div><div class="soft" id="failed"></div></section>
<section class="q"><h2>Run</h2><div class="big" id="running">–</div><div class="soft" id="rate"></div></section>
<section class="q"><h2>Wait</h2><div class="big" id="waiting">–</div><div class="soft" id="why"></div></section>
<section class="q"><h2>Ranks</h2><div class="big" id="ranks">–</div><div id="silent"></div></section>
<section><h2>Longest running tasks</h2><div class="soft">A click on a task shows in which functions it is.</div>
<div class="wide"><table><thead><tr><th>task<th class="n">runs for<th class="n">rank<th class="less">host</tr></thead>
<tbody id="tasks"></tbody></table></div></section>
<section class="h"><h2>Calls that wait for actors</h2><div id="actors"></div></section>
<section class="h"><h2>Who waits for what</h2><div id="waits"></div></section>
<div id="frame"></div>
</main><script>
const id=name=>document.getElementById(name);
const number=n=>Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g,'\u202f');
const time=s=>s<0?'':s<1?(s*1e3).toFixed(0)+' ms':s<120?s.toFixed(1)+' s':
  s<7200?Math.round(s/60)+' min':(s/3600).toFixed(1)+' h';
function add(tag,parent,text,kind){const e=document.createElement(tag);
  if(text!==undefined)e.textContent=text;if(kind)e.className=kind;parent.append(e);return e}
const open=new Set();
function fold(row,stack,key){
  const show=()=>{stack.hidden=!open.has(key);row.setAttribute('aria-expanded',open.has(key))};
  row.tabIndex=0;
  row.onclick=()=>{open.has(key)?open.delete(key):open.add(key);show()};
  row.onkeydown=e=>{if(e.key==='Enter')row.onclick()};
  show();
}
function task(t){
  const name=t.function+(t.name&&t.name!==t.function?' "'+t.name+'"':''),key=t.rank+' '+name,body=id('tasks');
  const row=add('tr',body,undefined,'task');
  add('td',row,name);add('td',row,time(t.seconds),'n');add('td',row,t.rank,'n');add('td',row,t.host,'less');
  const stack=add('tr',body),cell=add('td',stack);cell.colSpan=4;
  add('pre',cell,t.stack.length?t.stack.join('\n'):'its functions are not known');
  fold(row,stack,key);
}
function wait(w){
  const box=add('div',id('waits'),undefined,'wait'),line=add('div',box,w.text+', '+time(w.seconds));
  const stack=add('pre',box,w.stack.length?w.stack.join('\n'):'its functions are not known');
  fold(line,stack,'wait '+w.rank+' '+w.text);
}
function list(where,texts,none){
  const box=id(where);box.replaceChildren();
  if(!texts.length)return add('div',box,none,'soft');
  const all=add('ul',box);for(const t of texts)add('li',all,t)}
function draw(s){
  const t=s.status,ranks=s.ranks,dead=ranks.filter(r=>r.is_dead),silent=ranks.filter(r=>!r.answers&&!r.is_dead);
  id('title').textContent=t.program||'manta';document.title=(t.program||'manta')+': live';
  id('about').textContent=(t.job?'job '+t.job+' · ':'')+ranks.length+(ranks.length===1?' rank':' ranks')+
    ' · runs for '+time(t.seconds);
  id('about').className='';
  id('done').textContent=number(t.done);id('failed').textContent=number(t.failed)+' failed';
  id('failed').className=t.failed?'bad':'soft';
  id('running').textContent=number(t.running);id('rate').textContent=t.rate?t.rate.toPrecision(3)+' end per second':'';
  id('waiting').textContent=number(t.waiting_for_room+t.waiting_for_inputs);
  id('why').textContent=number(t.waiting_for_room)+' for room, '+number(t.waiting_for_inputs)+' for inputs';
  const busy=ranks.filter(r=>r.tasks.length||r.is_in_driver).length;
  id('ranks').textContent=busy+' of '+ranks.length+' busy';
  id('silent').textContent=[silent.length?'no answer: '+silent.map(r=>r.rank).join(', '):'',
    dead.length?'dead: '+dead.map(r=>r.rank).join(', '):''].filter(Boolean).join(' · ');
  id('silent').className='bad';
  const tasks=ranks.flatMap(r=>r.tasks.map(x=>({...x,rank:r.rank,host:r.host})));
  for(const r of ranks)if(r.is_in_driver)
    tasks.push({function:'the driver\'s own code',name:'',seconds:-1,rank:r.rank,host:r.host,stack:r.driver});
  tasks.sort((a,b)=>b.seconds-a.seconds);
  const at=document.activeElement&&[...id('tasks').children].indexOf(document.activeElement);
  id('tasks').replaceChildren();
  tasks.slice(0,50).forEach(task);
  if(at>=0&&id('tasks').children[at])id('tasks').children[at].focus();
  if(!tasks.length){const row=add('tr',id('tasks'));add('td',row,'no task runs','soft').colSpan=4}
  list('actors',ranks.flatMap(r=>r.actors.map(a=>a.waiting_calls+' for '+a.name+' on rank '+r.rank)),'none');
  const waits=ranks.flatMap(r=>r.waits.map(w=>({...w,rank:r.rank}))).sort((a,b)=>b.seconds-a.seconds);
  list('waits',[],waits.length?'A click shows in which functions it waits.':'nobody waits');
  waits.slice(0,20).forEach(wait);
}
async function look(){
  try{
    const answer=await fetch('api/state'+location.search);
    if(!answer.ok)throw new Error(answer.status===401?'the page needs ?token=… in its address':'status '+answer.status);
    draw(await answer.json());
  }catch(e){id('about').textContent='No answer: '+e.message;id('about').className='bad'}
  setTimeout(look,2000);
}
function report(){const f=document.createElement('iframe');f.title='report';f.src='report'+location.search;
  id('frame').replaceChildren(f)}
look();report();setInterval(report,30000);
</script></body></html>
)html";

}  // namespace manta::serve::detail
