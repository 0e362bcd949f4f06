/** How long clients may take, and how many may be connected that have not said who they are. */
export interface ConnectionLimits {
  /** To shake hands, and then to send the headers of a request. */
  headersMs: number;
  /** To send a whole request; longer than any request may take. */
  requestMs: number;
  /** A connection without a request. Go clients keep them for 90 s; ending them earlier makes these fail at random. */
  idleMs: number;
  /** An answer of which nothing can be sent, because the client does not read. A watch that has nothing to send is none. */
  stalledMs: number;
  /** Most connections without a valid credential; above it, the oldest is closed. */
  strangers: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  headersMs: 30_000,
  requestMs: 90_000,
  idleMs: 120_000,
  stalledMs: 120_000,
  strangers: 4096,
};
