/**
 * Loads a filter into a process that then becomes the command. Node cannot make this call, and `setpriv` learned it only lately; Perl can, and belongs
 * to every Debian and Ubuntu.
 */
import { shellFilter } from './filter.ts';
import { architectures } from './syscalls.ts';

export const PERL = '/usr/bin/perl';

const PR_SET_SECCOMP = 22;
const SECCOMP_MODE_FILTER = 2;
/** `struct sock_fprog`: how many instructions, and where they are. The caller has set no-new-privileges. */
const PROGRAM = `my $filter = pack("H*", shift);
my $program = pack("S x![P] P", length($filter) / 8, $filter);
syscall(shift() + 0, ${PR_SET_SECCOMP}, ${SECCOMP_MODE_FILTER}, $program) == 0 or die "the system call filter cannot be loaded: $!\\n";
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n";`;

/** To be put before a command; undefined where there is no filter for the processor. */
export function filterLoader(arch: string = process.arch): string[] | undefined {
  const architecture = architectures[arch];
  if (!architecture) return undefined;
  const filter = shellFilter(architecture).toString('hex');
  return [PERL, '-e', PROGRAM, filter, String(architecture.numbers.prctl)];
}
