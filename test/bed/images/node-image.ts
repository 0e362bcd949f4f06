export const nodeImage = (() => { throw new Error('not yet'); }) as any;
