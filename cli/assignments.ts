/** `field=value` arguments, as they are typed in a terminal. */
import { InvalidArgumentError } from 'commander';

export type Assignments = Readonly<Record<string, string>>;

/** `temperature=26` added to those before it. The catalogue knows of what type each value is. */
export function addAssignment(text: string, before: Assignments | undefined): Assignments {
  const at = text.indexOf('=');
  const field = text.slice(0, at).trim();
  if (at < 0 || field === '') {
    throw new InvalidArgumentError('It should look like field=value, e.g. temperature=26. Nothing was sent.');
  }
  if (before && field in before) throw new InvalidArgumentError(`${field} is given twice. Nothing was sent.`);
  return { ...before, [field]: text.slice(at + 1).trim() };
}
