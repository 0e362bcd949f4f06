export const k3sImage = (() => { throw new Error('not yet'); }) as any;
