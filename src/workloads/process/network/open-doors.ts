/**
 * Sockets inside a network namespace that this process serves. A short-lived child enters the namespace, listens there and hands the open sockets over;
 * no process stays behind. The namespace lives as long as a process is in it or this process holds it, and goes with both.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket as UdpSocket } from 'node:dgram';
import { isIP, type Server } from 'node:net';
import { RookeryError } from '../../../errors.ts';
import { PERL } from '../seccomp/load-filter.ts';

/** An address and port inside the namespace. */
export interface Door {
  protocol: 'tcp' | 'udp';
  address: string;
  port: number;
}

export type OpenDoor = { server: Server } | { socket: UdpSocket } | { error: string };

const UP_AND_RUNNING = 0x49;
/**
 * Sets up the loopback device with the addresses given (`4=0a000007`), then becomes the command after `--`. The calls: SIOCSIFFLAGS, SIOCSIFADDR and
 * SIOCSIFNETMASK; for IPv6, whose device is a number, SIOCSIFADDR takes the length of the prefix too. EEXIST: it is there already.
 */
const LOOPBACK_UP = String.raw`use strict;
socket(my $v4, 2, 2, 0) or die "socket: $!\n";
sub set { my ($socket, $call, $data) = @_; ioctl($socket, $call, $data) or $!{EEXIST} or die "the loopback device: $!\n"; }
set($v4, 0x8914, pack("a16 s x22", "lo", ${UP_AND_RUNNING}));
while (defined(my $next = shift)) {
  last if $next eq "--";
  my ($family, $address) = split /=/, $next;
  if ($family == 4) {
    my $name = "lo:$address";
    set($v4, 0x8916, pack("a16 S n a4 x16", $name, 2, 0, pack("H*", $address)));
    set($v4, 0x891c, pack("a16 S n a4 x16", $name, 2, 0, "\xff" x 4));
  } else {
    socket(my $v6, 10, 2, 0) or die "socket: $!\n";
    set($v6, 0x8916, pack("a16 L l", pack("H*", $address), 128, 1));
  }
}
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\n";`;

/** A command that first sets up the loopback device with these addresses. */
export function withLoopback(addresses: readonly string[], command: readonly string[]): string[] {
  // Perl takes the first `--` for itself.
  return [PERL, '-e', LOOPBACK_UP, '--', ...aliasesFor(addresses), '--', ...command];
}

/** Run by Node, inside the namespace. */
const LISTEN = `const { createServer, isIPv6 } = require('node:net');
const { createSocket } = require('node:dgram');
const open = ({ protocol, address, port }) => new Promise((resolve, reject) => {
  const socket = protocol === 'udp' ? createSocket(isIPv6(address) ? 'udp6' : 'udp4') : createServer();
  socket.once('error', reject);
  if (protocol === 'udp') socket.bind(port, address, () => resolve(socket));
  else socket.listen(port, address, () => resolve(socket));
});
const send = (message, socket) => new Promise((resolve) => process.send(message, socket, resolve));
process.on('disconnect', () => process.exit(0));
(async () => {
  for (const [index, door] of JSON.parse(process.argv[1]).entries()) {
    await open(door).then((socket) => send({ index }, socket), (error) => send({ index, error: error.message }));
  }
  await send({});
})();`;

const DEADLINE_MS = 60_000;

/** `enter` is put before the child's command: it makes the namespace or enters it. `onEntered` is called while the child is in it. */
export function openDoors(
  enter: readonly string[],
  doors: readonly Door[],
  env: Record<string, string>,
  onEntered: (pid: number) => Promise<void>,
): Promise<OpenDoor[]> {
  const addresses = doors.map(({ address }) => address);
  const listen = [process.execPath, '-e', LISTEN, JSON.stringify(doors)];
  const [program = '', ...args] = [...enter, ...withLoopback(addresses, listen)];
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'], timeout: DEADLINE_MS });
  return received(child, onEntered).finally(() => child.kill('SIGKILL'));
}

function received(child: ChildProcess, onEntered: (pid: number) => Promise<void>): Promise<OpenDoor[]> {
  const open: OpenDoor[] = [];
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => reject(new Error(said.trim() || `its helper ended with ${signal ?? code}`)));
    child.on('message', ({ index, error }: { index?: number; error?: string }, handle) => {
      // Without an index it was all.
      if (index === undefined) onEntered(child.pid as number).then(resolve, reject);
      else open[index] = error === undefined ? asDoor(handle as Server | UdpSocket) : { error };
    });
  }).then(
    () => open,
    ({ message }: Error) => {
      for (const door of open) closeDoor(door);
      const text = `the network of the workspace cannot be made: ${message}`;
      throw new RookeryError('workspace.network', text, { class: 'retryable' });
    },
  );
}

function asDoor(handle: Server | UdpSocket): OpenDoor {
  return 'listening' in handle ? { server: handle } : { socket: handle };
}

function closeDoor(door: OpenDoor): void {
  if ('server' in door) door.server.close();
  if ('socket' in door) door.socket.close();
}

/** `lo` has 127.0.0.0/8 and ::1 by itself. */
function aliasesFor(addresses: readonly string[]): string[] {
  const foreign = [...new Set(addresses)].filter((address) => !address.startsWith('127.') && address !== '::1');
  return foreign.map((address) => {
    const family = isIP(address);
    return `${family}=${bytesOf(address, family)}`;
  });
}

function bytesOf(address: string, family: number): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  if (family === 4)
    return address
      .split('.')
      .map((part) => hex(Number(part), 2))
      .join('');
  const { hostname } = new URL(`http://[${address}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const words = (text = '') => text.split(':').filter(Boolean);
  const [front, back] = [words(head), words(tail)];
  const zeros = Array(8 - front.length - back.length).fill('0');
  return [...front, ...zeros, ...back].map((word) => hex(Number.parseInt(word, 16), 4)).join('');
}
