/** The feature on a fake context: what it starts, what it keeps, and how its loop ends. */
import type { Contributions } from "@svc/contract";
import { createGuardedResolve } from "@svc/kit";
import { type FakeFeatureContext, fakeFeatureContext } from "@svc/testkit/feature-context";
import * as v from "valibot";
import { type Config, config } from "../src/config.ts";
import { create } from "../src/mqtt.ts";

type Given = Parameters<typeof fakeFeatureContext<Config>>[1];

export interface Loop extends AsyncDisposable {
  readonly context: FakeFeatureContext<Config>;
  /** What it started, as topic and payload. */
  started(): string[];
  /** How it ended: undefined after `stop`. */
  readonly ended: Promise<unknown>;
  stop(): Promise<unknown>;
}

/** `given`: state and clock of the loop before are those of a process that was killed. */
export function startLoop(section: Readonly<Record<string, unknown>>, given: Given = {}): Loop {
  const parsed = v.parse(config, { topics: ["home/#"], ...section });
  const resolve = createGuardedResolve({ allowPrivate: [], exempt: [parsed.url] });
  const context = fakeFeatureContext(parsed, { resolve, ...given });
  const { run }: Contributions = create(context);
  const stopping = new AbortController();
  const ended = run!(stopping.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  const stop = (): Promise<unknown> => {
    stopping.abort(new Error("the test ends it"));
    return ended;
  };
  return {
    context,
    started: () => context.triggered.map(({ topic, payload }) => `${topic} ${payload}`),
    ended,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
