/** What keeps a machine from being reached, in the words of people: which of the many reasons it is, and what helps. */
import { RookeryError } from '../../errors.ts';

interface Meaning {
  code: string;
  is(error: NodeJS.ErrnoException & { level?: string }): boolean;
  means: string;
  hint: string;
}

const MEANINGS: Meaning[] = [
  {
    code: 'host.authentication-failed',
    is: ({ level }) => level === 'client-authentication',
    means: 'does not accept the key',
    hint: 'put the public key into ~/.ssh/authorized_keys of that user, or correct the Secret in keySecretRef',
  },
  {
    code: 'host.key-invalid',
    is: ({ message }) => /privateKey|encrypted private|unsupported key format/i.test(message),
    means: 'cannot be asked: the private key in the Secret cannot be read',
    hint: 'store a key that OpenSSH made, without a passphrase: ssh-keygen -t ed25519 -N ""',
  },
  {
    code: 'host.connection-refused',
    is: ({ code }) => code === 'ECONNREFUSED',
    means: 'refuses the connection: nothing listens at that port',
    hint: 'start its SSH server, or correct address and port',
  },
  {
    code: 'host.name-unknown',
    is: ({ code }) => code === 'ENOTFOUND' || code === 'EAI_AGAIN',
    means: 'has a name that cannot be resolved',
    hint: 'correct the address, or the DNS of this machine',
  },
  {
    code: 'host.timeout',
    is: ({ code, level }) =>
      level === 'client-timeout' || ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'].includes(code ?? ''),
    means: 'does not answer',
    hint: 'check that it is up, and the network and firewalls between',
  },
];

export function connectionError(identity: string, error: Error): RookeryError {
  const known = MEANINGS.find((meaning) => meaning.is(error));
  const { code, means, hint } = known ?? {
    code: 'host.unreachable',
    means: `cannot be reached (${error.message})`,
    hint: 'try it by hand with ssh',
  };
  return new RookeryError(code, `${identity} ${means}`, { class: 'retryable', hint, cause: error });
}

/** Not a matter of trying again: either the machine was made anew, or somebody stands in between. */
export function keyChanged(identity: string, known: string, seen: string): RookeryError {
  const message = `${identity} shows another key than before: known is ${known}, seen was ${seen}`;
  const hint =
    'if the machine was made anew, set host.ssh.hostKey to its new fingerprint; if not, somebody is in between';
  return new RookeryError('host.key-changed', message, { class: 'retryable', hint });
}

export function lost(identity: string, cause?: unknown): RookeryError {
  return new RookeryError('host.connection-lost', `the connection to ${identity} broke off`, {
    class: 'retryable',
    cause,
  });
}

export function timedOut(identity: string, timeoutMs: number): RookeryError {
  const message = `a script on ${identity} gave no answer in ${timeoutMs / 1000} s`;
  return new RookeryError('host.slow', message, { class: 'retryable' });
}
