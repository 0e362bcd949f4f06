/** Nodes of a virtual cluster that does not say. Apart from its schema, which not everyone who asks wants to load. */
export const DEFAULT_NODES = 2;
