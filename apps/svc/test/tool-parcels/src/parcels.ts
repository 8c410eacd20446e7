/** What the feature keeps, and who is handed it. Nothing here, nor in any other file, is a variable of a module. */
import type { Contributions, FeatureContext } from "@svc/contract";
import { carrierApi } from "./carrier.ts";
import type { Config } from "./index.ts";
import { doorCode } from "./door-code.ts";
import { type Customer, where } from "./where.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const api = carrierApi(context);
  // Found out once, at registration, for every call after it.
  const account = context.shared<string | undefined>("account", undefined);
  // What one client must neither see nor use up of another.
  const customers = context.perClient<Customer>("customers", () => ({ calls: 0 }));
  // What all may see. Each entry is somebody's.
  const board = context.shared<ReadonlyMap<string, string>>("board", new Map());
  const { secretsOf } = context;
  return {
    tools: [
      where({ api, account, customers, board, secretsOf, mostCalls: context.config.calls_per_client }),
      doorCode(secretsOf),
    ],
    async register(signal) {
      const name = await api.account(signal);
      await account.write(() => name, signal);
    },
  };
}
