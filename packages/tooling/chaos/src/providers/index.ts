/** All of them, by the id of their channel. */
import { openMailpush } from "./mailpush.ts";
import type { Provider } from "./provider.ts";
import { openProviderA } from "./provider-a.ts";
import { openProviderB } from "./provider-b.ts";
import { openProviderC } from "./provider-c.ts";
import { openProviderD } from "./provider-d.ts";

export const PROVIDERS = {
  provider_a: openProviderA,
  provider_b: openProviderB,
  provider_c: openProviderC,
  provider_d: openProviderD,
  mailpush: openMailpush,
} satisfies Readonly<Record<string, () => Promise<Provider>>>;

export type ProviderName = keyof typeof PROVIDERS;

export const ALL_PROVIDERS = Object.keys(PROVIDERS) as ProviderName[];
