/**
 * The contract of `src/workloads/workload.ts` as tests, for any workload on any world. Call it at the top level of a Vitest file.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Terminal, Workload, WorkloadRequest } from '../../../src/workloads/workload.ts';

export interface WorkloadUnderTest {
  /** A new instance that knows only what is on disk and in the world, as after a crash of ours. */
  open(): Workload;
  /** What a step needs to run here. */
  step(id: string): WorkloadRequest['step'];
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
  /** Whether CPU and memory limits hold here. */
  limits: boolean;
}

const LONG = { timeout: 120_000 };

export function workloadConformance(title: string, make: () => Promise<WorkloadUnderTest>): void {
  describe(`workload: ${title}`, () => {
    let world: WorkloadUnderTest;
    beforeAll(async () => {
      world = await make();
    }, 120_000);
    afterAll(() => world?.close(), 120_000);

    const request = (id: string, more: Partial<WorkloadRequest> = {}): WorkloadRequest => ({
      id: `conformance-${id}`,
      name: `ws-${id}`,
      step: world.step('intro'),
      kubeconfig: `# of ${id}\n`,
      ...more,
    });
    const ready = async (wanted: WorkloadRequest, workload = world.open()): Promise<Workload> => {
      for (const end = Date.now() + 60_000; ; ) {
        const state = await workload.ensure(wanted);
        if (state.phase === 'ready') return workload;
        if (state.phase === 'refused' || Date.now() > end) throw new Error(JSON.stringify(state));
        await new Promise((resolve) => setTimeout(resolve, state.lookAgainMs ?? 100));
      }
    };
    const say = (workload: Workload, wanted: WorkloadRequest, command: string) =>
      workload.run(wanted, command, { timeoutMs: 30_000 });
    const gone = async (wanted: WorkloadRequest, workload = world.open()) => {
      for (const end = Date.now() + 60_000; ; ) {
        const removal = await workload.remove(wanted);
        if (removal.isDone) return removal;
        if (Date.now() > end) throw new Error(JSON.stringify(removal));
        await new Promise((resolve) => setTimeout(resolve, removal.lookAgainMs ?? 100));
      }
    };

    it('can be used here', LONG, async () => {
      expect(await world.open().probe()).toMatchObject({ isUsable: true });
      expect(await world.leftovers()).toEqual([]);
    });

    it('runs commands in a home with the kubeconfig, the files and the environment of the step', LONG, async () => {
      const step = {
        ...world.step('intro'),
        env: { COLOUR: 'red blue' },
        files: [{ path: 'bin/hi', content: 'echo hi', mode: '0755' }],
      };
      const wanted = request('one', { step });
      const workload = await ready(wanted);
      expect(await say(workload, wanted, 'cat "$KUBECONFIG"')).toMatchObject({ code: 0, stdout: '# of one\n' });
      expect(await say(workload, wanted, 'cd; sh bin/hi; echo "$COLOUR"')).toMatchObject({ stdout: 'hi\nred blue\n' });
      expect(await say(workload, wanted, 'exit 7')).toMatchObject({ code: 7 });
      expect((await workload.inventory()).filter(({ ref }) => ref.id === wanted.id)).not.toEqual([]);
      await gone(wanted);
      expect(await world.leftovers()).toEqual([]);
      expect((await gone(wanted)).removed).toEqual([]);
    });

    it('brings what steps before bring to whoever jumped over them', LONG, async () => {
      const file = (path: string) => ({ path, content: `${path}\n` });
      const step = { ...world.step('intro'), files: [file('own')], earlierFiles: [file('earlier')] };
      const wanted = request('jumped', { step });
      expect(await say(await ready(wanted), wanted, 'cd; cat own earlier')).toMatchObject({ stdout: 'own\nearlier\n' });
      await gone(wanted);
    });

    it('keeps what was written over suspend, and over a crash of ours', LONG, async () => {
      const wanted = request('kept');
      let workload = await ready(wanted);
      await say(workload, wanted, 'echo precious > ~/work');
      await workload.suspend(wanted);
      workload = await ready(wanted, world.open());
      expect(await say(workload, wanted, 'cat ~/work')).toMatchObject({ stdout: 'precious\n' });
      await gone(wanted);
      expect(await world.leftovers()).toEqual([]);
    });

    it('gives a terminal that is one: size, input, output, end', LONG, async () => {
      const wanted = request('tty');
      const workload = await ready(wanted);
      const terminal = await workload.terminal(wanted, { columns: 77, rows: 21 });
      const screen = watch(terminal);
      terminal.write('stty size; echo $((6*7))\r');
      await expect.poll(screen.text, { timeout: 20_000 }).toMatch(/21 77[\s\S]*\b42\b/);
      terminal.resize(100, 30);
      terminal.write('stty size\r');
      await expect.poll(screen.text, { timeout: 20_000 }).toContain('30 100');
      terminal.write('exit 3\r');
      await expect.poll(screen.ended, { timeout: 20_000 }).toBe(true);
      await gone(wanted);
      expect(await world.leftovers()).toEqual([]);
    });

    it('ends what runs when it is suspended or removed', LONG, async () => {
      const wanted = request('busy');
      const workload = await ready(wanted);
      const terminal = await workload.terminal(wanted, { columns: 80, rows: 24 });
      const screen = watch(terminal);
      terminal.write('echo begun; sleep 1000\r');
      await expect.poll(screen.text, { timeout: 20_000 }).toContain('begun');
      await workload.suspend(wanted);
      await expect.poll(screen.ended, { timeout: 20_000 }).toBe(true);
      await gone(wanted);
      expect(await world.leftovers()).toEqual([]);
    });

    it('keeps two workspaces apart: files, processes, credentials', LONG, async () => {
      const [one, two] = [request('left'), request('right')];
      const workload = await ready(one);
      await ready(two, workload);
      await say(workload, one, 'echo hidden-treasure > ~/secret');
      const terminal = await workload.terminal(one, { columns: 80, rows: 24 });
      terminal.write('sleep 54321\r');
      const treasures = 'grep -rls -e hidden-treasure -e "# of left" / --include=secret --include=config 2>/dev/null';
      expect((await say(workload, one, treasures)).stdout.trim().split('\n')).toHaveLength(2);
      const found = await say(workload, two, `${treasures}; ps -ef 2>/dev/null | grep -c "[s]leep 54321"; true`);
      expect(found.stdout.trim()).toBe('0');
      terminal.close();
      await gone(one);
      await gone(two);
      expect(await world.leftovers()).toEqual([]);
    });

    it('keeps apart what they write where everybody may write', LONG, async () => {
      const [one, two] = [request('near'), request('far')];
      const workload = await ready(one);
      await ready(two, workload);
      const places = '/tmp /var/tmp /dev/shm /run/lock';
      await say(workload, one, `for d in ${places}; do echo x > $d/conformance-left 2>/dev/null; done; true`);
      const { stdout } = await say(workload, two, `for d in ${places}; do ls $d/conformance-left; done 2>/dev/null`);
      expect(stdout).toBe('');
      await gone(one);
      await gone(two);
    });

    it('leaves a kubeconfig alone until there is another', LONG, async () => {
      const wanted = request('edited');
      const workload = await ready(wanted);
      await say(workload, wanted, 'echo "# mine" >> "$KUBECONFIG"');
      await ready(wanted, workload);
      expect(await say(workload, wanted, 'cat "$KUBECONFIG"')).toMatchObject({ stdout: '# of edited\n# mine\n' });
      const other = { ...wanted, kubeconfig: '# another\n' };
      await ready(other, workload);
      expect(await say(workload, other, 'cat "$KUBECONFIG"')).toMatchObject({ stdout: '# another\n' });
      await gone(wanted);
      expect(await world.leftovers()).toEqual([]);
    });

    it('starts no shell in a workspace that is suspended while it is asked for', LONG, async () => {
      const wanted = request('late');
      const workload = await ready(wanted);
      const asked = workload.terminal(wanted, { columns: 80, rows: 24 }).then(watch, () => undefined);
      await workload.suspend(wanted);
      const screen = await asked;
      if (screen) await expect.poll(screen.ended, { timeout: 20_000 }).toBe(true);
      await gone(wanted);
      expect(await world.leftovers()).toEqual([]);
    });

    it('says what happened, and what came since', LONG, async () => {
      const wanted = request('told');
      const workload = await ready(wanted);
      await say(workload, wanted, 'exit 7');
      const lines = await workload.logs(wanted);
      for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z /);
      expect(await workload.logs(wanted, lines.at(-1)?.split(' ', 1)[0] ?? '9999')).toEqual([]);
      await gone(wanted);
      expect(await workload.logs(wanted)).toEqual([]);
      expect(await world.leftovers()).toEqual([]);
    });

    it('holds limits where it can', LONG, async ({ skip }) => {
      if (!world.limits) skip('limits are not enforced here');
      const wanted = request('small', { limits: { memory: '64Mi', cpu: '500m' } });
      const workload = await ready(wanted);
      const { code } = await say(workload, wanted, 'head -c 300m /dev/zero | tail -c 300m >/dev/null');
      expect(code).not.toBe(0);
      await gone(wanted);
      expect(await world.leftovers()).toEqual([]);
    });
  });
}

function watch(terminal: Terminal) {
  let text = '';
  let isOver = false;
  terminal.onData((data) => {
    text += data;
  });
  terminal.onExit(() => {
    isOver = true;
  });
  return { text: () => text, ended: () => isOver };
}
