/** Images: nothing is pulled, but a name that says it does not exist is believed. */
const NAME =
  /^(?:[a-zA-Z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;
/** Words people and upstream's tests use for images that are not there. */
const MISSING =
  /(non-?existent|does-?not-?exist|doesnotexist|no-?such-?image|not-?found|notfound|invalid-?(image|tag)|missing-?image|broken-?image|bad-?image|wrong-?image|:404$|:invalid$|:bad$|:broken$|:wrong$|:missing$|:typo$)/i;

export function imageProblem(image: string): string | undefined {
  if (!NAME.test(image)) return 'InvalidImageName';
  return MISSING.test(image) ? 'ErrImagePull' : undefined;
}

/** As container runtimes spell it: with registry and tag. */
export function fullImage(image: string): string {
  const [path = ''] = image.split('@');
  const first = path.split('/', 1)[0] ?? '';
  const hasRegistry = path.includes('/') && /[.:]|^localhost$/.test(first);
  const named = hasRegistry ? image : `docker.io/${path.includes('/') ? '' : 'library/'}${image}`;
  return /[@:][^/]*$/.test(named.slice(named.lastIndexOf('/'))) ? named : `${named}:latest`;
}

export function pullFailure(image: string): string {
  const full = fullImage(image);
  return `failed to pull and unpack image "${full}": failed to resolve reference "${full}": ${full}: not found`;
}
