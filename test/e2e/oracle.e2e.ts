// Random cases judged by upstream's own libraries, in a Go program of the bed: apply, patches, custom resources, CEL.
import { program } from '../bed/environment.ts';

process.env.ROOKERY_ORACLE = '1';
process.env.ORACLE_PROGRAM = program('oracle', 'oracle');
process.env.ORACLE_SEED ??= String(Date.now() % 2 ** 31);
process.env.ORACLE_RUNS ??= '3000';
process.env.ORACLE_CEL ??= '40000';
console.log(`oracle: ORACLE_SEED=${process.env.ORACLE_SEED} repeats this run`);

await import('../oracle/patch.oracle.test.ts');
await import('../oracle/managed-fields.oracle.test.ts');
await import('../oracle/structural.oracle.test.ts');
await import('../oracle/cel.oracle.test.ts');
