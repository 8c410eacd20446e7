/** An error as a person (or a script) gets it: what, where, what to do now. A stack only for what nobody expected. */
import { EXIT, SvcError } from "@svc/contract";

/** Writes to standard error and returns the exit code. */
export async function reportError(error: unknown, json: boolean): Promise<number> {
  const known = error instanceof SvcError ? error : undefined;
  if (json) {
    const body = known
      ? {
          error: known.message,
          code: known.code,
          ...(known.hint && { hint: known.hint }),
          ...(known.said && { said: known.said }),
          ...("problems" in known && { problems: known.problems }),
        }
      : { error: "Something unexpected went wrong.", code: "INTERNAL" };
    process.stderr.write(`${JSON.stringify(body)}\n`);
  } else {
    const { createConsola } = await import("consola");
    const screen = createConsola({ stdout: process.stderr, stderr: process.stderr });
    if (known) {
      const { printable } = await import("./question.ts");
      const said = known.said ? `\nThe provider says: ${printable(known.said)}` : "";
      screen.error(`${known.message}${said}${known.hint ? `\n${known.hint}` : ""}  [${known.code}]`);
    } else screen.error(error);
  }
  return known ? known.exitCode : EXIT.software;
}
