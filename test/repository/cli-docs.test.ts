// docs/cli.md is the command line; groups of commands with a page of their own may have their flags there. What is on no page is what nobody finds.
import { readdirSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';

const docs = new URL('../../docs/', import.meta.url);
const page = readFileSync(new URL('cli.md', docs), 'utf8');
const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));
const everything = pages.map((name) => readFileSync(new URL(name, docs), 'utf8')).join('\n');
/** Documented on pages of their own. */
const OTHERS = ['backup', 'manager', 'workspace', 'template', 'workshop'];

function commands(command: Command, path: string[]): { path: string[]; command: Command }[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  return [{ path, command }, ...children.flatMap((child) => commands(child, [...path, child.name()]))];
}

function textFor(path: string[]): string {
  return OTHERS.includes(path[1] ?? '') ? everything : page;
}

const all = commands(buildProgram(), ['rookery']);

it('names every command', () => {
  const leaves = all.filter(({ command }) => command.commands.length === 0).map(({ path }) => path.join(' '));
  expect(leaves.length).toBeGreaterThan(20);
  expect(leaves.filter((path) => !textFor(path.split(' ')).includes(path))).toEqual([]);
});

it('names every flag', () => {
  const missing = all.flatMap(({ path, command }) => {
    const text = textFor(path);
    return command.options.flatMap(({ long }) => (long && !text.includes(long) ? [`${path.join(' ')} ${long}`] : []));
  });
  expect(missing).toEqual([]);
});

it('has examples in the help of every cluster command', () => {
  const without = all.filter(({ path, command }) => {
    if (path[1] !== 'cluster' || path.length < 3) return false;
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    return !help.includes('Examples:');
  });
  expect(without.map(({ path }) => path.join(' '))).toEqual([]);
});
