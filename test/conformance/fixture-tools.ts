/** The tools that the conformance suite calls, as its scenarios describe them; those of the Tasks extension are in `job-tools.ts`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult, RequestStateCodec, ServerContext } from '@modelcontextprotocol/server';
import type { ServedTool } from '../../mcp-server/tool-calls.ts';
import { askingTools, roundTripTools } from './asking-tools.ts';
import { RED_PIXEL_PNG, SILENCE_WAV } from './fixture-media.ts';
import { text, tool } from './fixture-tool.ts';

/** What the tools need of the server that they run on. */
export interface FixtureParts {
  readonly requestState: RequestStateCodec<string>;
  /** Tells subscribers that the list has changed. */
  readonly announce: { toolsChanged(): void; promptsChanged(): void };
}

export function fixtureTools({ requestState, announce }: FixtureParts): readonly ServedTool[] {
  return [
    ...contentTools(),
    ...talkingTools(),
    ...askingTools(),
    ...roundTripTools(requestState),
    ...announcingTools(announce),
    ...schemaTools(),
  ];
}

function contentTools(): ServedTool[] {
  const image = { type: 'image' as const, data: RED_PIXEL_PNG, mimeType: 'image/png' };
  const embedded = (uri: string, mimeType: string, words: string) => ({
    type: 'resource' as const,
    resource: { uri, mimeType, text: words },
  });
  const fixed = (name: string, description: string, result: CallToolResult) =>
    tool(name, description, async () => result);
  return [
    fixed('test_simple_text', 'Returns a text', text('This is a simple text response for testing.')),
    fixed('test_image_content', 'Returns an image', { content: [image] }),
    fixed('test_audio_content', 'Returns a sound', {
      content: [{ type: 'audio', data: SILENCE_WAV, mimeType: 'audio/wav' }],
    }),
    fixed('test_embedded_resource', 'Returns a resource', {
      content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
    fixed('test_multiple_content_types', 'Returns several kinds of content', {
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
    fixed('test_error_handling', 'Always fails', {
      ...text('This tool intentionally returns an error for testing'),
      isError: true,
    }),
  ];
}

/** Tools that say something while they work. */
function talkingTools(): ServedTool[] {
  const saying = (...words: string[]) =>
    async function call(_args: unknown, { mcpReq }: ServerContext): Promise<CallToolResult> {
      for (const said of words) {
        // oxlint-disable-next-line typescript/no-deprecated
        await mcpReq.log('info', said);
        await sleep(50);
      }
      return text('The tool has logged what it did.');
    };
  return [
    tool(
      'test_tool_with_logging',
      'Logs while it works',
      saying('Tool execution started', 'Tool processing data', 'Tool execution completed'),
    ),
    tool('test_logging_tool', 'Logs once', saying('This is for whoever asked for a log level.')),
    tool('test_tool_with_progress', 'Reports its progress', async (_args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          const params = { progressToken, progress, total: 100 };
          await mcpReq.notify({ method: 'notifications/progress', params });
        }
        await sleep(50);
      }
      return text('The tool has reported its progress.');
    }),
  ];
}

function announcingTools(announce: FixtureParts['announce']): ServedTool[] {
  return [
    tool('test_trigger_tool_change', 'Announces a change of the tools', async () => {
      announce.toolsChanged();
      return text('Announced.');
    }),
    tool('test_trigger_prompt_change', 'Announces a change of the prompts', async () => {
      announce.promptsChanged();
      return text('Announced.');
    }),
  ];
}

/** Tools whose input schemas must reach the client as they are. */
function schemaTools(): ServedTool[] {
  const received: ServedTool['call'] = async (args) => text(JSON.stringify(args ?? {}));
  return [
    tool('json_schema_2020_12_tool', 'Has a schema with much of the vocabulary', received, {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: that is how JSON Schema names it
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    }),
    tool('test_mirrored_argument', 'Has an argument that is mirrored into a header', received, {
      type: 'object',
      properties: { device: { type: 'string', 'x-mcp-header': 'Device' } },
      required: ['device'],
    }),
  ];
}
