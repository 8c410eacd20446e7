/** The feature: identifies the board, describes it to the model, and contributes the tools for its pins. */
import { type Contributions, type FeatureContext, type FeatureModule, provide } from "@svc/contract";
import { NATIVE_PINS } from "@svc/kit/hardware";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Board, boardOf, readModel } from "./board.ts";
import { type Facts, profileText, promptText, readFacts } from "./facts.ts";
import { Pins } from "./pins.ts";
import { toolsOf } from "./tools.ts";

/** Maximum age of the description for the model. */
const REFRESH_MS = 60_000;

/** `root`: of the file system, another one in tests. */
export const sbcOf = (root: string): Required<FeatureModule> => ({
  survey: async () => (await readModel(root)) ?? null,
  create(context) {
    const board = typeof context.survey === "string" ? boardOf(context.survey) : undefined;
    return board ? contributionsOf(root, board, context) : {};
  },
});

export const { survey, create } = sbcOf("/");

function contributionsOf(root: string, board: Board, { clock, homeFolder, log }: FeatureContext): Contributions {
  const pins = new Pins(root, board, clock);
  let facts: Facts | undefined;
  return {
    provides: [
      provide(NATIVE_PINS, {
        alias: "rpi0",
        board: board.name,
        readPin: async (pin, { pull }) => (await pins.read(pin, pull)).value,
        writePin: (pin, value) => pins.write(pin, value),
        watchPin: (watch, signal) => pins.watch(watch, signal),
      }),
    ],
    tools: toolsOf({ root, board, pins, clock }),
    promptContext: () => (facts ? promptText(facts) : ""),
    async register() {
      facts = await readFacts(root, board);
      await writeProfile(homeFolder, profileText(board, facts)).catch((error: unknown) =>
        log.warn("could not write the profile of the board", { code: String((error as { code?: unknown }).code) }),
      );
    },
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(REFRESH_MS, signal).catch(() => undefined);
        if (!signal.aborted) facts = await readFacts(root, board);
      }
    },
    async shutdown() {
      pins.close();
    },
  };
}

async function writeProfile(homeFolder: string, text: string): Promise<void> {
  const folder = join(homeFolder, "hardware", "devices");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.rpi0.md.${process.pid}`);
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, join(folder, "rpi0.md"));
}
