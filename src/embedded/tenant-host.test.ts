import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Home } from './home.ts';
import { TenantHost } from './tenant-host.ts';
import { TenantRecords } from './tenant-records.ts';

it('removes a store that counts as removed, not as lost, while its record is still there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenant-host-'));
  const home = new Home(folder);
  const records = new TenantRecords(home.provisioner('virtual'));
  const seen: unknown[] = [];
  const clusters = {
    onOpen: () => {},
    drop: async (name: string) => seen.push(records.wasMade(name), records.get(name)?.owner),
  };
  try {
    const host = new TenantHost({ clusters, home, storageLimits: { forget: () => {} } } as never);
    await records.put('one', { owner: 'uid', controlPlanes: 1, nodes: 0, madeBy: 'v1' });
    expect(records.wasMade('one')).toBe(true);
    await host.remove('one');
    expect(seen).toEqual([false, 'uid']);
    expect(records.get('one')).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
