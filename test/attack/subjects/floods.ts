/** One tenant asks for more than its share; the other one must be served as before. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { type Attack, held, type Subject } from '../attack.ts';
import { done, named, type Scene } from '../scene.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
/** Milliseconds the victim may wait for a small request; a busy machine needs some, a held event loop needs seconds. */
const PATIENCE_MS = 2_000;
/** What the server may need in a flood, and for many YAML bodies at once. */
const MEMORY_MB = 1_000;
const YAML_MEMORY_MB = 600;

/** The victim asks again and again while the attack goes on; its longest wait decides. */
async function undisturbed(
  scene: Scene,
  attack: (signal: AbortSignal) => Promise<unknown>,
  memoryMb: number,
): Promise<void> {
  const stop = new AbortController();
  let longest = 0;
  let peak = 0;
  let failures = 0;
  const victim = (async () => {
    while (!stop.signal.aborted) {
      const started = performance.now();
      const answer = await scene.blue.http.get('/api/v1/namespaces/default');
      longest = Math.max(longest, performance.now() - started);
      if (answer.status !== 200) failures++;
      peak = Math.max(peak, residentMb(scene.pid()));
      await delay(20);
    }
  })();
  try {
    await Promise.race([attack(stop.signal), delay(60_000)]);
  } finally {
    stop.abort();
    await victim;
  }
  held(failures === 0, `${failures} requests of the victim failed`);
  held(longest < PATIENCE_MS, `the victim waited ${longest.toFixed(0)} ms`);
  held(peak < memoryMb, `the server needed ${peak.toFixed(0)} MB`);
}

function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

function floods(
  name: string,
  attack: (scene: Scene, signal: AbortSignal) => Promise<unknown>,
  memoryMb = MEMORY_MB,
): Attack {
  return { name, run: (scene) => undisturbed(scene, (signal) => attack(scene, signal), memoryMb) };
}

const times = <T>(count: number, act: (i: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: count }, (_, i) => act(i)));

function sockets({ url, ca }: Scene, count: number, first: string) {
  const { hostname, port } = new URL(url);
  return Array.from({ length: count }, () => {
    const socket = connect({
      host: hostname,
      port: Number(port),
      ca,
      servername: 'localhost',
      ALPNProtocols: ['http/1.1'],
    });
    socket.on('error', () => {});
    socket.on('secureConnect', () => socket.write(first));
    return socket;
  });
}

async function manyColumns({ red }: Scene): Promise<void> {
  const group = 'columns.example.com';
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const columns = Array.from({ length: 300 }, (_, i) => ({ name: `c${i}`, type: 'string', jsonPath: '.spec[*][*]' }));
  await red.http.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    ...named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `wides.${group}`),
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'wides', kind: 'Wide' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          additionalPrinterColumns: columns,
        },
      ],
    },
  });
  const spec = Array.from({ length: 1_000 }, () => Array.from({ length: 400 }, () => 1));
  await red.http.post(`/apis/${group}/v1/wides`, { ...named(`${group}/v1`, 'Wide', 'a'), spec });
  await red.http.get(`/apis/${group}/v1/wides`, {
    headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
  });
}

export const floodAttacks: Subject = {
  name: 'floods',
  attacks: [
    floods(
      'sends 24 YAML bodies of 3 MB at once',
      ({ red }) => {
        const body = Array.from({ length: 140_000 }, (_, i) => `k${i}: {a: [1, 2]}`)
          .join('\n')
          .slice(0, 3_000_000);
        return times(24, () => red.http.post(MAPS, body, { contentType: 'application/yaml' }));
      },
      YAML_MEMORY_MB,
    ),
    floods('sends 700,000 YAML documents ten times', ({ red }) =>
      times(10, () => red.http.post(MAPS, '---\n'.repeat(700_000), { contentType: 'application/yaml' })),
    ),
    floods('applies 100,000 keys ten times', ({ red }) =>
      times(10, (i) =>
        red.http.patch(`${MAPS}/large${i}?fieldManager=x`, 'apply', {
          ...named('v1', 'ConfigMap', `large${i}`),
          data: Object.fromEntries(Array.from({ length: 100_000 }, (_, k) => [`k${k}`, 'v'])),
        }),
      ),
    ),
    floods('prints 300 columns of 400,000 values', manyColumns),
    floods('lists large objects 500 times at once', async ({ red }) => {
      await times(20, (i) =>
        red.http.post(MAPS, { ...named('v1', 'ConfigMap', `big${i}`), data: { a: 'x'.repeat(100_000) } }),
      );
      await times(500, async () => once((await red.http.open('GET', MAPS)).resume(), 'close'));
    }),
    floods('opens 500 streams on one HTTP/2 connection', async ({ red, url, ca }) => {
      const session = connectHttp2(url, { ca, servername: 'localhost' });
      session.on('error', () => {});
      const ask = () =>
        new Promise<void>((resolve) => {
          const stream = session.request({ ':path': `/clusters/red${MAPS}`, authorization: `Bearer ${red.token}` });
          stream.on('error', () => resolve()).on('close', () => resolve());
          stream.resume().end();
        });
      await times(500, ask);
      session.destroy();
    }),
    floods('opens 500 watches', async ({ red }) => {
      const answers = await times(500, () => red.http.open('GET', `${MAPS}?watch=1&timeoutSeconds=5`));
      for (const answer of answers) if (answer.status === 'fulfilled') answer.value.destroy();
    }),
    floods('writes 5,000 objects as fast as it can', ({ red }) =>
      times(32, async (lane) => {
        for (let i = 0; i < 150; i++) await red.http.post(MAPS, named('v1', 'ConfigMap', `flood-${lane}-${i}`));
      }),
    ),
    floods('guesses 5,000 tokens', ({ root }) =>
      times(32, async (lane) => {
        for (let i = 0; i < 150; i++) await root.http.get('/api/v1/pods', { token: `guess-${lane}-${i}` });
      }),
    ),
    floods('opens 300 connections and says nothing', async (scene) => {
      const opened = sockets(scene, 300, '');
      await delay(3_000);
      for (const socket of opened) socket.destroy();
    }),
    floods('opens 300 connections and never ends its headers', async (scene) => {
      const opened = sockets(scene, 300, 'GET /api HTTP/1.1\r\nhost: x\r\nx: ');
      await delay(3_000);
      for (const socket of opened) socket.destroy();
    }),
    floods('announces 100 bodies of 3 MB and sends none', async (scene) => {
      const head = `POST /clusters/red${MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${scene.red.token}\r\ncontent-type: application/json\r\ncontent-length: 3000000\r\n\r\n{`;
      const opened = sockets(scene, 100, head);
      await delay(3_000);
      for (const socket of opened) socket.destroy();
    }),
    floods('asks 100 times for a large answer and reads none', async (scene) => {
      await done(
        scene.red.http.put(`${MAPS}/unread`, {
          ...named('v1', 'ConfigMap', 'unread'),
          data: { a: 'x'.repeat(900_000) },
        }),
      ).catch(() =>
        scene.red.http.post(MAPS, { ...named('v1', 'ConfigMap', 'unread'), data: { a: 'x'.repeat(900_000) } }),
      );
      const head = `GET /clusters/red${MAPS}/unread HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${scene.red.token}\r\n\r\n`;
      const opened = sockets(scene, 100, head);
      for (const socket of opened) socket.pause();
      await delay(3_000);
      for (const socket of opened) socket.destroy();
    }),
  ],
};
