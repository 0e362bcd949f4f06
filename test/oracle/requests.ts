/** Requests that are wrong in themselves, whatever they are about. What a real kube-apiserver says is in requests.json. */

export interface Request {
  method: string;
  path: string;
  contentType?: string;
  accept?: string;
  body?: string;
}

const MAPS = '/api/v1/namespaces/refusals/configmaps';
const PODS = '/api/v1/namespaces/refusals/pods';
/** Exists while these are sent. */
export const EXISTING = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'existing' } };
const ONE = `${MAPS}/${EXISTING.metadata.name}`;
const BODY = JSON.stringify(EXISTING);
const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';

const post = (query: string, body = BODY, contentType = 'application/json'): Request => ({
  method: 'POST',
  path: `${MAPS}?dryRun=All&${query}`,
  contentType,
  body,
});
const put = (query: string, body = BODY): Request => ({
  method: 'PUT',
  path: `${ONE}?dryRun=All&${query}`,
  contentType: 'application/json',
  body,
});
const patch = (query: string, contentType: string, body = '{}'): Request => ({
  method: 'PATCH',
  path: `${ONE}?${query}`,
  contentType,
  body,
});
const remove = (query: string, body?: string): Request => ({
  method: 'DELETE',
  path: `${ONE}?dryRun=All&${query}`,
  ...(body ? { contentType: 'application/json', body } : {}),
});
const get = (path: string, accept?: string): Request => ({ method: 'GET', path, accept });
const list = (query: string, accept?: string): Request => get(`${MAPS}?${query}`, accept);

export const requests: Request[] = [
  post(`fieldManager=${'a'.repeat(129)}`),
  post('fieldManager=a%01b&fieldValidation=x&dryRun=y'),
  put('fieldValidation=x'),
  patch('force=true&dryRun=x', MERGE),
  patch('fieldValidation=x', APPLY, BODY),
  patch('dryRun=All', 'text/plain'),
  patch('dryRun=All', MERGE, '[]'),
  patch('dryRun=All', MERGE, '{"metadata":{"name":"other"}}'),
  patch('dryRun=All', 'application/json-patch+json', '{}'),
  patch('dryRun=All', 'application/json-patch+json', '[{"op":"replace","path":"/no/where","value":1}]'),
  patch('dryRun=All', 'application/json-patch+json', '[{"op":"test","path":"/kind","value":"x"}]'),
  patch('dryRun=All', 'application/strategic-merge-patch+json', '{"data":7}'),
  patch('dryRun=All&fieldManager=m', APPLY, '{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"existing"}}'),
  patch('dryRun=All&fieldManager=m', APPLY, '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"existing"}}'),
  patch('dryRun=All&fieldManager=m', APPLY, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"}}'),
  remove('propagationPolicy=x&dryRun=y'),
  remove('gracePeriodSeconds=x'),
  remove('propagationPolicy=Orphan', '{"propagationPolicy":"y"}'),
  remove('', '{"kind":"Pod","apiVersion":"v1"}'),
  remove('', '{"gracePeriodSeconds":"x"}'),
  remove('orphanDependents=maybe&propagationPolicy=Orphan'),
  remove('', '{"preconditions":{"uid":"x"}}'),
  remove('', '{"preconditions":{"resourceVersion":"1"}}'),
  post('', '{}', 'text/plain'),
  post('', ''),
  post('', '{"a"'),
  post('', '[]'),
  post('', '{}'),
  post('', '{"apiVersion":"v1","kind":"Pod"}'),
  post('', '{"apiVersion":"v2","kind":"ConfigMap"}'),
  post('', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"b"}}'),
  post('', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":5}}'),
  post('', BODY),
  post(
    'fieldValidation=Strict',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"z","x":1,"name":"z"},"dat":{}}',
  ),
  post(
    'fieldValidation=Strict',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: z}\ndata: {}\nfoo: 1\ndata: {}\n',
    'application/yaml',
  ),
  put('', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}'),
  put('', '{"apiVersion":"v1","kind":"ConfigMap"}'),
  put('', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"existing","resourceVersion":"1"}}'),
  get(`${PODS}?fieldSelector=spec.foo%3D1`),
  get(`${PODS}?fieldSelector=metadata.name`),
  get(`${PODS}?labelSelector=%3D`),
  get(`${PODS}?labelSelector=a%20in%20(`),
  get(`${PODS}?labelSelector=a%20b`),
  get(`${PODS}/x/log?container=y`),
  list('timeoutSeconds=x'),
  list('timeout=5'),
  list('resourceVersion=x'),
  list('watch=1&resourceVersion=x'),
  get(`${ONE}?resourceVersion=x`),
  list('continue=%21'),
  list('continue=abc'),
  list('resourceVersionMatch=Exact'),
  list('resourceVersionMatch=Newest&resourceVersion=1'),
  list('watch=1&sendInitialEvents=true&resourceVersionMatch=Exact'),
  list('watch=1&resourceVersionMatch=NotOlderThan'),
  list('sendInitialEvents=true'),
  list('includeObject=x', TABLE),
  list('', 'text/plain'),
  list('watch=1', 'application/yaml'),
  get(`${MAPS}/nothing`),
  get(`${MAPS}/nothing`, 'text/plain'),
  get(`${MAPS}/nothing`, 'application/yaml'),
  get(`${MAPS}/nothing`, TABLE),
  get('/nothing'),
  get('/api/v2/pods'),
  get('/api/v1/things'),
  get('/apis/apps/v9/deployments'),
  get('/apis/no.such/v1/things'),
  get(`${ONE}/status`),
  { method: 'PUT', path: MAPS },
  { method: 'OPTIONS', path: MAPS },
  { method: 'POST', path: ONE },
];

export const nameOf = ({ method, path, contentType = '', accept = '', body = '' }: Request): string =>
  [method, path.replace('/namespaces/refusals', '/…'), contentType, accept && `→ ${accept}`, body]
    .filter(Boolean)
    .join(' ');
