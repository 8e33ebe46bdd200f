// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Node's http client for clients_test.py: node clients.js PORT. Prints what it found as JSON.
const http = require('http');
const port = Number(process.argv[2]);
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
const sockets = new Set();

// `parts`: the body in several writes, which node sends in chunks, without a length.
function ask(path, parts, options = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, path, agent, method: parts ? 'POST' : 'GET', ...options }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode, text, type: answer.headers['content-type'] }));
      answer.on('error', reject);
    });
    request.on('socket', (socket) => sockets.add(socket));
    request.on('error', reject);
    for (const part of parts || []) request.write(part);
    request.end();
  });
}

(async () => {
  const numbers = [...Array(200).keys()];
  const doubled = await Promise.all(numbers.map((i) => ask('/double', [String(i)])));
  const long = 'é'.repeat(100000);
  const found = {
    doubled: doubled.filter((a, i) => a.status === 200 && a.text === String(2 * i)).length,
    sockets: sockets.size,
    chunks: (await ask('/add', ['[1', ', 2', '.5]'])).text,
    long: (await ask('/shout', [JSON.stringify(long)])).text === JSON.stringify(long + '!'),
    with_length: (await ask('/double', ['21'], { headers: { 'Content-Length': 2 } })).text,
    wrong: (await ask('/double', ['"x"'])).status,
    head: (await ask('/v2', null, { method: 'HEAD' })).text,
    lines: (await ask('/count', ['3'])).text,
    events: (await ask('/count', ['2'], { headers: { Accept: 'text/event-stream' } })).text,
    // Gives up in the middle of an answer; the next ones are whole.
    aborted: await new Promise((resolve) => {
      const request = http.request({ port, path: '/count', agent, method: 'POST' }, (answer) => {
        answer.once('data', () => answer.destroy());
        answer.on('close', () => resolve(true));
        answer.on('error', () => {});
      });
      request.on('error', () => resolve(true));
      request.end('100000000');
    }),
  };
  found.after = (await ask('/double', ['4'])).text;
  agent.destroy();
  console.log(JSON.stringify(found));
})();
