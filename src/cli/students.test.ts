import { expect, it } from 'vitest';
import { parseStudents } from './students.ts';

const ids = (text: string) => parseStudents(text, 'class.csv').map(({ id }) => id);

it('takes the first column, with or without a header', () => {
  expect(ids('student,group\nada,1\n"Grace Hopper",2\r\n\nAlan.Turing@uni.example;3\n')).toEqual([
    'ada',
    'grace-hopper',
    'alan-turing',
  ]);
  expect(ids('\uFEFFada\n')).toEqual(['ada']);
  expect(ids('Karel Čapek\nÉmile\nŁukasz\nStraße\n')).toEqual(['karel-capek', 'emile', 'lukasz', 'strasse']);
});

it('refuses what would make two workspaces of one name, or none, with the line', () => {
  expect(() => ids('a.b\na-b\n')).toThrow('class.csv:2: a-b and a.b (line 1) would have the same workspace');
  expect(() => ids('??\n')).toThrow('class.csv:1:');
  expect(() => ids('name\n')).toThrow('there are no students in it');
});
