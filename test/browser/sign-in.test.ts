import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AtIssuer, operateAtIssuer } from '../console/at-issuer.ts';
import { openWindow, type Window } from './chromium.ts';

describe('signing in at an issuer in a real Chromium', () => {
  let console: AtIssuer;
  let window: Window;
  before(async () => {
    [console, window] = await Promise.all([operateAtIssuer(), openWindow()]);
  });
  after(async () => {
    await window.close();
    await console.close();
    assert.deepEqual(console.operating.errors, []);
  });

  it('leads from a link through the issuer to what one is asked, lets one decide it, and out again at both', async () => {
    const { operating, server, url, idOf } = console;
    const id = await operating.ask('lamp', { subject: idOf('ben') });
    server.signInAs('ben', { name: 'Ben Ng' });
    const page = window.context.pages()[0] ?? (await window.context.newPage());
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));

    await page.goto(`${url}/commands/${id}`);
    await page.getByRole('link', { name: /^Sign in at/ }).click();
    await page.waitForURL(`${url}/commands/${id}`);
    await page.getByText('Ben Ng').waitFor();
    await page.getByText('Approve, and Readback sends brightness 95 % to lamp at once.').waitFor();
    await page.getByRole('button', { name: 'Approve lamp' }).click();
    await page.getByText('lamp: approved').waitFor();
    await page.getByRole('link', { name: 'lamp' }).click();
    await page.getByText('Ended verified').waitFor();
    assert.equal(await operating.sends('lamp'), 1);
    assert.deepEqual(await page.evaluate('document.cookie'), '', 'no script reads a cookie');
    assert.deepEqual(complaints, []);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${server.issuer}/**`);
    await page.getByRole('button', { name: /sign me out/i }).click();
    await page.waitForURL(`${url}/sign-in`);
    await page.goto(`${url}/commands/${id}`);
    await page.getByRole('link', { name: /^Sign in at/ }).waitFor();
  });
});
