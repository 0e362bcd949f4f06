/** The key that signs a cluster's ServiceAccount tokens: EC P-256, and its public faces (JWKS, OIDC discovery). */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface ServiceAccountKey {
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** As upstream derives it: base64url of SHA-256 over the public key's DER, so other verifiers agree. */
  id: string;
}

/** A new private key as PKCS#8 PEM. */
export function generateServiceAccountKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function loadServiceAccountKey(pem: string): ServiceAccountKey {
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(privateKey);
  if (publicKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new Error('the ServiceAccount key must be an EC key on P-256');
  }
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return { privateKey, publicKey, id: createHash('sha256').update(der).digest('base64url') };
}

/** The document at `/openid/v1/jwks`. */
export function jwks(keys: ServiceAccountKey[]): { keys: Record<string, unknown>[] } {
  return {
    keys: keys.map(({ publicKey, id }) => {
      const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
      return { use: 'sig', kty, kid: id, crv, alg: 'ES256', x, y };
    }),
  };
}

/** The document at `/.well-known/openid-configuration`. */
export function openIdConfiguration(issuer: string, jwksUri: string): Record<string, unknown> {
  return {
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  };
}
