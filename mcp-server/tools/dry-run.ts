/** What set_device_state tells with `dryRun`. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { DryRun } from '../../commands/commands.ts';
import { desiredInWords, plain } from '../../domain/text.ts';
import { plainResult } from '../command-result.ts';
import { stateContent, stateInWords } from './get-device-state.ts';

/** The exact requests, the device's present state, and who would have to agree. */
export function dryRunResult(dryRun: DryRun): CallToolResult {
  const { device, desired, previous, requests, approval, already, objection, state, coerced } = dryRun;
  const units = Object.fromEntries(Object.entries(state.fields).map(([field, { unit }]) => [field, unit]));
  const message = [
    `DRY RUN, nothing was sent. ${plain(device, 64)}: asked ${desiredInWords({ desired, units })}.`,
    stateInWords(state, Date.now()),
    whatWouldHappen(dryRun),
    ...(coerced.length === 0 ? [] : [`Understood: ${coerced.join(', ')}.`]),
  ].join(' ');
  return plainResult(message, {
    state: 'ended',
    done: true,
    dryRun: true,
    device,
    requested: desired,
    previous,
    requests,
    reading: stateContent(state),
    approval,
    already,
    objection,
    sent: { count: 0, certain: true, reply: null },
  });
}

function whatWouldHappen({ already, objection, requests, approval }: DryRun): string {
  if (objection !== null) return `Nothing would be sent: ${plain(objection, 300)}.`;
  if (already) return 'It already is as desired: nothing would be sent.';
  const yes =
    approval === null
      ? 'Without an approval'
      : `After a yes from ${approval.by === 'operator' ? 'an operator' : 'the requester'}`;
  const why = approval?.reason == null ? '' : ` (${plain(approval.reason, 200)})`;
  return `${yes}${why} it would send ${requests.map(requestInWords).join(', then ')}.`;
}

function requestInWords({ method, url, body }: DryRun['requests'][number]): string {
  return body === null ? `${method} ${url}` : `${method} ${url} ${JSON.stringify(body)}`;
}
