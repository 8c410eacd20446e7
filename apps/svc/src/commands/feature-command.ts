/** Commands whose work is a feature's: found by their word, handed the feature's section, refused where it is not built in. */
import { setConfigKey } from "@svc/config";
import {
  type CatalogueEntry,
  type FeatureCommandContext,
  type FeatureDefinition,
  featureIdOf,
  SvcError,
} from "@svc/contract";
import { createGuardedFetch } from "@svc/kit";
import { systemClock } from "@svc/kit/system-clock";
import { daemonAt } from "../service/control.ts";
import type { CommandContext, CommandModule } from "../cli/command.ts";
import { fileOption } from "../cli/options.ts";
import { commandProgress, printable } from "../cli/output.ts";
import { atTerminal, confirmed } from "../cli/prompts.ts";
import { reloadDaemon } from "../service/running-daemon.ts";
import { openBackend } from "../service/backend.ts";
import { childCommands } from "../service/features.ts";
import { openContext, prepareHome } from "../service/context.ts";

/** The command `word`, or that word with the first argument (`hardware info`), of the feature that has it. */
export const featureCommand = (word: string): CommandModule => ({
  async run(context) {
    const { features, catalogue } = await context.build.load();
    const [action] = context.args;
    const names = action === undefined ? [word] : [`${word} ${action}`, word];
    const name = names.find((name) => features.some(({ commands }) => commands?.[name]));
    const definition = features.find(({ commands }) => name !== undefined && commands?.[name]);
    if (!definition) throw absentCommand(word, catalogue, action) ?? new SvcError("FEATURE_ABSENT");
    const { run } = await definition.commands![name!]!();
    const interrupted = new AbortController();
    const interrupt = (): void => interrupted.abort(new SvcError("CANCELLED"));
    process.once("SIGINT", interrupt);
    try {
      return await run(await contextFor(context, definition, interrupted.signal));
    } finally {
      process.off("SIGINT", interrupt);
    }
  },
});

async function contextFor(
  context: CommandContext,
  definition: FeatureDefinition,
  signal: AbortSignal,
): Promise<FeatureCommandContext> {
  await prepareHome(context);
  const { config, home, log, composition, edit } = await openContext(context, true);
  const { args, options, printJson } = context;
  const allowPrivate = config.core["security.net"].allow_private;
  return {
    config: config.sectionOf(definition),
    isEnabled: config.enabled(definition),
    homeFolder: home.root,
    args,
    options,
    signal,
    print: (text) => context.print(printable(text)),
    printJson,
    confirm: async (question) => (atTerminal() ? confirmed(printable(question)) : undefined),
    progress: commandProgress,
    fetch: (url, fetchOptions) =>
      createGuardedFetch({ allowPrivate, exempt: loopbackOf(url), log, clock: systemClock })(url, fetchOptions),
    child: childCommands(composition.catalogue.find(({ id }) => id === featureIdOf(definition))),
    runningTools: () => runningTools(home.controlSocket),
    clock: systemClock,
    enable: async () => {
      const { features, catalogue } = composition;
      const key = `${definition.section}.enabled`;
      await setConfigKey({ home, ...fileOption(context), env: context.env, features, catalogue, key, value: "true" });
    },
    editConfig: async (change) => {
      await edit(async (text) => change(text));
    },
    ask: async (question) => {
      await using backend = await openBackend(context);
      return await backend.call({ name: "feature-route", body: question });
    },
    follow: async (question, onEvent) => {
      await daemonAt(home.controlSocket)({
        name: "feature-stream",
        body: question,
        onEvent: ({ event }) => onEvent(event),
        signal,
      });
    },
    reload: async () => (await reloadDaemon(context)).text,
  };
}

async function runningTools(socketFile: string): Promise<readonly string[] | undefined> {
  try {
    const { tools } = await daemonAt(socketFile)({ name: "tools" });
    return tools.map(({ name }) => name);
  } catch (error) {
    if (error instanceof SvcError && error.code === "NOT_RUNNING") return undefined;
    throw error;
  }
}

/** The URL itself where it names this machine. A name that merely leads here does not count. */
function loopbackOf(url: string): string[] {
  if (!URL.canParse(url)) return [];
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname) ? [url] : [];
}

/** For a command of a feature that this build is without: which feature brings it, and how to get it. Undefined: no absent feature has a command of this word and action. */
export function absentCommand(
  word: string,
  catalogue: readonly CatalogueEntry[],
  action?: string,
): SvcError | undefined {
  const names = (command: string): boolean =>
    action === undefined ? command.split(" ")[0] === word : command === word || command === `${word} ${action}`;
  const owners = catalogue.filter(({ commands, included }) => commands.some(names) && !included);
  const buildable = owners.find(({ planned }) => !planned);
  if (buildable) {
    const { flag, build } = buildable;
    return new SvcError("FEATURE_ABSENT", `This command belongs to the feature ${flag}, which is not in this build.`, {
      hint: `Build it in: ${build}`,
    });
  }
  const flags = [...new Set(owners.map(({ flag }) => flag))];
  if (flags.length === 0) return undefined;
  const which = flags.length === 1 ? `feature ${flags[0]}, which is` : `features ${flags.join(" and ")}, which are`;
  return new SvcError("FEATURE_PLANNED", `This command belongs to the ${which} planned and not written yet.`, {
    hint: "What there is and what is planned: svc features --all",
  });
}
