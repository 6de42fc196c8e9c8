// The console works without this. It adds: clocks that run, pages that update by themselves, and keys.
// Nothing here makes markup out of text, and nothing moves under the pointer: what is gone stays greyed out, what is new comes last.

const { body } = document;
body.classList.add('scripted');

// --- Times

function span(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const SOON_MS = 60_000;

function tick() {
  const now = Date.now();
  for (const time of document.querySelectorAll('time[data-until]')) {
    const left = Number(time.dataset.until) - now;
    time.textContent = left <= 0 ? 'time is over' : `${span(left)} left`;
    time.classList.toggle('soon', left < SOON_MS);
  }
  for (const time of document.querySelectorAll('time[data-since]'))
    time.textContent = `${span(now - Number(time.dataset.since))} ago`;
}

function localTimes() {
  for (const time of document.querySelectorAll('time')) {
    const at = new Date(time.dateTime);
    time.title = at.toLocaleString();
    if (time.dataset.until || time.dataset.since) continue;
    const today = at.toDateString() === new Date().toDateString();
    time.textContent = today ? at.toLocaleTimeString() : at.toLocaleString();
  }
}

setInterval(tick, 1000);

// --- Updates

const live = document.getElementById('live');
const say = (text) => {
  if (live.textContent !== text) live.textContent = text;
};
let updating = false;
let again = false;

async function update(revision) {
  if (revision === body.dataset.revision) return;
  again = updating;
  if (updating) return;
  updating = true;
  try {
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } });
    // The session is over, or Temporal is away: the page itself says so best.
    if (response.redirected) return location.reload();
    if (!response.ok)
      return say('Temporal or Readback does not answer; what you see may be old. Trying again.');
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    say('');
    merge(fresh);
    body.dataset.revision = fresh.body.dataset.revision ?? '';
    if (!fresh.body.dataset.events) events?.close();
  } catch {
    say('Readback does not answer; what you see may be old. Trying again.');
  } finally {
    updating = false;
    if (again) void update('again');
  }
}

function merge(fresh) {
  replace(document.querySelector('header nav'), fresh.querySelector('header nav'));
  document.title = fresh.title;
  const cards = document.getElementById('cards');
  if (cards) mergeCards(cards, fresh);
  else if (!isBusy()) replace(document.querySelector('main'), fresh.querySelector('main'));
  localTimes();
  tick();
  mark(marked()?.dataset.id);
}

/** Somebody types or has something open here: it is not taken away from them. */
const isBusy = () =>
  document.querySelector('main details.decline[open], main input:focus, main button:focus') !== null;

function replace(old, fresh) {
  if (old && fresh) old.replaceWith(fresh);
}

function mergeCards(cards, fresh) {
  const list = fresh.getElementById('cards');
  const ids = new Set([...(list?.children ?? [])].map((card) => card.dataset.id));
  // The first one on an empty page: the whole of it is new.
  if (cards.children.length === 0 && ids.size > 0)
    return replace(document.querySelector('main'), fresh.querySelector('main'));
  const paged = document.querySelector('.pager, .note') !== null;
  for (const card of cards.children) {
    if (!ids.has(card.dataset.id) && !paged) leave(card);
    ids.delete(card.dataset.id);
  }
  const news = [...(list?.children ?? [])].filter((card) => ids.has(card.dataset.id));
  // With several pages the order of all of them has changed: only reloading shows it rightly.
  if (paged) return news.length > 0 ? say('The list has changed. Reload to see it.') : undefined;
  cards.append(...news);
}

function leave(card) {
  if (card.classList.contains('gone')) return;
  card.classList.add('gone');
  const checkbox = card.querySelector('input[type=checkbox]');
  if (checkbox) checkbox.checked = false;
  for (const control of card.querySelectorAll('input, button')) control.disabled = true;
  const time = card.querySelector('.countdown');
  delete time?.dataset.until;
  if (time) time.textContent = 'no longer waiting';
  countSelected();
}

let events;
if (body.dataset.events) {
  events = new EventSource(body.dataset.events);
  events.addEventListener('revision', ({ data }) => void update(data));
  events.addEventListener('error', () => {
    if (events.readyState === EventSource.CLOSED) say('This page no longer updates by itself. Reload it.');
  });
  // What happened between the making of the page and the connection.
  events.addEventListener('open', () => say(''));
}

// --- Several at once

const several = document.getElementById('several');
const boxes = () => [...document.querySelectorAll('.card:not(.gone) input[name=id][type=checkbox]')];

function countSelected() {
  if (!several) return;
  const selected = boxes().filter((box) => box.checked).length;
  several.classList.toggle('none', selected === 0);
  document.getElementById('selected').textContent = `${selected} selected`;
  for (const button of several.querySelectorAll('button[name=decision]')) button.disabled = selected === 0;
}

document.addEventListener('change', ({ target }) => {
  if (target.id === 'select-all') for (const box of boxes()) box.checked = target.checked;
  countSelected();
});

several?.addEventListener('submit', (event) => {
  const comment = document.getElementById('several-comment');
  const needed = event.submitter?.value === 'decline' && comment.value.trim() === '';
  comment.setCustomValidity(needed ? 'To decline, say why: whoever asked is told.' : '');
  if (!comment.reportValidity()) event.preventDefault();
});
document
  .getElementById('several-comment')
  ?.addEventListener('input', ({ target }) => target.setCustomValidity(''));

// A decision is sent once, however often a button is pressed.
document.addEventListener('submit', (event) => {
  if (event.defaultPrevented || event.target.method === 'dialog') return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = 'yes';
});
window.addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// --- Keys

const items = () => [...document.querySelectorAll('.card:not(.gone), tr[data-id]')];
const marked = () => document.querySelector('.marked');

function mark(id) {
  marked()?.classList.remove('marked');
  const item = items().find((one) => one.dataset.id === id);
  item?.classList.add('marked');
  return item;
}

function move(step) {
  const all = items();
  if (all.length === 0) return;
  const at = all.indexOf(marked());
  const next =
    all[at === -1 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(0, at + step), all.length - 1)];
  mark(next.dataset.id);
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

/** The marked one, or the only one that this page is about. */
const current = () => marked() ?? document.querySelector('article[data-id]');

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  // Only goes to the button, so that no slip of a finger approves anything; Enter presses it.
  a() {
    const button = current()?.querySelector('button.approve');
    button?.focus();
    if (button) say('Enter approves it, Esc leaves it.');
  },
  d() {
    const details = current()?.querySelector('details.decline');
    if (!details) return;
    details.open = true;
    details.querySelector('input[name=comment]').focus();
  },
  x() {
    const box = marked()?.querySelector('input[type=checkbox]');
    if (!box) return;
    box.checked = !box.checked;
    countSelected();
  },
  o: () => marked()?.querySelector('a')?.click(),
  '?': () => document.getElementById('keys').showModal(),
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  const typing = event.target.matches('input:not([type=checkbox]), textarea, select');
  if (event.key === 'Escape') {
    event.target.closest('details.decline')?.removeAttribute('open');
    event.target.blur();
    say('');
    marked()?.focus();
    return;
  }
  const act = typing ? undefined : KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

document.addEventListener('focusin', ({ target }) => {
  const item = target.closest('.card, tr[data-id]');
  if (item && !item.classList.contains('marked')) mark(item.dataset.id);
  if (!target.matches('button.approve')) say('');
});

localTimes();
tick();
countSelected();
// After a decision the next one is one key away.
document.getElementById('back')?.focus();
