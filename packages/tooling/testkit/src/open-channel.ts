/** A channel as the kernel makes it: a section that went through the schema, the guarded client, a clock that stands. */
import type { Channel, Contributions, FeatureContext, FeatureDefinition, Ingress } from "@svc/contract";
import { createGuardedFetch, createGuardedResolve } from "@svc/kit";
import * as v from "valibot";
import type { Section } from "./conformance/channel/subject.ts";
import { fakeFeatureContext, type FakeFeatureContext } from "./feature-context.ts";
import { ownUrls } from "./own-urls.ts";

export interface ChannelPackage<Config> {
  readonly definition: FeatureDefinition;
  readonly create: (context: FeatureContext<Config>) => Contributions;
}

export interface OpenedChannel<Config> {
  readonly channel: Channel;
  readonly ingress: readonly Ingress[];
  readonly made: Contributions;
  readonly context: FakeFeatureContext<Config>;
}

type Given<Config> = NonNullable<Parameters<typeof fakeFeatureContext<Config>>[1]>;

/** `nowMs`: what the clock says. The client reaches the section's own URLs, and nothing else that is private. */
export function openChannel<Config>(
  { definition, create }: ChannelPackage<Config>,
  section: Section,
  { nowMs, ...given }: Given<Config> & { readonly nowMs?: number } = {},
): OpenedChannel<Config> {
  // As it comes out of a file: without keys that are undefined.
  const plain: unknown = JSON.parse(JSON.stringify(section));
  const config = v.parse(definition.config ?? v.undefined(), plain) as Config;
  const net = { allowPrivate: [], exempt: ownUrls(config) };
  const { log } = fakeFeatureContext(config);
  const context = fakeFeatureContext<Config>(config, {
    fetch: createGuardedFetch({ ...net, log }),
    resolve: createGuardedResolve(net),
    ...given,
  });
  if (nowMs !== undefined) context.clock.setWallClock(nowMs);
  const made = create(context);
  if (made.channel === undefined) throw new Error(`${definition.id} contributes no channel`);
  return { channel: made.channel, ingress: made.ingress ?? [], made, context };
}
