/** What a device may be described with already, and this version can't do yet. Starting with it is refused by name, never ignored. */
import type { DeviceDefinition, RequestTemplate } from './definition.ts';

/** One sentence for each thing of the kind that the device needs; empty: all of it can be used. */
export function unsupported({ id, send }: DeviceDefinition): readonly string[] {
  return send.some(({ request }) => usesSecret(request))
    ? [`device "${id}": its requests hold a secret ("$secret"), which Readback can't fill in yet`]
    : [];
}

const usesSecret = ({ body }: RequestTemplate): boolean => JSON.stringify(body).includes('$secret');
