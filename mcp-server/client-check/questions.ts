/** What a person is asked in the check, and what became of it. */
import type { ElicitationRequest } from '../asking.ts';
import { isJsonObject } from '../json-object.ts';
import type { Answered } from './seen.ts';

const FORM_FIELD = 'seen';

/** A client's response to a form, or to a page, whose acceptance has no content. */
export function answeredBy(response: unknown, afterMs: number, what: 'form' | 'page'): Answered {
  const { action, content } = isJsonObject(response) ? response : {};
  const ticked = isJsonObject(content) ? content[FORM_FIELD] : undefined;
  switch (action) {
    case 'accept':
      if (what === 'page') return { answer: 'yes', afterMs };
      return { answer: typeof ticked !== 'boolean' ? 'mistyped' : ticked ? 'yes' : 'no', afterMs };
    case 'decline':
      return { answer: 'no', afterMs };
    case 'cancel':
      return { answer: 'dismissed', afterMs };
    default:
      return { answer: 'none', afterMs };
  }
}

export function formRequest(): ElicitationRequest {
  const message = 'Readback asks whether you, a person, see this. Tick it and accept.';
  const seen = { type: 'boolean' as const, title: 'I see this', description: 'Yes: a person read this.' };
  const requestedSchema = {
    type: 'object' as const,
    properties: { [FORM_FIELD]: seen },
    required: [FORM_FIELD],
  };
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

export function pageRequest(url: string): ElicitationRequest {
  const message = 'Readback asks whether this client can open a page for you. Please open it.';
  return {
    method: 'elicitation/create',
    params: { mode: 'url', message, url, elicitationId: 'client-check' },
  };
}
