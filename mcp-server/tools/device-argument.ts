import type { McpOptions } from '../options.ts';

/** The `device` argument as it is listed; mirrored into a header only where that is switched on. */
export function deviceProperty(options: McpOptions): Readonly<Record<string, unknown>> {
  return {
    type: 'string',
    description: 'Id, name or alias',
    ...(options.deviceHeader && { 'x-mcp-header': 'Device' }),
  };
}
