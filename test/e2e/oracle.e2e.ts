// Random cases judged by upstream's own libraries, in a Go program of the bed: apply, patches, custom resources, CEL.
import { program } from '../bed/environment.ts';
import { isFull } from './support/full.ts';

process.env.ROOKERY_ORACLE = '1';
process.env.ORACLE_PROGRAM = program('oracle', 'oracle');
// A run that fails must mean that something changed: other seeds are for looking further.
process.env.ORACLE_SEED ??= '32';
// Together 51,000 cases, twice as many in a full run.
process.env.ORACLE_RUNS ??= isFull ? '3000' : '1500';
process.env.ORACLE_CEL ??= isFull ? '52000' : '26000';
console.log(`oracle: ORACLE_SEED=${process.env.ORACLE_SEED}; others find other cases`);

await import('../oracle/patch.oracle.test.ts');
await import('../oracle/managed-fields.oracle.test.ts');
await import('../oracle/structural.oracle.test.ts');
await import('../oracle/cel.oracle.test.ts');
