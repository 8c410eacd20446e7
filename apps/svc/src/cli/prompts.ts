/** What is asked at the terminal, drawn by @clack/prompts. Whoever leaves with Ctrl-C or Esc has not answered: CANCELLED. */
import { SvcError } from "@svc/contract";

/** Both ends must be a terminal: a question into a pipe is never seen. */
export const atTerminal = (): boolean => process.stdin.isTTY && process.stdout.isTTY;

/** Nothing but yes is a yes. */
export async function confirmed(message: string, initialValue = false): Promise<boolean> {
  const { confirm } = await clack();
  return answered(await confirm({ message, initialValue }));
}

export interface TextQuestion {
  readonly message: string;
  readonly placeholder?: string;
  readonly initialValue?: string;
  /** A sentence for what can't be taken; undefined for what can. */
  readonly check?: (text: string) => string | undefined | Promise<string | undefined>;
}

export async function askText({ message, placeholder, initialValue, check }: TextQuestion): Promise<string> {
  const { text } = await clack();
  const validate = validateBy(check);
  return answered(
    await text({
      message,
      ...(placeholder !== undefined && { placeholder }),
      ...(initialValue !== undefined && { initialValue }),
      validate,
    }),
  ).trim();
}

/** Typed unseen. */
export async function askHidden({ message, check }: Pick<TextQuestion, "message" | "check">): Promise<string> {
  const { password } = await clack();
  return answered(await password({ message, validate: validateBy(check) })).trim();
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
  readonly disabled?: boolean;
}

export async function choose<T extends string>(
  message: string,
  options: readonly Choice<T>[],
  initialValue?: T,
): Promise<T> {
  const { select } = await clack();
  const asked = { message, options: [...options], ...(initialValue !== undefined && { initialValue }) };
  return answered(await select<string>(asked)) as T;
}

/** Clack, for a terminal as wide as it says; one that does not say (a serial line, a bare pty) would get one letter a line. */
export async function clack(): Promise<typeof import("@clack/prompts")> {
  process.stdout.columns ||= 80;
  process.stdout.rows ||= 24;
  return await import("@clack/prompts");
}

const validateBy = (check: TextQuestion["check"]) => async (said: string | undefined) => check?.((said ?? "").trim());

function answered<T>(said: T): Exclude<T, symbol> {
  if (typeof said === "symbol") throw new SvcError("CANCELLED");
  return said as Exclude<T, symbol>;
}
