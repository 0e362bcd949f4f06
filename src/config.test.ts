import { expect, it } from 'vitest';
import { loadConfig } from './config.ts';

const publicUrl = (text?: string) => loadConfig({ ROOKERY_PUBLIC_URL: text }).publicUrl;

it('the site that links lead to is protocol, host and port alone', () => {
  expect(publicUrl()).toBeUndefined();
  expect(publicUrl('')).toBeUndefined();
  expect(publicUrl('https://class.example.com/')).toBe('https://class.example.com');
  expect(publicUrl('http://10.0.0.5:8080')).toBe('http://10.0.0.5:8080');
});

it.each(['class.example.com', 'ftp://x', 'https://x/path', 'https://x/?a', 'https://me:secret@x', 'https://'])(
  '%s is no site',
  (text) => {
    expect(() => publicUrl(text)).toThrow(/^ROOKERY_PUBLIC_URL: /);
  },
);
