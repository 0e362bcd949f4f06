/** The page of a workspace: its steps on the left, its terminal on the right. */
import { Guide } from './guide.ts';
import { Screen } from './screen.ts';
import type { View } from './view.ts';

const POLL_MS = 3000;

const element = <T extends HTMLElement>(id: string): T => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found as T;
};

const screen = new Screen(element('terminal'), element('notice'), () => void post('wake').catch(() => {}));
const guide = new Guide({
  title: element('title'),
  steps: element('steps'),
  left: element('left'),
  content: element('content'),
  hints: element('hints'),
  checks: element('checks'),
  check: element('check'),
  next: element('next'),
  post,
  type: (text) => screen.type(text),
});

async function post(path: string, body: object = {}): Promise<Record<string, unknown>> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(String(answer.message ?? response.status));
  void refresh();
  return answer;
}

async function refresh(): Promise<void> {
  const response = await fetch('state').catch(() => undefined);
  if (!response) return screen.say('the connection is lost; trying again');
  if (response.status === 403) return screen.say('this page has expired: ask for a new link');
  if (response.status === 404) return screen.say('this workspace is gone');
  if (!response.ok) return;
  const view = (await response.json()) as View;
  guide.show(view);
  screen.follow(view);
}

setInterval(() => void refresh(), POLL_MS);
void refresh();
