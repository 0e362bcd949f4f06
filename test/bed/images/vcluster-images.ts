export const vclusterImages = (() => { throw new Error('not yet'); }) as any;
