/** The same thing under another name: paths, hosts and requests that different readers read differently. */
import { connect, type TLSSocket } from 'node:tls';
import { type Attack, held, NotHeld, refused, type Subject } from '../attack.ts';
import { hasCanary, type Scene } from '../scene.ts';

/** Paths that lead from red to what is not red's, if any reader resolves them. */
const DETOURS = [
  '/clusters/red/../../api/v1/secrets',
  '/clusters/red/../blue/api/v1/secrets',
  '/clusters/red/%2e%2e/blue/api/v1/secrets',
  '/clusters/red/%2E%2E%2Fblue/api/v1/secrets',
  '/clusters/red/..%2f..%2fapi/v1/secrets',
  '/clusters/red/..%5cblue/api/v1/secrets',
  '/clusters/red//../blue/api/v1/secrets',
  '/clusters/red/clusters/blue/api/v1/secrets',
  '/clusters/red%00/../blue/api/v1/secrets',
  '/clusters/blue;red/api/v1/secrets',
  '/clusters/%62lue/api/v1/secrets',
  '/clusters/BLUE/api/v1/secrets',
  '/clusters/blue./api/v1/secrets',
  '/clusters//blue/api/v1/secrets',
  '/clusters/../api/v1/secrets',
  '/clusters/red/api/v1/../../../blue/api/v1/secrets',
  '/clusters/red/api/v1/namespaces/%2e%2e/%2e%2e/secrets',
  '//api/v1/secrets',
  '/./api/v1/secrets',
  '/%61pi/v1/secrets',
  '/api/v1/%73ecrets',
  '/api%2fv1%2fsecrets',
  '/api/v1/secrets/',
  '/api/v1/secrets?x=/../',
  '/api/v1/secrets#/clusters/red',
  '/api/v1/namespaces/kube-system/secrets/%2e%2e',
  '/API/v1/secrets',
  '/apis/../api/v1/secrets',
  '/clusters/\xc0\xae\xc0\xae/api/v1/secrets',
];

function detour(path: string): Attack {
  return {
    name: `asks for ${JSON.stringify(path)}`,
    run: async ({ url, ca, red }) => {
      const answers = await raw({ url, ca }, [request('GET', path, { authorization: `Bearer ${red.token}` })]);
      hidesOthers(answers);
    },
  };
}

function request(method: string, target: string, headers: Record<string, string>, body = ''): string {
  const lines = Object.entries({ host: 'localhost', connection: 'close', ...headers }).map(([k, v]) => `${k}: ${v}`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Bytes as they are, over a connection of their own; what came back until the server closed it. */
function raw({ url, ca }: Pick<Scene, 'url' | 'ca'>, parts: string[], servername = 'localhost'): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    const socket: TLSSocket = connect({
      host: hostname,
      port: Number(port),
      ca,
      servername,
      ALPNProtocols: ['http/1.1'],
    });
    const end = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(end, 10_000);
    socket.on('secureConnect', () => {
      for (const part of parts) socket.write(Buffer.from(part, 'latin1'));
    });
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.on('error', end).on('close', end);
  });
}

/** What is red's may be answered; what only others have may not. */
function hidesOthers(answers: string): void {
  if (hasCanary(answers) || /HTTP\/1\.1 5\d\d/.test(answers)) throw new NotHeld(answers.slice(0, 400));
}

/** Readers may disagree where such a request ends: the server refuses it, and does not read a second request out of it. */
function smuggled(name: string, headers: Record<string, string>, body: string): Attack {
  return {
    name,
    run: async ({ url, ca, red }) => {
      const first = request('POST', '/clusters/red/api/v1/namespaces/default/configmaps', {
        authorization: `Bearer ${red.token}`,
        connection: 'keep-alive',
        ...headers,
      });
      const answers = await raw({ url, ca }, [first + body]);
      const codes = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code));
      held(codes.length <= 1 && codes.every((code) => code === 400), `answered ${codes.join(' and ')}`);
    },
  };
}

const HIDDEN = 'GET /api/v1/secrets HTTP/1.1\r\nhost: localhost\r\n\r\n';

export const paths: Subject = {
  name: 'paths and requests',
  attacks: [
    ...DETOURS.map(detour),
    {
      name: "names blue as the TLS server and uses red's token",
      run: async ({ url, ca, red }) => {
        const ask = request('GET', '/api/v1/secrets', { authorization: `Bearer ${red.token}` });
        hidesOthers(await raw({ url, ca }, [ask], 'blue.clusters.rookery.internal'));
      },
    },
    {
      name: "uses an absolute target and another Host than the TLS server's name",
      run: async ({ url, ca, red }) => {
        const target = 'https://blue.clusters.rookery.internal/api/v1/secrets';
        const headers = { authorization: `Bearer ${red.token}`, host: 'blue.clusters.rookery.internal' };
        hidesOthers(await raw({ url, ca }, [request('GET', target, headers)]));
      },
    },
    smuggled(
      'sends Content-Length and Transfer-Encoding',
      { 'content-length': '4', 'transfer-encoding': 'chunked' },
      `0\r\n\r\n${HIDDEN}`,
    ),
    smuggled(
      'sends an obfuscated Transfer-Encoding',
      { 'transfer-encoding': 'xchunked', 'content-length': '3' },
      HIDDEN,
    ),
    smuggled('sends two lengths', { 'content-length': '0\r\ncontent-length: 90' }, HIDDEN),
    smuggled('sends a chunk with a negative size', { 'transfer-encoding': 'chunked' }, `-1\r\n\r\n${HIDDEN}`),
    smuggled('ends headers with bare line feeds', { 'content-length': '0\n\nGET /clusters/blue/api/v1/secrets' }, ''),
    {
      name: 'puts a header into a name that the answer repeats',
      run: async ({ red }) => {
        const name = encodeURIComponent('x\r\nset-cookie: a=b\r\n\r\n');
        const answer = await red.http.get(`/api/v1/namespaces/default/configmaps/${name}`);
        held(answer.headers['set-cookie'] === undefined, 'the header was set');
        refused(answer, 400, 404);
      },
    },
    {
      name: 'sends headers of 20 kB',
      run: async ({ url, ca }) => {
        const answers = await raw({ url, ca }, [request('GET', '/api', { 'x-large': 'a'.repeat(20_000) })]);
        held(answers.startsWith('HTTP/1.1 431'), `answered ${JSON.stringify(answers.slice(0, 200))} instead of 431`);
      },
    },
    ...['CONNECT', 'TRACE', 'PURGE', 'PROPFIND'].map((method) => ({
      name: `uses the method ${method}`,
      run: async ({ url, ca, red }: Scene) => {
        const headers = { authorization: `Bearer ${red.token}` };
        hidesOthers(await raw({ url, ca }, [request(method, '/api/v1/secrets', headers)]));
      },
    })),
  ],
};
