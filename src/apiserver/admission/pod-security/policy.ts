/** What the labels of a namespace ask of its pods: one level for each of refusing, warning and auditing. */
import { type FieldError, field } from '../../status.ts';

export type Level = 'privileged' | 'baseline' | 'restricted';

export interface LevelVersion {
  level: Level;
  /** Minor version of the rules, Infinity for the latest. */
  minor: number;
}

export interface Policy {
  enforce: LevelVersion;
  audit: LevelVersion;
  warn: LevelVersion;
}

const PREFIX = 'pod-security.kubernetes.io/';
const LEVELS: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const MODES = ['enforce', 'audit', 'warn'] as const;
const OPEN: LevelVersion = { level: 'privileged', minor: Number.POSITIVE_INFINITY };

export const describe = ({ level, minor }: LevelVersion): string =>
  `${level}:${minor === Number.POSITIVE_INFINITY ? 'latest' : `v1.${minor}`}`;

export const strictness = ({ level }: LevelVersion): number => LEVELS.indexOf(level);

export const isSame = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.minor === b.minor;

/** A label that makes no sense refuses pods as strictly as can be, but neither warns nor audits. */
export function readPolicy(labels: Record<string, string> = {}): { policy: Policy; errors: FieldError[] } {
  const policy: Policy = { enforce: { ...OPEN }, audit: { ...OPEN }, warn: { ...OPEN } };
  const errors: FieldError[] = [];
  const wrong = (label: string, value: string, text: string) =>
    errors.push(field.invalid(`metadata.labels[${label}]`, value, text));
  for (const mode of MODES) {
    const level = labels[PREFIX + mode];
    if (level !== undefined) {
      const known = LEVELS.find((one) => one === level);
      if (!known) wrong(PREFIX + mode, level, `must be one of ${LEVELS.join(', ')}`);
      policy[mode].level = known ?? (mode === 'enforce' ? 'restricted' : 'privileged');
    }
    const version = labels[`${PREFIX}${mode}-version`];
    if (version !== undefined && version !== 'latest') {
      const [, minor] = /^v1\.(\d|[1-9]\d*)$/.exec(version) ?? [];
      if (minor === undefined) wrong(`${PREFIX}${mode}-version`, version, 'must be "latest" or "v1.x"');
      else policy[mode].minor = Number(minor);
    }
  }
  warnOfWhatIsEnforced(policy, labels, errors);
  return { policy, errors };
}

/** Controllers' templates are only warned about: without a word for it, of the level their pods will be held to. */
function warnOfWhatIsEnforced(policy: Policy, labels: Record<string, string>, errors: FieldError[]): void {
  const said = labels[`${PREFIX}enforce`] !== undefined && labels[`${PREFIX}warn`] === undefined;
  if (!said || errors.some((error) => error.field === `metadata.labels[${PREFIX}enforce]`)) return;
  if (strictness(policy.enforce) <= strictness(policy.warn)) return;
  policy.warn.level = policy.enforce.level;
  if (labels[`${PREFIX}warn-version`] === undefined) policy.warn.minor = policy.enforce.minor;
}
