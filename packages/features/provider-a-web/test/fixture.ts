/** A linked channel against the fake platform, in this process. */
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { type FakeFeatureContext, fakeFeatureContext } from "@svc/testkit/feature-context";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { createGuardedFetch, createGuardedResolve } from "@svc/kit";
import type { Channel, SecretStore } from "@svc/contract";
import { create } from "../src/provider-a-web.ts";
import type { WebSection } from "../src/connection.ts";
import { openSessionStore } from "../src/session-store.ts";
import { PERSON, type WebPlatform } from "@svc/testkit/platforms/provider-a-web/server";

export const sectionOf = (platform: WebPlatform, more: Partial<WebSection> = {}): WebSection => ({
  session_path: "whatsapp",
  mode: "business",
  allowed_numbers: [PERSON],
  group_policy: "allowlist",
  mention_only: true,
  api_url: platform.url,
  web_root_key: platform.rootKey,
  ...more,
});

export interface Opened extends AsyncDisposable {
  readonly context: FakeFeatureContext<WebSection>;
  readonly channel: Channel;
  readonly refreshed: () => number;
  /** What `run` ended with. */
  readonly over: Promise<unknown>;
  start(): void;
  stop(): Promise<void>;
}

/** One process with this disk. */
export function open(
  section: WebSection,
  secrets: SecretStore = memorySecrets(),
  more: Partial<FakeFeatureContext<WebSection>> = {},
): Opened {
  let refreshes = 0;
  const home = temporaryHome();
  const net = { allowPrivate: [], exempt: [section.api_url] };
  const base = fakeFeatureContext(section, {
    secrets,
    homeFolder: home.path,
    refresh: () => void (refreshes += 1),
    resolve: createGuardedResolve(net),
    ...(more as object),
  });
  const context = { ...base, fetch: createGuardedFetch({ ...net, log: base.log }) };
  const made = create(context);
  const stop = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const end = async (): Promise<void> => {
    stop.abort(new Error("stopped"));
    await running;
    await made.shutdown?.();
    home.remove();
  };
  return {
    context,
    channel: made.channel!,
    refreshed: () => refreshes,
    get over() {
      return running;
    },
    start() {
      running = made.run!(stop.signal).catch((error: unknown) => error);
    },
    stop: end,
    [Symbol.asyncDispose]: end,
  };
}

/** The secrets of a device that is linked already. */
export async function linkedSecrets(
  platform: WebPlatform,
  secrets: SecretStore = memorySecrets(),
): Promise<SecretStore> {
  const store = await openSessionStore(secrets, "whatsapp");
  await store.commit(new Map(Object.entries(platform.adopted ?? (await platform.adopt()))));
  return secrets;
}

/** Resolves once it is so; real sockets are what is waited for. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let lap = 0; lap < 6000; lap += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`this did not happen: ${what}`);
}
