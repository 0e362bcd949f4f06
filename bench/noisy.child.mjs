/**
 * One noisy client of one cluster, in a process of its own: several HTTP/2 connections, many requests at a time on each,
 * the next one as soon as one is answered. Arguments: origin, path of the cluster, token, what to do, connections,
 * requests at a time. Says how many were answered when it is asked to end.
 */
import { connect } from 'node:http2';

const [origin, prefix, token, what, connections, concurrency] = process.argv.slice(2);
const MAPS = `${prefix}/api/v1/namespaces/default/configmaps`;
const HEADERS = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const WINDOW = 4 * 1024 * 1024;
let made = 0;

const REQUESTS = {
  lists: () => ({ headers: { ':path': MAPS } }),
  gets: () => ({ headers: { ':path': `${MAPS}/noise-1` } }),
  writes: () => ({
    headers: { ':method': 'POST', ':path': MAPS },
    body: configMap(`write-${process.pid}-${made++}`, 20_000),
  }),
  mixed: () => REQUESTS[['lists', 'gets', 'writes'][made++ % 3]](),
  strangers: () => ({ headers: { ':path': MAPS, authorization: 'Bearer wrong' } }),
};

function configMap(name, size) {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'x'.repeat(size) } });
}

const answered = {};
let isOver = false;

function ask(session) {
  if (isOver) return;
  const { headers, body } = REQUESTS[what]();
  const stream = session.request({ ...HEADERS, ...headers });
  stream.on('response', ({ ':status': status }) => {
    answered[status] = (answered[status] ?? 0) + 1;
  });
  stream.on('data', () => {});
  stream.on('error', () => {});
  stream.on('close', () => ask(session));
  stream.end(body);
}

for (let i = 0; i < Number(connections); i++) {
  // Windows as large as those of Go's clients: it shall be the server that is busy.
  const session = connect(origin, { rejectUnauthorized: false, settings: { initialWindowSize: WINDOW } });
  session.on('error', (error) => process.send?.({ error: String(error) }));
  session.once('connect', () => {
    session.setLocalWindowSize(WINDOW * 8);
    for (let n = 0; n < Number(concurrency) / Number(connections); n++) ask(session);
  });
}
process.on('message', () => {
  isOver = true;
  process.send({ answered }, () => process.exit(0));
});
process.on('disconnect', () => process.exit(1));
process.send({ started: true });
