/** Brings k3s and its images to a machine. Copies go on in the background; as long as they do, nothing is asked of the machine. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { RookeryError } from '../../errors.ts';
import type { Host } from '../../machines/host.ts';
import type { HostFolders } from '../../machines/host-folders.ts';
import { type Transfer, Transfers } from '../../machines/transfers.ts';
import type { ClusterRequest, Progress } from '../provisioner.ts';
import { type K3sBinaries, type K3sBinary, sha256Of } from './binaries.ts';
import type { K3sSpec } from './config.ts';
import type { K3sMachine } from './machine.ts';
import type { MachineState } from './machine-state.ts';
import { HOME } from './scripts.ts';

interface Cargo {
  transfer: Transfer;
  /** What people call it. */
  what: string;
}

/** Before the name of an archive that was copied from here. */
const BROUGHT = /^[0-9a-f]{12}-/;

type Request = ClusterRequest<K3sSpec>;

export class Delivery {
  readonly #binaries: K3sBinaries;
  readonly #folders: HostFolders;
  readonly #pollMs: number;
  readonly #transfers = new Transfers();
  /** What is on its way, for each cluster. */
  readonly #cargo = new Map<string, Cargo[]>();
  readonly #sums = new Map<string, string>();

  constructor(binaries: K3sBinaries, folders: HostFolders, pollMs: number) {
    this.#binaries = binaries;
    this.#folders = folders;
    this.#pollMs = pollMs;
  }

  /** How far it is; undefined when nothing is on its way. */
  underWay(id: string, host: Host): Progress | undefined {
    const cargo = this.#cargo.get(id) ?? [];
    const left = cargo.map((one) => ({ ...one, state: this.#transfers.bring(host, one.transfer) }));
    for (const { state } of left) {
      if (state.state !== 'failed') continue;
      this.#cargo.delete(id);
      throw state.error;
    }
    const moving = left.filter(({ state }) => state.state === 'under way');
    if (moving.length === 0) {
      this.#cargo.delete(id);
      return undefined;
    }
    this.#cargo.set(
      id,
      moving.map(({ transfer, what }) => ({ transfer, what })),
    );
    const texts = moving.map(({ what, transfer, state }) => {
      const bytes = state.state === 'under way' ? state.bytes : transfer.size;
      return `${what}: ${megabytes(bytes)} of ${megabytes(transfer.size)} MB`;
    });
    return {
      phase: 'working',
      reason: 'Copying',
      message: `copying to ${host.identity}: ${texts.join(', ')}`,
      step: `Copying ${moving.map(({ what }) => what).join(' and ')}`,
      next: 'then k3s is started',
      lookAgainMs: this.#pollMs,
    };
  }

  async cancel(id: string, host: Host): Promise<void> {
    this.#cargo.delete(id);
    await this.#transfers.cancel(host);
  }

  /** Program and images; undefined when they are in place. */
  async bring(
    { id, spec, resolved }: Request,
    machine: K3sMachine,
    state: MachineState,
    isUpgrade: boolean,
    signal?: AbortSignal,
  ): Promise<Progress | undefined> {
    const wanted = resolved.image.split('sha256:')[1] ?? '';
    const isProgramWanted = state.binary !== wanted && (isUpgrade || !state.binary);
    const cargo: Cargo[] = [];
    let path: string | undefined;
    const name = `k3s-${wanted.slice(0, 12)}`;
    if (isProgramWanted && !state.brought.includes(name)) {
      const source = (await this.#binaries.here(spec.binary, signal)).find(({ sha256 }) => sha256 === wanted);
      if (source) {
        const { sha256, size } = source;
        const transfer = { file: source.path, path: `${HOME}/bin/${name}`, sha256, size, mode: 0o600 };
        cargo.push({ transfer, what: `k3s ${resolved.version}` });
      } else path = (await this.#onHost(machine, spec.binary, wanted, signal)).path;
    }
    const images = await this.#images(spec, state, isProgramWanted);
    cargo.push(...images.cargo);
    if (cargo.length > 0) {
      this.#cargo.set(id, cargo);
      return this.underWay(id, machine.host);
    }
    for (const file of images.onHost) await machine.copyImages(file, basename(file), signal);
    if (isProgramWanted) {
      await machine.dropImages(images.stale, signal);
      await machine.place(wanted, path, signal);
      state.binary = wanted;
    }
    return undefined;
  }

  async #onHost(
    machine: K3sMachine,
    path: string | undefined,
    sha256: string,
    signal?: AbortSignal,
  ): Promise<K3sBinary> {
    const found = (await this.#binaries.onHost(machine.host, path, signal)).find((binary) => binary.sha256 === sha256);
    if (found) return found;
    const message = `the k3s that was chosen (sha256 ${sha256.slice(0, 12)}…) is neither here nor on ${machine.host.identity} any more`;
    const hint = 'put it back on PATH or into ROOKERY_TOOLS, or ask for another version';
    throw new RookeryError('k3s.binary-missing', message, { class: 'retryable', hint });
  }

  /**
   * What k3s shall import. Releases call their archives the same, so each carries the beginning of its SHA-256 on the machine; another one
   * of the same name comes with another program, and the one before goes.
   */
  async #images(
    spec: K3sSpec,
    { brought }: MachineState,
    isProgramWanted: boolean,
  ): Promise<{ cargo: Cargo[]; onHost: string[]; stale: string[] }> {
    const cargo: Cargo[] = [];
    const onHost: string[] = [];
    const kept = new Set<string>();
    for (const file of spec.airgapImages ?? []) {
      const archive = basename(file);
      const there = brought.filter((name) => name === archive || name.replace(BROUGHT, '') === archive);
      if (there.length > 0 && !isProgramWanted) continue;
      const transfer = await this.#archive(file, `${spec.dataDir}/agent/images`);
      if (transfer) {
        const name = basename(transfer.path);
        kept.add(name);
        if (!brought.includes(name)) cargo.push({ transfer, what: `the images ${archive}` });
        continue;
      }
      for (const name of there) kept.add(name);
      if (there.every((name) => name === archive)) onHost.push(file);
    }
    return { cargo, onHost, stale: brought.filter((name) => BROUGHT.test(name) && !kept.has(name)) };
  }

  /** Undefined for a file that is not on this machine, or may not be taken from it. */
  async #archive(file: string, folder: string): Promise<Transfer | undefined> {
    const here = await stat(file).catch(() => undefined);
    if (!here || !(await this.#folders.allows(file))) return undefined;
    const key = `${file} ${here.size} ${here.mtimeMs} ${here.ino}`;
    const sha256 = this.#sums.get(key) ?? (await sha256Of(file));
    this.#sums.set(key, sha256);
    const path = `${folder}/${sha256.slice(0, 12)}-${basename(file)}`;
    return { file, path, sha256, size: here.size, mode: 0o600 };
  }
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
