/** `rookery completion`: scripts made from the tree of commands, so that they cannot fall behind it. */
import type { Command } from 'commander';
import { RookeryError } from '../errors.ts';

interface Node {
  path: string;
  words: string[];
}

export function printCompletion(program: Command, shell: string): void {
  const scripts: Record<string, (nodes: Node[]) => string> = { bash, zsh, fish };
  const make = scripts[shell];
  if (!make) {
    throw new RookeryError('completion.shell', `no completion for ${JSON.stringify(shell)}`, {
      class: 'user',
      hint: `use one of ${Object.keys(scripts).join(', ')}`,
    });
  }
  process.stdout.write(make(collect(program, '')));
}

function collect(command: Command, path: string): Node[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  const flags = [...command.options, ...(path ? (command.parent?.options ?? []) : [])].flatMap((o) => o.long ?? []);
  const words = [...children.map((child) => child.name()), ...new Set(flags), '--help'];
  return [{ path, words }, ...children.flatMap((child) => collect(child, `${path} ${child.name()}`.trim()))];
}

function cases(nodes: Node[]): string {
  return nodes.map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`).join('\n');
}

/** Words before the cursor that are no flags tell which command we are in. */
function bash(nodes: Node[]): string {
  return `# rookery completion for bash; put into ~/.bashrc: eval "$(rookery completion bash)"
_rookery() {
  local words="" path="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ $word == -* ]] || path="\${path:+$path }$word"
  done
  case "$path" in
${cases(nodes)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _rookery rookery
`;
}

function zsh(nodes: Node[]): string {
  return `#compdef rookery
# rookery completion for zsh; put into ~/.zshrc: eval "$(rookery completion zsh)"
_rookery() {
  local words_="" path_="" word i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    [[ $word == -* ]] || path_="\${path_:+$path_ }$word"
  done
  case "$path_" in
${cases(nodes).replaceAll(' words="', ' words_="')}
  esac
  compadd -- \${(s: :)words_}
}
compdef _rookery rookery
`;
}

function fish(nodes: Node[]): string {
  const lines = nodes.map(({ path, words }) => {
    const condition = path ? `__rookery_at ${path}` : '__rookery_at';
    return `complete -c rookery -f -n '${condition}' -a '${words.join(' ')}'`;
  });
  return `# rookery completion for fish; save as ~/.config/fish/completions/rookery.fish
function __rookery_at
  set -l seen (string match -v -- '-*' (commandline -opc)[2..])
  test "$seen" = "$argv"
end
${lines.join('\n')}
`;
}
