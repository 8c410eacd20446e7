/** The real daemon in a home of its own, its platforms and its model. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { PROVIDERS, type ProviderName } from "../providers/index.ts";
import type { Provider } from "../providers/provider.ts";
import { atExit } from "./at-exit.ts";
import { configOf } from "./config.ts";
import { Happenings } from "./happenings.ts";
import { Ledger } from "./ledger.ts";
import { Lives } from "./lives.ts";
import { startModel } from "./model.ts";

export interface HouseOptions {
  readonly seed: number;
  readonly providers: readonly ProviderName[];
  /** As `LedgerOptions`. Default: none. */
  readonly failingReads?: number | undefined;
  /** Default: as all tests of the binary have it. */
  readonly binary?: string | undefined;
  /** Default: a temporary one. */
  readonly home?: string;
  /** Of the daemon. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface House extends AsyncDisposable {
  readonly home: string;
  readonly providers: readonly Provider[];
  readonly ledger: Ledger;
  readonly happenings: Happenings;
  readonly lives: Lives;
  /** What the model was shown and should not have been. */
  readonly modelProblems: readonly string[];
}

/** Nothing runs yet. */
export async function openHouse(options: HouseOptions): Promise<House> {
  const { seed, binary, env = {}, failingReads = 0 } = options;
  await using stack = new AsyncDisposableStack();
  const own = options.home === undefined ? stack.use(temporaryHome()) : undefined;
  const home = options.home ?? own?.path ?? "";
  const happenings = new Happenings();
  const modelProblems: string[] = [];
  const onAsked = (): void => happenings.note("asked");
  const onProblem = (problem: string): void => void modelProblems.push(problem);
  const model = stack.use(await startModel({ onAsked, onProblem }));
  const providers: Provider[] = [];
  for (const name of options.providers) providers.push(stack.use(await PROVIDERS[name]()));

  const configure = (originOf: (provider: Provider) => string): void =>
    writeFileSync(join(home, "config.toml"), configOf(providers, originOf, model.url), { mode: 0o600 });
  const lives = await Lives.of({ home, providers, configure, binary, env });
  stack.defer(() => lives.close());
  // After the daemon, which ends first.
  stack.defer(atExit(() => own?.remove()));
  const ledger = new Ledger({
    lifeOf: (channel, port) => lives.lifeOf(channel, port),
    onSending: () => happenings.note("sending"),
    failingReads,
  });
  for (const [index, provider] of providers.entries()) ledger.watch(provider, seededRandom(seed + 100 + index));
  const kept = stack.move();
  const dispose = (): Promise<void> => kept.disposeAsync();
  return { home, providers, ledger, happenings, lives, modelProblems, [Symbol.asyncDispose]: dispose };
}
