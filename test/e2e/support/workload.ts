// The objects suites put into clusters. The image is in every node, so nothing is ever pulled.

export interface PodOptions {
  readonly node?: string;
  readonly image?: string;
  readonly labels?: Record<string, string>;
  readonly command?: readonly string[];
  readonly claim?: string;
}

/** A web server that answers with its own name, from a busybox. */
export const serving = (text: string): string[] => [
  'sh',
  '-c',
  `mkdir -p /tmp/www && echo ${text} > /tmp/www/index.html && exec httpd -f -p 8080 -h /tmp/www`,
];

export const pod = (
  name: string,
  { node, image = 'rookery-bed/busybox:1', labels = {}, command = serving(name), claim }: PodOptions = {},
): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: {
    terminationGracePeriodSeconds: 0,
    ...(node ? { nodeName: node } : {}),
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        name: 'main',
        image,
        imagePullPolicy: 'IfNotPresent',
        command,
        ...(claim ? { volumeMounts: [{ name: 'data', mountPath: '/data' }] } : {}),
      },
    ],
    ...(claim ? { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }] } : {}),
  },
});

export const deployment = (name: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          { name: 'main', image: 'rookery-bed/busybox:1', imagePullPolicy: 'IfNotPresent', command: serving(name) },
        ],
      },
    },
  },
});

export const service = (name: string, selector: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector, ports: [{ port: 80, targetPort: 8080 }] },
});

export const claim = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '16Mi' } } },
});
