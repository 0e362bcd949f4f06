import { isFull } from './full.ts';

// When the tools of a provisioner are killed while they make a cluster, in milliseconds after they began: in a full run at all the moments given,
// otherwise at one between the first and the last, another one each time.
export function killPoints(...all: [number, number, ...number[]]): number[] {
  if (isFull) return all;
  const drawn = Math.round(Math.min(...all) + Math.random() * (Math.max(...all) - Math.min(...all)));
  console.log(`killed ${drawn} ms after the beginning`);
  return [drawn];
}
