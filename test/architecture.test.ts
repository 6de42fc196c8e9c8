/** Imports point one way, and only pure code gets into the workflow bundle. The rules are the folders' table in README.md. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { parseSync } from 'oxc-parser';

const root = join(import.meta.dirname, '..');

/** What each folder may import besides itself: other folders, single files, npm packages (also `scope/*`), Node's own modules (`node:*`). */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: ['jsonata', 'yaml', 'zod', 'node:crypto'],
  tracing: ['@opentelemetry/*'],
  workflows: ['domain', '@temporalio/workflow', '@temporalio/common'],
  activities: [
    'domain',
    'tracing',
    'workflows/messages.ts',
    'workflows/activity-types.ts',
    '@opentelemetry/api',
    '@temporalio/activity',
    '@temporalio/client',
    '@temporalio/common',
    'mqtt',
    'oauth4webapi',
    'proper-lockfile',
    'undici',
    'node:*',
  ],
  worker: [
    'domain',
    'tracing',
    'workflows',
    'activities',
    '@opentelemetry/api',
    '@temporalio/*',
    'pino',
    'node:*',
  ],
  commands: [
    'domain',
    'tracing',
    'workflows',
    '@opentelemetry/api',
    '@temporalio/client',
    '@temporalio/common',
    '@temporalio/proto',
    'zod',
    'node:*',
  ],
  identity: ['domain', 'jose', 'openid-client', 'zod'],
  'mcp-server': [
    'domain',
    'tracing',
    'commands',
    'identity',
    '@modelcontextprotocol/*',
    '@opentelemetry/api',
    'hono',
    '@hono/*',
    'pino',
    'rate-limiter-flexible',
    'zod',
    'node:*',
  ],
  console: ['domain', 'commands', 'identity', 'hono', '@hono/*', 'jose', 'pino', 'zod', 'node:*'],
  cli: [
    'domain',
    'commands',
    'identity',
    'mcp-server',
    'console',
    'worker',
    'simulator',
    '@temporalio/client',
    '@temporalio/worker',
    'commander',
    'diff',
    'pino',
    'node:*',
  ],
  simulator: ['hono', '@hono/node-server', 'yaml', 'zod', 'node:*'],
};

/**
 * What of domain/ runs inside workflows. A change to one of these changes how running commands replay,
 * so each is here by a decision: pure, small, and without a dependency.
 */
const DOMAIN_IN_WORKFLOWS: readonly string[] = [
  'domain/approval/decision.ts',
  'domain/approval/person.ts',
  'domain/budget.ts',
  'domain/command.ts',
  'domain/outcome.ts',
  'domain/sent.ts',
  'domain/tally.ts',
  'domain/text.ts',
];

/** Temporal's workflow library and the three small packages that it brings. */
const PACKAGES_IN_WORKFLOWS = ['@temporalio/workflow', '@temporalio/common', 'nexus-rpc', 'long', 'ms'];

interface SourceFile {
  /** From the repository's root, with `/`. */
  readonly path: string;
  readonly folder: string;
  readonly imports: readonly string[];
  readonly reExports: readonly string[];
  readonly exports: readonly string[];
}

function sourceFiles(): SourceFile[] {
  const folders = Object.keys(MAY_IMPORT).filter((folder) => existsSync(join(root, folder)));
  return folders.flatMap((folder) => {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    return names.filter((name) => name.endsWith('.ts')).map((name) => parse(folder, join(folder, name)));
  });
}

function parse(folder: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const { module, errors } = parseSync(path, text);
  assert.deepEqual(errors, [], `${path} doesn't parse`);
  const exported = module.staticExports.flatMap((statement) => statement.entries);
  const reExports = exported.flatMap(({ moduleRequest }) => (moduleRequest ? [moduleRequest.value] : []));
  const dynamic = module.dynamicImports.map(({ moduleRequest: { start, end } }) => {
    const argument = text.slice(start, end);
    return /^(['"]).*\1$/.test(argument) ? argument.slice(1, -1) : `an expression: ${argument}`;
  });
  return {
    path: path.replaceAll('\\', '/'),
    folder,
    imports: [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...reExports,
      ...dynamic,
    ],
    reExports,
    exports: exported.map(({ exportName }) => exportName.name ?? '*'),
  };
}

/** `./settle.ts` as a path from the root, everything else as it is. */
function target(file: SourceFile, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return relative(root, resolve(root, dirname(file.path), specifier)).replaceAll('\\', '/');
}

function allows(rule: string, imported: string): boolean {
  if (rule.endsWith('*')) return imported.startsWith(rule.slice(0, -1));
  return imported === rule || imported.startsWith(`${rule}/`);
}

describe('imports', () => {
  const files = sourceFiles();

  for (const folder of Object.keys(MAY_IMPORT)) {
    it(`of ${folder} stay within what it may know`, () => {
      const rules = [folder, ...(MAY_IMPORT[folder] ?? [])];
      const strangers = files
        .filter((file) => file.folder === folder)
        .flatMap((file) =>
          file.imports.map((specifier) => ({ file: file.path, imported: target(file, specifier) })),
        )
        .filter(({ imported }) => !rules.some((rule) => allows(rule, imported)))
        .map(({ file, imported }) => `${file} imports ${imported}`);
      assert.deepEqual(strangers, []);
    });
  }

  it('name the node: scheme for what Node brings itself', () => {
    const bare = files.flatMap((file) =>
      file.imports
        .filter((name) => builtinModules.includes(name))
        .map((name) => `${file.path} imports ${name}`),
    );
    assert.deepEqual(bare, []);
  });

  it('reach the file that owns the name, since no file but workflows/index.ts only passes names on', () => {
    const barrels = files
      .filter((file) => file.path !== 'workflows/index.ts' && file.path.endsWith('/index.ts'))
      .concat(
        files.filter((file) => file.exports.length > 0 && file.reExports.length === file.exports.length),
      )
      .map((file) => file.path)
      .filter((path) => path !== 'workflows/index.ts');
    assert.deepEqual(barrels, []);
  });

  it('are by name, since nothing is a default export', () => {
    assert.deepEqual(
      files.filter((file) => file.exports.includes('default')).map((file) => file.path),
      [],
    );
  });
});

describe('the workflow bundle', () => {
  const modules: string[] = [];

  before(async () => {
    await bundleWorkflowCode({
      workflowsPath: join(root, 'workflows', 'index.ts'),
      workflowInterceptorModules: [join(root, 'workflows', 'trace-header.ts')],
      logger: new DefaultLogger('ERROR'),
      webpackConfigHook: (config) => ({
        ...config,
        plugins: [
          ...(config.plugins ?? []),
          (compiler) => {
            compiler.hooks.done.tap('modules', ({ compilation }) => {
              for (const module of compilation.modules)
                modules.push(module.nameForCondition() ?? module.identifier());
            });
          },
        ],
      }),
    });
  });

  /** `workflows/lane.ts`, `@temporalio/common`. */
  function ownFiles(): string[] {
    return modules
      .filter((module) => module.startsWith(root) && !module.includes('node_modules'))
      .map((module) => relative(root, module).replaceAll('\\', '/'));
  }

  it('holds the workflows', () => {
    assert.ok(ownFiles().includes('workflows/index.ts'));
  });

  it('holds of our own files only workflows/ and the pure domain files named here', () => {
    const strangers = ownFiles().filter(
      (file) => !file.startsWith('workflows/') && !DOMAIN_IN_WORKFLOWS.includes(file),
    );
    assert.deepEqual(strangers, []);
  });

  it('holds every domain file named here, so that the list stays true', () => {
    assert.deepEqual(
      DOMAIN_IN_WORKFLOWS.filter((file) => !ownFiles().includes(file)),
      [],
    );
  });

  it("holds no package but Temporal's, so no parser, no validator and nothing of Node", () => {
    const packages = modules.flatMap(
      (module) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1] ?? [],
    );
    const strangers = [...new Set(packages)].filter((name) => !PACKAGES_IN_WORKFLOWS.includes(name));
    assert.deepEqual(strangers, []);
  });

  it('holds nothing from anywhere else', () => {
    const strangers = modules.filter(
      (module) =>
        !module.startsWith(root) && !module.includes('node_modules') && !module.startsWith('webpack/runtime'),
    );
    assert.deepEqual(strangers, []);
  });
});
