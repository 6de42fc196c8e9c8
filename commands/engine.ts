/** Temporal's failures in the words of those who use commands. */
import { isGrpcServiceError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { EngineUnreachable } from './commands.ts';

/** gRPC codes that say nothing about the command, only that the answer didn't come. */
const UNREACHABLE_CODES = new Set([
  1 /* cancelled */, 4 /* deadline exceeded */, 8 /* exhausted */, 14 /* unavailable */,
]);
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;

/**
 * Runs a call to Temporal. `undefined` when what it names doesn't exist; `EngineUnreachable` when Temporal doesn't
 * answer. Everything else is a fault of Readback and passes through.
 */
export async function ask<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    const code = grpcCode(error);
    // A malformed id (too long, odd characters) names nothing.
    if (code === NOT_FOUND || code === INVALID_ARGUMENT) return undefined;
    if (code !== null && UNREACHABLE_CODES.has(code)) throw unreachable(error);
    throw error;
  }
}

/** Like `ask`, for calls that name nothing which could be missing. */
export async function demand<T>(call: () => Promise<T>): Promise<T> {
  const answer = await ask(call);
  if (answer === undefined)
    throw new EngineUnreachable('Temporal does not know the namespace; run `readback doctor`.');
  return answer;
}

function grpcCode(error: unknown): number | null {
  if (isGrpcServiceError(error)) return error.code;
  if (error instanceof ServiceError && isGrpcServiceError(error.cause)) return error.cause.code;
  return null;
}

function unreachable(error: unknown): EngineUnreachable {
  return new EngineUnreachable(
    'Temporal does not answer, so the state of commands is not known right now; none is lost. Try again shortly, or run `readback doctor`.',
    { cause: error },
  );
}
