/** A refused request in the words of the real server; clients and people grep for them. */
import { type ApiError, forbidden } from '../status.ts';
import type { Attributes, Authorizer, Identity } from './identity.ts';

// Messages may end up in a browser: nothing in them may look like markup.
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function denialMessage(identity: Identity, attributes: Attributes): string {
  const who = `User ${JSON.stringify(identity.user)} cannot ${attributes.verb}`;
  return `${who} ${target(attributes)}`.replace(/[&<>]/g, (c) => ESCAPES[c] ?? c);
}

function target(attributes: Attributes): string {
  if (attributes.resource === undefined) return `path ${JSON.stringify(attributes.path ?? '')}`;
  const { resource, subresource, namespace } = attributes;
  const what = JSON.stringify(subresource ? `${resource}/${subresource}` : resource);
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : 'at the cluster scope';
  return `resource ${what} in API group ${JSON.stringify(attributes.group ?? '')} ${where}`;
}

/** 403; `reason` is what the authorizer adds, e.g. a role that does not exist. */
export function denied(identity: Identity, attributes: Attributes, reason = ''): ApiError {
  const message = denialMessage(identity, attributes);
  const subject = { group: attributes.group ?? '', resource: attributes.resource ?? '', name: attributes.name };
  return forbidden(subject, reason ? `${message}: ${reason}` : message);
}

export function requireAllowed(authorizer: Authorizer, identity: Identity, attributes: Attributes): void {
  const decision = authorizer.authorize(identity, attributes);
  if (!decision.allowed) throw denied(identity, attributes, decision.reason);
}
