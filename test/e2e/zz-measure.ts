import { acquire } from '../bed/services/service.ts';
import { loadKubeconfig, RemoteStore, listAll, Informer, type ResourceRef, type KubeObject } from '../../src/kube/index.ts';
const api = await acquire('kube-apiserver');
const connection = await loadKubeconfig({ file: api.env.KUBECONFIG });
const cms: ResourceRef = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const store = new RemoteStore({ connection });
const cm = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', labels: { a: 'b' } }, data: { a: 'x'.repeat(200) } });
const bench = async (label: string, n: number, conc: number, f: (i: number) => Promise<unknown>) => {
  let i = 0; const t0 = performance.now(); const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: conc }, async () => { while (i < n) await f(i++); }));
  const ms = performance.now() - t0; const c = process.cpuUsage(cpu);
  console.log(label, `${(n / ms * 1000).toFixed(0)}/s`, `client cpu ${((c.user + c.system) / n).toFixed(0)} µs/op`);
};
await bench('warm', 50, 8, (i) => store.create(cms, cm(`w-${i}`)));
await bench('create c=1', 300, 1, (i) => store.create(cms, cm(`c1-${i}`)));
await bench('create c=32', 3000, 32, (i) => store.create(cms, cm(`c32-${i}`)));
await bench('get c=32', 3000, 32, (i) => store.get(cms, { namespace: 'default', name: `c32-${i}` }));
await bench('patch c=32', 2000, 32, (i) => store.patch(cms, { namespace: 'default', name: `c32-${i}` }, { type: 'merge', body: { data: { z: '1' } } }));
await bench('create to 10k c=32', 7000, 32, (i) => store.create(cms, cm(`l-${i}`)));
let t0 = performance.now(); let all = await listAll(store, cms); console.log('listAll pages', all.items.length, (performance.now() - t0).toFixed(0), 'ms');
t0 = performance.now(); const one = await store.list(cms); console.log('list once', one.items.length, (performance.now() - t0).toFixed(0), 'ms');
globalThis.gc?.(); const before = process.memoryUsage();
const stop = new AbortController();
const informer = new Informer({ store, resource: cms });
t0 = performance.now(); void informer.run(stop.signal); await informer.whenSynced(); console.log('informer sync 10k (frozen, indexed)', (performance.now() - t0).toFixed(0), 'ms');
// watch latency
const lat: number[] = []; const sent = new Map<string, number>(); let got: (() => void) | undefined;
informer.addHandler({ updated: (o: KubeObject) => { const s = sent.get(o.metadata.name!); if (s) { lat.push(performance.now() - s); got?.(); } } });
for (let i = 0; i < 200; i++) { const p = new Promise<void>((r) => { got = r; }); const name = `c1-${i}`; sent.set(name, performance.now()); await Promise.all([store.patch(cms, { namespace: 'default', name }, { type: 'merge', body: { data: { t: `${i}` } } }), p]); }
lat.sort((a, b) => a - b); console.log('write→informer handler p50', lat[100]!.toFixed(1), 'p99', lat[197]!.toFixed(1), 'ms');
all = undefined as never; globalThis.gc?.(); console.log('rss', (process.memoryUsage().rss / 1e6).toFixed(0), 'heap', (process.memoryUsage().heapUsed / 1e6).toFixed(0), 'before', (before.heapUsed / 1e6).toFixed(0));
// event throughput
let events = 0; informer.addHandler({ updated: () => events++ }); 
t0 = performance.now(); await bench('patch burst c=32 with informer', 3000, 32, (i) => store.patch(cms, { namespace: 'default', name: `l-${i}` }, { type: 'merge', body: { data: { b: '2' } } }));
while (events < 3000) await new Promise((r) => setTimeout(r, 5)); console.log('all events in', (performance.now() - t0).toFixed(0), 'ms');
stop.abort(); await store.close(); await api.release(); process.exit(0);
