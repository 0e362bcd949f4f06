/** The page of workspaces: links, cookies, and what a shell of one student reaches of another's. */
import { createHmac } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { type Attack, held, type Subject } from '../attack.ts';
import type { Scene } from '../scene.ts';

interface Reply {
  status: number;
  text: string;
  headers: IncomingMessage['headers'];
}

function ask(scene: Scene, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> {
  const { hostname, port } = new URL(scene.webUrl);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }));
    });
    sent.on('upgrade', (answer, socket) => {
      socket.destroy();
      resolve({ status: answer.statusCode ?? 101, text: '', headers: answer.headers });
    });
    sent.on('error', reject).end();
  });
}

function refusedPage(name: string, path: string, headers: Record<string, string> = {}, method = 'GET'): Attack {
  return {
    name,
    run: async (scene) => {
      const { status, text } = await ask(scene, path, headers, method);
      held(status >= 400 && status < 500, `answered ${status}: ${text.slice(0, 200)}`);
    },
  };
}

const claims = { namespace: 'default', name: 'a', uid: 'x', role: 'student', expiresAt: Date.now() + 3_600_000 };
const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
const guessed = `${payload}.${createHmac('sha256', '').update(payload).digest('base64url')}`;
const socket = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'eA==',
};

export const workspaces: Subject = {
  name: 'workspace pages',
  attacks: [
    refusedPage('opens a page without a link', '/w/default/a/'),
    refusedPage('opens a link signed with an empty key', `/open?link=${guessed}`),
    refusedPage('opens a link without a signature', `/open?link=${payload}.`),
    refusedPage('opens a link of 20,000 characters', `/open?link=${'a'.repeat(12_000)}`),
    refusedPage('shows a cookie it made itself', '/w/default/a/state', { cookie: `pass=${guessed}` }),
    refusedPage('opens a terminal without a link', '/w/default/a/terminal', socket),
    refusedPage('opens a terminal from another site', '/w/default/a/terminal', {
      ...socket,
      origin: 'https://evil.example',
    }),
    refusedPage('asks for a file outside the page', '/assets/../../../etc/passwd'),
    refusedPage('asks for a file by an encoded path', '/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd'),
    refusedPage(
      'asks for a step with an object as its name',
      '/w/default/a/step',
      { cookie: `pass=${guessed}` },
      'POST',
    ),
    {
      name: 'puts the page into a frame of another site',
      run: async (scene) => {
        const { headers } = await ask(scene, '/w/default/a/');
        const policy = String(headers['content-security-policy'] ?? '');
        held(
          policy.includes("frame-ancestors 'self'") || policy.includes("frame-ancestors 'none'"),
          `policy: ${policy}`,
        );
      },
    },
  ],
};
