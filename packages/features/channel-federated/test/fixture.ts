/** The channel in this process, connected to a fake homeserver, and matrix-js-sdk as the person on the other side. */
import type { FeatureContext, Inbound, Route } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { openChannel } from "@svc/testkit/open-channel";
import { BOT, type MatrixPlatform, PERSON } from "@svc/testkit/platforms/matrix/server";
import type { Config } from "../src/config.ts";
import { create } from "../src/federated.ts";
import definition from "../src/index.ts";
import { memoryStore } from "./memory-store.ts";

export const never = new AbortController().signal;

export function sectionFor(platform: MatrixPlatform, more: Readonly<Record<string, unknown>> = {}) {
  return {
    homeserver: platform.url,
    access_token: platform.token,
    user_id: BOT,
    allowed_users: [PERSON],
    stream_mode: "partial",
    ...more,
  };
}

export interface Connected extends AsyncDisposable {
  readonly channel: ReturnType<typeof openChannel>["channel"];
  readonly context: ReturnType<typeof openChannel<Config>>["context"];
  readonly routes: readonly Route[];
  readonly received: readonly Inbound[];
  /** What `run` failed with. */
  failure(): unknown;
}

type Given = Parameters<typeof openChannel>[2];

/** `given`: what outlives the process. */
export async function connect(
  section: Readonly<Record<string, unknown>>,
  given: Given = {},
  openStore = memoryStore(),
): Promise<Connected> {
  const made = { definition, create: (context: FeatureContext<Config>) => create(context, { openStore }) };
  const opened = openChannel<Config>(made, section, { clock: fakeClock(Date.now()), ...given } as never);
  const ending = new AbortController();
  let failure: unknown;
  const running = opened.made.run!(ending.signal).catch((error: unknown) => {
    failure = error;
  });
  return {
    channel: opened.channel,
    context: opened.context,
    routes: opened.made.routes ?? [],
    received: opened.context.received,
    failure: () => failure,
    async [Symbol.asyncDispose]() {
      ending.abort(new Error("the test is over"));
      await running;
    },
  };
}

/** Resolves once it is so; only what hangs takes so long. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_500; tries += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`it does not come true: ${isSo.toString()}`);
}
