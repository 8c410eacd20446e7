/** Procedures that let what came from outside act, with nobody asked in between. */
import { ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";

export const trustedInput: Check = {
  id: "trusted-input",
  security: true,
  async find(machine) {
    const { config } = await machine.config();
    if (!config) return [];
    const trusting = (await machine.procedures()).filter(({ definition }) =>
      definition?.steps.some(({ call, requiresConfirmation }) => call?.trustedInput === true && !requiresConfirmation),
    );
    if (trusting.length === 0) return [ok("trusted-input", "No procedure lets what came from outside act unasked.")];
    return trusting.map(({ name }) => {
      const message = `The procedure ${name} lets external input act without an approval (trusted_input).`;
      return warning("trusted-input", message, "give that step requires_confirmation = true instead");
    });
  },
};
