export const workspaceImage = (() => { throw new Error('not yet'); }) as any;
