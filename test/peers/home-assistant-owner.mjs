// Gives a Home Assistant config folder one owner, finished onboarding and a long-lived access token, and prints the token.
// Home Assistant has no command for this: these are the files that it would write itself.
// usage: node home-assistant-owner.mjs CONFIG
import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const config = process.argv[2];
if (config === undefined) throw new Error('usage: node home-assistant-owner.mjs CONFIG');
const hex = (bytes) => randomBytes(bytes).toString('hex');
const owner = hex(16);
const tokenId = hex(16);
const key = hex(64);
const tenYearsInSeconds = 315_360_000;

function store(name, version, data) {
  mkdirSync(join(config, '.storage'), { recursive: true });
  writeFileSync(
    join(config, '.storage', name),
    JSON.stringify({ version, minor_version: 1, key: name, data }),
    { mode: 0o600 },
  );
}

store('auth', 1, {
  users: [
    {
      id: owner,
      group_ids: ['system-admin'],
      is_owner: true,
      is_active: true,
      name: 'test',
      system_generated: false,
      local_only: false,
    },
  ],
  groups: [
    { id: 'system-admin', name: 'Administrators' },
    { id: 'system-users', name: 'Users' },
    { id: 'system-read-only', name: 'Read Only' },
  ],
  credentials: [],
  refresh_tokens: [
    {
      id: tokenId,
      user_id: owner,
      client_id: null,
      client_name: 'tests',
      client_icon: null,
      token_type: 'long_lived_access_token',
      created_at: new Date().toISOString().replace('Z', '+00:00'),
      access_token_expiration: tenYearsInSeconds,
      token: hex(64),
      jwt_key: key,
      last_used_at: null,
      last_used_ip: null,
      expire_at: null,
      credential_id: null,
      version: '1',
    },
  ],
});
store('onboarding', 4, { done: ['user', 'core_config', 'analytics', 'integration'] });

const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = Math.floor(Date.now() / 1000);
const unsigned = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: tokenId, iat: now, exp: now + tenYearsInSeconds })}`;
console.log(`${unsigned}.${createHmac('sha256', key).update(unsigned).digest('base64url')}`);
