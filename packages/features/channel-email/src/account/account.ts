/** What everything that speaks to the servers has in hand. */
import type { FeatureContext } from "@svc/contract";
import type { Config } from "../config.ts";
import { createLogins, type Logins } from "./logins.ts";

export interface Account extends Pick<FeatureContext<Config>, "config" | "clock" | "log" | "resolve"> {
  readonly logins: Logins;
  /** Lower case. */
  readonly address: string;
}

export function accountOf(context: FeatureContext<Config>): Account {
  const { config, clock, log } = context;
  return {
    config,
    clock,
    log,
    resolve: (url) => context.resolve(url),
    logins: createLogins(context),
    address: config.address.toLowerCase(),
  };
}
