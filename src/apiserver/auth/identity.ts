/** Who makes a request, as authentication found out. */
export interface Identity {
  user: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

export const ANONYMOUS: Identity = { user: 'system:anonymous', groups: ['system:unauthenticated'] };
export const MASTERS = 'system:masters';

/** The in-process controllers: allowed everything. */
export const LOOPBACK: Identity = { user: 'system:apiserver', groups: [MASTERS, 'system:authenticated'] };

/** What a request wants, in the words of RBAC. */
export interface Attributes {
  verb: string;
  /** Resource requests. */
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  /** Non-resource requests: the path. */
  path?: string;
}

export interface Decision {
  allowed: boolean;
  reason: string;
}

export interface Authorizer {
  authorize(identity: Identity, attributes: Attributes): Decision;
}
