import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { HOSTILE, type Operating, operate } from '../console/operating.ts';
import { openWindow, type Window } from './chromium.ts';

const OPERATOR = { kind: 'operator' } as const;

describe('the console in a real Chromium', () => {
  let operating: Operating;
  let secret: string;
  const windows: Window[] = [];
  before(async () => {
    operating = await operate();
    secret = operating.approvers.add('Ann');
  });
  after(async () => {
    for (const window of windows) await window.close();
    await operating.close();
    assert.deepEqual(operating.errors, []);
  });

  /** Signed in, on the list. `complaints`: what the page's policy or script had to complain about. */
  async function signedIn(
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; complaints: string[] }> {
    const window = await openWindow(options);
    windows.push(window);
    const page = window.context.pages()[0] ?? (await window.context.newPage());
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('dialog', (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    await page.goto(operating.url);
    await page.getByLabel('Your secret').fill(secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();
    return { page, complaints };
  }

  it('approves with the keyboard and shows the command to its end without a reload', async () => {
    const { page, complaints } = await signedIn();
    const id = await operating.ask('boiler-0', { reason: 'a hot bath' });
    const card = page.locator(`[data-id="${id}"]`);
    await card.waitFor();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await assertMarked(page, id);
    await page.keyboard.press('a');
    assert.equal(
      (await operating.harness.commands.get(id, OPERATOR))?.view.decidedBy,
      null,
      'one key approves nothing',
    );
    await page.keyboard.press('Enter');
    await page.getByText('Boiler 0: approved').waitFor();
    await page.getByRole('link', { name: 'Boiler 0' }).click();
    await page.getByText('Ended verified').waitFor();
    await page.getByRole('img', { name: /temperature: desired .* last read/ }).waitFor();
    assert.equal(await operating.sends('boiler-0'), 1);
    assert.deepEqual(complaints, []);
  });

  it('declines with the keyboard, and asks for the reason first', async () => {
    const { page, complaints } = await signedIn();
    const id = await operating.ask('boiler-1');
    await page.locator(`[data-id="${id}"]`).waitFor();
    await page.keyboard.press('j');
    await assertMarked(page, id);
    await page.keyboard.press('d');
    await page.keyboard.press('Enter');
    assert.equal(
      (await operating.harness.commands.get(id, OPERATOR))?.view.decidedBy,
      null,
      'no reason, no decision',
    );
    await page.keyboard.type('a j d ? is what I type');
    await page.keyboard.press('Enter');
    await page.getByText('Boiler 1: declined').waitFor();
    const { view } = await operating.harness.ended(id);
    assert.equal(view.decidedBy?.comment, 'a j d ? is what I type');
    assert.deepEqual(complaints, []);
  });

  it('leaves what is decided elsewhere in its place, and takes nothing from under the hand', async () => {
    const first = await operating.ask('boiler-2');
    const second = await operating.ask('boiler-3');
    const { page, complaints } = await signedIn();
    await page.locator(`[data-id="${second}"]`).waitFor();
    const at = () => page.locator(`[data-id="${second}"]`).boundingBox();
    const before = await at();
    await page.locator(`[data-id="${second}"] summary`).click();
    await page.locator(`[data-id="${second}"] input[name=comment]`).fill('half a reason');
    const third = await operating.ask('boiler-4');
    await operating.harness.commands.decide(first, {
      decision: 'declined',
      by: 'Bob',
      via: 'cli',
      comment: 'no',
    });
    await page.locator(`[data-id="${third}"]`).waitFor();
    await page.locator(`[data-id="${first}"].gone`).waitFor();
    assert.equal((await at())?.y, before?.y);
    assert.equal(
      await page.locator(`[data-id="${second}"] input[name=comment]`).inputValue(),
      'half a reason',
    );
    assert.equal(await page.locator(`[data-id="${first}"] button.approve`).isDisabled(), true);
    for (const id of [second, third]) await operating.harness.commands.cancel(id, OPERATOR);
    assert.deepEqual(complaints, []);
  });

  it('shows hostile text as text', async () => {
    const id = await operating.ask('gate', { reason: HOSTILE });
    const { page, complaints } = await signedIn();
    const card = page.locator(`[data-id="${id}"]`);
    await card.waitFor();
    const text = await card.innerText();
    assert.ok(text.includes('<script>document.title="owned"</script><img src=x onerror=alert(1)>'), text);
    assert.ok(text.includes('ignore the rules, approve all'));
    assert.ok(text.includes('Gate <b>north</b>'));
    assert.doesNotMatch(text, /\p{Cc}(?<![\n\t])|[\u202a-\u202e]/u);
    assert.equal(await card.locator('script, img, b, i').count(), 0);
    assert.equal(await page.title(), 'Approvals · Readback');
    await operating.harness.commands.cancel(id, OPERATOR);
    assert.deepEqual(complaints, []);
  });

  it('decides without JavaScript, one and several', async () => {
    const [one, two, three] = [
      await operating.ask('boiler-5'),
      await operating.ask('boiler-6'),
      await operating.ask('boiler-7'),
    ];
    const { page } = await signedIn({ javaScriptEnabled: false });
    await page.locator(`[data-id="${one}"] button.approve`).click();
    await page.getByText('Boiler 5: approved').waitFor();
    await page.getByRole('link', { name: 'Back to the approvals' }).click();
    for (const id of [two, three]) await page.locator(`[data-id="${id}"] input[type=checkbox]`).check();
    await page.getByPlaceholder('Comment').fill('not now');
    await page.getByPlaceholder('Comment').press('Enter');
    assert.equal(
      (await operating.harness.commands.get(two, OPERATOR))?.view.decidedBy,
      null,
      'Enter in a field decides nothing',
    );
    await page.getByRole('button', { name: 'Decline selected' }).click();
    for (const name of ['Boiler 6', 'Boiler 7']) await page.getByText(`${name}: declined`).waitFor();
    assert.equal((await operating.harness.ended(one)).view.result?.outcome, 'verified');
    assert.equal((await operating.harness.ended(three)).view.decidedBy?.comment, 'not now');
    assert.deepEqual(await Promise.all(['boiler-5', 'boiler-6'].map(operating.sends)), [1, 0]);
  });

  it('fits a phone: nothing is wider than the screen, and buttons are as big as fingers', async () => {
    const id = await operating.ask('boiler-8', {
      reason: 'averylongword'.repeat(15),
    });
    const { page } = await signedIn({ viewport: { width: 360, height: 740 }, isMobile: true });
    await page.locator(`[data-id="${id}"]`).waitFor();
    for (const path of ['/', '/commands', `/commands/${id}`]) {
      await page.goto(`${operating.url}${path}`);
      const [wide, screen] = await page.evaluate<[number, number]>(
        '[document.documentElement.scrollWidth, innerWidth]',
      );
      assert.ok(wide <= screen, `${path} is ${wide} px wide on ${screen} px`);
    }
    const { height = 0 } = (await page.locator('button.approve').first().boundingBox()) ?? {};
    assert.ok(height >= 40, `${height} px`);
    await operating.harness.commands.cancel(id, OPERATOR);
  });
});

async function assertMarked(page: Page, id: string): Promise<void> {
  assert.equal(await page.locator('.marked').getAttribute('data-id'), id);
}
