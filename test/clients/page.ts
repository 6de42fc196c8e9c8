/** docs/clients.md, from what was seen. Nothing in it varies from run to run: no times, ids or versions of clients. */
import type { Driven, Observed } from './drive.ts';
import { SITUATIONS, type Situation } from './house.ts';
import { CLIENTS, type Person } from './rows.ts';
import type { Step } from './story.ts';

const SITUATION_WORDS: Readonly<Record<Situation, string>> = {
  quick: 'A command that ends soon',
  slow: 'A command that takes long',
  requester: 'Approval by the requester',
  operator: 'Approval by an operator',
  missing: 'A value is missing',
  cancelled: 'Cancelled while the device is waited for',
  dead: 'The device acknowledges and never moves',
};

const STEP_WORDS: Readonly<Record<Step, string>> = {
  'the answer': 'the answer',
  'a handle': '“NOT DONE” with the command’s id, after the sync wait',
  queue: '“NOTHING SENT YET” at once: it waits in the queue, where somebody says yes',
  'an input error': 'an error that names the value and what it may be; the same call with it',
  'a task': 'a task',
  'form in the task': 'a form in the task (`tasks/get`), which is answered',
  'form by `input_required`': 'a form in the answer (`input_required`), which is answered',
  'form by `elicitation/create`': 'a form during the call (`elicitation/create`), which is answered',
  'page to open': 'a page to open',
  'the result of the task': 'its result',
  '`tasks/cancel`': '`tasks/cancel`',
  '`cancel_command`': '`cancel_command`',
  '`get_command`': '`get_command`, which waits for the end',
  'a protocol error': 'a protocol error',
};

const PERSON_WORDS: Readonly<Record<Person, string>> = {
  form: 'a person, by forms',
  unattended: 'nobody: told to be unattended',
  url: 'a person, who can only open pages',
  none: 'nobody: no elicitation',
};

export function clientsPage(driven: readonly Driven[]): string {
  const kinds = kindsOf(driven);
  return `${INTRODUCTION}
## The clients

${table(
  ['client', 'protocol', 'transport', 'who can be asked', 'declares', 'gets'],
  driven.map((one) => [
    CLIENTS[one.row.client].name,
    one.declared.protocol,
    one.row.transport,
    PERSON_WORDS[one.row.person],
    declaredInWords(one),
    `[${letterOf(kinds, one)}](#${letterOf(kinds, one).toLowerCase()})`,
  ]),
)}

## What they get

${kinds.map((kind, index) => kindSection(letter(index), kind)).join('\n')}
## How they show it

What a library hands to its caller, or a program prints, in its first words.

${table(
  ['client', 'protocol', 'done', 'not done', 'cancelled'],
  unique(
    driven.map(({ row, declared, situations }) => [
      CLIENTS[row.client].name,
      declared.protocol,
      shownInWords(situations.quick),
      shownInWords(situations.dead),
      shownInWords(situations.cancelled),
    ]),
  ),
)}
`;
}

const INTRODUCTION = `# What each client gets

Real clients were driven through seven situations, and everything that passed between them and Readback was recorded: this page is what was seen.
\`npm run test:clients\` drives them again and fails where anything is different; \`npm run docs:clients\` writes this page.
The clients are combined with transports, protocols and people pairwise. How often something was sent is what the simulated device counted, the outcome is Temporal's.
In no row did a client show “DONE” where the device had not done it, or anything empty.

To see what your own host declares and really shows: \`readback doctor --client\`.
`;

/** Rows that got the same in every situation. */
type Kind = readonly Driven[];

function kindsOf(driven: readonly Driven[]): Kind[] {
  const kinds = new Map<string, Driven[]>();
  for (const one of driven) {
    const got = JSON.stringify(
      SITUATIONS.map((situation) => {
        const { steps, sends, outcome } = one.situations[situation];
        return [steps, sends, outcome];
      }),
    );
    kinds.set(got, [...(kinds.get(got) ?? []), one]);
  }
  return [...kinds.values()];
}

const letter = (index: number): string => String.fromCharCode('A'.charCodeAt(0) + index);
const letterOf = (kinds: readonly Kind[], one: Driven): string =>
  letter(kinds.findIndex((kind) => kind.includes(one)));

function kindSection(name: string, kind: Kind): string {
  const [first] = kind;
  if (first === undefined) throw new Error('a kind without rows');
  return `### ${name}

${kindInWords(kind)}

${table(
  ['situation', 'what it got', 'sent', 'outcome'],
  SITUATIONS.map((situation) => {
    const { steps, sends, outcome } = first.situations[situation];
    const got = steps.map((step) => STEP_WORDS[step]).join(' → ');
    return [SITUATION_WORDS[situation], got, times(sends), `\`${outcome}\``];
  }),
)}
`;
}

/** What its rows have in common beforehand. */
function kindInWords(kind: Kind): string {
  const each = (words: (one: Driven) => string): string => [...new Set(kind.map(words))].sort().join(' or ');
  const tasks = each(({ row, declared }) => (row.era === 'modern' && declared.tasks ? 'tasks' : 'no tasks'));
  const asked = each(({ row }) =>
    row.person === 'form' ? 'can be asked by forms' : 'can’t be asked by forms',
  );
  return `Protocol ${each(({ declared }) => declared.protocol)}; takes ${tasks}; its person ${asked}.`;
}

function declaredInWords({ declared }: Driven): string {
  const parts = [
    ...(declared.tasks ? ['tasks'] : []),
    ...declared.elicitation.map((mode) => `elicitation.${mode}`),
  ];
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

function shownInWords({ shown: { how, text } }: Observed): string {
  const [words = ''] = /^.*?(?=[.:]( |$))|^.*$/m.exec(text) ?? [];
  return `${how}: “${words.replaceAll(/\b[0-9a-f]{32}\b/g, '…')}”`;
}

const times = (count: number): string => (count === 1 ? 'once' : count === 0 ? 'never' : `${count} times`);

function unique(rows: readonly string[][]): string[][] {
  return [...new Map(rows.map((row) => [row.join('|'), row])).values()];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
