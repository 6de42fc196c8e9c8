/** A client without tasks that is asked within its call: the call, the question, the answer, and what became of it. */
import assert from 'node:assert/strict';
import type { CommandSnapshot } from '../../commands/commands.ts';
import type { House } from './serving.ts';
import { answerCall, callTool, FORMS, type WireAnswer } from './wire.ts';

export const ASKING = { capabilities: FORMS };
export const OPERATOR = { kind: 'operator' } as const;

type Arguments = Readonly<Record<string, unknown>>;

export interface AskedInCall {
  /** Calls `set_device_state` and resolves with its question. Fails the test where none is asked. */
  asked(args: Arguments): Promise<Record<string, any>>;
  /** The same call again, with an answer. */
  answer(args: Arguments, question: any, response: unknown, options?: typeof ASKING): Promise<WireAnswer>;
  /** The device's newest command. */
  newest(device: string): Promise<CommandSnapshot>;
  cancelNewest(device: string): Promise<boolean>;
}

export function askedInCall(house: House, url: string): AskedInCall {
  const { commands } = house.harness;
  const newest = async (device: string): Promise<CommandSnapshot> => {
    const [snapshot] = await commands.list(OPERATOR, { limit: 1, device });
    assert.ok(snapshot);
    return (await commands.get(snapshot.commandId, OPERATOR)) ?? snapshot;
  };
  return {
    async asked(args) {
      const { result, error } = await callTool(url, 'set_device_state', args, ASKING);
      assert.equal(result?.['resultType'], 'input_required', JSON.stringify(result ?? error));
      return result as Record<string, any>;
    },
    answer: (args, question, response, options = ASKING) =>
      answerCall(url, args, question, response, options),
    newest,
    cancelNewest: async (device) => await commands.cancel((await newest(device)).commandId, OPERATOR),
  };
}

/** The structured content of an answer. Fails the test where there is none. */
export function contentOf({ result, error }: WireAnswer): any {
  assert.ok(result?.['structuredContent'], JSON.stringify(result ?? error));
  return result['structuredContent'];
}
