/** The steps: instructions, hints, checks. */
import { Marked } from 'marked';
import type { View } from './view.ts';

export interface GuideParts {
  title: HTMLElement;
  steps: HTMLElement;
  left: HTMLElement;
  content: HTMLElement;
  hints: HTMLElement;
  checks: HTMLElement;
  check: HTMLButtonElement;
  next: HTMLButtonElement;
  post(path: string, body?: object): Promise<Record<string, unknown>>;
  /** Puts a command on the terminal's command line. */
  type(text: string): void;
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Instructions are Markdown; HTML in them is shown, not run. */
const marked = new Marked({
  renderer: {
    html: ({ text }) => escaped(text),
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      return /^https?:|^#/.test(href)
        ? `<a href="${escaped(href)}" target="_blank" rel="noreferrer">${text}</a>`
        : text;
    },
    image: ({ text }) => escaped(text),
  },
});

export class Guide {
  readonly #parts: GuideParts;
  #shown = '';
  #view: View | undefined;

  constructor(parts: GuideParts) {
    this.#parts = parts;
    parts.check.onclick = () => void this.#check();
    parts.next.onclick = () => void this.#go(this.#following()?.id);
    parts.content.onclick = ({ target }) => {
      const code = (target as HTMLElement).closest('pre')?.textContent;
      if (code && !getSelection()?.toString()) parts.type(code);
    };
  }

  show(view: View): void {
    this.#view = view;
    const { title, left, content, hints } = this.#parts;
    title.textContent = view.title;
    document.title = `${view.name} · ${view.title}`;
    left.textContent = view.expiresAt ? timeLeft(Date.parse(view.expiresAt) - Date.now()) : '';
    this.#showSteps(view);
    const text = `${view.content}\0${view.hints ?? ''}`;
    if (text !== this.#shown) {
      this.#shown = text;
      content.innerHTML = marked.parse(view.content, { async: false });
      content.parentElement?.scrollTo(0, 0);
      hints.hidden = !view.hints;
      hints.removeAttribute('open');
      const place = hints.querySelector('div');
      if (place) place.innerHTML = marked.parse(view.hints ?? '', { async: false });
    }
    this.#showChecks(view);
  }

  #showSteps(view: View): void {
    const buttons = view.steps.map(({ id, title, isPassed, locked }) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = title;
      button.disabled = view.role !== 'student' || locked !== undefined;
      if (locked) button.title = locked;
      if (isPassed) button.className = 'passed';
      if (id === view.currentStep) button.setAttribute('aria-current', 'step');
      button.onclick = () => void this.#go(id);
      return button;
    });
    this.#parts.steps.replaceChildren(...buttons);
  }

  #showChecks({ checks, role }: View): void {
    this.#parts.checks.hidden = checks.length === 0;
    const items = checks.map(({ name, passed, message }) => {
      const item = document.createElement('li');
      item.textContent = name;
      item.className = passed === undefined ? '' : passed ? 'passed' : 'failed';
      if (message && passed === false) {
        const small = document.createElement('small');
        small.textContent = message;
        item.append(small);
      }
      return item;
    });
    this.#parts.checks.querySelector('ul')?.replaceChildren(...items);
    this.#parts.check.hidden = role !== 'student';
    const isPassed = checks.every(({ passed }) => passed);
    const following = this.#following();
    this.#parts.next.hidden = !isPassed || role !== 'student' || !following || following.locked !== undefined;
  }

  #following(): View['steps'][number] | undefined {
    const steps = this.#view?.steps ?? [];
    return steps[steps.findIndex(({ id }) => id === this.#view?.currentStep) + 1];
  }

  async #go(step: string | undefined): Promise<void> {
    if (step) await this.#parts.post('step', { step }).catch((error: Error) => alert(error.message));
  }

  async #check(): Promise<void> {
    this.#parts.check.disabled = true;
    await this.#parts.post('check').catch((error: Error) => alert(error.message));
    this.#parts.check.disabled = false;
  }
}

function timeLeft(ms: number): string {
  if (ms <= 0) return 'time is up';
  const minutes = Math.ceil(ms / 60_000);
  return minutes >= 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min left` : `${minutes} min left`;
}
