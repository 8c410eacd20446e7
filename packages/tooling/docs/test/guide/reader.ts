/** A reader of the guide: types what a page says, in a home of their own, with a real port and real codes in place of the samples. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Step } from "./blocks.ts";
import { openShell, type Shell } from "./shell.ts";

export interface Reader {
  /** Throws, with the place on the page, when something is not as the page says. */
  read(step: Step): Promise<void>;
  close(): Promise<void>;
}

export interface ReaderOptions {
  /** Everything this reader writes is below it. */
  readonly folder: string;
  /** Where the shell begins. */
  readonly checkout: string;
  /** What stands in a page, and what is typed instead. */
  readonly samples: Readonly<Record<string, string>>;
  /** What every reader has at home, by its name there: the file it is a copy of. */
  readonly belongings: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

export function newReader({ folder, checkout, samples, belongings, env }: ReaderOptions): Reader {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  for (const [name, file] of Object.entries(belongings)) copyFileSync(file, join(home, name));
  const shell = openShell(join(folder, "shell"), checkout, { HOME: home, TERM: "xterm", ...env });
  const known = new Map(Object.entries(samples));
  const typed = (text: string): string =>
    [...known].reduce((all, [sample, real]) => all.replaceAll(sample, real), text);
  return {
    close: () => shell.close(),
    async read(step) {
      try {
        if (step.kind === "ctrl-c") return await shell.interrupt();
        if (step.savedAs !== undefined) return save(join(home, step.savedAs.replace(/^~\//, "")), typed(step.text));
        const output = await shell.run(step, typed(step.text));
        for (const text of step.prints) await printed(typed(text), output, shell);
        for (const [sample, pattern] of step.remembers) known.set(sample, remembered(sample, pattern, output));
      } catch (error) {
        throw new Error(`${step.page}:${step.line} ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    },
  };
}

function save(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${text}\n`);
}

async function printed(text: string, output: string, shell: Shell): Promise<void> {
  if (output.includes(text) || shell.running.includes(text)) return;
  throw new Error(`did not print "${text}" but:\n${output}`);
}

function remembered(sample: string, pattern: RegExp, output: string): string {
  const real = pattern.exec(output)?.[1];
  if (real === undefined) throw new Error(`printed nothing that could be the ${sample} of the page:\n${output}`);
  return real;
}
