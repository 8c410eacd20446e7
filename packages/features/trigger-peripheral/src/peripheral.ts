/**
 * The feature: follows the pins that the boards of the config have under `watch`. The level that was dealt with last is stored with the runs
 * that it started, so that a change is a signal once: not again after a kill, and not lost where the level is still another one.
 */
import { type Contributions, type FeatureContext, SvcError } from "@svc/contract";
import { retryDelayMs } from "@svc/kit/async";
import { BOARDS, type BoardEntry, type Level, NATIVE_PINS, type PinWatch } from "@svc/kit/hardware";

/** Polling interval of the boards without a change notification. */
const LOOK_MS = 5000;
const BACKOFF = { firstMs: 2_000, longestMs: 60_000 };
/** After the last level of a stream that ended well. */
const AGAIN_MS = 1_000;

interface Watched {
  readonly alias: string;
  readonly isNative: boolean;
  readonly watch: PinWatch;
}

export function create(context: FeatureContext): Contributions {
  return {
    async run(signal) {
      const followers = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();
      while (!signal.aborted) {
        const wanted = new Map(watchedPins(context).map((watched) => [topicOf(watched), watched]));
        for (const [topic, { stop }] of followers) if (!wanted.has(topic)) stop.abort();
        for (const [topic, watched] of wanted) {
          if (followers.has(topic)) continue;
          const stop = new AbortController();
          const done = follow(context, watched, AbortSignal.any([signal, stop.signal])).finally(() =>
            followers.delete(topic),
          );
          followers.set(topic, { stop, done });
        }
        await change(context, signal);
      }
      await Promise.allSettled([...followers.values()].map(({ done }) => done));
    },
  };
}

const keyOf = (topic: string): string => `level/${topic}`;

const topicOf = ({ alias, watch }: Watched): string => `${alias}/${watch.name}`;

const watchedPins = ({ capabilities }: FeatureContext): Watched[] =>
  capabilities(BOARDS)
    .flatMap((boards) => boards.list())
    .filter(({ isConfigured }) => isConfigured)
    .flatMap(({ alias, transport, watch }: BoardEntry) =>
      watch.map((one) => ({ alias, isNative: transport === "native", watch: one })),
    );

/** Resolves when the boards have changed, or after a while: a reload replaces who tells of changes. */
async function change({ capabilities, clock }: FeatureContext, signal: AbortSignal): Promise<void> {
  const changed = new AbortController();
  const ends = capabilities(BOARDS).map((boards) => boards.onChange(() => changed.abort()));
  await clock.sleep(LOOK_MS, AbortSignal.any([signal, changed.signal])).catch(() => undefined);
  for (const end of ends) end();
}

/** Until the signal ends it. A board that is lost is tried again, with back-off. */
async function follow(context: FeatureContext, watched: Watched, signal: AbortSignal): Promise<void> {
  const { clock, log } = context;
  const topic = topicOf(watched);
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const level of levelsOf(context, watched, signal)) {
        if (failures > 0) log.info("a watched pin answers again", { signal: topic });
        failures = 0;
        await take(context, watched, level);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (failures === 0)
        log.warn("a watched pin can't be read; will try again", { signal: topic, reason: (error as Error).message });
      failures += 1;
    }
    await clock.sleep(failures === 0 ? AGAIN_MS : retryDelayMs(failures, BACKOFF), signal).catch(() => undefined);
  }
}

function levelsOf(
  context: FeatureContext,
  { alias, isNative, watch }: Watched,
  signal: AbortSignal,
): AsyncIterable<Level> {
  const native = isNative ? context.capabilities(NATIVE_PINS).find((pins) => pins.alias === alias) : undefined;
  if (native) return native.watchPin(watch, signal);
  const before = async (): Promise<Level | undefined> => {
    const stored = await context.state.get(keyOf(`${alias}/${watch.name}`));
    return stored === undefined ? undefined : stored === "1" ? 1 : 0;
  };
  return polledLevels(context, alias, watch, { before, signal });
}

/** Rejects with STORE_*: then the change is dealt with again. */
async function take({ state, trigger, log }: FeatureContext, watched: Watched, level: Level): Promise<void> {
  const topic = topicOf(watched);
  const key = keyOf(topic);
  const before = await state.get(key);
  if (before === String(level)) return;
  const isSignal =
    before !== undefined && (watched.watch.edge === "both" || (watched.watch.edge === "rising") === (level === 1));
  if (isSignal) {
    const event = { source: "peripheral", topic, payload: String(level) } as const;
    const { fits, skipped } = await trigger(event, { state: { [key]: String(level) } });
    for (const { sop, reason } of skipped) log.info("a signal started no procedure", { signal: topic, sop, reason });
    if (fits) return;
  }
  await state.set(key, String(level));
}

// Polls a pin, because the board protocols don't report changes.

/** Between two questions. A board answers other commands meanwhile. */
const POLL_MS = 100;

interface PollOptions {
  /** The level that was dealt with last, also before a restart. */
  before(): Promise<Level | undefined>;
  readonly signal: AbortSignal;
}

/** The level now, then each one that lasted `debounceMs`. Throws BOARD_*. */
async function* polledLevels(
  { capabilities, clock }: Pick<FeatureContext, "capabilities" | "clock">,
  alias: string,
  { pin, debounceMs, pull, analog }: Pick<PinWatch, "pin" | "debounceMs" | "pull" | "analog">,
  { before, signal }: PollOptions,
): AsyncGenerator<Level> {
  // What a reading just below the threshold is taken for.
  let held = analog ? await before() : undefined;
  const read = async (): Promise<Level> => {
    // A reload replaces the registry.
    const [boards] = capabilities(BOARDS);
    if (!boards) throw new SvcError("FEATURE_DOWN", "The boards are not in service.");
    if (!analog) return await boards.readPin(alias, pin, { pull, signal });
    const reading = await boards.readAnalog(alias, pin, signal);
    if (reading >= analog.above) return 1;
    return held === 1 && reading >= analog.above - analog.hysteresis ? 1 : 0;
  };
  let last: Level | undefined;
  let next: { readonly level: Level; readonly sinceMs: number } | undefined;
  while (!signal.aborted) {
    const level = await read();
    if (level === last) next = undefined;
    else if (next?.level !== level) next = { level, sinceMs: clock.monotonic() };
    if (next && (last === undefined || clock.monotonic() - next.sinceMs >= debounceMs)) {
      last = level;
      held = level;
      next = undefined;
      yield level;
    }
    const delayMs = next ? Math.max(1, Math.min(POLL_MS, debounceMs)) : POLL_MS;
    await clock.sleep(delayMs, signal).catch(() => undefined);
  }
}
