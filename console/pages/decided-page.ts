/** What became of a decision, one result for each approval. */
import { html } from 'hono/html';
import type { ItemDecision } from '../../commands/decide-each.ts';
import { plain } from '../../domain/text.ts';
import { commandPath, type Html } from './html.ts';

/** `names`: device names by command id, as far as they are known. */
export function decidedPage(results: readonly ItemDecision[], names: ReadonlyMap<string, string>): Html {
  const asAsked = results.filter((result) => result.asAsked).length;
  return html`<h1>${asAsked === results.length ? 'Decided' : `${asAsked} of ${results.length} decided as asked`}</h1>
<ul class="results">${results.map(
    ({ commandId, asAsked, words }) => html`<li class="${asAsked ? 'good' : 'bad'}">
<a href="${commandPath(commandId)}">${plain(names.get(commandId) ?? commandId, 64)}</a>: ${plain(words, 400)}</li>`,
  )}</ul>
<p><a class="button" id="back" href="/">Back to the approvals</a></p>`;
}
