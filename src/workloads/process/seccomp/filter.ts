/**
 * Which system calls a shell may make: all but those that administer the machine, that leave the namespaces it is in, or that are more often attacked
 * than used. Refused calls fail with EPERM, as they do for an ordinary user, so that programs go on.
 */
import {
  ARCHITECTURE,
  allow,
  argument,
  assemble,
  type Instruction,
  load,
  NUMBER,
  refuse,
  unless,
  when,
} from './bpf.ts';
import type { Architecture } from './syscalls.ts';

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const REFUSED = [
  // Keys of the kernel are not divided among namespaces.
  ...['add_key', 'request_key', 'keyctl'],
  // Programs in the kernel, and looking into it.
  ...['bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'],
  ...['init_module', 'finit_module', 'delete_module', 'create_module', 'get_kernel_syms', 'query_module'],
  ...['kexec_load', 'kexec_file_load', 'reboot', 'syslog', 'lookup_dcookie', 'fanotify_init'],
  // Other namespaces and other views of the file system.
  ...['setns', 'unshare', 'mount', 'umount2', 'pivot_root', 'chroot', 'open_by_handle_at'],
  ...['open_tree', 'open_tree_attr', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr'],
  // The machine as a whole.
  ...['swapon', 'swapoff', 'acct', 'quotactl', 'quotactl_fd', 'sethostname', 'setdomainname', 'vhangup'],
  ...['settimeofday', 'clock_settime', 'iopl', 'ioperm', 'modify_ldt', 'uselib', 'ustat', 'sysfs', '_sysctl'],
];

/** New namespaces for mounts, control groups, host name, IPC, users, processes, network. */
const NAMESPACE_FLAGS = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000;
/** Ordinary Linux, its 32-bit form, both with the kernel's 2.6 version number, and the question which one it is. */
const PERSONALITIES = [0, 0x0008, 0x20000, 0x20008, 0xffffffff];
/** Unix, IPv4, IPv6, and netlink to ask for addresses. Others (vsock to the hypervisor) are not divided by network namespaces. */
const SOCKET_FAMILIES = [1, 2, 10, 16];
/** Puts characters into a terminal as if they had been typed; pastes in a console. */
const TERMINAL_REQUESTS = [0x5412, 0x541c];

export function shellFilter({ audit, foreignFrom, numbers }: Architecture): Buffer {
  const call = (name: string, then: readonly Instruction[]): Instruction[] => {
    const number = numbers[name];
    return number === undefined ? [] : when('equal', number, then);
  };
  return assemble([
    load(ARCHITECTURE),
    ...unless('equal', audit, [refuse(EPERM)]),
    load(NUMBER),
    ...(foreignFrom === undefined ? [] : when('atLeast', foreignFrom, [refuse(EPERM)])),
    ...REFUSED.flatMap((name) => call(name, [refuse(EPERM)])),
    // Its flags are behind a pointer, where a filter cannot look: the C library then calls clone.
    ...call('clone3', [refuse(ENOSYS)]),
    ...call('clone', [load(argument(0)), ...when('anyBit', NAMESPACE_FLAGS, [refuse(EPERM)]), allow()]),
    ...call('personality', onlyOneOf(0, PERSONALITIES, EPERM)),
    ...call('socket', onlyOneOf(0, SOCKET_FAMILIES, EAFNOSUPPORT)),
    ...call('ioctl', [
      load(argument(1)),
      ...TERMINAL_REQUESTS.flatMap((value) => when('equal', value, [refuse(EPERM)])),
      allow(),
    ]),
    allow(),
  ]);
}

function onlyOneOf(index: number, values: readonly number[], errno: number): Instruction[] {
  return [load(argument(index)), ...values.flatMap((value) => when('equal', value, [allow()])), refuse(errno)];
}
