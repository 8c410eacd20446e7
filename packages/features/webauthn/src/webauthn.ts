/** Passkeys: an instance of the feature, and its routes. */
import type { Contributions, FeatureContext } from "@svc/contract";
import { Challenges, type UsedChallenges } from "./challenges.ts";
import type { Config } from "./config.ts";
import { listCredentials, removeCredential, renameCredential } from "./credentials.ts";
import type { House } from "./house.ts";
import { Passkeys } from "./passkeys.ts";
import { registerFinish, registerStart } from "./register.ts";
import { relyingParty } from "./relying-party.ts";
import { authFinish, authStart } from "./sign-in.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, publicUrl, clock, log } = context;
  const passkeys = new Passkeys(context, context.shared<null>("passkeys", null));
  const challenges = new Challenges(clock, context.shared<UsedChallenges>("used-challenges", new Map()));
  const party = () => relyingParty(config, publicUrl);
  const house: House = { clock, log, party, challenges, passkeys, signsIn: config.sign_in };
  return {
    routes: [
      registerStart,
      registerFinish,
      authStart,
      authFinish,
      listCredentials,
      renameCredential,
      removeCredential,
    ].map((route) => route(house)),
    async register(signal) {
      signal.throwIfAborted();
      party();
      await passkeys.sweep(signal);
    },
  };
}
