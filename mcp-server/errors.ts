/** What may leave this server when something goes wrong: a protocol error that names no internals. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { EngineUnreachable } from '../commands/commands.ts';

/**
 * Protocol errors pass; an unreachable Temporal becomes -32603 with its own words (the command is not lost, so never
 * -32602); anything else is a bug of ours: reported to `onError` in full, told to the client in general.
 */
export function protocolErrorOf(error: unknown, onError: (error: Error) => void): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof EngineUnreachable)
    return new ProtocolError(ProtocolErrorCode.InternalError, error.message);
  onError(error instanceof Error ? error : new Error(String(error)));
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    'Readback itself failed at this request; its log says why. Commands already accepted go on: get_command without arguments lists yours.',
  );
}
