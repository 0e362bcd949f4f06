/**
 * A network namespace of its own for the whole run: whatever the attacked server is tricked into calling is on this machine, and
 * nothing leaves it. The addresses that attacks name are there, so that a call that should have been refused is heard.
 */
import { spawnSync } from 'node:child_process';

const MARK = 'ROOKERY_ATTACK_NETWORK';
/** The address of this machine's network card, as far as the attacked server can see. */
export const MACHINE = '10.99.0.1';

/** Addresses beside 127.0.0.0/8 and ::1 that lead to this machine, or that clouds serve credentials on. */
export const GUARDED = [
  '169.254.169.254',
  '100.100.100.200',
  '168.63.129.16',
  'fd00:ec2::254',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
];

export function isInOwnNetwork(): boolean {
  return process.env[MARK] === 'yes';
}

/** Runs this program again inside; its exit code. */
export function runInOwnNetwork(): number {
  const setup = [
    'set -e',
    'ip link set lo up',
    'ip link add host0 type veth peer name host1',
    `ip addr add ${MACHINE}/24 dev host0`,
    'ip link set host0 up',
    'ip link set host1 up',
    ...GUARDED.map((address) => `ip addr add ${address} dev lo`),
    'exec "$@"',
  ];
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const args = ['--net', '--', 'sh', '-c', setup.join('\n'), 'attack', ...program];
  const { status, error } = spawnSync('unshare', args, { stdio: 'inherit', env: { ...process.env, [MARK]: 'yes' } });
  if (error) throw new Error('make attack needs root, util-linux and iproute2', { cause: error });
  return status ?? 1;
}
