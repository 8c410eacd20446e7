/** The secrets of the config: encrypted where they are to be. Whether they can be read, loading the config tells. */
import { listSecrets } from "@svc/kernel";
import { ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";

export const secrets: Check = {
  id: "secrets-encrypted",
  async find(machine) {
    const { config, file } = await machine.config();
    if (config === undefined) return [];
    if (!config.core.secrets.encrypt) {
      const { features } = await machine.composition();
      const listed = await listSecrets({ home: machine.home, file, features, env: {} });
      const keys = listed.filter(({ state, highValue }) => highValue && state === "plain").map(({ key }) => key);
      const irrevocable = keys.length === 0 ? "" : ` Whoever reads ${keys.join(", ")} has that account for good.`;
      const message = `Secrets stand in the config as they are typed (secrets.encrypt = false).${irrevocable}`;
      return [warning("secrets-encrypted", message, "set secrets.encrypt = true, then: svc secrets encrypt")];
    }
    const { features } = await machine.composition();
    // Without the environment: what a variable beats stands in the file all the same.
    const plain = (await listSecrets({ home: machine.home, file, features, env: {} })).filter(
      ({ state }) => state === "plain",
    );
    if (plain.length === 0) return [ok("secrets-encrypted", "No secret stands in plain text in the config.")];
    const keys = plain.map(({ key }) => key).join(", ");
    return [warning("secrets-encrypted", `These secrets stand in plain text: ${keys}.`, "svc secrets encrypt")];
  },
};
