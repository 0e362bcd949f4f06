/** `rookery cluster exec`: a command, or the user's shell, with KUBECONFIG set to one cluster. Its exit code is the command's. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import pc from 'picocolors';
import { RookeryError } from '../errors.ts';
import { findCluster, writeKubeconfig } from './cluster-lookup.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { wayOf } from './ways.ts';

export async function execInCluster(
  options: GlobalOptions & { namespace: string },
  name: string,
  command: string[],
): Promise<void> {
  const { namespace } = options;
  const { home, store, url, isHosted, ignoreInterrupts, close } = await connect(options);
  let isOpen = true;
  try {
    const cluster = await findCluster(store, namespace, name);
    const kubeconfig = await writeKubeconfig(home, { store, url }, namespace, name);
    const [program = process.env.SHELL || '/bin/sh', ...args] = command;
    if (command.length === 0) {
      process.stderr.write(pc.dim(`kubectl talks to cluster ${name} here (KUBECONFIG=${kubeconfig}); exit to leave\n`));
    }
    // A simulated cluster lives in the control plane that this command may be hosting.
    const mustServe = isHosted && wayOf(cluster)?.fidelity === 'simulated';
    ignoreInterrupts();
    if (!mustServe) {
      isOpen = false;
      await close();
    }
    process.exitCode = await run(program, args, { KUBECONFIG: kubeconfig, ROOKERY_CLUSTER: name });
  } finally {
    if (isOpen) await close();
  }
}

function run(program: string, args: string[], env: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    // Ctrl-C is for the program: it gets it from the terminal as we do.
    const ignore = () => {};
    process.on('SIGINT', ignore);
    const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } });
    const forward = () => child.kill('SIGTERM');
    process.on('SIGTERM', forward);
    const end = () => {
      process.off('SIGINT', ignore);
      process.off('SIGTERM', forward);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      end();
      reject(error.code === 'ENOENT' || error.code === 'EACCES' ? notRunnable(program, error) : error);
    });
    child.on('close', (code, signal) => {
      end();
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

function notRunnable(program: string, cause: Error): RookeryError {
  return new RookeryError('exec.program', `${program} cannot be run: it is not on this machine's PATH, or no program`, {
    class: 'user',
    hint: 'rookery cluster exec <name> -- kubectl get nodes',
    cause,
  });
}
