/** Calls that the server makes because a tenant asked for them: never to this machine or what only it can reach. */
import { createServer, type Server } from 'node:net';
import { type Attack, held, type Subject } from '../attack.ts';
import { GUARDED, MACHINE } from '../own-network.ts';
import { done, named, type Scene } from '../scene.ts';

const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

/** Calls a webhook at the address by creating an object; the listener is on every address of this machine. */
async function called(scene: Scene, host: string): Promise<void> {
  let connections = 0;
  const listener: Server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '::', resolve));
  const { port } = listener.address() as { port: number };
  const name = 'evil.example.com';
  try {
    await done(
      scene.red.http.post(HOOKS, {
        ...named('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', name),
        webhooks: [
          {
            name,
            clientConfig: { url: `https://${host}:${port}/` },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            timeoutSeconds: 1,
            failurePolicy: 'Fail',
          },
        ],
      }),
    );
    const asked = await scene.red.http.post(
      '/api/v1/namespaces/default/configmaps?dryRun=All',
      named('v1', 'ConfigMap', 'x'),
    );
    held(asked.status >= 400, `the object was created: ${asked.status}`);
    held(connections === 0, `the listener was called ${connections} times`);
  } finally {
    await scene.red.http.delete(`${HOOKS}/${name}`);
    listener.close();
  }
}

const literal = (address: string) => (address.includes(':') ? `[${address}]` : address);

const ADDRESSES = [
  '127.0.0.1',
  '127.1.2.3',
  'localhost',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:169.254.169.254]',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  MACHINE,
  ...GUARDED.map(literal),
];

export const webhooks: Subject = {
  name: 'webhooks',
  attacks: ADDRESSES.map(
    (address): Attack => ({
      name: `registers a webhook at ${address}`,
      run: (scene) => called(scene, address),
    }),
  ),
};
