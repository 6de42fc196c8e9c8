/** Entities of a Home Assistant, over its REST API. */
import type { Connection } from '../domain/catalogue/definition.ts';
import type { DeviceAdapter } from './adapter.ts';
import { httpAdapter } from './http.ts';

export function homeAssistantAdapter(connection: Connection): DeviceAdapter {
  return httpAdapter(connection);
}
